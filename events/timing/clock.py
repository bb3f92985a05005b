"""Service time: the time that entries carry and by which deadlines come, in milliseconds since 1970.

A process takes it from the wall clock when it begins, or from the processes that run already. Then it carries it on by the clock of the
machine's uptime, which nobody sets. So a wall clock that jumps changes nothing. Small differences from the wall are evened out slowly.
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

JUMP_MS = 1000  # a wall clock that is suddenly further away than this has been set
ALIVE_MS = 2000  # a process whose last pulse is older does not run
CARRIED_MS = 60_000  # for so long service time goes on by the uptime alone, even if no process runs
BELIEVED_MS = 86_400_000  # a pulse that is further in the future than this is an error
SLOPE = 100  # service time catches up with the wall by one part in so many

_READ_MS = 50  # longest time in which both clocks are read

log = structlog.get_logger(__name__)


class Beat(NamedTuple):
    """A pulse as a process gave it: service time, the uptime of its machine (both in ms), and the machine's id until its next restart."""

    moment: int
    uptime: int
    boot: str


class _Line(NamedTuple):
    """Service time from `uptime` on: `moment`, and what passes, and up to `correction` ms that come in little by little."""

    uptime: int
    moment: int
    correction: int


def wall_time() -> int:
    """Return the time of the wall clock, in ms since 1970."""
    return time.time_ns() // 1_000_000


def uptime() -> int:
    """Return for how long the machine is up, in ms: the same for all processes of a machine. On Linux, with the time that it slept."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1_000_000


def boot_id() -> str:
    """Return the id of the machine until its next restart. Where there is none, each process is a machine of its own."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:13]
    except OSError:
        return f"{secrets.token_hex(8)}.{os.getpid()}"


class Clock:
    """The service time of a process, which never runs backwards. Shared by its threads; one of them calls `compare` and `begin`.

    `wall` and `uptime` return ms. Tests bring their own.
    """

    def __init__(self, wall: Callable[[], int] = wall_time, uptime: Callable[[], int] = uptime, boot: str | None = None) -> None:
        self._wall = wall
        self.uptime = uptime
        self.boot = boot_id() if boot is None else boot
        self._line = _Line(uptime(), wall(), 0)
        self._apart = 0  # ms by which the wall clock is ahead, since somebody set it

    def now(self) -> int:
        """Return the service time, in ms since 1970."""
        return self._at(self.uptime())

    def beat(self) -> Beat:
        """Return what a pulse says now."""
        up = self.uptime()
        return Beat(self._at(up), up, self.boot)

    def compare(self) -> None:
        """Compare with the wall clock: even out a small difference little by little, and note a jump. Call it each second."""
        before = self.uptime()
        wall = self._wall()
        up = self.uptime()
        if up - before > _READ_MS:
            return  # this process was stopped between the two
        moment = self._at(up)
        difference = wall - self._apart - moment
        if abs(difference) >= JUMP_MS:
            self._apart += difference
            log.warning("clock_jumped", ms=difference, apart_ms=self._apart)
            metrics.clock_jumps.inc()
            difference = 0
        self._line = _Line(up, moment, difference)

    def begin(self, newest: Beat, again: Callable[[], Beat]) -> None:
        """Take over the service time of the processes that run or ran a moment ago; it is never earlier than the `newest` pulse.

        `again` returns the newest pulse a pulse later. It is asked only if nothing else tells whether others run.
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
        """Go on to the newest pulse of another process if that is well ahead: of all processes, the latest service time counts."""
        own = self.now()
        moment = self._carried(newest, ALIVE_MS) or newest.moment
        if JUMP_MS < moment - own < BELIEVED_MS:
            log.warning("clock_behind", ms=moment - own)
            metrics.clock_jumps.inc()
            self._set(moment)

    def _at(self, up: int) -> int:
        start, moment, correction = self._line
        passed = up - start
        most = passed // SLOPE
        return moment + passed + max(-most, min(most, correction))

    def _carried(self, newest: Beat, oldest: int) -> int | None:
        """Return what service time is now by a pulse of this machine, carried on exactly; None if it is of another one or too old."""
        age = self.uptime() - newest.uptime
        return newest.moment + age if newest.boot == self.boot and 0 <= age <= oldest else None

    def _set(self, moment: int) -> None:
        difference = self._wall() - moment
        self._apart = difference if abs(difference) >= JUMP_MS else 0
        self._line = _Line(self.uptime(), moment, 0)
