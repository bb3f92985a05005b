"""Meters: how much of a limit each subject has used. Each process counts alone, and settles with the others in the background.

So a meter costs a request no round trip. Once a subject has used a small share of its limit, a thread adds the counts of this process to
the shared counters, and learns what the other processes have counted. So all processes together may exceed a limit by the share of each
process, and by what they have counted since the last settlement.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from heapq import nsmallest
from math import ceil
from typing import Protocol

import structlog

from events.store.queue.counters import Addition, Counters
from service.http.limits import Limit, Used

MOST = 16_384  # subjects of a meter; beyond that, those who have used least are forgotten
SHARE = 20  # a subject is settled once it has used this fraction of its limit: 1/20
SETTLE_SECONDS = 1.0  # between settlements; they come sooner while a subject uses much
PACE_SECONDS = 0.05
IDLE_ROUNDS = 2

_TOLERANCE = 1e-6

log = structlog.get_logger("service")


class Meter:
    """A leaky bucket for each subject of a limit. A bucket is one number: the moment when all of the limit is back.

    Shared by the threads of a process. `notify` asks for a settlement soon.
    """

    def __init__(
        self,
        limit: Limit,
        amount: int,
        counters: Counters,
        notify: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        assert limit.seconds is not None
        self._counters = counters
        self.limit = limit
        self.amount = amount
        self.window = float(limit.seconds)
        self.half = self.window / 2
        self.cost = self.window / amount
        self._full = self.window + _TOLERANCE
        self._share = self.window / SHARE
        self._least = self.window / 1000
        self._notify = notify
        self._clock = clock
        self._back: dict[str, float] = {}
        self._waiting: dict[str, float] = {}
        self._unsettled: dict[str, float] = {}  # by settled subject: the seconds that the other processes do not know yet
        self._lock = threading.Lock()

    def spend(self, subject: str) -> float:
        """Take one unit of a subject's limit. Return the seconds until all of the limit is back.

        If no unit is left, take nothing, and return a negative number: minus the seconds until a unit is back.
        """
        with self._lock:
            now = self._clock()
            back = self._back.get(subject)
            held = self.cost if back is None or back < now else back - now + self.cost
            if held > self._full:
                return self.window - held
            share = self._take(subject, now, back, held, self.cost)
        if share:
            self._notify()
        return held

    def charge(self, subject: str, units: float) -> None:
        """Take units of a subject's limit that have been used already, also more than are left.

        What does not add up to a thousandth of the limit waits. Threads that charge a subject at the same moment may lose some of that.
        """
        waiting = self._waiting
        seconds = waiting.get(subject, 0.0) + units * self.cost
        if seconds < self._least:
            if len(waiting) >= MOST:
                waiting.clear()
            waiting[subject] = seconds
            return
        waiting.pop(subject, None)
        with self._lock:
            now = self._clock()
            back = self._back.get(subject)
            held = seconds if back is None or back < now else back - now + seconds
            share = self._take(subject, now, back, held, seconds)
        if share:
            self._notify()

    def _take(self, subject: str, now: float, back: float | None, held: float, seconds: float) -> bool:
        """Let a subject hold `held` seconds, of which some are new. Return True if it is time to settle."""
        if back is None and len(self._back) >= MOST:
            self._forget(now)
        self._back[subject] = now + held
        unsettled = self._unsettled.get(subject)
        if unsettled is None:
            if held < self._share:
                return False
            unsettled = held - seconds
        self._unsettled[subject] = unsettled + seconds
        return unsettled + seconds >= self._share

    def learn(self, subject: str, held: float) -> None:
        """Set what a subject has used: `held` seconds, counted by all processes, and what this process has counted since."""
        with self._lock:
            self._back[subject] = self._clock() + held + self._unsettled.get(subject, 0.0)

    def is_calm(self, subject: str) -> bool:
        """Return True if a subject has used less than half of its limit."""
        return self._back.get(subject, 0.0) < self._clock() + self.half

    def peek(self, subject: str, units: float = 1.0) -> float:
        """Return what taking units would return. Take nothing."""
        back = self._back.get(subject)
        held = units * self.cost
        if back is not None and back > (now := self._clock()):
            held += back - now
        return self.after(held)

    def after(self, held: float) -> float:
        """Return what `spend` returns if it would leave `held` seconds in the bucket."""
        return self.window - held if held > self._full else held

    def used(self, spent: float) -> Used:
        """Return the result of `spend` in units of the limit."""
        left = 0 if spent < 0 else int((self.window - spent) / self.cost + _TOLERANCE)
        return Used(self.limit, self.amount, left, max(1, ceil(abs(spent))), refused=spent < 0)

    def settle(self) -> bool:
        """Share the counts of this process with the others, and learn theirs. Return False if there is nothing to settle."""
        with self._lock:
            now = self._clock()
            batch = {}
            for subject, seconds in list(self._unsettled.items()):
                if seconds == 0.0 and self._back.get(subject, 0.0) <= now:
                    del self._unsettled[subject]
                else:
                    batch[subject] = seconds
                    self._unsettled[subject] = 0.0
        if not batch:
            return False
        answers = None
        try:
            answers = self._counters.add([Addition(f"{self.limit.name}:{subject}", seconds) for subject, seconds in batch.items()])
        finally:
            if answers is None:
                self._put_back(batch)
        if answers is None:
            return True
        for subject, (_, held) in zip(batch, answers, strict=True):
            self.learn(subject, held)
        return True

    def _put_back(self, batch: dict[str, float]) -> None:
        with self._lock:
            for subject, seconds in batch.items():
                if subject in self._unsettled:
                    self._unsettled[subject] += seconds

    def _forget(self, now: float) -> None:
        """Make room: drop subjects that have used nothing lately, or if they are few, those that have used least. Full buckets stay."""
        gone = [subject for subject, back in self._back.items() if back <= now]
        if len(gone) < MOST // 8:
            gone = nsmallest(MOST // 8, self._back, key=self._back.__getitem__)
        for subject in gone:
            del self._back[subject]
            self._unsettled.pop(subject, None)


class Settled(Protocol):
    """Something to settle."""

    def settle(self) -> bool:
        """Settle with the other processes. Return False if there is nothing to settle."""


class Settlement:
    """The thread that settles the counts of a process. It starts when there is something to settle, and ends when there is nothing left."""

    def __init__(self) -> None:
        self._parts: Sequence[Settled] = ()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def over(self, parts: Sequence[Settled]) -> None:
        """Set what to settle."""
        self._parts = parts

    def notify(self) -> None:
        """Settle soon."""
        if self._wake.is_set():
            return
        self._wake.set()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="limits", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        idle = 0
        while not self._may_end(idle):
            self._wake.wait(SETTLE_SECONDS)
            self._wake.clear()
            settled = [_settled(part) for part in self._parts]
            idle = 0 if any(settled) else idle + 1
            time.sleep(PACE_SECONDS)

    def _may_end(self, idle: int) -> bool:
        with self._lock:
            if idle < IDLE_ROUNDS or self._wake.is_set():
                return False
            self._thread = None
            return True


def _settled(part: Settled) -> bool:
    """Settle a part. Log an unexpected error, by its kind alone. Then the part is settled again later."""
    try:
        return part.settle()
    except Exception as error:  # noqa: BLE001 - it is logged; without this thread the process would count alone
        log.error("limits_not_settled", error=type(error).__name__)
        time.sleep(SETTLE_SECONDS)
        return True
