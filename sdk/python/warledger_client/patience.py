"""When to send a request again, and how long to wait before."""

from __future__ import annotations

import random
import time

from .problems import Problem

FIRST, LONGEST = 0.25, 8.0  # seconds to wait after silence: the first time, and at most
BROKEN_TRIES = 3  # how often a request is sent to a server that fails at it
AWAY = (502, 503, 504)


class Patience:
    """How long one request, or one reconnection, is tried: `seconds` from now on, or from the last progress.

    `repeatable`: whether a second time does no harm: the request only reads, or the server knows it again by its id.

    >>> patience = Patience(60, repeatable=True)
    >>> 4 <= patience.after(Problem(503, {}, {"Retry-After": "4"})) < 5
    True
    >>> patience.after(Problem(429, {}, {"Retry-After": "3600"})) is None  # longer than the patience
    True
    >>> Patience(60, repeatable=False).after_silence() is None
    True
    """

    def __init__(self, seconds: float, repeatable: bool) -> None:
        self.seconds = seconds
        self.repeatable = repeatable
        self.progress()

    def progress(self) -> None:
        """Begin anew: something has come."""
        self._end = time.monotonic() + self.seconds
        self._silences = 0
        self._broken = 0

    def connected(self) -> None:
        """Begin to count the seconds anew, since the server was there. Repeated cuts without progress still wait longer each time."""
        self._end = time.monotonic() + self.seconds

    def after(self, problem: Problem) -> float | None:
        """Return how many seconds to wait before the request is sent again, or None if it is not."""
        if problem.status == 429 or (problem.status in AWAY and self.repeatable):
            asked = problem.retry_after
            return self._within(asked + random.random()) if asked is not None else self.after_silence(nothing_done=problem.status == 429)
        if problem.status == 500 and self.repeatable:
            self._broken += 1
            return self.after_silence() if self._broken < BROKEN_TRIES else None
        return None

    def after_silence(self, nothing_done: bool = False) -> float | None:
        """The same, after no answer came. `nothing_done`: the server cannot have carried the request out."""
        if not self.repeatable and not nothing_done:
            return None
        self._silences += 1
        pause = min(LONGEST, FIRST * 2 ** min(self._silences - 1, 10))
        return self._within(pause * (0.5 + random.random() / 2))

    def _within(self, pause: float) -> float | None:
        return pause if time.monotonic() + pause <= self._end else None
