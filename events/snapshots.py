"""Snapshots: positions at some versions, so that loading a match need not fold its whole log. They can be lost and rebuilt.

The head alone decides which versions have one: the last multiple of 64, and every multiple of 512.
"""

from __future__ import annotations

import orjson

from record.entries import canonical
from record.positions import Position

EVERY = 64
KEPT = 512


def due(before: int, after: int) -> int | None:
    """Return the version to take a snapshot of when a match goes from version `before` to version `after`, or None."""
    version = after - after % EVERY
    return version if version > before else None


def replaced(version: int) -> int | None:
    """Return the version whose snapshot is replaced by the one of `version`, or None."""
    older = version - EVERY
    return older if older > 0 and older % KEPT else None


def kept(head: int) -> list[int]:
    """Return the versions of which a match at `head` has snapshots."""
    last = head - head % EVERY
    return sorted({*range(KEPT, head + 1, KEPT), *([last] if last else [])})


def pack(position: Position) -> bytes:
    """Return a position as bytes."""
    return canonical(position._asdict())


def unpack(snapshot: bytes) -> Position | None:
    """Return the position in a snapshot, or None if it is damaged."""
    try:
        return Position(**orjson.loads(snapshot))
    except (ValueError, TypeError):
        return None
