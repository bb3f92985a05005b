"""The brake of a search: it ends a thought whose seconds are used up, or whose worker is asked to end. The thought is the best so far.

Budgets count iterations. The brake is for machines that are too slow or too busy, for clocks that run out, and for restarts.
"""

from __future__ import annotations

import time

HURRY = 0.5  # seconds that a search still has when its worker is asked to end

_end: float | None = None


class Ending(Exception):
    """The worker was asked to end before it began a step that may be slow. The step waits again."""


def end_soon() -> None:
    """Let every search of this process end within `HURRY` seconds, and let none begin. For signal handlers."""
    global _end
    if _end is None:
        _end = time.monotonic() + HURRY


def is_ending() -> bool:
    """Return True if this process was asked to end."""
    return _end is not None


class Brake:
    """The `go_on` of a budget (players/level.py): True until the seconds are used up. The first iteration is always done."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.stopped = False

    def __call__(self, spent: int) -> bool:
        """Return True if a search that has done so many iterations may do another one."""
        until = self._until if _end is None else min(self._until, _end)
        self.stopped = spent > 0 and time.monotonic() >= until
        return not self.stopped
