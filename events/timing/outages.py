"""Remember outages: the times in which the service was down or frozen."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

KEPT_MS = 61 * 86_400_000  # longer than any clock runs
MARGIN_MS = 10_000  # an outage that is reported late may have ended this long before the newest one


class Outage(NamedTuple):
    """A stretch of service time, in ms since 1970."""

    begin: int
    end: int


class Outages:
    """The outages of the last 61 days, in order, merged where they overlap. The threads of a process share it."""

    def __init__(self) -> None:
        self._ends: dict[int, int] = {}
        self._merged: tuple[Outage, ...] = ()
        self._lock = Lock()

    @property
    def since(self) -> int:
        """The moment after which this process may not know all outages yet."""
        merged = self._merged
        return max(0, merged[-1].end - MARGIN_MS) if merged else 0

    @property
    def last(self) -> int:
        """The end of the last outage, or 0."""
        merged = self._merged
        return merged[-1].end if merged else 0

    def add(self, outages: Iterable[tuple[int, int]]) -> None:
        """Add recorded outages. An outage that became longer replaces the shorter one."""
        with self._lock:
            longer = {begin: end for begin, end in outages if self._ends.get(begin, 0) < end}
            if not longer:
                return
            self._ends |= longer
            newest = max(self._ends.values())
            self._ends = {begin: end for begin, end in self._ends.items() if end > newest - KEPT_MS}
            self._merged = tuple(_merged(self._ends))

    def between(self, begin: int, end: int) -> list[Outage]:
        """Return the parts of outages between two moments, in order."""
        if end <= begin or self.last <= begin:
            return []
        return [Outage(max(one.begin, begin), min(one.end, end)) for one in self._merged if one.begin < end and begin < one.end]


def _merged(ends: dict[int, int]) -> Iterable[Outage]:
    current: Outage | None = None
    for begin in sorted(ends):
        if current is not None and begin <= current.end:
            current = Outage(current.begin, max(current.end, ends[begin]))
            continue
        if current is not None:
            yield current
        current = Outage(begin, ends[begin])
    if current is not None:
        yield current
