"""HMAC-SHA-256 with one key for many short messages: the salts, the dice and the thoughts of a match.

`hmac.digest` prepares the key again for each message. That takes longer than to hash such a message.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256

_BLOCK = 64  # bytes of a block of SHA-256
_INNER, _OUTER = bytes(byte ^ 0x36 for byte in range(256)), bytes(byte ^ 0x5C for byte in range(256))


@lru_cache(maxsize=1000)
def keyed(key: bytes) -> Callable[[bytes], bytes]:
    """Return the function that gives HMAC-SHA-256 (RFC 2104) of a message with a key.

    >>> import hmac
    >>> keyed(bytes(32))(b"1:a") == hmac.digest(bytes(32), b"1:a", "sha256")
    True
    >>> keyed(bytes(65))(b"1:a") == hmac.digest(bytes(65), b"1:a", "sha256")
    True
    """
    block = (key if len(key) <= _BLOCK else sha256(key).digest()).ljust(_BLOCK, b"\0")
    inner, outer = block.translate(_INNER), block.translate(_OUTER)
    return lambda message: sha256(outer + sha256(inner + message).digest()).digest()
