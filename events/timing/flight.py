"""Track requests in flight: the actions that a process has received but not carried out. No deadline overtakes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Lock
from types import TracebackType

from events.timing.clock import Clock

TICK_MS = 250  # between two reports
LATE_MS = 500  # a report that is later than this shows that the process was frozen
GRACE_MS = 1000  # how long a busy process may need to read what arrived while it was frozen
FOR_EVER = 1 << 50
MOST_MS = 2000  # a longer freeze is an outage, and its time is given back


class Received:
    """A request in flight, until the end of its block. `moment`: when it counts as received, in ms since 1970."""

    __slots__ = ("moment", "_flight", "_number")

    def __init__(self, flight: Flight, number: int, moment: int) -> None:
        self.moment = moment
        self._flight = flight
        self._number = number

    def __enter__(self) -> Received:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._flight.end(self._number)

    @contextmanager
    def incomplete(self) -> Iterator[None]:
        """Wait for the rest of the request inside the block. The client pays for this time: the request counts as received that much later,
        and deadlines do not wait for it."""
        began = self._flight.leave(self._number)
        try:
            yield
        finally:
            self.moment += self._flight.enter(self._number, self.moment, began)


class Flight:
    """The requests in flight of a process. Threads share it; one of them calls `tick`.

    A request that the process reads right after a freeze arrived during the freeze. It counts as received when the process was last awake.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._received: dict[int, int] = {}
        self._numbers = count()
        self._lock = Lock()
        self._ticked: int | None = None
        self._awake = 0  # when this process was last awake before a freeze
        self._until = 0  # requests that are read up to this moment count as received at `_awake`

    def receive(self) -> Received:
        """Return a request that has just arrived. It is in flight until the end of its block."""
        with self._lock:
            number, moment = next(self._numbers), self._moment()
            self._received[number] = moment
        return Received(self, number, moment)

    def end(self, number: int) -> None:
        """End a request. `Received` calls this."""
        del self._received[number]

    def leave(self, number: int) -> int:
        """Exclude a request from the floor. Return the moment."""
        with self._lock:
            began = self._moment()
            self._received[number] = began + FOR_EVER
            return began

    def enter(self, number: int, moment: int, began: int) -> int:
        """Include a request in the floor again. It counted as received at `moment`. Return the ms since it was excluded."""
        with self._lock:
            late = max(0, self._moment() - began)
            self._received[number] = moment + late
            return late

    def tick(self) -> int:
        """Return the floor: all requests received before this moment are done. Call this every quarter of a second."""
        with self._lock:
            received = self._moment()
            self._ticked = self._clock.now()
            return min([received, *self._received.values()])

    def _moment(self) -> int:
        now = self._clock.now()
        if self._ticked is not None and now - self._ticked > LATE_MS:
            self._awake, self._until, self._ticked = max(self._ticked, now - MOST_MS), now + GRACE_MS, now
        return self._awake if now <= self._until else now
