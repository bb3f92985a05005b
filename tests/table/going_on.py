"""Matches that have started, played in memory: actions of the games mixed with those of the table, at moments that are told."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol

from games import GAMES
from games.chance import Chance, Drawn
from games.choices import complete
from games.documents import clone
from games.kernel import SYSTEM, Action, Event, Game, Refused, any_action
from record.entries import Entry
from record.positions import Position, follow, moment_of_play, session_after
from table import rules
from table.deadlines import next_deed
from table.session import NewMatch, Session
from tests.tally import TALLY

MATCH = "m" + "a" * 16
PLAYERS = tuple("p" + letter * 16 for letter in "abcd")
STRANGER = "p" + "z" * 16
REFEREES = tuple("p" + letter * 16 for letter in "rq")
COMMITMENT = "5a" * 32
ALL = (TALLY, *GAMES.values())
CLOCKS: tuple[dict[str, Any], ...] = (
    {"kind": "none"},
    {"kind": "none", "claim_days": 2},
    {"kind": "per_action", "seconds": 30},
    {"kind": "bank", "seconds": 200, "increment": 7},
    {"kind": "bank", "seconds": 0, "delay": 20},
    {"kind": "days", "hours": 1, "vacation_days": 1},
)
POLICIES: tuple[dict[str, Any], ...] = (
    {"policy": "forfeit"},
    {"policy": "substitute", "level": "random"},
    {"policy": "skip", "in_a_row": 2},
    {"policy": "wait", "in_a_row": 2, "then": "forfeit"},
)
SECOND = 1000
AFTER_THE_END = 8


def dice(seed: object) -> Chance:
    """Return chance from a seed."""
    return Drawn(random.Random(str(seed)).randrange)


class Going(Protocol):
    """A match that goes on, in memory or in a store."""

    @property
    def game(self) -> Game:
        """The game."""

    @property
    def now(self) -> Position:
        """The newest position."""

    def act_at_table(self, actor: str, action: Action, at: int, role: str | None = None) -> object:
        """Carry out an action of the table. Raise Refused."""

    def play(self, actor: str, action: Action, received: int, owner: bool = True) -> object:
        """Carry out an action of the game. Raise Refused."""


class Run:
    """A match with every position and entry so far. The dice of a version follow from its number, as those of the store do."""

    match = MATCH
    signs = False  # whether people sign what they do

    def __init__(self, game: Game, seats: dict[str, str], settings: dict[str, Any], options: dict[str, Any], seed: object = 0) -> None:
        self.game = game
        self.seed = seed
        self.entries: list[Entry] = []
        self.positions: list[Position] = []
        session = Session(game, new=NewMatch(COMMITMENT))
        action = {"type": "create_match", "game": game.id, "seats": seats, "options": options, **settings}
        admitted = rules.carry_out(session, PLAYERS[0], action)
        self._add(PLAYERS[0], admitted, session.events, 1)

    @property
    def now(self) -> Position:
        """The newest position."""
        return self.positions[-1]

    @property
    def going_on(self) -> bool:
        """True if the match is not over."""
        return self.now.document["outcome"] is None

    def session(self, at: int, role: str | None = None) -> Session:
        """Return a session at the newest position."""
        now = self.now
        earlier = {each.version: (each.document, each.memory) for each in self.positions}
        return session_after(self.game, now, max(at, now.at), self._chance(), earlier.__getitem__, role=role, signed=self.signs)

    def act_at_table(self, actor: str, action: Action, at: int, role: str | None = None) -> Session:
        """Carry out an action of the table. Raise Refused."""
        session = self.session(at, role)
        admitted = rules.carry_out(session, actor, clone(action))
        self._add(actor, admitted, session.events, session.now.at)
        return session

    def play(self, actor: str, action: Action, received: int, owner: bool = True) -> list[Event]:
        """Carry out an action of the game. Raise Refused."""
        now = self.now
        at = moment_of_play(now, actor, received)
        match, _ = rules.play(self.game, now.table, now.document, actor, action, self._chance(), at, owner=owner, signed=self.signs)
        self._add(actor, match.action, match.events, at)
        return match.events

    def _chance(self) -> Chance:
        return dice((self.seed, self.now.version + 1))

    def _add(self, actor: str, action: Action, events: list[Event], at: int) -> None:
        before = self.positions[-1] if self.positions else None
        version = 1 if before is None else before.version + 1
        entry = Entry(MATCH, version, actor, action, events, self.game.revision, "", at, None, "")
        self.entries.append(entry)
        self.positions.append(follow(self.game, before, entry))


def created(game: Game, settings: dict[str, Any], seats: dict[str, str], seed: object = 0) -> Run:
    """Return a match whose seats are taken, by the player or `ai:` level that `seats` names, before its set-up."""
    several = {who for who in seats.values() if list(seats.values()).count(who) > 1}  # which makes the match practice
    asked = {seat: _asked(who, who in several) for seat, who in seats.items()}
    run = Run(game, asked, settings, {"target": 60} if game is TALLY else {}, seed)
    for seat, who in seats.items():
        if who in PLAYERS[1:]:
            run.act_at_table(who, {"type": "take_seat", "seat": seat}, 1)
    return run


def _asked(who: str, several: bool) -> str:
    """Return how a seat is requested for a player or a level."""
    if who not in PLAYERS:
        return who
    return "me" if who == PLAYERS[0] else f"player:{who}" if several else "open"


def settings_of(clock: dict[str, Any], policy: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a match with a clock and a policy, if the clock makes sense of one."""
    return {"clock": clock} | ({} if clock["kind"] == "none" else {"time_out": policy})


