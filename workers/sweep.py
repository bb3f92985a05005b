"""The sweep: find work that is due but was lost by the queue, and work that becomes due at a deadline.

The queue may lose everything. Thanks to the sweep, no work is lost.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from operator import itemgetter

import orjson
import structlog

from events.deadlines import settled
from events.due import DEADLINE, KINDS, Owed, owed, split
from events.errors import StoreUnavailable
from events.platform import Platform
from events.recall import position
from events.telemetry import metrics
from workers.background import Background, Turn

EVERY = 1.0
AT_ONCE = 50  # the most members of a partition to read at once

AHEAD_MS = 400  # how far a look at deadlines sees ahead
BACK_MS = 3000  # how far it looks back, because an entry may be that much older than its append
HELD_MS = 50  # until the next look, if requests from before a passed deadline are still being carried out
DEADLINES_AT_ONCE = 1000  # the most members of a partition to read at once
BATCH = 250  # deadlines to enqueue at once; the earliest come first, and nobody waits for thousands of others
PACE_MS = 50  # the least time between two looks at deadlines
WORTH = 4  # times that a look took until the next one: with thousands of deadlines, looks take a fifth of a process at most

log = structlog.get_logger(__name__)


def overdue(platform: Platform, now: int) -> dict[str, int]:
    """Return the members of the due index that may be lost, with their moments in ms. Raises StoreUnavailable.

    Work that is due at once may be lost if its moment is further from `now` than the patience of its kind: in the past, a worker should
    have done it; in the future, a clock is wrong. The moment of other work is its deadline, and it waits from then on.
    """
    found = platform.store.due.earliest(now, AT_ONCE)
    # Work that fails repeatedly stays at the front. So a sample of all moments is examined, too, also of those that a wrong clock set.
    found |= platform.store.due.sample(AT_ONCE)
    return _settled_only(platform, {member: moment for member, moment in found.items() if _is_overdue(member, now - moment)}, now)


def sweep(platform: Platform, now: int | None = None) -> int:
    """Re-enqueue overdue steps that the queue has lost. Return how many. Steps that still wait are not touched. Raises StoreUnavailable."""
    now = platform.clock.now() if now is None else now
    moments = overdue(platform, now)
    lost = _lost(platform, moments, now)
    swept = platform.jobs.push_again(lost, now)
    metrics.swept.inc(swept)
    if swept:
        log.info("swept", steps=swept, waited_ms=max(now - moments[work.member] for work in lost))
    return swept


def call_deadlines(platform: Platform, since: int) -> tuple[int, int]:
    """Enqueue the work of deadlines that have passed. Return the milliseconds until the next look, and its `since`.

    Raises StoreUnavailable.
    """
    now = platform.clock.now()
    found = platform.store.due.between(since, now + AHEAD_MS, DEADLINES_AT_ONCE)
    moments = {member: moment for member, moment in found.items() if member.startswith(f"{DEADLINE}|") and member.count("|") > 1}
    passed = {member: moment for member, moment in moments.items() if moment < now}
    ready = _settled_only(platform, passed, now)
    earliest = sorted(ready.items(), key=itemgetter(1))
    for start in range(0, len(earliest), BATCH):
        platform.jobs.push_again(_lost(platform, dict(earliest[start : start + BATCH]), now), now)
    held = [moment for member, moment in passed.items() if member not in ready]
    coming = [moment - now + 1 for moment in moments.values() if moment >= now]
    return min([AHEAD_MS, *coming, *[HELD_MS for _ in held]]), min([now, *held]) - BACK_MS


def _lost(platform: Platform, moments: Mapping[str, int], now: int) -> list[Owed]:
    """Return the work of members of the index that is due, but neither waits nor is with a worker."""
    members = platform.jobs.lost(moments, now)
    lost = _deadlines(platform, {split(member)[1]: moments[member] for member in members if member.startswith(f"{DEADLINE}|")})
    known = {work.member for work in lost}
    for member in members:
        if member in known:
            continue
        _, match, _ = split(member)
        try:
            works = owed(position(platform, match))
        except StoreUnavailable:
            raise
        except Exception as reason:  # noqa: BLE001 - it is logged
            # An unreadable match must not delay the others. Only the type of the error is logged: its text may contain secrets.
            log.error("match_unreadable", match=match, error=type(reason).__name__)
            continue
        lost += [work for work in works if work.member == member]
    return lost


def _deadlines(platform: Platform, moments: Mapping[str, int]) -> list[Owed]:
    """Return the work of the deadlines of matches, from what lists say of them. A worker checks it. It is one round trip for all."""
    found: list[Owed] = []
    for match, (standing, entry, _) in zip(moments, platform.store.lists.with_entries(list(moments)), strict=True):
        with suppress(ValueError, LookupError, TypeError):  # what cannot be read is looked at as a whole
            version, creator = orjson.loads(entry)["version"], orjson.loads(standing)["creator"]
            found.append(Owed(DEADLINE, match, int(version), "", moments[match], str(creator)))
    return found


def _settled_only(platform: Platform, moments: dict[str, int], now: int) -> dict[str, int]:
    """Return the members without deadlines that earlier requests or an outage may still change."""
    if not any(member.startswith(f"{DEADLINE}|") for member in moments):
        return moments
    until = settled(platform, now)
    return {member: moment for member, moment in moments.items() if moment < until or not member.startswith(f"{DEADLINE}|")}


def _is_overdue(member: str, waited: int) -> bool:
    kind = KINDS.get(member.partition("|")[0])
    if kind is None or member.count("|") < 2:
        return False
    return abs(waited) >= kind.patience_ms if kind.at_once else waited >= 0


class Sweep(Background):
    """The thread that sweeps every second, in one of the workers. In between it looks at deadlines, so that none waits for a sweep."""

    TITLE = "sweep"

    def run(self) -> None:
        """Sweep until stopped. After an error, try again a second later."""
        pause, due, since = EVERY, 0.0, 0
        turn = Turn(self._platform, "sweep")
        while not self._stop_it.wait(pause):
            if not turn.is_mine():
                pause, since = AHEAD_MS / 1000, 0
                continue
            try:
                if time.monotonic() >= due:
                    due = time.monotonic() + EVERY
                    sweep(self._platform)
                began = time.monotonic()
                milliseconds, since = call_deadlines(self._platform, since)
                pause = max(milliseconds, PACE_MS) / 1000
                pause = max(pause, min(AHEAD_MS / 1000, WORTH * (time.monotonic() - began)))
            except StoreUnavailable as reason:
                log.warning("sweep_failed", error=type(reason).__name__)
                pause = EVERY
            except Exception as reason:  # noqa: BLE001 - it is logged
                # An ended sweep would be noticed much later, when a job is lost.
                log.error("sweep_failed", error=type(reason).__name__)
                pause = EVERY
        turn.close()
