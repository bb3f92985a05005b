"""Compress and sign snapshots: put a keyed hash in front of each. The key is derived from the secret of the match.

Without the secret, nobody can change a snapshot or move it to another version or match. A snapshot without a valid signature is not used.
"""

from __future__ import annotations

import hmac
from threading import Lock

from cachetools import LRUCache

from events.store.client import RedisClient
from events.store.keys import Keys
from events.store.packed import pack_snapshot, unpack_snapshot

_SIZE = 32
_REMEMBERED = 16_384


def signing_key(secret: str) -> bytes:
    """Return the signing key for the snapshots of a match. `secret`: in hex."""
    return hmac.digest(bytes.fromhex(secret), b"snapshot", "sha256")


def signed(key: bytes, version: int, snapshot: bytes) -> bytes:
    """Return the snapshot of a version compressed, with its signature in front."""
    packed = pack_snapshot(snapshot)
    return _signature(key, version, packed) + packed


def verified(key: bytes, version: int, stored: bytes) -> bytes | None:
    """Return the stored snapshot of a version without its signature, or None if the signature is wrong."""
    packed = stored[_SIZE:]
    return unpack_snapshot(packed) if hmac.compare_digest(stored[:_SIZE], _signature(key, version, packed)) else None


def _signature(key: bytes, version: int, packed: bytes) -> bytes:
    return hmac.digest(key, b"%d:%b" % (version, packed), "sha256")


class SigningKeys:
    """The signing keys of matches. The most recent ones are in memory, so an append with a snapshot need not read the secret."""

    def __init__(self, client: RedisClient, keys: Keys) -> None:
        self._client = client
        self._keys = keys
        self._known: LRUCache[str, bytes] = LRUCache(_REMEMBERED)
        self._lock = Lock()

    def learn(self, match: str, secret: str) -> bytes:
        """Remember and return the signing key of a match with this stored secret."""
        key = signing_key(secret)
        with self._lock:
            self._known[match] = key
        return key

    def of(self, match: str) -> bytes | None:
        """Return the signing key of a match, or None if the store lacks its secret. Raises StoreUnavailable."""
        with self._lock:
            known = self._known.get(match)
        if known is not None:
            return known
        secret = stored_secret(self._client.ask("GET", self._keys.of(match).secret))
        return None if secret is None else self.learn(match, secret)


def stored_secret(stored: bytes | None) -> str | None:
    """Return a stored secret in hex, or None if it is missing or not 32 bytes in hex."""
    try:
        secret = (stored or b"").decode("ascii")
        return secret if len(bytes.fromhex(secret)) == 32 and len(secret) == 64 else None
    except ValueError:
        return None
