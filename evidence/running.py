"""Running hashes: one hash for a list that grows, from which the oldest items may be dropped.

The hash after an item is `SHA-256(hash before || item)`. Before the first item it is 32 zero bytes. So the hash and the number of items
cover every item and their order. Whoever has the hash before the oldest kept item can go on from there.

>>> one = EMPTY.after(b"one")
>>> both = one.after(b"two")
>>> both.number, both == EMPTY.after(b"one").after(b"two"), both == EMPTY.after(b"two").after(b"one")
(2, True, False)
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple


class Running(NamedTuple):
    """The running hash of a list: how many items it has had, and the hash after the last one (64 hex digits)."""

    number: int
    hash: str

    def after(self, item: bytes) -> Running:
        """Return the running hash after one more item."""
        return Running(self.number + 1, sha256(bytes.fromhex(self.hash) + item).hexdigest())


EMPTY = Running(0, "0" * 64)
