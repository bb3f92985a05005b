"""Kept answers: what a process has encoded or drawn, for the next who asks for the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import NamedTuple

from cachetools import LRUCache

from events.platform import Platform
from record.entries import Unreadable, parse
from record.positions import Position

MOST = 32 * 2**20  # bytes
OVERHEAD = 400  # bytes of a key and its places in the cache
HISTORIES = 8192  # matches


class Key(NamedTuple):
    """What an answer depends on. `history`: the entries behind it. `rest`: all that the other fields lack, such as a version or a shape.

    Who may be the viewer is no part of a key: each request finds that out before it looks here.
    """

    kind: str
    history: str
    viewer: str
    rest: Hashable = None


def of_position(kind: str, position: Position, viewer: str, rest: Hashable = None) -> Key:
    """Return the key of an answer that follows from a position and the entries before it. Its digest covers them all."""
    return Key(kind, position.digest, viewer, rest)


class Kept:
    """A bounded number of bytes. The least recently used answer is dropped first. Shared by the threads of a process."""

    def __init__(self, most: int = MOST) -> None:
        self._answers: LRUCache[Key, bytes] = LRUCache(most, _size)
        self._largest = most // 8
        self._lock = threading.Lock()

    def get(self, key: Key) -> bytes | None:
        """Return a kept answer, or None."""
        with self._lock:
            return self._answers.get(key)

    def put(self, key: Key, answer: bytes) -> None:
        """Keep an answer, unless it alone takes an eighth of the room."""
        if _size(answer) <= self._largest:
            with self._lock:
                self._answers[key] = answer

    def made(self, key: Key, make: Callable[[], bytes]) -> bytes:
        """Return the kept answer, or else a new one from `make`."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found


def _size(answer: bytes) -> int:
    return len(answer) + OVERHEAD


class _Seen(NamedTuple):
    """A version of a match with its digest, and the history to which it belongs."""

    version: int
    digest: str
    history: str


class Histories:
    """Tells the entries of matches from others with the same versions, for answers that are still right after the next entry.

    The history of a match is the digest with which this process saw it first. When the match has moved on, the entry that was the newest is
    looked at again: if the store has lost it and accepted another one since, that is another history.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._seen: LRUCache[str, _Seen] = LRUCache(HISTORIES)
        self._lock = threading.Lock()

    def of(self, newest: Position) -> str:
        """Return the history of a match whose newest position is given. Raises StoreUnavailable."""
        with self._lock:
            seen = self._seen.get(newest.match)
        if seen is not None and seen.digest == newest.digest:
            return seen.history
        history = seen.history if seen is not None and self._continues(newest, seen) else newest.digest
        with self._lock:
            self._seen[newest.match] = _Seen(newest.version, newest.digest, history)
        return history

    def _continues(self, newest: Position, seen: _Seen) -> bool:
        if newest.version <= seen.version:
            return False
        try:
            found = [parse(raw).digest for raw in self._platform.store.log.read(newest.match, seen.version - 1, 1)]
        except Unreadable:
            return False
        return found == [seen.digest]
