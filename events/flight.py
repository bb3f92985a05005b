"""Requests in flight: which requests to act a process has received and not carried out yet, so that no deadline overtakes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Lock

from events.clock import Clock

TICK_MS = 250  # between two reports
LATE_MS = 500  # a report that comes later than this shows that the process was frozen
MOST_MS = 2000  # a longer freeze is an outage, which gives the time back


class Flight:
    """The requests in flight of a process. Shared by its threads; one of them calls `tick`.

    A request that the process reads right after it was frozen came in while it was: it counts as received when the process was last awake.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._received: dict[int, int] = {}
        self._numbers = count()
        self._lock = Lock()
        self._ticked: int | None = None
        self._awake = 0  # when this process was last awake before it was frozen,
        self._until = 0  # which counts for what it reads up to this moment

    @contextmanager
    def receive(self) -> Iterator[int]:
        """Yield the moment at which a request counts as received (ms since 1970). It is in flight until the end of the block."""
        with self._lock:
            number, received = next(self._numbers), self._moment()
            self._received[number] = received
        try:
            yield received
        finally:
            del self._received[number]

    def tick(self) -> int:
        """Return the floor: the moment before which everything received has been carried out. Call it every quarter of a second."""
        with self._lock:
            received = self._moment()
            self._ticked = self._clock.now()
            return min([received, *self._received.values()])

    def _moment(self) -> int:
        now = self._clock.now()
        if self._ticked is not None and now - self._ticked > LATE_MS:
            self._awake, self._until, self._ticked = max(self._ticked, now - MOST_MS), now + TICK_MS, now
        return self._awake if now <= self._until else now
