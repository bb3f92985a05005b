"""Positions: a match at one version, and how an entry leads from one to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from events.entries import Entry
from games.documents import clone, owned
from games.kernel import SYSTEM, Game, Memory, State, fold, remembered

Occupant = dict[str, Any]  # {"player": id}, {"ai": level} or {"open": True}

CREATE = "create_match"
CREATED = "match_created"
TAKE = "take_seat"
TAKEN = "seat_taken"


class Position(NamedTuple):
    """A match as it stands after the entry of `version`, with everything hidden in it; treat all of it as frozen.

    `document` is the game's state document in full, `memory` what everybody who has watched knows beyond it.
    `roster` says who holds each seat: {"player": id}, {"ai": level} or {"open": True}.
    `secret`, in hex, is known only once the match is over. Times are in milliseconds since 1970.
    """

    match: str
    game: str
    version: int
    digest: str
    at: int
    rules: int
    created: int
    creator: str
    commitment: str
    contributions: Mapping[str, str]
    roster: Mapping[str, Occupant]
    document: State
    memory: Memory
    secret: str | None

    @property
    def status(self) -> str:
        """`open` while a seat is free, then `playing`, at last `over`."""
        if self.document["outcome"] is not None:
            return "over"
        return "open" if any("open" in holder for holder in self.roster.values()) else "playing"

    @property
    def to_act(self) -> list[str]:
        """The actors who must decide now: seats or `system`; nobody while a seat is free."""
        to_act: list[str] = self.document["to_act"]
        return [] if self.status == "open" else to_act

    def seats_of(self, player: str) -> list[str]:
        """The seats that a player holds, in turn order."""
        return [seat for seat in self.document["seats"] if self.roster[seat].get("player") == player]


def begun(entry: Entry) -> Position:
    """The position after the first entry of a match."""
    (event,) = entry.events
    assert event["type"] == CREATED
    return Position(
        match=entry.match,
        game=event["game"],
        version=entry.version,
        digest=entry.digest,
        at=entry.at,
        rules=entry.rules,
        created=entry.at,
        creator=entry.actor,
        commitment=event["commitment"],
        contributions={},
        roster=event["seats"],
        document=event["document"],
        memory={},
        secret=entry.secret,
    )


def follow(game: Game, position: Position, entry: Entry) -> Position:
    """The position after the next entry. The old one is untouched."""
    if seats_somebody(position, entry):
        return seated(position, entry)
    return moved(position, entry, fold(game, position.document, entry.events), remembered(game, position.memory, entry.events))


def seats_somebody(position: Position, entry: Entry) -> bool:
    """Whether an entry is of the platform's own, by a player, and not of the game, by a seat or the system."""
    return entry.actor not in position.roster and entry.actor != SYSTEM


def moved(position: Position, entry: Entry, document: State, memory: Memory) -> Position:
    """The position after an entry of the game that has led to `document`, and to what is remembered of it."""
    return Position(
        position.match,
        position.game,
        entry.version,
        entry.digest,
        entry.at,
        entry.rules,
        position.created,
        position.creator,
        position.commitment,
        position.contributions,
        position.roster,
        document,
        memory,
        entry.secret or position.secret,
    )


def seated(position: Position, entry: Entry) -> Position:
    """The position after a player has taken a seat."""
    (event,) = entry.events
    seat = event["seat"]
    given = {} if event["contribution"] is None else {seat: event["contribution"]}
    return moved(position, entry, position.document, position.memory)._replace(
        roster={**position.roster, seat: {"player": event["player"]}},
        contributions={**position.contributions, **given},
    )


def follow_all(game: Game, position: Position | None, entries: Iterable[Entry]) -> Position | None:
    """The position after many entries, folded in place on a private copy; from the start of the match where `position` is None.

    Parts of the entries end up in the new document: the caller gives them away.
    """
    document: State | None = None
    memory: Memory = {} if position is None else position.memory
    last: Entry | None = None
    facts = game.facts
    for entry in entries:
        if position is None:
            position = begun(entry)
        elif seats_somebody(position, entry):
            position = seated(position, entry)
        else:
            if document is None:
                document = clone(position.document)
            for event in entry.events:
                facts[event["type"]](document, event, owned)
            memory = remembered(game, memory, entry.events)
        last = entry
    if document is not None and position is not None and last is not None:
        position = moved(position, last, document, memory)
    return position
