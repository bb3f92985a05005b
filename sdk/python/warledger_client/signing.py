"""Signatures of a player over moves, and the key that makes them (docs/auditing.md).

A signature covers the digest of the version at which a move was decided. So it also testifies to the history that its sender was shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey

from .canonical import canonical, decoded, encoded

HEADER = "Warledger-Signature"
UNSIGNED = frozenset({"take_seat", "decline_seat", "leave_seat", "close_match", "rematch"})  # before the start, or in another match
BY_PLAYER = frozenset({"take_over", "take_dispute", "rule_dispute"})  # their actor is the id of the player, and no seat
PKCS8 = bytes.fromhex("302e020100300506032b657004220420")  # what stands before the seed of an Ed25519 key in its DER form
FIRST, LAST = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"


class Move(NamedTuple):
    """What a request of actions says of itself.

    `actor`: the seat, or the id of the player. `seen`, `digest`: the version at which it was decided, and its digest.
    """

    match: str
    actor: str
    seen: int
    digest: str


def move_statement(move: Move, action: Mapping[str, Any], place: int = 1, count: int = 1) -> bytes:
    """Return what a player signs for an action, which has the form of `recorded`. `place` of `count`: where it stands in its request.

    >>> print(move_statement(Move("m1", "red", 41, "00ff"), {"type": "attack", "tile": "c4"}).decode(), end="")
    warledger.org/move/v1
    m1
    red
    41
    00ff
    1/1
    {"tile":"c4","type":"attack"}
    """
    head = "\n".join(["warledger.org/move/v1", move.match, move.actor, str(move.seen), move.digest, f"{place}/{count}", ""])
    return head.encode() + canonical(action) + b"\n"


def registration_text(player: str, public: str) -> bytes:
    """Return what a key signs to be registered for a player: it shows that whoever registers the key has it."""
    return f"warledger.org/signing-key/v1\n{player}\n{public}\n".encode()


def recorded(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return an action as the rules admit it: without counts of 0. What is signed and sent has this form.

    >>> recorded({"type": "move", "from": "a1", "to": {"a2": 3, "b1": 0}})
    {'type': 'move', 'from': 'a1', 'to': {'a2': 3}}
    """
    return {name: _without_zeros(value) for name, value in action.items()}


def _without_zeros(value: Any) -> Any:
    return {name: count for name, count in value.items() if count != 0} if isinstance(value, Mapping) else value


def header_of(public: str, move: Move, signatures: Sequence[str]) -> str:
    """Return the value of the header `Warledger-Signature` for the signatures of a request, one for each action."""
    listed = " ".join([f":{signature}:" for signature in signatures])
    return f'key=:{public}:, seen={move.seen}, digest="{move.digest}", signatures=({listed})'


def verifies(public: bytes, text: bytes, signature: bytes) -> bool:
    """Return whether an Ed25519 signature is right."""
    try:
        VerifyKey(public).verify(text, signature)
    except (CryptoError, ValueError):
        return False
    return True


def is_signed(move: Move, action: Mapping[str, Any], signed: Mapping[str, Any]) -> bool:
    """Return whether the member `signed` of an entry holds a right signature over a move."""
    statement = move_statement(move, action, signed["place"], signed["count"])
    return verifies(decoded(signed["key"]), statement, decoded(signed["signature"]))


class Key:
    """A key of a player. `public`: the public key, 32 bytes in base64."""

    def __init__(self, seed: bytes) -> None:
        self._key = SigningKey(seed)
        self.public = encoded(bytes(self._key.verify_key))

    @classmethod
    def new(cls) -> Key:
        """Make a key."""
        return cls(bytes(SigningKey.generate()))

    @classmethod
    def read(cls, pem: str) -> Key:
        """Return the key in a text as `pem` writes it. Raises ValueError.

        >>> key = Key.new()
        >>> Key.read(key.pem()).public == key.public
        True
        """
        first, *lines, last = pem.split("\n") if (pem := pem.strip()) else ["", ""]
        content = decoded("".join(lines))
        if (first, last, len(content)) != (FIRST, LAST, len(PKCS8) + 32) or not content.startswith(PKCS8):
            raise ValueError("this is no private key for Ed25519 in PKCS #8")
        return cls(content.removeprefix(PKCS8))

    def pem(self) -> str:
        """Return the private key as a text (PKCS #8 in PEM), as OpenSSL and others read it."""
        return f"{FIRST}\n{encoded(PKCS8 + bytes(self._key))}\n{LAST}\n"

    def sign(self, text: bytes) -> str:
        """Return the signature over a text, in base64."""
        return encoded(self._key.sign(text).signature)

    def signed(self, move: Move, actions: Sequence[Mapping[str, Any]]) -> str:
        """Sign the actions of one request, which have the form of `recorded`. Return the value of the header `Warledger-Signature`."""
        statements = [move_statement(move, action, place, len(actions)) for place, action in enumerate(actions, 1)]
        return header_of(self.public, move, [self.sign(statement) for statement in statements])
