"""Lines of play: a match that goes on from a position of its game, at a table, with a clock that is simulated. A line is a scenario."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from games.chance import Chance, Drawn
from games.documents import clone
from games.kernel import SYSTEM, Action, Game, Seat, State, legal
from players import choose
from record.positions import Position
from table.clocks import remaining
from table.deadlines import next_deed
from table.rules import legal as legal_at_table
from table.rules import legal_for_seat
from table.state import PAUSE, RESUME, RULED, STARTED, player_of
from tools.scenarios import Scenario, TableRules

T = TypeVar("T")
POLICY = "greedy"
"""The level of play of everybody who plays on."""


class Spent(Exception):
    """The budget of positions is used up."""


class Budget:
    """How many positions the search may still reach."""

    def __init__(self, positions: int) -> None:
        self.left = positions

    def spend(self) -> None:
        """Count a position. Raises Spent."""
        if self.left <= 0:
            raise Spent
        self.left -= 1


class Noted(Drawn):
    """Chance that notes what it draws, as the `chance` of a scenario lists it."""

    def __init__(self, seed: str) -> None:
        super().__init__(random.Random(seed).randrange)
        self.draws: list[Any] = []

    def _note(self, drawn: T) -> T:
        self.draws.append(clone(drawn))
        return drawn

    def roll(self, sides: int) -> int:
        """Roll, and note the face."""
        return self._note(super().roll(sides))

    def pick(self, items: Sequence[T]) -> T:
        """Pick, and note the item."""
        return self._note(super().pick(items))

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """Sample, and note the items."""
        return self._note(super().sample(items, size))

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """Shuffle, and note the order."""
        return self._note(super().shuffle(sorted(items, key=str)))


class Case(NamedTuple):
    """A position from which lines begin. `given` is that of their scenarios; `away`: a seat whose player has gone, and never acts.

    `loses`: the seats that lose the match when everybody plays on.
    """

    game: Game
    given: Mapping[str, Any]
    seed: str
    away: Seat | None
    loses: frozenset[Seat]


class Line(NamedTuple):
    """A match at a case, after some steps. `draws`: what chance has given so far. `held`: the milliseconds for which a spoiler has waited
    while others could do nothing."""

    case: Case
    state: State
    steps: tuple[Scenario, ...] = ()
    draws: tuple[Any, ...] = ()
    held: int = 0

    @property
    def now(self) -> Position:
        """The newest position."""
        newest: Position = self.state["positions"][-1]
        return newest

    @property
    def document(self) -> State:
        """The document of the game."""
        return self.now.document

    def act(self, budget: Budget, actor: str, action: Action, at: int | None = None, **how: Any) -> Line:
        """Return the line after an action of a seat, a player or the system. `how`: further members of the step. Raises Refused, Spent."""
        budget.spend()
        who = "seat" if actor == SYSTEM or actor in self.now.table["roster"] else "player"
        step = {who: actor, "at": max(self.now.at, 0 if at is None else at), "do": action, **how}
        chance = Noted(f"{self.case.seed} {self.now.version}")
        _, state = TableRules(self.case.game).act(self.state, step, chance)
        return self._replace(state=state, steps=(*self.steps, step), draws=(*self.draws, *chance.draws))

    def due(self) -> tuple[int, Action] | None:
        """Return what the system does next at the table, and when, or None."""
        return next_deed(self.now.table, self.document, self.now.at, self.now.played)

    def is_master(self, seat: Seat) -> bool:
        """Return True if a seat may still play: it is in play, nobody stands in or votes about it, and it has time."""
        table = self.now.table
        if self.document["outcome"] is not None or seat not in self.case.game.playing(self.document):
            return False
        has_time = seat not in table["clocks"]["seats"] or remaining(table, seat, self.now.at) > 0
        return has_time and seat not in table["substitutes"] and seat not in table["votes"]

    def scenario(self, id: str, then: Mapping[str, Any]) -> Scenario:
        """Return the line as a scenario. `then`: what holds after its last step."""
        steps = [clone(step) for step in self.steps]
        if then:
            steps[-1]["then"] = clone(dict(then))
        chance = {"chance": list(self.draws)} if self.draws else {}
        return {"id": id, "rules": [], "given": clone(dict(self.case.given)), **chance, "steps": steps}


def begun(case: Case) -> Line:
    """Return the line of a case before its first step."""
    return Line(case, TableRules(case.game).start(case.given))


def patch_to(game: Game, document: State) -> Any:
    """Return the merge patch (RFC 7396) that makes a document of a game's blank one."""
    return _patch(json.loads((game.folder / "blank.json").read_text(encoding="utf-8")), clone(document))


