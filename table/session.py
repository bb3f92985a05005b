"""The session: a match with both its documents while an action of the table is offered, judged or carried out.

An action of the table may have facts of the table and of the game. The type of a fact decides which document it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from games import kernel
from games.chance import Chance, Drawn
from games.choices import Ranges
from games.documents import copied
from games.kernel import Action, Event, Game, Match, Memory, Refusal, State
from games.schema import Fields
from table.data import ESCALATION_MS
from table.document import Table
from table.facts import FACTS
from table.state import BLANK

BY_PLAYER: Literal["player"] = "player"
BY_SEAT: Literal["seat"] = "seat"
BY_SYSTEM: Literal["system"] = "system"
BY_REFEREE: Literal["referee"] = "referee"


class Origin(NamedTuple):
    """A version of a match, as another match begins from it. `digest` is that of its entry. `over`: whether that match is over by now.

    `document` and `memory` are those of the game at that version. `table` is that of the match by now; only a ruling needs it.
    """

    match: str
    version: int
    digest: str
    document: State
    memory: Memory
    over: bool = True
    table: Table = BLANK


def _no_number(below: int) -> int:
    raise AssertionError("this action draws no chance")


def _no_position(version: int) -> tuple[State, Memory]:
    raise AssertionError("this action looks at no earlier version")


class NewMatch(NamedTuple):
    """What creating a match needs.

    `commitment`: the SHA-256 of the match's secret, in hex. `lock`: the hash of the code that it may ask for. `expires`: when it is removed
    unless it has started. `origin`: the version of another match from which it begins, if any.
    """

    commitment: str = ""
    lock: str = ""
    expires: int | None = None
    origin: Origin | None = None


class Now(NamedTuple):
    """When an action is carried out in a match that has been created, and what only the platform knows of it. Moments are in milliseconds
    since 1970.

    `at`: the moment of the action. `played`: when play last went on. `version`: the version before it. `fixed`: the version before which
    nothing can be taken back (record.positions has both). `chance`: for what the game draws. `earlier(version)`: the document and the
    memory of the game at an earlier version. `shown`: whether the actor, who is no seat, was shown what the seats may not see. `signed`:
    whether the actor has signed the action.

    For disputes: `role` is `referee` or `admin` if the actor is one, else None. A dispute goes to an admin after `escalation` milliseconds.
    `finished` is when the match was over, or None. `successor` is the id that a match would have that goes on from this one.
    """

    at: int = 0
    played: int = 0
    version: int = 0
    fixed: int = 0
    chance: Chance = Drawn(_no_number)
    earlier: Callable[[int], tuple[State, Memory]] = _no_position
    role: str | None = None
    escalation: int = ESCALATION_MS
    finished: int | None = None
    successor: str = ""
    shown: bool = False
    signed: bool = False


_NO_MATCH, _NOW = NewMatch(), Now()


class Session:
    """A match while one action of the table is carried out: both documents so far, and the events so far.

    `new` is for the action that creates the match, `now` for all others.
    """

    __slots__ = ("_in_play", "events", "game", "new", "now", "state", "table")

    def __init__(
        self, game: Game, table: Table = BLANK, state: State = None, *, new: NewMatch | None = None, now: Now | None = None
    ) -> None:
        self.game = game
        self.table = table
        self.state = {} if state is None else state
        self.new = new or _NO_MATCH
        self.now = now or _NOW
        self.events: list[Event] = []
        self._in_play: tuple[State, list[str]] | None = None

    @property
    def playing(self) -> list[str]:
        """The seats that are still in play, in their order. Most deeds ask, so the answer is kept as long as the state is the same."""
        if self._in_play is None or self._in_play[0] is not self.state:
            self._in_play = self.state, self.game.playing(self.state)
        return self._in_play[1]

    def emit(self, type: str, **facts: Any) -> None:
        """Record an event and fold it at once. Actions change a match in no other way."""
        event = {"type": type, **facts}
        self.events.append(event)
        self.table, self.state = evolve(self.game, self.table, self.state, event)

    def take(self, match: Match[State]) -> None:
        """Take over what the rules of the game have done: their events, and the state after them."""
        self.events += match.events
        self.state = match.state


class TableDeed(NamedTuple):
    """A kind of action at the table: its shape, and the functions that offer, judge and carry it out, as for a game (games.kernel.Deed).

    `by`: whose action it is. The actor is the id of a player, a seat that a player has, or `system`; for a referee's the id of a player.
    `after_the_end`: whether it is possible in a match that is over.
    `ranges`: the fields that are left to choose in an action that is offered, such as a version. Then `refusal` judges an action with or
    without them, and they must be there when it is carried out.
    """

    fields: Fields
    offers: Callable[[Session, str], Iterable[Action]]
    refusal: Callable[[Session, str, Action], Refusal | None]
    act: Callable[[Session, str, Action], None]
    by: Literal["player", "seat", "system", "referee"] = BY_PLAYER
    ranges: Callable[[Session, str, Action], Ranges] | None = None
    after_the_end: bool = False


def unlisted(session: Session, actor: str) -> list[Action]:
    """Return nothing: the `offers` of an action that says something which is not known here, such as a text."""
    return []


def evolve(game: Game, table: Table, state: State, event: Event) -> tuple[Table, State]:
    """Return both documents after an event. The old ones are untouched."""
    if event["type"] in FACTS:
        return fold(table, event), state
    return table, kernel.evolve(game, state, event)


def fold(table: Table, event: Event) -> Table:
    """Return the table after an event of the table. The old one is untouched."""
    after = table.copy()
    FACTS[event["type"]][0](after, event, copied)
    return after
