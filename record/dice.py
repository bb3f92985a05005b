"""Dice: chance from the secret of a match, the contributions of its seats, and the version that is about to be written.

docs/auditing.md describes all of this for other languages, with test vectors.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Mapping
from hashlib import sha256

from record.entries import canonical

_SPACE = 1 << 256
_BLOCKS = 1000  # at most half of all blocks are skipped, so that this many in a row have a chance of 2**-1000


def new_secret() -> bytes:
    """Return 256 random bits, which stay secret until the match is over."""
    return secrets.token_bytes(32)


def commitment(secret: bytes) -> str:
    """Return the SHA-256 of the secret, in hex. It is published before anybody joins."""
    return sha256(secret).hexdigest()


def join_code(secret: bytes) -> str:
    """Return the code that a match asks for if it was created with one: 80 bits that follow from the secret and do not reveal it."""
    return base64.b32encode(hmac.digest(secret, b"code", "sha256")[:10]).decode().lower()


def keeps(secret: str | None, commitment_: str) -> bool:
    """Return True if a secret in hex is the one that was committed to."""
    try:
        return secret is not None and commitment(bytes.fromhex(secret)) == commitment_
    except ValueError:
        return False


def dice_key(secret: bytes, match: str, contributions: Mapping[str, str]) -> bytes:
    """Return the key of all draws of a match. It depends on what every seat has contributed."""
    return hmac.digest(secret, canonical({"contributions": dict(contributions), "match": match}), "sha256")


class Draws:
    """The uniform numbers of one version; `games.chance.Drawn(draws.number)` makes chance of them.

    `blocks` counts the blocks used so far. 0 means that nothing was drawn.
    """

    __slots__ = ("blocks", "_key", "_version")

    def __init__(self, key: bytes, version: int) -> None:
        self._key = key
        self._version = version
        self.blocks = 0

    def number(self, below: int) -> int:
        """Return the next number from 0 to below - 1. Blocks at or above the largest multiple of `below` are skipped: no modulo bias."""
        assert 1 <= below <= _SPACE
        limit = _SPACE - _SPACE % below
        for _ in range(_BLOCKS):
            block = hmac.digest(self._key, b"%d:%d" % (self._version, self.blocks), "sha256")
            self.blocks += 1
            drawn = int.from_bytes(block, "big")
            if drawn < limit:
                return drawn % below
        raise AssertionError("a source of random blocks gives a usable one within any of these bounds")
