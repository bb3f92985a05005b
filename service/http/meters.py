"""Meters: how much of a limit each subject has used, counted in this process and settled with the other processes in the background.

A meter costs a request no round trip. Once a subject has used a small share of its limit, a thread adds what this process has counted to
the counters that all processes share, and learns what the others have counted. So several processes together let through at most what
the limit says, and once the share of each process and what was counted since the last settlement.
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

MOST = 16_384  # subjects of a meter; then those that are nearest to having nothing on their account are forgotten
SHARE = 20  # a subject is settled once it has used one part in so many of its limit
SETTLE_SECONDS = 1.0  # between two settlements; they come sooner while somebody uses much
PACE_SECONDS = 0.05
IDLE_ROUNDS = 2

_TOLERANCE = 1e-6

log = structlog.get_logger("service")


class Meter:
    """A leaky bucket for each subject of a limit. Of each it keeps one number: the moment at which all of its limit is back.

    Shared by the threads of a process. `notify` is called when there is something to settle soon.
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
        self._notify = notify
        self._clock = clock
        self._back: dict[str, float] = {}
        self._unsettled: dict[str, float] = {}  # of each subject that is settled: the seconds that the other processes do not know of
        self._lock = threading.Lock()

    def spend(self, subject: str) -> float:
        """Take one unit of a subject's limit. Return after how many seconds all of the limit is back.

        If nothing is left, take nothing, and return a negative number: minus the seconds after which a unit is back.
        """
        with self._lock:
            now = self._clock()
            back = self._back.get(subject)
            held = self.cost if back is None or back < now else back - now + self.cost
            if held > self._full:
                return self.window - held
            if back is None and len(self._back) >= MOST:
                self._forget(now)
            self._back[subject] = now + held
            unsettled = self._unsettled.get(subject)
            if unsettled is None:
                if held < self._share:
                    return held
                unsettled = held - self.cost
            self._unsettled[subject] = unsettled + self.cost
        if unsettled + self.cost >= self._share:
            self._notify()
        return held

    def learn(self, subject: str, held: float) -> None:
        """Set what a subject has used to what all processes have counted, and what this one has counted since."""
        with self._lock:
            self._back[subject] = self._clock() + held + self._unsettled.get(subject, 0.0)

    def peek(self, subject: str) -> float:
        """Return what spending would, and take nothing."""
        now = self._clock()
        return self.after(max(self._back.get(subject, now) - now, 0.0) + self.cost)

    def after(self, held: float) -> float:
        """Return what spending returns that leads to so many seconds on the account."""
        return self.window - held if held > self._full else held

    def used(self, spent: float) -> Used:
        """Return the result of spending in the terms of the limit."""
        left = 0 if spent < 0 else int((self.window - spent) / self.cost + _TOLERANCE)
        return Used(self.limit, self.amount, left, max(1, ceil(abs(spent))), refused=spent < 0)

    def settle(self) -> bool:
        """Settle with the other processes what this one has counted. Return False if there was nothing to settle."""
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
        """Make room: drop who has used nothing lately, then if need be those who have used least. Nobody gets rid of a full account."""
        gone = [subject for subject, back in self._back.items() if back <= now]
        if len(gone) < MOST // 8:
            gone = nsmallest(MOST // 8, self._back, key=self._back.__getitem__)
        for subject in gone:
            del self._back[subject]
            self._unsettled.pop(subject, None)


class Settled(Protocol):
    """What a settlement settles."""

    def settle(self) -> bool:
        """Settle with the other processes. Return False if there was nothing to settle."""


class Settlement:
    """The thread that settles what a process has counted. It starts when there is something to settle, and ends when there is nothing."""

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
    """Settle a part. An error that nobody expected is logged, by its kind alone, and the part is settled again later."""
    try:
        return part.settle()
    except Exception as error:  # noqa: BLE001 - it is logged; without this thread the limits of this process would be its own
        log.error("limits_not_settled", error=type(error).__name__)
        time.sleep(SETTLE_SECONDS)
        return True