def _patch(before: Any, after: Any) -> Any:
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    changed = {key: _patch(before.get(key), value) for key, value in after.items() if key not in before or before[key] != value}
    return {**{key: None for key in before if key not in after}, **changed}


def policy(case: Case, state: State, seat: Seat, number: int) -> Action:
    """Return what a seat does that plays on."""
    if seat == SYSTEM:
        forced: Action = legal(case.game, state, SYSTEM)[0]["action"]
        return forced
    return choose(case.game, POLICY, state, seat, mind(f"{case.seed} {number} {seat}"))


def mind(seed: str) -> Chance:
    """Return chance that is not the match's: for what a player makes up his mind by."""
    return Drawn(random.Random(f"mind {seed}").randrange)


MOST_REPLIES = 40
"""Actions of the others between two of a spoiler."""


class Move(NamedTuple):
    """What somebody does in a line. `actor` and `action`: those of the step. `at`: its moment, or None for at once. `how`: its further
    members. `name`: the kind of action, and what it is about, without seats, players and numbers."""

    actor: str
    action: Action
    at: int | None = None
    how: Mapping[str, Any] = MappingProxyType({})

    @property
    def name(self) -> str:
        """The kind of action, and what it is about."""
        return " ".join([self.action["type"], *(self.action[key] for key in ("what", "for") if key in self.action)])

    def on(self, budget: Budget, line: Line) -> Line:
        """Return the line after the move. Raises Refused, Spent."""
        return line.act(budget, self.actor, self.action, self.at, **self.how)


def settled(budget: Budget, line: Line, spoiler: Seat) -> Line:
    """Return the line once it waits for a spoiler, or for the time: everybody else plays on, and votes as the match says for such cases.

    Others agree to a pause, and want it to end at once; they agree to nothing else. Everybody accepts rulings, and takes a seat over that
    is offered. The player of the seat that is away does nothing. An artificial player plays on for whom it stands in, but for the spoiler,
    who may come first.
    """
    for _ in range(MOST_REPLIES):
        reply = next(_replies(line, spoiler), None)
        if reply is None:
            break
        line = reply.on(budget, line)
    return line


def stood_in(budget: Budget, line: Line, seat: Seat) -> Line:
    """Return the line after a substitute has played for a seat, as long as the seat had to act."""
    for _ in range(MOST_REPLIES):
        if seat not in line.document["to_act"] or seat not in line.now.table["substitutes"] or line.now.table["phase"] != STARTED:
            break
        line = line.act(budget, seat, policy(line.case, line.document, seat, line.now.version), substitute=True)
    return line


def _replies(line: Line, spoiler: Seat) -> Iterator[Move]:
    """Yield what somebody else does at once."""
    table, case = line.now.table, line.case
    others = [seat for seat in case.game.playing(line.document) if seat not in (spoiler, case.away) and player_of(table, seat)]
    for number, dispute in enumerate(table["disputes"], 1):
        if dispute["state"] == RULED:
            yield from (Move(seat, {"type": "accept_ruling", "dispute": number}) for seat in others if seat not in dispute["accepted"])
    for seat in others:
        for choice in legal_for_seat(case.game, table, line.document, seat, line.now.version, line.now.fixed):
            if choice["action"] in ({"type": "accept", "what": PAUSE}, {"type": "offer", "what": RESUME}):
                yield Move(seat, choice["action"])
    for seat, player in sorted(table["handovers"].items()):
        taken = {"type": "take_over", "seat": seat}
        yield from (Move(player, taken) for choice in legal_at_table(case.game, table, line.document, player) if choice["action"] == taken)
    if line.document["outcome"] is not None or table["phase"] != STARTED:
        return
    for seat in line.document["to_act"]:
        if seat != spoiler and (seat != case.away or seat in table["substitutes"]):
            how = {"substitute": True} if seat in table["substitutes"] else {}
            yield Move(seat, policy(case, line.document, seat, line.now.version), None, how)
    for about, vote in table["votes"].items():
        for seat in others:
            if seat not in (about, *vote["votes"]) and seat not in table["substitutes"]:
                yield Move(seat, {"type": "vote", "seat": about, "for": table["time_out"]["then"]})
    due = line.due()
    if due is not None and case.away is not None and due[1] == {"type": "time_out", "seat": case.away}:
        yield Move(SYSTEM, due[1], due[0] + 1)
