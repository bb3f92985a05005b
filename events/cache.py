"""Cache positions in the memory of a process: the most recently used matches, each at the newest version that the process has seen."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple

from cachetools import LRUCache

from events.due import Owed
from events.snapshots import pack, unpack
from record.positions import Position

PACKED = 8


class Cached(NamedTuple):
    """A position to continue from, with secrets that must not leave events/: the match's secret, the dice key and the salt key.

    `works`: what is due then, if it has been derived (events/due.py).
    """

    position: Position
    secret: bytes
    dice: bytes
    blind: bytes
    works: tuple[Owed, ...] | None = None


class Cache:
    """A bounded number of matches. The least recently used is dropped first. An outdated position costs one more read of the store.

    Dropped positions are kept as bytes, `PACKED` times as many. They take a quarter of the memory and are unpacked in microseconds, so
    thousands of matches that take turns cost little more than a few.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._cached: OrderedDict[str, Cached] = OrderedDict()  # the most recently used are last
        self._packed: LRUCache[str, tuple[bytes, Any]] = LRUCache(size * PACKED)
        self._lock = Lock()

    def get(self, match: str) -> Cached | None:
        """Return the cached position of a match, or None."""
        with self._lock:
            cached = self._cached.get(match)
            if cached is not None:
                self._cached.move_to_end(match)
                return cached
            packed = self._packed.get(match)
        if packed is None:
            return None
        position = unpack(packed[0])
        assert position is not None
        cached = Cached(position, *packed[1])
        self.put(cached)
        return cached

    def put(self, cached: Cached) -> None:
        """Cache a position, unless a newer one of the match is cached."""
        match = cached.position.match
        with self._lock:
            older = self._cached.get(match)
            if older is None or older.position.version <= cached.position.version:
                self._cached[match] = cached
                self._cached.move_to_end(match)
            self._packed.pop(match, None)
            gone = self._cached.popitem(last=False)[1] if len(self._cached) > self._size else None
        if gone is not None:
            self._pack(gone)

    def drop(self, match: str) -> None:
        """Forget a match."""
        with self._lock:
            self._cached.pop(match, None)
            self._packed.pop(match, None)

    def _pack(self, cached: Cached) -> None:
        match = cached.position.match
        packed = (pack(cached.position), cached[1:4])
        with self._lock:
            if match not in self._cached:
                self._packed[match] = packed
