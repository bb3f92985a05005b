"""The checkpoints of the server's log of all matches, and the proof that one continues another (docs/auditing.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from .canonical import decoded

EMPTY = hashlib.sha256().digest()


class Checkpoint(NamedTuple):
    """What the server has signed: the name of its log, the number of leaves, and the root of the tree."""

    origin: str
    size: int
    root: bytes

    @classmethod
    def of(cls, note: str) -> Checkpoint:
        """Read a checkpoint, and leave its signatures unchecked. Raises ValueError."""
        origin, size, root = note.partition("\n\n")[0].split("\n")[:3]
        return cls(origin, int(size), decoded(root))


def continues(first: Checkpoint, second: Checkpoint, hashes: Sequence[str]) -> bool:
    """Return whether hashes in base64 prove that the first log is the beginning of the second one (RFC 9162, 2.1.4.2)."""
    if first.size == second.size:
        return first.root == second.root
    if first.size == 0:
        return first.root == EMPTY
    path = [*([first.root] if first.size & (first.size - 1) == 0 else []), *map(decoded, hashes)]
    number, last = first.size - 1, second.size - 1
    while number % 2:
        number, last = number >> 1, last >> 1
    if not path:
        return False
    old = new = path[0]
    for each in path[1:]:
        if last == 0:
            return False
        if number % 2 or number == last:
            old, new = _node(each, old), _node(each, new)
            while number % 2 == 0 and number:
                number, last = number >> 1, last >> 1
        else:
            new = _node(new, each)
        number, last = number >> 1, last >> 1
    return (last, old, new) == (0, first.root, second.root)


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
