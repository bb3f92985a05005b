"""The session: a match with both its documents while an action of the table is offered, judged or carried out.

An action of the table may have facts of the table and of the game. The type of a fact decides which document it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from games import kernel
from games.documents import Own, copied
from games.kernel import Action, Event, Game, Refusal, State
from games.schema import Fields
from table.document import Table
from table.facts import FACTS
from table.state import BLANK


class Session:
    """A match while one action of the table is carried out: both documents so far, and the events so far.

    Only creating a match needs what is published then: `commitment`, the SHA-256 of the match's secret, in hex; `lock`, the hash of the
    code that it may ask for; and `expires`, when it is removed unless it has started, in milliseconds since 1970.
    """

    __slots__ = ("commitment", "events", "expires", "game", "lock", "state", "table")

    def __init__(
        self, game: Game, table: Table = BLANK, state: State = None, commitment: str = "", lock: str = "", expires: int | None = None
    ) -> None:
        self.game = game
        self.table = table
        self.state = {} if state is None else state
        self.commitment = commitment
        self.lock = lock
        self.expires = expires
        self.events: list[Event] = []

    def emit(self, type: str, **facts: Any) -> None:
        """Record an event and fold it at once. Actions change a match in no other way."""
        event = {"type": type, **facts}
        self.events.append(event)
        self.table, self.state = evolve(self.game, self.table, self.state, event)


class TableDeed(NamedTuple):
    """A kind of action at the table: its shape, and the functions that offer, judge and carry it out, as for a game (games.kernel.Deed).

    The actor is the id of a player.
    """

    fields: Fields
    offers: Callable[[Session, str], Iterable[Action]]
    refusal: Callable[[Session, str, Action], Refusal | None]
    act: Callable[[Session, str, Action], None]


def evolve(game: Game, table: Table, state: State, event: Event) -> tuple[Table, State]:
    """Return both documents after an event. The old ones are untouched."""
    known = FACTS.get(event["type"])
    if known is None:
        return table, kernel.evolve(game, state, event)
    after = table.copy()
    known[0](after, event, copied)
    return after, state


def fold_in_place(table: Table, event: Event, own: Own) -> None:
    """Fold an event of the table into a document that belongs to the caller."""
    FACTS[event["type"]][0](table, event, own)