def choices(run: Going, actor: str) -> list[dict[str, Any]]:
    """Return the choices of a player or a seat at the table."""
    now = run.now
    if actor in now.roster:
        return rules.legal_for_seat(run.game, now.table, now.document, actor, now.version, now.fixed)
    return rules.legal(run.game, now.table, now.document, actor)


def chosen(choice: dict[str, Any], will: random.Random) -> Action:
    """Return a complete action of a choice."""
    return complete(choice["action"], choice["choose"], will.randrange) if "choose" in choice else choice["action"]


def steps(game: Game, seed: int, length: int, **settings: Any) -> Iterator[Run]:
    """Yield a match after each of its steps, in which everything happens: play, offers, outages, time-outs, seats that change hands."""
    will = random.Random(f"{game.id} {seed}")
    number = will.randint(game.seats.least, min(3, game.seats.most))
    seats = will.sample(game.seats.ids, number)
    whom = [*PLAYERS[:2], *will.choices([*PLAYERS[:3], "ai:random"], k=number)][:number]
    settings |= settings_of(will.choice(CLOCKS), will.choice(POLICIES))
    run = created(game, settings, dict(zip(seats, whom, strict=True)), seed)
    yield run
    for _ in go_on(run, will, length):
        yield run


def go_on(run: Going, will: random.Random, length: int) -> Iterator[None]:
    """Let something happen in a match, again and again, until it is over."""
    moment = run.now.at
    for _ in range(length):
        if run.now.document["outcome"] is not None:
            break
        moment = _step(run, will, moment)
        yield
    for _ in range(AFTER_THE_END if run.now.document["outcome"] is not None else 0):
        moment = _step_of_a_dispute(run, will, max(moment, run.now.at) + will.choice([0, 1000, 86_400_000]))
        yield


