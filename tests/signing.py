"""A player who signs moves, for tests: written from docs/auditing.md, with none of the code of record/."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import nacl.signing
import rfc8785

from events import signing_keys
from events.platform import Platform
from events.signing_keys import SigningKey
from events.store.accounts import ADMIN
from record.signatures import Signing


class Signer:
    """A signing key, from a seed."""

    def __init__(self, seed: int = 1) -> None:
        self.private = nacl.signing.SigningKey(bytes([seed] * 32))
        self.key = base64.b64encode(bytes(self.private.verify_key)).decode()

    @property
    def in_path(self) -> str:
        """The key as it stands in a path."""
        return base64.urlsafe_b64encode(base64.b64decode(self.key)).decode().rstrip("=")

    def body(self, player: str, name: str = "browser") -> dict[str, Any]:
        """Return the body of the request that registers this key."""
        return {"key": self.key, "name": name, "signature": self.sign_text(f"warledger.org/signing-key/v1\n{player}\n{self.key}\n")}

    def register(self, platform: Platform, player: str) -> SigningKey:
        """Make this a signing key of a player."""
        return signing_keys.register(platform, player, ADMIN, **self.body(player))[0]

    def revoke(self, platform: Platform, player: str) -> None:
        """Revoke it."""
        signing_keys.revoke(platform, player, ADMIN, self.key)

    def sign_text(self, text: str) -> str:
        """Return the signature of a text, in base64."""
        return base64.b64encode(self.private.sign(text.encode()).signature).decode()

    def sign(self, match: str, actor: str, seen: int, digest: str, actions: Sequence[Any]) -> Signing:
        """Return the signatures of actions, as they are recorded."""
        texts = [
            f"warledger.org/move/v1\n{match}\n{actor}\n{seen}\n{digest}\n{place}/{len(actions)}\n".encode() + rfc8785.dumps(action) + b"\n"
            for place, action in enumerate(actions, 1)
        ]
        signatures = tuple(base64.b64encode(self.private.sign(text).signature).decode() for text in texts)
        return Signing(self.key, seen, signatures)


def header(signing: Signing) -> str:
    """Return the header Warledger-Signature."""
    digest = "" if signing.digest is None else f', digest="{signing.digest}"'
    return f"key=:{signing.key}:, seen={signing.seen}{digest}, signatures=({' '.join(f':{each}:' for each in signing.signatures)})"
