"""Requests in flight: which requests to act a process has received and not carried out yet, so that no deadline overtakes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Lock

from events.timing.clock import Clock

TICK_MS = 250  # between two reports
LATE_MS = 500  # a report that comes later than this shows that the process was frozen
GRACE_MS = 1000  # how long it may take a busy process to read what came in meanwhile
FOR_EVER = 1 << 50
MOST_MS = 2000  # a longer freeze is an outage, which gives the time back


class Received:
    """A request in flight, and the moment at which it counts as received, in ms since 1970."""

    __slots__ = ("moment", "_flight", "_number")

    def __init__(self, flight: Flight, number: int, moment: int) -> None:
        self.moment = moment
        self._flight = flight
        self._number = number

    @contextmanager
    def incomplete(self) -> Iterator[None]:
        """Wait in a block for the rest of the request. The time that its client takes for that is its own: the request counts as that much
        later, and no deadline waits for it meanwhile."""
        began = self._flight.leave(self._number)
        try:
            yield
        finally:
            self.moment += self._flight.enter(self._number, self.moment, began)


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
    def receive(self) -> Iterator[Received]:
        """Yield a request that has just come. It is in flight until the end of the block."""
        with self._lock:
            number, moment = next(self._numbers), self._moment()
            self._received[number] = moment
        try:
            yield Received(self, number, moment)
        finally:
            del self._received[number]

    def leave(self, number: int) -> int:
        """Leave a request out of the floor, and return the moment."""
        with self._lock:
            began = self._moment()
            self._received[number] = began + FOR_EVER
            return began

    def enter(self, number: int, moment: int, began: int) -> int:
        """Have a request in the floor again that counted as received at `moment`. Return the milliseconds since it was left out."""
        with self._lock:
            late = max(0, self._moment() - began)
            self._received[number] = moment + late
            return late

    def tick(self) -> int:
        """Return the floor: the moment before which everything received has been carried out. Call it every quarter of a second."""
        with self._lock:
            received = self._moment()
            self._ticked = self._clock.now()
            return min([received, *self._received.values()])

    def _moment(self) -> int:
        now = self._clock.now()
        if self._ticked is not None and now - self._ticked > LATE_MS:
            self._awake, self._until, self._ticked = max(self._ticked, now - MOST_MS), now + GRACE_MS, now
        return self._awake if now <= self._until else now
