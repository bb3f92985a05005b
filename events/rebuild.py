"""Rebuild projections: replace everything that is derived from the logs by a new derivation. The result is the same byte for byte,
but for the places in lists of updates: the store gives a new one to a match that has lost its place.

A rebuild may run while matches are played. It corrects each match in one atomic step.
"""

from __future__ import annotations

from typing import NamedTuple

import structlog

from events.due import owed
from events.errors import StoreUnavailable
from events.hooks import subscriptions
from events.notary import key_leaves
from events.notary.leaves import covered, still_wanted_at
from events.platform import Platform
from events.rating import count_anew
from events.recall import folding
from events.snapshots import EVERY, kept, pack
from events.standings import indexes, stored
from events.store.projections import Derived, Listed
from record.entries import Entry, canonical, parse
from record.positions import Position, asker, follow_all
from record.thoughts import request_in

log = structlog.get_logger(__name__)


class Rebuilt(NamedTuple):
    """The result of a rebuild.

    `matches`, `entries`: how many it read. `strays`: how many keys and index entries without a match it removed. It could not repair the
    rest. `unreadable`: matches whose logs cannot be replayed (the audit says why). `misplaced`: keys of logs in another partition than
    their match. `secretless`: unfinished matches without a secret. `rated`: how many matches count for ratings, which are counted anew.
    """

    matches: int
    entries: int
    strays: int
    unreadable: tuple[str, ...] = ()
    misplaced: tuple[str, ...] = ()
    secretless: tuple[str, ...] = ()
    rated: int = 0


def rebuild(platform: Platform) -> Rebuilt:
    """Derive every projection anew, from the logs alone. Raises StoreUnavailable."""
    listing = platform.store.projections.listed()
    matches = entries = 0
    unreadable, secretless = [], []
    for match in platform.store.log.matches():
        try:
            position = _replace(platform, match, listing.matches.pop(match, Listed(set(), set())))
            entries += position.version
            matches += 1
            if position.secret is None and platform.store.log.load(match, 1).secret is None:
                secretless.append(match)
        except StoreUnavailable:
            raise
        except Exception as reason:  # noqa: BLE001 - it is logged
            if not platform.store.log.head(match):
                continue  # it was removed in the meantime, because it had not started
            # A log that was tampered with can fail in any way, and the other matches must still be corrected. Only the type of the error is
            # logged: its text may contain secrets.
            log.error("match_unreadable", match=match, error=type(reason).__name__)
            unreadable.append(match)
    strays = platform.store.projections.remove_strays(listing)
    subscriptions.rebuild(platform)
    key_leaves.rebuild(platform)
    misplaced = platform.store.log.misplaced()
    rated = count_anew(platform, platform.clock.now())
    return Rebuilt(matches, entries, strays, tuple(sorted(unreadable)), tuple(misplaced), tuple(sorted(secretless)), rated)


def derive(platform: Platform, match: str) -> tuple[Derived, Position]:
    """Return the projections that follow from the log of a match, and its newest position. Raises StoreUnavailable."""
    position: Position | None = None
    requests: dict[str, str] = {}
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
        if uncovered is None and entry.version > seen:
            uncovered = latest
        if any(event["type"] == "seat_handed_over" for event in entry.events):  # earlier requests belong to the earlier player
            position, stretch = _fold(platform, position, stretch, requests), []
        stretch.append(entry)
        while entry.version == stop:
            position = _fold(platform, position, stretch, requests)
            stretch = []
            if stop % EVERY == 0 and stop not in snapshots:
                snapshots[stop] = pack(position)
            stop = next(stops, -1)
    assert position is not None
    due = {work.member: work.due for work in owed(position)}
    lists, leaf = indexes(position), still_wanted_at(position, uncovered, logged)
    creator = position.table["creator"]
    return Derived(position.version, canonical(stored(position)), creator, requests, snapshots, lists, due, leaf), position


def _fold(platform: Platform, position: Position | None, stretch: list[Entry], requests: dict[str, str]) -> Position:
    if not stretch:
        assert position is not None
        return position
    game = folding(platform, stretch[0].events[0]["game"] if position is None else position.game, stretch[0].revision)
    requested = [(entry, request) for entry in stretch if entry.version > 1 and (request := request_in(entry)) is not None]
    after = follow_all(game, position, stretch)
    assert after is not None
    for entry, request in requested:
        name = f"{asker(entry, after)}/{request['id']}"
        first = requests[name].partition(":")[0] if name in requests else str(entry.version)
        requests[name] = f"{first}:{entry.version}:{request['fingerprint']}"
    return after


def _replace(platform: Platform, match: str, listed: Listed) -> Position:
    """Replace the projections of one match. Return its newest position."""
    for _ in range(_ATTEMPTS):
        derived, position = derive(platform, match)
        if platform.store.projections.replace(match, derived, listed):
            return position
    raise StoreUnavailable(f"{match} changes faster than it can be derived")


_ATTEMPTS = 1000
