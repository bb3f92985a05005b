"""Hold what is decided until its moment has come, so that nobody learns from the moment of an entry how hard it was to decide.

What is held is lost with its worker. The due index still has the work, so another worker decides the same after the lease.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from itertools import count
from threading import Condition, Thread

Write = Callable[[], None]
Hold = Callable[[float, Write], None]
"""A function that carries out a write at a moment, in seconds of time.monotonic. The write raises nothing."""


def now_and_here(moment: float, write: Write) -> None:
    """Carry out a write at once: nobody waits for its moment."""
    write()


class Holding(Thread):
    """The thread of a worker that carries out held writes at their moments. The worker decides other things meanwhile."""

    def __init__(self) -> None:
        super().__init__(name="holding", daemon=True)
        self._held: list[tuple[float, int, Write]] = []
        self._numbers = count()
        self._changed = Condition()
        self._stopped = False

    def hold(self, moment: float, write: Write) -> None:
        """Carry out a write at a moment."""
        with self._changed:
            heapq.heappush(self._held, (moment, next(self._numbers), write))
            self._changed.notify()

    def stop(self) -> None:
        """Carry out all that is held now, and end."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def run(self) -> None:
        """Carry out writes until stopped."""
        while (write := self._next()) is not None:
            write()

    def _next(self) -> Write | None:
        """Return the next write once its moment has come; None if there is none and the thread must end."""
        with self._changed:
            while True:
                left = self._held[0][0] - time.monotonic() if self._held else None
                if left is not None and (left <= 0 or self._stopped):
                    return heapq.heappop(self._held)[2]
                if self._stopped:
                    return None
                self._changed.wait(left)
