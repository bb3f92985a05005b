"""Kept answers: what a process has encoded or drawn, for the next who asks for the same."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable
from typing import NamedTuple

from cachetools import TLRUCache

from record.positions import Position

MOST = 32 * 2**20  # bytes
SECONDS = 60.0
OVERHEAD = 400  # bytes of a key and its places in the cache


class Key(NamedTuple):
    """What an answer depends on. `rest`: all that is not in the other fields, such as a version or a shape.

    Who may be the viewer is no part of a key: each request finds that out before it looks here.
    """

    kind: str
    history: str
    viewer: str
    rest: Hashable
    lasts: bool


def of_position(kind: str, position: Position, viewer: str, rest: Hashable = None) -> Key:
    """Return the key of an answer that follows from a position and the entries before it. Its digest covers them all."""
    return Key(kind, position.digest, viewer, rest, lasts=True)


def of_entries(kind: str, newest: Position, viewer: str, rest: Hashable) -> Key:
    """Return the key of an answer that follows from entries up to a version, which is in `rest`. `newest`: the newest position.

    While the match goes on, its id stands for its entries, so that the answer is still found after the next one. Then the answer is not
    kept for long: a match that never began may be removed, and another have its id later.
    """
    return Key(kind, newest.digest if newest.ended else newest.match, viewer, rest, lasts=newest.ended)


class Kept:
    """A bounded number of bytes. The least recently used answer is dropped first. Shared by the threads of a process."""

    def __init__(self, most: int = MOST, timer: Callable[[], float] = time.monotonic) -> None:
        self._answers: TLRUCache[Key, bytes] = TLRUCache(most, _end, timer, _size)
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


def _end(key: Key, answer: bytes, now: float) -> float:
    return math.inf if key.lasts else now + SECONDS


def _size(answer: bytes) -> int:
    return len(answer) + OVERHEAD
