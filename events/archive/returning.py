"""Bring a match back from the archive into the store, so that it can go on: a late ruling, for example, or a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from events import deriving
from events.archive import matches as objects_of
from events.telemetry import metrics

if TYPE_CHECKING:
    from events.platform import Platform

log = structlog.get_logger(__name__)


def bring_back(platform: Platform, match: str) -> bool:
    """Write a match that is filed away into the store again, with everything that is derived from it. Return False if it is not there.

    The object stays. Nothing happens if the match is in the store. Raises StoreUnavailable, ArchiveDamaged.
    """
    (where,) = platform.store.archiving.where([match])
    if where.away is None:
        return where.head > 0
    whole = objects_of.read(platform.archive.objects, match, where.away)  # with every entry linked
    derived, _ = deriving.derive(platform, match)
    platform.store.server_logs.note(match, whole.leaves)  # before the match can go on: no leaf is added twice
    done = platform.store.archiving.bring_back(match, where.away, whole.secret, whole.entries, derived, whole.sidelog)
    if done:
        platform.store.server_logs.note(match, whole.leaves)  # and again, if an archivist who was late has just forgotten them
        metrics.archive_brought_back.inc()
        log.info("match_brought_back", match=match, version=where.away.head)
    return done
