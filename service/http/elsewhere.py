"""Elsewhere: what the other web processes hold, of the holders who have many places here. It is a second old at most (docs/decisions/0093).

The processes exchange it on the queue's server. If that is away, each process counts alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

from events.store.queue.counters import Counters

SHARE = 20  # a process tells of a holder that has this fraction of its share here: 1/20


class Elsewhere:
    """What other processes hold of the places of a kind. `notify` asks for an exchange soon. Without counters there are no others."""

    def __init__(self, kind: str = "", counters: Counters | None = None, notify: Callable[[], None] | None = None) -> None:
        self._kind = kind
        self._counters = counters
        self._notify = notify
        self._process = secrets.token_hex(8)
        self._told: Mapping[str, int] = {}
        self._others: Mapping[str, int] = {}

    def held(self, holder: str) -> int:
        """Return how many places a holder has in the other processes, as far as they have told."""
        return self._others.get(holder, 0)

    def note(self, holder: str, held: int, share: int) -> None:
        """Ask for an exchange if a holder has many places here, and many more than the others know."""
        if self._notify is not None and is_much(held - self._told.get(holder, 0), share):
            self._notify()

    def exchange(self, held: Mapping[str, int]) -> bool:
        """Tell what is held here, and learn what is held elsewhere. Return False if there is nothing to tell."""
        if self._counters is None or not (held or self._told):
            return False
        self._others = self._counters.hold(self._kind, self._process, held) or {}
        self._told = held
        return True


def is_much(held: int, share: int) -> bool:
    """Return True if so many places of a share are so many that the other processes should know."""
    return held >= max(1, share // SHARE)
