"""The brake of a search: it stops a search when its seconds are used up or its worker must end. The search then plays its best so far.

Budgets count iterations. The brake is for slow or busy machines, for clocks that run out, and for restarts.
"""

from __future__ import annotations

import time

HURRY = 0.5  # seconds that a search has left when its worker must end

_end: float | None = None


class Ending(Exception):
    """The worker must end, so it does not begin a slow step. The step waits again."""


def end_soon() -> None:
    """End every search of this process within `HURRY` seconds, and begin no other. For signal handlers."""
    global _end
    if _end is None:
        _end = time.monotonic() + HURRY


def is_ending() -> bool:
    """Return True if this process must end."""
    return _end is not None


class Brake:
    """The `go_on` of a budget (players/level.py): True until the seconds are used up. The first iteration is always allowed."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.stopped = False

    def __call__(self, spent: int) -> bool:
        """Return True if a search may do another iteration. `spent`: the iterations so far."""
        until = self._until if _end is None else min(self._until, _end)
        self.stopped = spent > 0 and time.monotonic() >= until
        return not self.stopped
