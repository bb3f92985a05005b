"""Derive the projections of a match: everything in the store that follows from its log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from events.due import owed
from events.notary.leaves import covered, still_wanted_at
from events.recall import folding
from events.snapshots import EVERY, kept, pack
from events.standings import indexes, stored
from events.store.packed import indexed, tag_of
from events.store.projections import Derived
from record.entries import Entry, canonical, parse
from record.positions import Position, asker, follow_all
from record.thoughts import request_in

if TYPE_CHECKING:
    from events.platform import Platform


def derive(platform: Platform, match: str) -> tuple[Derived, Position]:
    """Return the projections that follow from the log of a match, and its newest position. Raises StoreUnavailable."""
    position: Position | None = None
    tags: dict[int, bytes] = {}
    moments: list[int] = []
    snapshots: dict[int, bytes] = {}
    logged = platform.store.server_logs.logged(platform.signer.name, [match])[0]
    seen, latest = covered(logged), 0
    uncovered: int | None = None
    head = platform.store.log.head(match)
    stops = iter([*kept(head), head])
    stop = next(stops)
    stretch: list[Entry] = []
    for raw in platform.store.log.read_all(match):
        entry = parse(raw)
        if entry.version > head:
            break
        latest = max(latest, entry.at)
        moments.append(entry.at)
        if uncovered is None and entry.version > seen:
            uncovered = latest
        stretch.append(entry)
        while entry.version == stop:
            position, stretch = follow_with_tags(platform, position, stretch, tags), []
            if stop % EVERY == 0 and stop not in snapshots:
                snapshots[stop] = pack(position)
            stop = next(stops, -1)
    assert position is not None
    due = {work.member: work.due for work in owed(position)}
    lists, leaf = indexes(position), still_wanted_at(position, uncovered, logged)
    creator = position.table["creator"]
    requests, standing = indexed(moments, tags), canonical(stored(position))
    return Derived(position.version, standing, creator, requests, snapshots, lists, due, leaf, tags), position


def follow_with_tags(platform: Platform, position: Position | None, entries: Sequence[Entry], tags: dict[int, bytes]) -> Position:
    """Return the position after some entries. Add the tags of their requests by version. The entries must not be used afterwards."""
    stretch: list[Entry] = []
    for entry in entries:
        if any(event["type"] == "seat_handed_over" for event in entry.events):  # earlier requests belong to the earlier player
            position, stretch = _fold(platform, position, stretch, tags), []
        stretch.append(entry)
    return _fold(platform, position, stretch, tags)


def _fold(platform: Platform, position: Position | None, stretch: list[Entry], tags: dict[int, bytes]) -> Position:
    if not stretch:
        assert position is not None
        return position
    game = folding(platform, stretch[0].events[0]["game"] if position is None else position.game, stretch[0].revision)
    requested = [(entry, request) for entry in stretch if entry.version > 1 and (request := request_in(entry)) is not None]
    after = follow_all(game, position, stretch)
    assert after is not None
    for entry, request in requested:
        tags[entry.version] = tag_of(f"{asker(entry, after)}/{request['id']}")
    return after
