"""The hub: one thread of a process hears of new versions and wakes the requests that wait for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from events.platform import Platform

LOOK_SECONDS = 5.0
PROBE_SECONDS = 1.0


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

    def wait(self, until: float) -> Iterator[bytes]:
        """Wait until there may be something new, at most until a moment. Meanwhile yield empty chunks for the body of the response.

        An empty chunk is not sent. But the server takes none for a client that has gone, and closes the body instead.
        """
        while (left := until - time.monotonic()) > 0 and not self._changed.wait(min(left, PROBE_SECONDS)):
            yield b""


class Hub:
    """The waiting requests of a process, by match. Its thread starts with the first of them and ends when there is none."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._watches: dict[str, set[Watch]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

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
