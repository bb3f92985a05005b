"""Explain why a field has its value: find the entries that changed it, as one viewer sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson
from jsonpointer import EndOfList, JsonPointer

from events import recall
from events.platform import Platform
from games.kernel import Game
from record.entries import Entry, parse
from record.positions import Position, follow
from table.session import evolve
from table.state import BLANK

SEARCHED = 1000  # versions in one search; the next search continues before them


class Nothing:
    """There is no such field."""


NOTHING = Nothing()


class Change(NamedTuple):
    """An entry that changed a field: the position after it, the field before and after it, and the places of the responsible events."""

    entry: Entry
    position: Position
    before: Any
    after: Any
    places: list[int]


class Found(NamedTuple):
    """The changes that a search found, newest first. `further`: the version at which the next search continues, or None at the end."""

    changes: list[Change]
    further: int | None


def search(platform: Platform, game: Game, match: str, pointer: JsonPointer, viewer: str, at: int, limit: int) -> Found:
    """Return the entries up to version `at` that changed a field as a viewer sees it, at most `limit`.

    The number of searched versions is bounded (SEARCHED). Raises NoMatch, StoreUnavailable.
    """
    start = max(0, at - SEARCHED)
    before = recall.state_at(platform, match, start) if start else None
    entries = [parse(raw) for raw in platform.store.log.read(match, start, at - start)]
    found = list(changes(game, before, entries, pointer, viewer))[::-1]
    if len(found) > limit:
        return Found(found[:limit], found[limit - 1].entry.version - 1)
    return Found(found, start or None)


def changes(game: Game, position: Position | None, entries: Sequence[Entry], pointer: JsonPointer, viewer: str) -> Iterator[Change]:
    """Yield the entries after a position that changed a field as a viewer sees it, in order."""
    old = NOTHING if position is None else value(game, position.document, pointer, viewer)
    for entry in entries:
        before, position = position, follow(game, position, entry)
        new = value(game, position.document, pointer, viewer)
        if not same(old, new):
            yield Change(entry, position, old, new, list(_places(game, before, entry, pointer, viewer)))
        old = new


def _places(game: Game, before: Position | None, entry: Entry, pointer: JsonPointer, viewer: str) -> Iterator[int]:
    """Yield the places of the events of an entry that changed a field."""
    table, document = (BLANK, {}) if before is None else (before.table, before.document)
    old = NOTHING if before is None else value(game, document, pointer, viewer)
    for place, event in enumerate(entry.events):
        table, document = evolve(game, table, document, event)
        new = value(game, document, pointer, viewer)
        if not same(old, new):
            yield place
        old = new


def value(game: Game, document: Any, pointer: JsonPointer, viewer: str) -> Any:
    """Return a field of a document as a viewer sees it, or NOTHING."""
    found = pointer.resolve(game.view(document, viewer), NOTHING) if document else NOTHING
    return NOTHING if isinstance(found, EndOfList) else found


def same(one: Any, other: Any) -> bool:
    """Return True if two fields are equal JSON."""
    if one is other:
        return True
    if one is NOTHING or other is NOTHING:
        return False
    return orjson.dumps(one, option=orjson.OPT_SORT_KEYS) == orjson.dumps(other, option=orjson.OPT_SORT_KEYS)
