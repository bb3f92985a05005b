"""The sweep: what is owed and has waited too long is asked for again. The queue may lose everything; this is why nothing is lost."""

from __future__ import annotations

import time
from threading import Event, Thread

import structlog

from events import metrics
from events.platform import Platform
from events.reactions import owed
from events.recall import position
from events.wire import StoreUnavailable

EVERY = 1.0
PATIENCE_MS = 2000
AT_ONCE = 50  # of a partition
DEEP = 1000  # with so many jobs waiting the queue is not empty but long, and more would not help

log = structlog.get_logger(__name__)


def overdue(platform: Platform, now: int) -> list[tuple[str, int]]:
    """The matches that have waited too long, and since when, in milliseconds. Raises StoreUnavailable."""
    tags = platform.store.tags()
    late: list[tuple[str | int, ...]] = [
        ("ZRANGE", f"{tag}:due", "-inf", now - PATIENCE_MS, "BYSCORE", "LIMIT", 0, AT_ONCE, "WITHSCORES") for tag in tags
    ]
    # What no attempt helps stays at the front; so some are taken from anywhere, among them what a clock gone wrong has put in the future.
    anywhere = [("ZRANDMEMBER", f"{tag}:due", AT_ONCE, "WITHSCORES") for tag in tags]
    found = {match.decode(): int(since) for answer in platform.store.wire.ask_all([*late, *anywhere]) for match, since in answer}
    return [(match, since) for match, since in found.items() if abs(now - since) >= PATIENCE_MS]


def sweep(platform: Platform, now: int | None = None, anew: str = "") -> int:
    """Ask again for what is overdue, and say for how many. Raises StoreUnavailable."""
    now = time.time_ns() // 1_000_000 if now is None else now
    late = overdue(platform, now)
    depth = platform.jobs.depth() if late else 0
    if depth is None or depth > DEEP:
        return 0
    asked = 0
    for match, since in late:
        try:
            step = owed(position(platform, match))
        except StoreUnavailable:
            raise
        except Exception as reason:  # noqa: BLE001 - it is told
            # One match that cannot be read must not keep all others waiting. Of the error its kind alone: its text may hold what is hidden.
            log.error("match_unreadable", match=match, error=type(reason).__name__)
            continue
        # Attempts are numbered by how often the waiting time has doubled: sweeps side by side ask once, and what fails is left ever longer.
        if step is not None and platform.jobs.enqueue(step, again=f"{(abs(now - since) // PATIENCE_MS).bit_length()}{anew}"):
            asked += 1
            log.info("swept", match=match, version=step.version, actor=step.actor, waited_ms=now - since)
    metrics.swept.inc(asked)
    return asked


class Sweep(Thread):
    """A sweep every second, beside the worker."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(name="sweep", daemon=True)
        self._platform = platform
        self._stop_it = Event()

    def run(self) -> None:
        """Sweep until stopped; a store that is down now is asked again in a second."""
        while not self._stop_it.wait(EVERY):
            try:
                sweep(self._platform)
            except StoreUnavailable as reason:
                log.warning("sweep_failed", error=type(reason).__name__)
            except Exception as reason:  # noqa: BLE001 - it is told
                # A sweep that ends for good would be noticed only when a job is lost, much later.
                log.error("sweep_failed", error=type(reason).__name__)

    def stop(self) -> None:
        """End after the current sweep."""
        self._stop_it.set()
