"""The hub: one thread of a process hears of new versions and wakes the requests that wait for them. It also limits how many may wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from events.platform import Platform
from service.metrics import streams
from service.problems import Problem

LOOK_SECONDS = 5.0


class Watch:
    """A request that waits for a match to move on."""

    __slots__ = ("version", "_changed")

    def __init__(self) -> None:
        self.version = 0
        self._changed = threading.Event()

    def notify(self, version: int) -> None:
        """Wake the request: the match has reached a version. 0 means that it must look for itself."""
        self.version = max(self.version, version)
        self._changed.set()

    def rearm(self) -> None:
        """Prepare the next wait. Call it before looking: a change after this call ends that wait."""
        self._changed.clear()

    def wait(self, seconds: float) -> bool:
        """Wait until there may be something new. Return False if the time is up."""
        return self._changed.wait(seconds)


class Hub:
    """The waiting requests of a process, by match. Its thread starts with the first of them and ends when there is none."""

    def __init__(self, platform: Platform, capacity: int) -> None:
        self._platform = platform
        self._capacity = capacity
        self._waiting = 0
        self._watches: dict[str, set[Watch]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def acquire(self) -> None:
        """Take one of the places for waiting requests. Raise Problem `streams_full` if there is none."""
        with self._lock:
            if self._waiting >= self._capacity:
                raise Problem("streams_full")
            self._waiting += 1
        streams.inc()

    def release(self) -> None:
        """Give the place back."""
        with self._lock:
            self._waiting -= 1
        streams.dec()

    @contextmanager
    def watch(self, match: str) -> Iterator[Watch]:
        """Watch a match until the end of the block."""
        watch = Watch()
        with self._lock:
            self._watches.setdefault(match, set()).add(watch)
            if self._thread is None:
                self._thread = threading.Thread(target=self._listen, name="hub", daemon=True)
                self._thread.start()
        try:
            yield watch
        finally:
            with self._lock:
                watches = self._watches[match]
                watches.discard(watch)
                if not watches:
                    del self._watches[match]

    def _listen(self) -> None:
        for head in self._platform.store.heads(LOOK_SECONDS):
            if head is None:
                if self._may_end():
                    return
                self._notify_all()
                continue
            match, version = head
            for watch in self._watches_of(match):
                watch.notify(version)

    def _may_end(self) -> bool:
        """Return True if no request waits. The next one that does starts a new thread."""
        with self._lock:
            if self._watches:
                return False
            self._thread = None
            return True

    def _watches_of(self, match: str) -> list[Watch]:
        with self._lock:
            return list(self._watches.get(match, ()))

    def _notify_all(self) -> None:
        with self._lock:
            everyone = [watch for watches in self._watches.values() for watch in watches]
        for watch in everyone:
            watch.notify(0)
