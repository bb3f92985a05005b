"""Keep service time: the time of entries and deadlines, in milliseconds since 1970.

A process takes service time from the wall clock when it starts, or from processes that already run. Then it follows the uptime of the
machine, which nobody sets. So a jump of the wall clock changes nothing. Small differences from the wall clock are corrected slowly.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import structlog

from events.telemetry import metrics

JUMP_MS = 1000  # a larger sudden difference means that the wall clock was set
ALIVE_MS = 2000  # a process with an older last pulse does not run
CARRIED_MS = 60_000  # how long service time follows the uptime alone when no process runs
BELIEVED_MS = 86_400_000  # a pulse further in the future is an error
SLOPE = 100  # service time approaches the wall clock by at most 1 ms in this many ms

_UPTIME: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_READ_MS = 50  # the longest time for reading both clocks

log = structlog.get_logger(__name__)


class Beat(NamedTuple):
    """A pulse of a process: service time, the uptime of its machine (both in ms), and the machine's id until its next restart."""

    moment: int
    uptime: int
    boot: str


class _Line(NamedTuple):
    """Service time as a line: it is `moment` at `uptime`, and follows the uptime. `correction`: the ms that are added gradually."""

    uptime: int
    moment: int
    correction: int


def wall_time() -> int:
    """Return the time of the wall clock, in ms since 1970."""
    return time.time_ns() // 1_000_000


def uptime() -> int:
    """Return the uptime of the machine in ms, the same for all its processes. On Linux this includes suspended time."""
    return time.clock_gettime_ns(_UPTIME) // 1_000_000


def boot_id() -> str:
    """Return the id of the machine until its next restart. Without such an id, each process counts as a machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:13]
    except OSError:
        return f"{secrets.token_hex(8)}.{os.getpid()}"


class Clock:
    """The service time of a process. It never runs backwards. Threads share it; one of them calls `compare` and `begin`.

    `wall` and `uptime` return ms. Tests pass their own.
    """

    def __init__(self, wall: Callable[[], int] = wall_time, uptime: Callable[[], int] = uptime, boot: str | None = None) -> None:
        self._wall = wall
        self.uptime = uptime
        self.boot = boot_id() if boot is None else boot
        self._line = _Line(uptime(), wall(), 0)
        self._apart = 0  # ms by which the wall clock is ahead after somebody set it

    def now(self) -> int:
        """Return the service time, in ms since 1970."""
        return self._at(self.uptime())

    def beat(self) -> Beat:
        """Return a pulse of now."""
        up = self.uptime()
        return Beat(self._at(up), up, self.boot)

    def compare(self) -> None:
        """Compare with the wall clock. Correct a small difference gradually, and log a jump. Call this every second."""
        before = self.uptime()
        wall = self._wall()
        up = self.uptime()
        if up - before > _READ_MS:
            return  # this process was stopped between the two readings
        moment = self._at(up)
        difference = wall - self._apart - moment
        if abs(difference) >= JUMP_MS:
            self._apart += difference
            log.warning("clock_jumped", ms=difference, apart_ms=self._apart)
            metrics.clock_jumps.inc()
            difference = 0
        self._line = _Line(up, moment, difference)

    def begin(self, newest: Beat, again: Callable[[], Beat]) -> None:
        """Adopt the service time of processes that run or ran a moment ago. It is never earlier than the `newest` pulse.

        `again` waits and returns the newest pulse then. It is called only if nothing else shows whether other processes run.
        """
        own = self.now()
        here = self._carried(newest, CARRIED_MS)
        if here is not None:
            moment = here
        elif newest.moment > own + BELIEVED_MS:
            log.error("pulse_in_the_future", ms=newest.moment - own)
            moment = own
        elif newest.boot != self.boot and own - newest.moment > ALIVE_MS:
            later = again()
            moment = later.moment if later.moment != newest.moment else max(own, self.now())
        else:
            moment = max(own, newest.moment)
        self._set(moment)

    def keep_up(self, newest: Beat) -> None:
        """Jump ahead to the newest pulse of another process if it is well ahead. The latest service time of all processes counts."""
        own = self.now()
        moment = self._carried(newest, ALIVE_MS) or newest.moment
        if JUMP_MS < moment - own < BELIEVED_MS:
            log.warning("clock_behind", ms=moment - own)
            metrics.clock_jumps.inc()
            self._set(moment)

    def _at(self, up: int) -> int:
        start, moment, correction = self._line
        passed = up - start
        if correction:
            most = passed // SLOPE
            correction = max(-most, min(most, correction))
        return moment + passed + correction

    def _carried(self, newest: Beat, oldest: int) -> int | None:
        """Return the exact service time of now by a pulse, or None if the pulse is too old or comes from another machine."""
        age = self.uptime() - newest.uptime
        return newest.moment + age if newest.boot == self.boot and 0 <= age <= oldest else None

    def _set(self, moment: int) -> None:
        difference = self._wall() - moment
        self._apart = difference if abs(difference) >= JUMP_MS else 0
        self._line = _Line(self.uptime(), moment, 0)
