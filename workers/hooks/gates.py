"""Gates: how much a player, a host and a hook may have under way, so that nobody waits for somebody else's receiver.

They are the memory of one process. What may not go now is put off in the index, so it takes no room.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from cachetools import LRUCache

from events.hooks.pace import MESSAGES, MESSAGES_SECONDS

OF_PLAYER = 8  # messages under way at the same time
OF_ASKING = 1  # of a player, messages that somebody asked for: they go to ill hooks, too
OF_HOST = 64
OF_HOOK, OF_NEW_HOOK, OF_ILL_HOOK = 8, 2, 1  # whose last message arrived, of which nothing is known, whose last message did not arrive
SLOT = MESSAGES_SECONDS / MESSAGES  # seconds between two messages of a player that were put off
DELAYS = (5, 60, 300, 1800, 3600)  # seconds until a message is tried again; the last one holds from then on
REMEMBERED = 20_000  # hooks, and players


class Rest(NamedTuple):
    """How often a hook has failed in a row, and until when it rests (seconds of the clock). 0: its last message arrived."""

    fails: int
    until: float


def delay_after(fails: int) -> int:
    """Return the seconds until the next try after so many that failed, at least one."""
    return DELAYS[min(fails, len(DELAYS)) - 1]


class Gates:
    """The gates of a process. Used by its event loop alone. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._of_player: Counter[str] = Counter()
        self._of_host: Counter[str] = Counter()
        self._of_hook: Counter[str] = Counter()
        self._asked_by: Counter[str] = Counter()
        self._rests: LRUCache[str, Rest] = LRUCache(REMEMBERED)
        self._full: LRUCache[str, float] = LRUCache(REMEMBERED)  # by player, when the bucket of messages is empty again
        self._slots: LRUCache[str, float] = LRUCache(REMEMBERED)  # by player, the next moment to which something is put off

    def enter(self, player: str, hook: str, host: str, asked: bool) -> float | None:
        """Let a message of a hook go, or return after how many seconds it may try again. `asked`: it does not wait until a hook has rested.

        Whoever was let in must `leave`.
        """
        now, rest = self._clock(), self._rests.get(hook)
        if rest is not None and not asked and now < rest.until:
            return rest.until - now
        most = OF_NEW_HOOK if rest is None else OF_ILL_HOOK if rest.fails and not asked else OF_HOOK
        is_full = self._of_hook[hook] >= most or self._of_player[player] >= OF_PLAYER or self._of_host[host] >= OF_HOST
        if is_full or (asked and self._asked_by[player] >= OF_ASKING):
            return self._slot(player, now)
        if (wait := self.spend(player)) is not None:
            return wait
        for counter, name in self._counters(player, hook, host, asked):
            counter[name] += 1
        return None

    def leave(self, player: str, hook: str, host: str, asked: bool) -> None:
        """Note that a message is no longer under way. `asked`: as for `enter`."""
        for counter, name in self._counters(player, hook, host, asked):
            counter[name] -= 1
            if not counter[name]:
                del counter[name]

    def _counters(self, player: str, hook: str, host: str, asked: bool) -> list[tuple[Counter[str], str]]:
        """Return what counts a message, each with the name under which it does."""
        found = [(self._of_hook, hook), (self._of_player, player), (self._of_host, host)]
        return [*found, (self._asked_by, player)] if asked else found

    def spend(self, player: str) -> float | None:
        """Count a message of a player. If there were too many, return after how many seconds the next may go."""
        now = self._clock()
        full = max(now, self._full.get(player, 0.0)) + SLOT
        if full - now > MESSAGES_SECONDS:
            return self._slot(player, now)
        self._full[player] = full
        return None

    def arrived(self, hook: str) -> bool:
        """Note that a message of a hook has arrived. Return True if the one before did not."""
        before = self._rests.get(hook)
        self._rests[hook] = Rest(0, 0.0)
        return before is not None and before.fails > 0

    def is_ill(self, hook: str) -> bool:
        """Return True if the last message of a hook did not arrive."""
        rest = self._rests.get(hook)
        return rest is not None and rest.fails > 0

    def failed(self, hook: str, fails: int, pause: int) -> tuple[int, float]:
        """Note that a message has failed for the `fails`th time, and that its receiver asked for a pause in seconds, or 0.

        Return how often the hook has failed in a row, and the seconds for which it rests.
        """
        rest = self._rests.get(hook, Rest(0, 0.0))
        fails = max(fails, rest.fails + (rest.until <= self._clock()))
        seconds = max(delay_after(fails), pause)
        self._rests[hook] = Rest(fails, self._clock() + seconds)
        return fails, seconds

    def _slot(self, player: str, now: float) -> float:
        self._slots[player] = max(self._slots.get(player, 0.0), now) + SLOT
        return self._slots[player] - now
