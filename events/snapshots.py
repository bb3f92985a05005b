"""Snapshots: a position now and then, so that nobody has to fold a long stream from its start. Safe to lose.

Which versions are kept hangs on the head alone: the last multiple of 64, and every multiple of 512.
"""

from __future__ import annotations

from typing import Any

import orjson

from events.entries import canonical
from events.positions import Position

EVERY = 64
KEPT = 512

_SHAPE = 2


def due(before: int, after: int) -> int | None:
    """The version to keep a snapshot of when a match moves from one version to another."""
    version = after - after % EVERY
    return version if version > before else None


def replaced(version: int) -> int | None:
    """The version whose snapshot makes way for the one of `version`."""
    older = version - EVERY
    return older if older > 0 and older % KEPT else None


def kept(head: int) -> list[int]:
    """Every version of which a match at `head` has a snapshot."""
    last = head - head % EVERY
    return sorted({*range(KEPT, head + 1, KEPT), *([last] if last else [])})


def pack(position: Position) -> bytes:
    """A position as bytes."""
    return canonical({"shape": _SHAPE, **position._asdict()})


def is_foreign(snapshot: bytes) -> bool:
    """Whether another release has written a snapshot, so that it need not be what this one would write."""
    try:
        fields = orjson.loads(snapshot)
    except ValueError:
        return False
    return isinstance(fields, dict) and fields.get("shape") != _SHAPE


def unpack(snapshot: bytes) -> Position | None:
    """The position in a snapshot; None where another release has written it in a shape of its own, or something has spoilt it."""
    try:
        fields: dict[str, Any] = orjson.loads(snapshot)
        return Position(**fields) if fields.pop("shape", None) == _SHAPE else None
    except (ValueError, TypeError, AttributeError):
        return None
