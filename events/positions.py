"""Positions: a match at one version, and how an entry leads from one to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from events.entries import Entry
from games.documents import clone, owned
from games.kernel import Game, Memory, State, remembered
from table.document import Occupant, Table
from table.session import evolve, fold_in_place
from table.state import BLANK, CLOSED, OPEN, STARTED, is_open, seats_of


class Position(NamedTuple):
    """A match after the entry of `version`, with everything hidden in it. Treat it as frozen.

    `table` is the document of the table, `document` that of the game, `memory` what everybody who has watched knows beyond them.
    `revision` and `rules` are those of the last entry. `secret`, in hex, is known only once the match has ended. `changed` is when the
    table last changed, or when the match ended. Times are in milliseconds since 1970.
    """

    match: str
    version: int
    digest: str
    at: int
    created: int
    changed: int
    revision: int
    rules: str
    table: Table
    document: State
    memory: Memory
    secret: str | None

    @property
    def game(self) -> str:
        """The id of the game."""
        return self.table["game"]

    @property
    def roster(self) -> Mapping[str, Occupant]:
        """The roster: who has each seat."""
        return self.table["roster"]

    @property
    def status(self) -> str:
        """`open` while a seat is free, then `playing`, at last `over`; `closed` if it was closed before it began."""
        if self.document["outcome"] is not None:
            return "over"
        return self.table["phase"] if self.table["phase"] in (OPEN, CLOSED) else "playing"

    @property
    def ended(self) -> bool:
        """True if there will be no more entries, and the secret is known to everybody."""
        return ended(self.table, self.document)

    @property
    def to_act(self) -> list[str]:
        """The actors who must decide now: seats or `system`. Nobody before the match has started."""
        to_act: list[str] = self.document["to_act"]
        return to_act if self.table["phase"] == STARTED else []

    def seats_of(self, player: str) -> list[str]:
        """Return the seats of a player, in turn order."""
        mine = seats_of(self.table, player)
        return [seat for seat in self.document["seats"] if seat in mine] if len(mine) > 1 else mine

    def open_seats(self) -> list[str]:
        """Return the seats that nobody has yet, in the order of the document."""
        return [seat for seat in self.document["seats"] if is_open(self.roster[seat])]


def ended(table: Table, document: State) -> bool:
    """Return True if a match is over or was closed. The entry that ends it reveals its secret."""
    return document["outcome"] is not None or table["phase"] == CLOSED


def follow(game: Game, position: Position | None, entry: Entry) -> Position:
    """Return the position after the next entry, from None for the first. The old one is untouched."""
    table, document, memory = (BLANK, {}, {}) if position is None else (position.table, position.document, position.memory)
    for event in entry.events:
        table, document = evolve(game, table, document, event)
    return moved(position, entry, table, document, remembered(game, memory, entry.events))


def moved(position: Position | None, entry: Entry, table: Table, document: State, memory: Memory) -> Position:
    """Return the position after an entry that has led to these documents."""
    return Position(
        entry.match,
        entry.version,
        entry.digest,
        entry.at,
        entry.at if position is None else position.created,
        entry.at if position is None or table is not position.table or ended(table, document) else position.changed,
        entry.revision,
        entry.rules,
        table,
        document,
        memory,
        entry.secret or (None if position is None else position.secret),
    )


def follow_all(game: Game, position: Position | None, entries: Iterable[Entry]) -> Position | None:
    """Return the position after many entries, from None for the first; they are folded in place on a private copy.

    Parts of the entries end up in the new documents: the caller gives the entries away.
    """
    last: Entry | None = None
    table: Any = None
    document: Any = None
    memory: Memory = {} if position is None else position.memory
    created = 0 if position is None else position.created
    changed = 0 if position is None else position.changed
    secret = None if position is None else position.secret
    facts = game.facts
    for entry in entries:
        if last is None:
            table = clone(BLANK if position is None else position.table)
            document = {} if position is None else clone(position.document)
            created = created or entry.at
        for event in entry.events:
            fact = facts.get(event["type"])
            if fact is None:
                fold_in_place(table, event, owned)
                changed = entry.at
            else:
                fact(document, event, owned)
        memory = remembered(game, memory, entry.events)
        secret = entry.secret or secret
        last = entry
    if last is None:
        return position
    match, version, at = last.match, last.version, last.at
    changed = at if ended(table, document) else changed
    return Position(match, version, last.digest, at, created, changed, last.revision, last.rules, table, document, memory, secret)
