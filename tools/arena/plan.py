"""The plan of an arena: the bots, the settings and the seed. Every match, with its seats and its dice, follows from it.

It is the file `arena.json` in the folder of the arena. A round has a match for each set of bots and each rotation of its seats, so that
every bot sits in every seat equally often, with the same others. Every second round the order around the table is reversed.
"""

from __future__ import annotations

import base64
import hmac
import json
import shlex
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from evidence.notes import Malformed, parse_vkey
from games import GAMES
from games.kernel import Action, Refused
from games.patterns import PLAYER as PLAYER_PATTERN
from games.patterns import matches
from players import LEVELS
from record.entries import canonical
from record.positions import match_id
from table.creating import CREATE
from table.rules import carry_out, sentence
from table.session import NewMatch, Session
from table.state import AI, PLAYER

FILE = "arena.json"
FORMAT = 1
LONGEST_NAME = 40
MOST_BOTS = 64
MOST_MATCHES = 1_000_000
LEVEL, PROGRAM, PLAYS = "level", "program", "player"
USUAL_CLOCK = {"kind": "bank", "seconds": 300, "increment": 5}
TIME_OUT = {"policy": "forfeit", "then": "forfeit"}


class BadPlan(Exception):
    """A plan cannot be played or read. The text says why, in a sentence."""


class Bot(NamedTuple):
    """A bot: a `level` of artificial players, the command line of a `program`, or a `player` of the service of the arena, who plays there.

    `player` is an id. A program has one, too, if there is a service: the account with which the arena plays for it.
    """

    name: str
    level: str = ""
    program: tuple[str, ...] = ()
    player: str = ""

    @property
    def who(self) -> str:
        """The bot as a result names it: `ai:` and the level, or the id of a player. That of a program follows from its name."""
        return AI + self.level if self.level else self.player or player_id(self.name)

    @property
    def request(self) -> str:
        """How a seat is requested for the bot when a match is created (TBL-CRE-03)."""
        return self.who if self.level else PLAYER + self.who

    def as_json(self) -> dict[str, Any]:
        """Return the bot as the file of the plan has it."""
        given = {LEVEL: self.level, PROGRAM: list(self.program), PLAYS: self.player}
        return {"name": self.name, **{kind: value for kind, value in given.items() if value}}


class Planned(NamedTuple):
    """A match of the plan: its number from 1, and the bots by seat, in the order of the seats."""

    number: int
    seats: dict[str, Bot]


