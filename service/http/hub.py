"""The hub: one thread of each process hears of new versions, and wakes the followers that wait for them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from events.platform import Platform
from events.store.heads import MISSED, Head, Here, Said
from service.http.following import Wake
from service.http.presence import Presence

LOOK_SECONDS = 5.0
MOST_NEWS = 1000
MOST_SAID = 20  # phrases that a follower has not sent yet


class Watch:
    """What a follower hears of a match. `wake` lets it take a step. `hears`: it is told of phrases; `said`: the newest of them."""

    __slots__ = ("hears", "removed", "said", "version", "wake")

    def __init__(self, wake: Wake) -> None:
        self.version = 0
        self.removed = False
        self.hears = False
        self.said: deque[Said] = deque(maxlen=MOST_SAID)
        self.wake = wake

    def hear(self, said: Said) -> None:
        """Wake the follower if it hears phrases: a seat says one."""
        if self.hears:
            self.said.append(said)
            self.wake()

    def notify(self, version: int) -> None:
        """Wake the follower: the match has reached a version. 0: the follower must look for itself."""
        self.version = max(self.version, version)
        self.wake()

    def miss(self) -> None:
        """Wake the follower: a version may have been missed."""
        self.notify(0)


class PlayerWatch(Watch):
    """What a follower hears of a player: the matches that tell the player something, and whether some may have been missed."""

    __slots__ = ("_lock", "_missed", "_news")

    def __init__(self, wake: Wake) -> None:
        super().__init__(wake)
        self._lock = threading.Lock()
        self._missed = True
        self._news: dict[str, tuple[int, int]] = {}

    def miss(self) -> None:
        """Wake the follower: news may have been missed."""
        with self._lock:
            self._missed = True
        self.wake()

    def tell(self, head: Head) -> None:
        """Wake the follower: there is news of a match. News that nobody takes is dropped beyond `MOST_NEWS`, and counts as missed."""
        with self._lock:
            first, _ = self._news.get(head.match, (head.first, 0))
            self._news[head.match] = (first, head.version)
            if len(self._news) > MOST_NEWS:
                self._missed = True
                self._news.clear()
        self.wake()

    def take(self) -> tuple[bool, dict[str, tuple[int, int]]]:
        """Return whether news may have been missed, and the matches with news since the last call: from which version to which."""
        with self._lock:
            taken = self._missed, self._news
            self._missed, self._news = False, {}
        return taken


class Hub:
    """The watches of a process, by match or player. Its thread starts with the first one, and ends when none is left."""

    def __init__(self, platform: Platform, presence: Presence) -> None:
        self._platform = platform
        self._presence = presence
        self._watches: dict[str, set[Watch]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watch(self, match: str, wake: Wake) -> Iterator[Watch]:
        """Watch a match until the end of the block."""
        watch = Watch(wake)
        with self._watching(match, watch):
            yield watch

    @contextmanager
    def watch_player(self, player: str, wake: Wake) -> Iterator[PlayerWatch]:
        """Watch what a player is told until the end of the block. `player`: the id, or `*` and the id for what an organiser is told."""
        watch = PlayerWatch(wake)
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
        for head in self._platform.store.heard(LOOK_SECONDS):
            if head is None or head is MISSED:
                if self._may_end():
                    return
                for watch in self._everyone():
                    watch.notify(0) if head is None else watch.miss()
                continue
            if isinstance(head, Said):
                for watch in self._watches_of(head.match):
                    watch.hear(head)
                continue
            if isinstance(head, Here):
                self._presence.hear(head)
                continue
            for watch in self._watches_of(head.match):
                watch.removed = watch.removed or head.version == 0
                watch.notify(head.version)
            for player in head.told:
                for watch in self._watches_of(player):
                    if isinstance(watch, PlayerWatch):
                        watch.tell(head)

    def _may_end(self) -> bool:
        """Return True if there is no watch. The next one starts a new thread."""
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