def _step(run: Going, will: random.Random, moment: int) -> int:
    """Let something happen after a moment, and return when it did."""
    now = run.now
    moment = max(moment, now.at) + will.choice([0, 1, 500, 4000, 9000])
    undecided = any(one["until"] is not None for one in now.table["disputes"])
    if will.random() < (0.6 if now.table["phase"] == "disputed" else 0.08 if undecided else 0.02):
        return _step_of_a_dispute(run, will, moment)
    due = next_deed(now.table, now.document, now.at, now.played)
    if due is not None and (due[0] < moment or will.random() < 0.03):
        moment = max(due[0] + 1, moment)
        run.act_at_table(SYSTEM, due[1], moment)
        return moment
    if "claim_days" in now.table["clock"] and will.random() < 0.02:
        moment = max(moment, now.played + now.table["clock"]["claim_days"] * 86_400_000)
        with suppress(Refused):
            run.act_at_table(will.choice(now.document["seats"]), {"type": "claim"}, moment)
        return moment
    if will.random() < 0.05 and _give_back(run, will, moment):
        return moment
    if will.random() < 0.25 or not now.to_act:
        actors = [*now.document["seats"], *PLAYERS]
        offered = [(actor, chosen(choice, will)) for actor in actors for choice in choices(run, actor)]
        offered += [(seat, {"type": "hand_over", "player": will.choice(PLAYERS)}) for seat in now.document["seats"]]
        # Otherwise most matches would soon be over.
        rare = [each for each in offered if each[1]["type"] not in ("resign", "offer") or each[1].get("what") not in (None, "draw", "void")]
        actor, action = will.choice(rare if rare and will.random() < 0.9 else offered)
        try:
            run.act_at_table(actor, action, moment)
        except Refused:
            assert action["type"] == "hand_over"
        return moment
    actor = will.choice(now.to_act)
    action = any_action(run.game, now.document, actor, will.randrange)
    assert action is not None
    run.play(actor, action, moment - will.choice([0, 0, 300]), owner=actor not in now.table["substitutes"])
    return moment


def _step_of_a_dispute(run: Going, will: random.Random, moment: int) -> int:
    """Let a seat, a referee or the system do something about a dispute after a moment, if the rules allow it. Return when it did."""
    now = run.now
    due = next_deed(now.table, now.document, now.at, now.played)
    if due is not None and will.random() < 0.2:
        moment = max(due[0] + 1, moment)
        run.act_at_table(SYSTEM, due[1], moment)
        return moment
    undecided = [number for number, one in enumerate(now.table["disputes"], 1) if one["until"] is not None]
    number = will.choice(undecided or [1])
    about: Action = {"dispute": number, "text": "Something is wrong here."}
    seat = will.choice(now.document["seats"])
    remedies: list[Action] = [{"remedy": "none"}, {"remedy": "none"}, {"remedy": "forfeit", "seat": seat}, {"remedy": "void"}]
    remedies += [{"remedy": "play_on", "version": will.randint(1, now.version)}] * 3
    choices: list[tuple[str, Action, str | None]] = [
        (seat, {"type": "dispute", "version": will.randint(1, now.version), "text": "The dice are loaded."}, None),
        (seat, {"type": "state_side", **about}, None),
        (seat, {"type": "appeal", **about}, None),
        *((seat, {"type": "accept_ruling", "dispute": number}, None) for seat in now.document["seats"]),
        (seat, {"type": "withdraw_dispute", "dispute": number}, None),
        (SYSTEM, {"type": "attach_report", "dispute": number, "report": report(now.version, seat)}, None),
    ]
    rulings = [{"type": "rule_dispute", **about, "verdict": "upheld", **remedy} for remedy in remedies]
    rulings += [{"type": "rule_dispute", **about, "verdict": "rejected", "remedy": "none"}] * 7  # or most matches would soon be over
    choices += [(will.choice(REFEREES), will.choice(rulings), will.choice(["referee", "admin"])) for _ in range(4)]
    choices += [(will.choice(REFEREES), {"type": "take_dispute", "dispute": number}, "referee")]
    actor, action, role = will.choice(choices if undecided else choices[:1])
    with suppress(Refused):
        run.act_at_table(actor, action, moment, role)
    return moment


def report(version: int, seat: str) -> dict[str, Any]:
    """Return a first report on a dispute, with a refused action of a seat."""
    refused = [{"seat": seat, "version": version, "at": 1, "code": "not_your_turn", "rule": None}]
    return {"version": version, "audit": {"state": "holds", "findings": [], "found": 0}, "refused": refused, "decisions": []}


def _give_back(run: Going, will: random.Random, moment: int) -> bool:
    """Give the time of an outage back, if there was time for one."""
    start = max(run.now.table["clocks"]["returned"], run.now.at - 20000) + will.randint(0, 5000)
    try:
        run.act_at_table(SYSTEM, {"type": "return_time", "from": start, "to": will.randint(start + 1, start + 20000)}, moment)
    except Refused:
        return False
    return True
