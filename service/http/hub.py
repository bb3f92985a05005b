"""The hub: one thread of each process hears of new versions, and wakes the requests that wait for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from events.platform import Platform
from events.store.heads import MISSED, Head

LOOK_SECONDS = 5.0
PROBE_SECONDS = 1.0
MOST_NEWS = 1000


class Watch:
    """A request that waits for a match to move on."""

    __slots__ = ("removed", "version", "_changed")

    def __init__(self) -> None:
        self.version = 0
        self.removed = False
        self._changed = threading.Event()

    def notify(self, version: int) -> None:
        """Wake the request: the match has reached a version. 0: the request must look for itself."""
        self.version = max(self.version, version)
        self._changed.set()

    def rearm(self) -> None:
        """Prepare the next wait. Call this before you look for news: a change after this call ends the wait."""
        self._changed.clear()

    def miss(self) -> None:
        """Wake the request: a version may have been missed."""
        self.notify(0)

    def wait(self, until: float) -> Iterator[bytes]:
        """Wait for news until a moment. Meanwhile yield empty chunks for the body of the response.

        An empty chunk is not sent, but it lets the server notice that the client has gone. Then the server closes the body.
        """
        while (left := until - time.monotonic()) > 0 and not self._changed.wait(min(left, PROBE_SECONDS)):
            yield b""


class PlayerWatch(Watch):
    """A request that waits for news of a player. It collects the matches with news, and whether news may have been missed."""

    __slots__ = ("_lock", "_missed", "_news")

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._missed = True
        self._news: dict[str, Head] = {}

    def miss(self) -> None:
        """Wake the request: news may have been missed."""
        with self._lock:
            self._missed = True
        self._changed.set()

    def tell(self, head: Head) -> None:
        """Wake the request: there is news of a match. News that nobody takes is dropped beyond `MOST_NEWS`, and counts as missed."""
        with self._lock:
            older = self._news.get(head.match)
            self._news[head.match] = head if older is None else head._replace(anew=head.anew or older.anew)
            if len(self._news) > MOST_NEWS:
                self._missed = True
                self._news.clear()
        self._changed.set()

    def take(self) -> tuple[bool, dict[str, Head]]:
        """Return whether news may have been missed, and the news since the last call by match."""
        with self._lock:
            taken = self._missed, self._news
            self._missed, self._news = False, {}
        return taken


class Hub:
    """The waiting requests of a process, by match or player. Its thread starts with the first one, and ends when none is left."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._watches: dict[str, set[Watch]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watch(self, match: str) -> Iterator[Watch]:
        """Watch a match until the end of the block."""
        watch = Watch()
        with self._watching(match, watch):
            yield watch

    @contextmanager
    def watch_player(self, player: str) -> Iterator[PlayerWatch]:
        """Watch the news of a player until the end of the block."""
        watch = PlayerWatch()
        with self._watching(player, watch):
            yield watch

    @contextmanager
    def _watching(self, id: str, watch: Watch) -> Iterator[None]:
        with self._lock:
            self._watches.setdefault(id, set()).add(watch)
            if self._thread is None:
                self._thread = threading.Thread(target=self._listen, name="hub", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                watches = self._watches[id]
                watches.discard(watch)
                if not watches:
                    del self._watches[id]

    def _listen(self) -> None:
        for head in self._platform.store.heads(LOOK_SECONDS):
            if head is None or head is MISSED:
                if self._may_end():
                    return
                for watch in self._everyone():
                    watch.notify(0) if head is None else watch.miss()
                continue
            for watch in self._watches_of(head.match):
                watch.removed = watch.removed or head.version == 0
                watch.notify(head.version)
            for player in head.players:
                for watch in self._watches_of(player):
                    if isinstance(watch, PlayerWatch):
                        watch.tell(head)

    def _may_end(self) -> bool:
        """Return True if no request waits. The next request starts a new thread."""
        with self._lock:
            if self._watches:
                return False
            self._thread = None
            return True

    def _watches_of(self, id: str) -> list[Watch]:
        with self._lock:
            return list(self._watches.get(id, ()))

    def _everyone(self) -> list[Watch]:
        with self._lock:
            return [watch for watches in self._watches.values() for watch in watches]
