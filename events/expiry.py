"""Remove matches that have not started in time (TBL-EXP-01, TBL-EXP-02)."""

from __future__ import annotations

import contextlib

from events.due import owed
from events.keeping import losses
from events.platform import Platform
from events.recall import position
from events.standings import indexes
from events.store.projections import UPDATED
from table.data import CLOSED_MS, OPEN_MS


def remove(platform: Platform, match: str) -> bool:
    """Remove a match that has not started in time, with everything that belongs to it. Return False if it stays.

    The store decides, by the entries of the match and its own clock. Raises NoMatch, StoreUnavailable, StoreRefused.
    """
    now = position(platform, match)
    places = [work.member for work in owed(now)]
    with contextlib.suppress(OSError):  # on a full disk nothing is removed either
        losses.note_removal(platform.settings.data, match)
    names = {*indexes(now), f"{UPDATED}:{now.table['creator']}"}
    removed = platform.store.removal.remove(match, now.version, names, places, OPEN_MS, CLOSED_MS)
    if removed:
        platform.cache.drop(match)
    return removed
