"""Rebuild projections: replace everything that is derived from the logs by a new derivation. The result is the same byte for byte,
but for the places in lists of updates: the store gives a new one to a match that has lost its place.

A rebuild may run while matches are played. It corrects each match in one atomic step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import structlog

from events.archive import filing
from events.deriving import derive
from events.errors import StoreUnavailable
from events.hooks import subscriptions
from events.notary import key_leaves
from events.platform import Platform
from events.rating import count_anew
from events.store.projections import Listed, Listing
from record.positions import Position

log = structlog.get_logger(__name__)


class Rebuilt(NamedTuple):
    """The result of a rebuild.

    `matches`, `entries`: how many it read. `strays`: how many keys and index entries without a match it removed. `filed`: how many matches
    of the archive it filed away again. It could not repair the rest. `damaged`: objects of the archive that cannot be read. `unreadable`:
    matches whose logs cannot be replayed (the audit says why). `misplaced`: keys of logs in another partition than their match.
    `secretless`: unfinished matches without a secret. `rated`: how many matches count for ratings, which are counted anew.
    """

    matches: int
    entries: int
    strays: int
    unreadable: tuple[str, ...] = ()
    misplaced: tuple[str, ...] = ()
    secretless: tuple[str, ...] = ()
    rated: int = 0
    filed: int = 0
    damaged: tuple[str, ...] = ()


def rebuild(
    platform: Platform,
    after: str = "",
    anew: bool = False,
    done: Callable[[str], object] = lambda match: None,
    again: Callable[[str], object] = lambda match: None,
) -> Rebuilt:
    """Derive every projection anew, from the logs alone. Raises StoreUnavailable.

    `done` is told of each match in the store, `again` of each in the archive. `after` and `anew`: as in `file_again`
    (events/archive/filing.py).
    """
    listing = platform.store.projections.listed()
    matches = entries = 0
    unreadable, secretless = [], []
    for match in platform.store.live.matches():
        done(match)
        try:
            position = _replace(platform, match, listing.matches.pop(match, Listed(set(), set())))
            entries += position.version
            matches += 1
            if position.secret is None and platform.store.log.load(match, 1).secret is None:
                secretless.append(match)
        except StoreUnavailable:
            raise
        except Exception as reason:  # noqa: BLE001 - it is logged
            if not platform.store.live.head(match):
                continue  # it was removed in the meantime, because it had not started, or archived
            # A log that was tampered with can fail in any way, and the other matches must still be corrected. Only the type of the error is
            # logged: its text may contain secrets.
            log.error("match_unreadable", match=match, error=type(reason).__name__)
            unreadable.append(match)
    refiled = filing.file_again(platform, after, anew, again)
    filing.want_leaves(platform)
    strays = platform.store.projections.remove_strays(_without_filed(platform, listing))
    subscriptions.rebuild(platform)
    key_leaves.rebuild(platform)
    misplaced = platform.store.log.misplaced()
    rated = count_anew(platform, platform.clock.now())
    failed = tuple(sorted(unreadable)), tuple(misplaced), tuple(sorted(secretless))
    return Rebuilt(matches, entries, strays, *failed, rated, refiled.filed, refiled.damaged)


def _without_filed(platform: Platform, listing: Listing) -> Listing:
    """Return a listing without the matches that are filed away, or are back since then: the functions that move them keep their places."""
    matches = list(listing.matches)
    moved = [where.away is not None or where.head > 0 for where in platform.store.archiving.where(matches)]
    return listing._replace(matches={match: listing.matches[match] for match, known in zip(matches, moved, strict=True) if not known})


def _replace(platform: Platform, match: str, listed: Listed) -> Position:
    """Replace the projections of one match. Return its newest position."""
    for _ in range(_ATTEMPTS):
        derived, position = derive(platform, match)
        if platform.store.projections.replace(match, derived, listed) or not platform.store.live.head(match):
            return position
    raise StoreUnavailable(f"{match} changes faster than it can be derived")


_ATTEMPTS = 1000
