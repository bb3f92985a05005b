"""The sweep: find what is due and was lost on its way to a worker. The queue may lose everything; because of the sweep nothing is lost."""

from __future__ import annotations

from threading import Event, Thread

import structlog

from events import metrics
from events.due import KINDS, Owed, owed, split
from events.errors import StoreUnavailable
from events.platform import Platform
from events.recall import position

EVERY = 1.0
AT_ONCE = 50  # members of a partition

log = structlog.get_logger(__name__)


def overdue(platform: Platform, now: int) -> dict[str, int]:
    """Return the members of the index of what is due that may be lost, with their moments in ms. Raises StoreUnavailable.

    Work that is due at once may be lost if its moment is further from `now` than the patience of its kind: in the past because a worker
    should have done it, in the future because a clock is wrong. Other work has a deadline as its moment, and waits from then on.
    """
    found = platform.store.due.earliest(now, AT_ONCE)
    # Work that fails again and again stays at the front. So some of any moment is examined too, also what a wrong clock put in the future.
    found |= platform.store.due.sample(AT_ONCE)
    return {member: moment for member, moment in found.items() if _is_overdue(member, now - moment)}


def sweep(platform: Platform, now: int | None = None) -> int:
    """Let what is overdue and lost wait again, and return how many steps that are. What waits is left alone. Raises StoreUnavailable."""
    now = platform.clock.now() if now is None else now
    moments = overdue(platform, now)
    lost: list[Owed] = []
    for member in platform.jobs.lost(list(moments), now):
        _, match, _ = split(member)
        try:
            works = owed(position(platform, match))
        except StoreUnavailable:
            raise
        except Exception as reason:  # noqa: BLE001 - it is logged
            # One match that cannot be read must not delay the others. Only the type of the error is logged: its text may hold secrets.
            log.error("match_unreadable", match=match, error=type(reason).__name__)
            continue
        lost += [work for work in works if work.member == member]
    swept = platform.jobs.push_again(lost, now)
    metrics.swept.inc(swept)
    if swept:
        log.info("swept", steps=swept, waited_ms=max(now - moments[work.member] for work in lost))
    return swept


def _is_overdue(member: str, waited: int) -> bool:
    kind = KINDS.get(member.partition("|")[0])
    if kind is None or member.count("|") < 2:
        return False
    return abs(waited) >= kind.patience_ms if kind.at_once else waited >= 0


class Sweep(Thread):
    """A sweep every second, beside the worker."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(name="sweep", daemon=True)
        self._platform = platform
        self._stop_it = Event()

    def run(self) -> None:
        """Sweep until stopped. After an error, sweep again a second later."""
        while not self._stop_it.wait(EVERY):
            try:
                sweep(self._platform)
            except StoreUnavailable as reason:
                log.warning("sweep_failed", error=type(reason).__name__)
            except Exception as reason:  # noqa: BLE001 - it is logged
                # A sweep that ended for good would be noticed only when a job is lost, much later.
                log.error("sweep_failed", error=type(reason).__name__)

    def stop(self) -> None:
        """End after the current sweep."""
        self._stop_it.set()
