"""Look up the signing keys of players."""

from __future__ import annotations

from typing import NamedTuple

from events.platform import Platform


class SigningKey(NamedTuple):
    """A signing key: the public key in base64, and when it was revoked, in ms since 1970, or None."""

    key: str
    revoked: int | None


def find(platform: Platform, player: str, key: str) -> SigningKey | None:
    """Return a signing key of a player, also a revoked one, or None."""
    return _KEYS.get((player, key))


_KEYS: dict[tuple[str, str], SigningKey] = {}
