"""The positions that a process keeps in memory: the most recently used matches, each at the newest version it has seen."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

from events.positions import Position


class Held(NamedTuple):
    """A position to go on from, and what nobody outside events/ may see: the secret of the match and the key of its dice."""

    position: Position
    secret: bytes
    key: bytes


class Cache:
    """A bounded number of matches, the least recently used goes first. A position that is behind costs a second look, nothing more."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._lock = Lock()

    def get(self, match: str) -> Held | None:
        """What is held of a match."""
        with self._lock:
            held = self._held.get(match)
            if held is not None:
                self._held.move_to_end(match)
            return held

    def put(self, held: Held) -> None:
        """Hold a position, unless a newer one of the match is held already."""
        match = held.position.match
        with self._lock:
            older = self._held.get(match)
            if older is None or older.position.version <= held.position.version:
                self._held[match] = held
            self._held.move_to_end(match)
            if len(self._held) > self._size:
                self._held.popitem(last=False)

    def drop(self, match: str) -> None:
        """Forget a match."""
        with self._lock:
            self._held.pop(match, None)
