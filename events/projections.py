"""Projections: all that is worked out from the streams, thrown away and worked out anew, to the same content byte for byte.

It may run while matches are played: each match is put right in one step, and nothing is missing in between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import structlog

from events.entries import Entry, canonical, parse
from events.platform import Platform
from events.positions import Position, follow_all
from events.reactions import owed
from events.recall import game_of
from events.snapshots import kept, pack
from events.standings import indexes, standing
from events.store import Store
from events.wire import StoreUnavailable, script

log = structlog.get_logger(__name__)

_PROJECT = script("project")


class Rebuilt(NamedTuple):
    """What a rebuild has gone through, how many keys and index entries of no match it has removed, and which matches it had to leave alone
    because their streams cannot be replayed; the audit says why."""

    matches: int
    entries: int
    strays: int
    spoilt: tuple[str, ...] = ()


class Projected(NamedTuple):
    """All that is worked out from one stream."""

    position: Position
    requests: dict[str, str]
    snapshots: dict[int, bytes]


def rebuild(platform: Platform) -> Rebuilt:
    """Work out every projection anew, from the streams alone. Raises StoreUnavailable."""
    listed = _listed(platform.store)
    matches = entries = 0
    spoilt = []
    for match in platform.store.matches():
        try:
            entries += _put_right(platform, match, listed.pop(match, set()))
            matches += 1
        except StoreUnavailable:
            raise
        except Exception:
            # A stream that was tampered with can fail in any way; all others are still to be put right.
            log.exception("match_spoilt", match=match)
            spoilt.append(match)
    return Rebuilt(matches, entries, _sweep_strays(platform.store, listed), tuple(sorted(spoilt)))


def project(platform: Platform, match: str) -> Projected:
    """What follows from the stream of a match. Raises StoreUnavailable."""
    position: Position | None = None
    requests: dict[str, str] = {}
    snapshots: dict[int, bytes] = {}
    head = platform.store.head(match)
    stops = iter([*kept(head), head])
    stop = next(stops)
    stretch: list[Entry] = []
    for wire in platform.store.read_all(match):
        entry = parse(wire)
        if entry.version > head:
            break
        stretch.append(entry)
        while entry.version == stop:
            position = _folded(platform, position, stretch, requests)
            stretch = []
            if stop % 64 == 0 and stop not in snapshots:
                snapshots[stop] = pack(position)
            stop = next(stops, -1)
    assert position is not None
    return Projected(position, requests, snapshots)


def owner(entry: Entry, position: Position) -> str:
    """Whose request an entry answers: the player's who holds the seat, or the actor's own."""
    player: str = position.roster.get(entry.actor, {}).get("player", entry.actor)
    return player


def _folded(platform: Platform, position: Position | None, stretch: list[Entry], requests: dict[str, str]) -> Position:
    if not stretch:
        assert position is not None
        return position
    game = game_of(platform, stretch[0].events[0]["game"] if position is None else position.game)
    asked = [entry for entry in stretch if entry.request is not None and entry.version > 1]
    after = follow_all(game, position, stretch)
    assert after is not None
    for entry in asked:
        assert entry.request is not None
        name = f"{owner(entry, after)}/{entry.request['id']}"
        first = requests[name].partition(":")[0] if name in requests else str(entry.version)
        requests[name] = f"{first}:{entry.version}:{entry.request['fingerprint']}"
    return after


def _put_right(platform: Platform, match: str, listed: set[str]) -> int:
    """Put the projections of one match in place; the number of its entries."""
    keys = platform.store.keys(match)
    while True:
        projected = project(platform, match)
        position = projected.position
        belongs = indexes(position)
        names = sorted(belongs | listed)
        requests = [text for name, answer in sorted(projected.requests.items()) for text in (name, answer)]
        snapshots = [value for version, snapshot in sorted(projected.snapshots.items()) for value in (version, snapshot)]
        done = platform.store.wire.run(
            _PROJECT,
            [*keys[:5], *[keys.lists + name for name in names]],
            [
                position.version,
                match,
                position.created,
                position.at if owed(position) else "",
                canonical(standing(position)),
                len(projected.requests),
                len(projected.snapshots),
                *requests,
                *snapshots,
                *["+" if name in belongs else "-" for name in names],
            ],
        )
        if done:
            return position.version


def _listed(store: Store) -> dict[str, set[str]]:
    """Every index in which a match stands now, rightly or not."""
    listed: defaultdict[str, set[str]] = defaultdict(set)
    for tag in store.tags():
        start = f"{tag}:i:"
        for key in store.wire.keys(start + "*"):
            for member in store.wire.ask("ZRANGE", key, 0, -1):
                listed[member.decode()].add(key[len(start) :])
        for member in store.wire.ask("ZRANGE", f"{tag}:due", 0, -1):
            listed.setdefault(member.decode(), set())
    return listed


def _sweep_strays(store: Store, listed: dict[str, set[str]]) -> int:
    """Remove what belongs to no stream: index entries, and keys of projections."""
    strays = 0
    for match, names in listed.items():
        keys = store.keys(match)
        for key in [keys.due, *[keys.lists + name for name in names]]:
            strays += store.wire.ask("ZREM", key, match)
    for key, match in _projected_keys(store):
        if not store.head(match):
            strays += store.wire.ask("DEL", key)
    return strays


def _projected_keys(store: Store) -> Iterator[tuple[str, str]]:
    for tag in store.tags():
        for kind in "mrd":
            start = f"{tag}:{kind}:"
            for key in store.wire.keys(start + "*"):
                yield key, key[len(start) :]
