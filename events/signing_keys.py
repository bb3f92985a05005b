"""Register, list and revoke signing keys: the Ed25519 keys with which players sign their moves.

The server has only the public half. Whoever registers a key shows with a signature to have the other half, too. Two players may register
the same key. A key cannot be registered again once it is revoked. The server's log gets a leaf for each registration and each revocation
(events/notary/key_leaves.py). So no server can register a key for somebody without showing it to everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from events.errors import KeyRevoked, KeyUnproven, NoSuchKey, NoSuchPlayer, SigningKeyRevoked, TooManySigningKeys
from events.notary import key_leaves
from events.notary.key_leaves import MOST_KEPT
from events.platform import Platform
from events.store.accounts import Result, Signer
from events.store.signing_keys import StoredSigningKey
from evidence import leaves
from games import patterns

MOST_SIGNING_KEYS = 20  # that are not revoked


class SigningKey(NamedTuple):
    """A signing key of a player: the public key in base64, and when it was registered and revoked, in ms since 1970.

    `revoked`: None if it is not. `name`: None if the player is deleted. `signature`: what its owner signed to register it, in base64.
    """

    key: str
    name: str | None
    registered: int
    revoked: int | None
    signature: str


def register(
    platform: Platform, player: str, signer: Signer, key: str, name: str, signature: str, *, spend: Callable[[], None] = lambda: None
) -> tuple[SigningKey, bool]:
    """Give a player a signing key. Return it, and whether it is new. `key` and `signature` are base64.

    `signature`: by this key, over `evidence.statements.signing_key_text`. `spend`: counts a new key, and may raise an error. A key that the
    player has already stays as it is. Raises KeyUnproven, SigningKeyRevoked, TooManySigningKeys, NoSuchPlayer, KeyRevoked,
    StoreUnavailable.
    """
    if not proves(player, key, signature):
        raise KeyUnproven(player=player)
    if find(platform, player, key) is None:
        spend()
        if key_leaves.knows(platform, player, key):
            raise SigningKeyRevoked  # so long ago that the list has forgotten it
    result = platform.store.signing_keys.add(player, signer, key, name, platform.clock.now(), signature, MOST_SIGNING_KEYS, MOST_KEPT)
    if result is Result.FULL:
        raise TooManySigningKeys(limit=MOST_SIGNING_KEYS)
    if result is Result.REUSED:
        raise SigningKeyRevoked
    _check(result, NoSuchPlayer(player=player))
    found = find(platform, player, key)
    if found is None:
        raise SigningKeyRevoked  # it was revoked and forgotten meanwhile
    return found, result is Result.DONE


def revoke(platform: Platform, player: str, signer: Signer, key: str) -> None:
    """Revoke a signing key of a player from now on. What it has signed stays signed. If it is revoked, change nothing.

    Raises NoSuchKey, KeyRevoked, StoreUnavailable.
    """
    _check(platform.store.signing_keys.revoke(player, signer, key, platform.clock.now()), NoSuchKey())


def find(platform: Platform, player: str, key: str) -> SigningKey | None:
    """Return a signing key of a player, also a revoked one, or None. `key`: in base64. It takes one round trip. Raises StoreUnavailable."""
    stored = platform.store.signing_keys.get(player, key)
    return None if stored is None else _signing_key(stored)


def is_valid(platform: Platform, player: str, key: str) -> bool:
    """Return True if a player has a signing key that is not revoked. It takes one round trip. Raises StoreUnavailable."""
    found = find(platform, player, key)
    return found is not None and found.revoked is None


def listed(platform: Platform, player: str) -> list[SigningKey]:
    """Return the signing keys of a player, even of a deleted one, by when they were registered. Raises NoSuchPlayer, StoreUnavailable."""
    if not patterns.matches(patterns.PLAYER, player):
        raise NoSuchPlayer(player=player)
    found = [_signing_key(stored) for stored in platform.store.signing_keys.of(player)]
    if not found and not platform.store.accounts.fields_of(player):
        raise NoSuchPlayer(player=player)
    return sorted(found, key=lambda each: (each.registered, each.key))


def logged(platform: Platform, player: str, keys: Sequence[SigningKey]) -> list[key_leaves.Places]:
    """Return where each key of a player stands in the server's log. Raises StoreUnavailable."""
    return key_leaves.places(platform, player, [each.key for each in keys])


def proves(player: str, key: str, signature: str) -> bool:
    """Return True if a signature shows that this player has this key. Both are base64; other text proves nothing.

    >>> import base64
    >>> from evidence.statements import signing_key_text
    >>> from nacl.signing import SigningKey as Private
    >>> private, player = Private(bytes(32)), "p" + 16 * "a"
    >>> key = base64.b64encode(bytes(private.verify_key)).decode()
    >>> signed = private.sign(signing_key_text(player, key).encode()).signature
    >>> proves(player, key, base64.b64encode(signed).decode()), proves("p" + 16 * "b", key, base64.b64encode(signed).decode())
    (True, False)
    """
    if not patterns.matches(patterns.SIGNING_KEY, key) or not patterns.matches(patterns.SIGNATURE, signature):
        return False
    return leaves.proves(player, key, signature)


def from_path(text: str) -> str | None:
    """Return the base64 of a key that is written as base64url without padding, or None if it is not one.

    >>> from_path("-" * 42 + "8"), from_path("-" * 42 + "-")
    ('++++++++++++++++++++++++++++++++++++++++++8=', None)
    """
    if not patterns.matches(patterns.SIGNING_KEY_IN_PATH, text):
        return None
    return text.translate(str.maketrans("-_", "+/")) + "="


def _check(result: Result, missing: NoSuchKey | NoSuchPlayer) -> None:
    """Raise the error for a result of the store, unless the change is done. `missing`: the error for MISSING."""
    if result is Result.MISSING:
        raise missing
    if result is Result.REVOKED:
        raise KeyRevoked


def _signing_key(stored: StoredSigningKey) -> SigningKey:
    registered, revoked, signature = stored.text.split(" ")
    return SigningKey(stored.key, stored.name, int(registered), int(revoked) or None, signature)
