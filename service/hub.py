"""The hub: one thread of a process that hears of new versions and wakes whoever waits for them; and the budget of those who wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from events.heads import heads
from events.platform import Platform
from service.numbers import streams
from service.problems import Problem

LOOK_SECONDS = 5.0


class Watch:
    """Somebody who waits for a match to move on."""

    __slots__ = ("version", "_told")

    def __init__(self) -> None:
        self.version = 0
        self._told = threading.Event()

    def tell(self, version: int) -> None:
        """The match has come to a version; 0: look for yourself."""
        self.version = max(self.version, version)
        self._told.set()

    def ready(self) -> None:
        """Say that one is about to look; whatever comes from now on ends the next wait."""
        self._told.clear()

    def wait(self, seconds: float) -> bool:
        """Wait until there may be something new, at most so long. False when nothing was told."""
        return self._told.wait(seconds)


class Hub:
    """Whoever waits in this process, by match. Its thread begins with the first of them, and ends when there is none."""

    def __init__(self, platform: Platform, budget: int) -> None:
        self._platform = platform
        self._budget = budget
        self._waiting = 0
        self._watches: dict[str, set[Watch]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def enter(self) -> None:
        """Take a place in the budget. Raises Problem `streams_full`."""
        with self._lock:
            if self._waiting >= self._budget:
                raise Problem("streams_full")
            self._waiting += 1
        streams.inc()

    def leave(self) -> None:
        """Give the place back."""
        with self._lock:
            self._waiting -= 1
        streams.dec()

    @contextmanager
    def watch(self, match: str) -> Iterator[Watch]:
        """Be told when a match moves on, from now until the end of the block."""
        watch = Watch()
        with self._lock:
            self._watches.setdefault(match, set()).add(watch)
            if self._thread is None:
                self._thread = threading.Thread(target=self._hear, name="hub", daemon=True)
                self._thread.start()
        try:
            yield watch
        finally:
            with self._lock:
                watches = self._watches[match]
                watches.discard(watch)
                if not watches:
                    del self._watches[match]

    def _hear(self) -> None:
        for said in heads(self._platform, LOOK_SECONDS):
            if said is None:
                if self._done():
                    return
                self._tell_all()
                continue
            match, version = said
            for watch in self._of(match):
                watch.tell(version)

    def _done(self) -> bool:
        """Whether nobody waits any more; the next one who does begins a thread anew."""
        with self._lock:
            if self._watches:
                return False
            self._thread = None
            return True

    def _of(self, match: str) -> list[Watch]:
        with self._lock:
            return list(self._watches.get(match, ()))

    def _tell_all(self) -> None:
        with self._lock:
            everybody = [watch for watches in self._watches.values() for watch in watches]
        for watch in everybody:
            watch.tell(0)
