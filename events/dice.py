"""Dice: chance from the secret of a match, what the seats have added to it, and the version that is about to be written.

Everything here is told for other languages, with test vectors, in docs/auditing.md.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from hashlib import sha256

from events.entries import canonical

_SPACE = 1 << 256


def new_secret() -> bytes:
    """The 256 bits that a match keeps to itself until it is over."""
    return secrets.token_bytes(32)


def commitment(secret: bytes) -> str:
    """The SHA-256 of the secret, in hex: published before anyone has joined."""
    return sha256(secret).hexdigest()


def dice_key(secret: bytes, match: str, contributions: Mapping[str, str]) -> bytes:
    """The key of all draws of a match; it hangs on what every seat has contributed."""
    return hmac.digest(secret, canonical({"contributions": dict(contributions), "match": match}), "sha256")


class Draws:
    """The even numbers of one version; `games.chance.Drawn(draws.number)` makes chance of them.

    `blocks` counts the blocks used so far; 0 means that nothing was drawn.
    """

    __slots__ = ("blocks", "_key", "_version")

    def __init__(self, key: bytes, version: int) -> None:
        self._key = key
        self._version = version
        self.blocks = 0

    def number(self, below: int) -> int:
        """The next number from 0 to below - 1. Blocks at or above the largest multiple of `below` are passed over: no modulo bias."""
        assert 1 <= below <= _SPACE
        limit = _SPACE - _SPACE % below
        while True:
            block = hmac.digest(self._key, b"%d:%d" % (self._version, self.blocks), "sha256")
            self.blocks += 1
            drawn = int.from_bytes(block, "big")
            if drawn < limit:
                return drawn % below