class Plan(NamedTuple):
    """The plan of an arena. `seats`: how many bots play in a match. `key`: the verifier key of the arena, which signs the dossiers.

    `service`: the address of the service on which all matches are played, and its verifier key. Both are "" if they are played here.
    """

    game: str
    seats: int
    rounds: int
    seed: str
    bots: tuple[Bot, ...]
    options: dict[str, Any]
    clock: dict[str, Any]
    key: str = ""
    service: str = ""
    service_key: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the plan as its file has it."""
        return {"arena": FORMAT, **self._asdict(), "bots": [bot.as_json() for bot in self.bots]}

    @property
    def number(self) -> int:
        """How many matches the plan has."""
        return sum(1 for _ in combinations(self.bots, self.seats)) * self.seats * self.rounds

    def matches(self) -> Iterator[Planned]:
        """Yield every match, in order.

        >>> bots = tuple(Bot(name, level=name) for name in ("novice", "greedy", "strong"))
        >>> plan = Plan("war", 2, 1, "seed", bots, {}, {})
        >>> [" ".join(bot.name for bot in match.seats.values()) for match in plan.matches()]
        ['novice greedy', 'greedy novice', 'novice strong', 'strong novice', 'greedy strong', 'strong greedy']
        """
        ids = GAMES[self.game].seats.ids[: self.seats]
        number = 0
        for turn in range(self.rounds):
            for chosen in combinations(self.bots, self.seats):
                circle = chosen[::-1] if turn % 2 else chosen
                for first in range(self.seats):
                    number += 1
                    yield Planned(number, dict(zip(ids, circle[first:] + circle[:first], strict=True)))

    def match_id(self, planned: Planned) -> str:
        """Return the id of a match that is played here."""
        return match_id(self._derived("match", planned)[:10])

    def secret(self, planned: Planned) -> bytes:
        """Return the secret of a match that is played here. Its dice, and the seeds of the levels, follow from it."""
        return self._derived("secret", planned)

    def creation(self, planned: Planned) -> Action:
        """Return the action that creates a match of the plan."""
        action: Action = {
            "type": CREATE,
            "game": self.game,
            "seats": {seat: bot.request for seat, bot in planned.seats.items()},
            "options": self.options,
        }
        if any(not bot.level for bot in planned.seats.values()):
            action |= {"clock": self.clock, "time_out": TIME_OUT}
        return action

    def _derived(self, what: str, planned: Planned) -> bytes:
        seats = {seat: bot.who for seat, bot in planned.seats.items()}
        about = {"for": what, "game": self.game, "number": planned.number, "seats": seats}
        return hmac.digest(self.seed.encode(), canonical(about), "sha256")


def player_id(name: str) -> str:
    """Return the id under which a program is recorded.

    >>> player_id("mine")
    'p4skff3yxtljstfd5'
    """
    return "p" + base64.b32encode(sha256(f"arena/{name}".encode()).digest()[:10]).decode().lower()


ORGANISER = player_id("the organiser")
"""Who creates the matches that are played here. It is no bot: bots have no blanks in their names."""


def bot_of(text: str) -> Bot:
    """Return the bot in an option `NAME=WHAT`. `WHAT`: a level, the id of a player of a service, or a command line. Raises BadPlan.

    >>> bot_of("greedy"), bot_of("mine=python3 bot.py").program
    (Bot(name='greedy', level='greedy', program=(), player=''), ('python3', 'bot.py'))
    """
    name, equals, what = text.partition("=")
    what = what if equals else name
    if what in LEVELS:
        return Bot(name, level=what)
    if not equals:
        raise BadPlan(f"{text} is no level. Write NAME=COMMAND for a program; the levels are {', '.join(LEVELS)}.")
    if matches(PLAYER_PATTERN, what):
        return Bot(name, player=what)
    try:
        program = tuple(shlex.split(what))
    except ValueError as reason:
        raise BadPlan(f"The command of {name} cannot be read: {reason}.") from None
    if not program:
        raise BadPlan(f"{name} has no command.")
    return Bot(name, program=program)


def checked(plan: Plan) -> Plan:
    """Return a plan that can be played. Raises BadPlan."""
    if plan.game not in GAMES:
        raise BadPlan(f"There is no game {plan.game}; the games are {', '.join(sorted(GAMES))}.")
    seats = GAMES[plan.game].seats
    if not seats.least <= plan.seats <= seats.most:
        raise BadPlan(f"A match of {plan.game} has {seats.least} to {seats.most} seats, not {plan.seats}.")
    if not plan.seats <= len(plan.bots) <= MOST_BOTS:
        raise BadPlan(f"{plan.seats} seats need {plan.seats} to {MOST_BOTS} bots, and there are {len(plan.bots)}.")
    for names in ([bot.name for bot in plan.bots], [bot.who for bot in plan.bots]):
        if len(set(names)) < len(names):
            raise BadPlan(f"{next(name for name in names if names.count(name) > 1)} is there twice.")
    for bot in plan.bots:
        if not 0 < len(bot.name) <= LONGEST_NAME or not all(letter.isalnum() or letter in "-_." for letter in bot.name):
            raise BadPlan(f"{bot.name!r} is no name for a bot: use 1 to {LONGEST_NAME} letters, digits, `-`, `_` and `.`.")
    if plan.rounds < 1 or plan.number > MOST_MATCHES:
        raise BadPlan(f"An arena has at least one round, and at most {MOST_MATCHES} matches.")
    if any(bot.player for bot in plan.bots) and not plan.service:
        raise BadPlan("A player of a service is named, but no service: give its address with --service.")
    if plan.service and not plan.service.startswith(("http://", "https://")):
        raise BadPlan(f"{plan.service} is not the address of a service.")
    if any(not bot.level for bot in plan.bots) and plan.clock.get("kind") == "none":
        raise BadPlan("Programs and players need a clock.")
    try:
        carry_out(Session(GAMES[plan.game], new=NewMatch()), ORGANISER, plan.creation(next(plan.matches())))
    except Refused as refused:
        raise BadPlan(f"Its matches cannot be created. {sentence(GAMES[plan.game], refused.refusal)}") from None
    return plan


def read(folder: Path) -> Plan:
    """Return the plan in a folder. Raises BadPlan; FileNotFoundError if there is none."""
    try:
        found = json.loads((folder / FILE).read_bytes())
        if found.pop("arena") != FORMAT:
            raise BadPlan(f"{folder / FILE} has another format.")
        bots = tuple(_bot(one) for one in found.pop("bots"))
        plan = Plan(bots=bots, **found)
        if any(not isinstance(value, kind) for value, kind in zip(plan, _KINDS, strict=True)):
            raise ValueError("a member has another type")
        for key in filter(None, (plan.key or "none", plan.service_key)):
            parse_vkey(key)
    except (ValueError, KeyError, TypeError, AttributeError, Malformed) as reason:
        raise BadPlan(f"{folder / FILE} is not the plan of an arena: {reason}.") from None
    return checked(plan)


_KINDS = (str, int, int, str, tuple, dict, dict, str, str, str)


def _bot(found: dict[str, Any]) -> Bot:
    name, level, player = found["name"], found.get(LEVEL, ""), found.get(PLAYS, "")
    program: Sequence[str] = found.get(PROGRAM, ())
    if bool(level) == bool(player or program) or not all(isinstance(word, str) for word in (name, level, player)):
        raise ValueError("a bot is a level, a program or a player")
    return Bot(name, level, tuple(map(str, program)), player)
