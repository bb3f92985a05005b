"""Dice: random numbers from the secret of a match, the contributions of its seats, and the version that is about to be written.

The server cannot choose a number, and everybody can check each one after the match. docs/auditing.md describes the algorithm for other
languages, with test vectors.

>>> secret, match = bytes(range(32)), "maaaaaaaaaaaaaaaa"
>>> commitment(secret)[:16]  # published first
'630dcd2966c43366'
>>> key = dice_key(secret, match, {"red": "a text of the player"})
>>> draws = Draws(key, version=2)
>>> [draws.number(6) + 1 for _ in range(5)]
[3, 4, 1, 2, 2]
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Mapping
from hashlib import sha256

from record.entries import canonical
from record.keyed import keyed

_SPACE = 1 << 256
_BLOCKS = 1000  # at most half of all blocks are skipped, so the chance to skip this many in a row is at most 2**-1000


def new_secret() -> bytes:
    """Return 256 random bits. They stay secret until the match is over.

    >>> len(new_secret())
    32
    """
    return secrets.token_bytes(32)


def commitment(secret: bytes) -> str:
    """Return the SHA-256 of the secret, in hex. It is published before anybody joins.

    >>> commitment(bytes(32))
    '66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925'
    """
    return sha256(secret).hexdigest()


def join_code(secret: bytes) -> str:
    """Return the code of a match that asks for one: 80 bits that follow from the secret and do not reveal it.

    >>> join_code(bytes(32))
    'ndawl7s3y4mh4dhp'
    """
    return base64.b32encode(hmac.digest(secret, b"code", "sha256")[:10]).decode().lower()


def keeps(secret: str | None, commitment_: str) -> bool:
    """Return True if a secret in hex fits its commitment.

    >>> keeps("00" * 32, commitment(bytes(32)))
    True
    >>> keeps("01" * 32, commitment(bytes(32)))
    False
    """
    try:
        return secret is not None and commitment(bytes.fromhex(secret)) == commitment_
    except ValueError:
        return False


def dice_key(secret: bytes, match: str, contributions: Mapping[str, str], published: str | None = None) -> bytes:
    """Return the key of all draws of a match. It depends on the contribution of every seat.

    `published`: the key in hex if everybody knows it from the start (TBL-GUI-01). Then it depends on nothing.

    >>> alone = dice_key(bytes(32), "maaaaaaaaaaaaaaaa", {})
    >>> alone == dice_key(bytes(32), "maaaaaaaaaaaaaaaa", {"red": "7"})
    False
    >>> dice_key(bytes(32), "maaaaaaaaaaaaaaaa", {}, "0a" * 32) == bytes([10] * 32)
    True
    """
    if published is not None:
        return bytes.fromhex(published)
    return hmac.digest(secret, canonical({"contributions": dict(contributions), "match": match}), "sha256")


class Draws:
    """The uniform numbers of one version. `games.chance.Drawn(draws.number)` is chance from them.

    `blocks` counts the blocks used so far. It is 0 if nothing was drawn.

    >>> from games.chance import Drawn
    >>> draws = Draws(dice_key(bytes(32), "maaaaaaaaaaaaaaaa", {}), 1)
    >>> Drawn(draws.number).shuffle(["a", "b", "c"])
    ['c', 'b', 'a']
    >>> draws.blocks
    2
    """

    __slots__ = ("blocks", "_keyed", "_version")

    def __init__(self, key: bytes, version: int) -> None:
        self._keyed = keyed(key)
        self._version = version
        self.blocks = 0

    def number(self, below: int) -> int:
        """Return the next number from 0 to below - 1. Blocks at or above the largest multiple of `below` are skipped: no modulo bias.

        >>> draws = Draws(bytes(32), 1)
        >>> draws.number(1), draws.number(1000)
        (0, 432)
        """
        assert 1 <= below <= _SPACE
        limit = _SPACE - _SPACE % below
        for _ in range(_BLOCKS):
            block = self._keyed(b"%d:%d" % (self._version, self.blocks))
            self.blocks += 1
            drawn = int.from_bytes(block, "big")
            if drawn < limit:
                return drawn % below
        raise AssertionError("a source of random blocks gives a usable one within any of these bounds")
