"""The positions that a process keeps in memory: the most recently used matches, each at the newest version it has seen."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

from events.positions import Position
from events.snapshots import pack, unpack

PACKED = 8


class Cached(NamedTuple):
    """A position to go on from, and what nobody outside events/ may see: the secret of the match and the key of its dice."""

    position: Position
    secret: bytes
    key: bytes


class Cache:
    """A bounded number of matches, the least recently used goes first. A position that is behind costs a second look, nothing more.

    What goes is not gone at once: `PACKED` times as many are kept as bytes, a quarter of the size and read again in microseconds, so that
    thousands of matches that take turns cost little more than a few.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: OrderedDict[str, Cached] = OrderedDict()
        self._packed: OrderedDict[str, tuple[bytes, bytes, bytes]] = OrderedDict()
        self._lock = Lock()

    def get(self, match: str) -> Cached | None:
        """What is held of a match."""
        with self._lock:
            held = self._held.get(match)
            if held is not None:
                self._held.move_to_end(match)
                return held
            packed = self._packed.get(match)
        if packed is None:
            return None
        snapshot, secret, key = packed
        position = unpack(snapshot)
        assert position is not None
        held = Cached(position, secret, key)
        self.put(held)
        return held

    def put(self, held: Cached) -> None:
        """Hold a position, unless a newer one of the match is held already."""
        match = held.position.match
        gone = None
        with self._lock:
            older = self._held.get(match)
            if older is None or older.position.version <= held.position.version:
                self._held[match] = held
            self._held.move_to_end(match)
            self._packed.pop(match, None)
            if len(self._held) > self._size:
                gone = self._held.popitem(last=False)[1]
        if gone is not None:
            self._pack(gone)

    def drop(self, match: str) -> None:
        """Forget a match."""
        with self._lock:
            self._held.pop(match, None)
            self._packed.pop(match, None)

    def _pack(self, held: Cached) -> None:
        match = held.position.match
        packed = (pack(held.position), held.secret, held.key)
        with self._lock:
            if match not in self._held:
                self._packed[match] = packed
            if len(self._packed) > self._size * PACKED:
                self._packed.popitem(last=False)
