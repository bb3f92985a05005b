"""Known keys: keys that were valid once. They keep working at an address that sends too many requests or wrong keys.

The processes share what they have met: the first half of a key's hash, and its player. A known key is not trusted: it is looked up like any
other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256

from events.store.queue.counters import Counters

MOST = 50_000
LEARN_SECONDS = 0.25


class KnownKeys:
    """The known keys of a process, each with its player. Shared by its threads. `notify` asks for a settlement soon."""

    def __init__(self, counters: Counters, notify: Callable[[], None]) -> None:
        self._counters = counters
        self._notify = notify
        self._owners: dict[str, str] = {}
        self._untold: list[str] = []
        self._moment = "0"
        self._learned = 0.0
        self._lock = threading.Lock()

    def owner(self, key: str) -> str | None:
        """Return the player who had this key when it was last looked up, or None."""
        return self._owners.get(_named(key))

    def add(self, key: str, player: str) -> None:
        """Remember that a key was valid. Tell the other processes soon."""
        name = _named(key)
        with self._lock:
            known = name in self._owners
            self._remember(name, player)
            if known:
                return
            self._untold.append(f"{name}:{player}")
        self._notify()

    def settle(self) -> bool:
        """Tell the other processes which keys this one has met. Return False if there is nothing to tell."""
        with self._lock:
            untold, self._untold = self._untold[-MOST:], []
        if not untold:
            return False
        if self._counters.meet(untold, "+inf", MOST) is None:
            with self._lock:
                self._untold = (untold + self._untold)[-MOST:]
        return True

    def learn(self) -> None:
        """Learn which keys the other processes have met, at most a few times a second. Call this before refusing an unknown key."""
        with self._lock:
            if time.monotonic() < self._learned + LEARN_SECONDS:
                return
            self._learned = time.monotonic()
        found = self._counters.meet([], self._moment, MOST)
        if found is None:
            return
        with self._lock:
            self._moment = found.moment
            for text in found.keys:
                name, _, player = text.partition(":")
                self._remember(name, player)

    def _remember(self, name: str, player: str) -> None:
        """Remember a key. Forget the key that was met longest ago if there are too many."""
        self._owners.pop(name, None)
        if len(self._owners) >= MOST:
            del self._owners[next(iter(self._owners))]
        self._owners[name] = player


@lru_cache(maxsize=4096)
def _named(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:32]
