"""Take snapshots: positions at some versions, so that loading a match need not fold its whole log. Lost snapshots can be rebuilt.

The last multiple of 64 up to the head has a snapshot, and so has every multiple of 512.
"""

from __future__ import annotations

import orjson

from record.entries import canonical
from record.positions import Position

EVERY = 64
KEPT = 512
FORM = 1  # of positions in the objects of the archive. Raise it when folding the same entries gives another position


def due(before: int, after: int) -> int | None:
    """Return the version to take a snapshot of when a match goes from version `before` to `after`, or None."""
    version = after - after % EVERY
    return version if version > before else None


def replaced(version: int) -> int | None:
    """Return the version whose snapshot the snapshot of `version` replaces, or None."""
    older = version - EVERY
    return older if older > 0 and older % KEPT else None


def kept(head: int) -> list[int]:
    """Return the versions with snapshots when a match is at `head`."""
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
