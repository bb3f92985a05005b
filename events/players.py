"""Players and their keys. A key is shown once and stored as its SHA-256 only."""

from __future__ import annotations

import base64
import secrets
import time
from hashlib import sha256
from typing import NamedTuple

from events.platform import Platform

ROLES = ("player", "referee", "admin")

_KEY = "wl_"


class Player(NamedTuple):
    """Somebody who plays or referees; `created` in milliseconds since 1970."""

    id: str
    name: str
    role: str
    created: int


def register(platform: Platform, name: str, role: str = "player") -> tuple[Player, str]:
    """Return a new player and its bearer key, which cannot be shown again. Raises StoreUnavailable."""
    assert role in ROLES
    id = "p" + base64.b32encode(secrets.token_bytes(10)).decode().lower()
    key = new_key()
    player = Player(id, name, role, time.time_ns() // 1_000_000)
    platform.store.accounts.add(id, {"name": name, "role": role, "created": player.created}, _hashed(key))
    return player, key


def new_key() -> str:
    """Return a new key. It begins with a letter, so that no command takes it for an option."""
    return _KEY + secrets.token_urlsafe(32)


def find(platform: Platform, key: str) -> Player | None:
    """Return the player who has this key. Raises StoreUnavailable."""
    id = platform.store.accounts.id_of(_hashed(key))
    return get(platform, id) if id else None


def get(platform: Platform, id: str) -> Player | None:
    """Return the player with this id. Raises StoreUnavailable."""
    fields = platform.store.accounts.fields_of(id)
    return Player(id, fields["name"], fields["role"], int(fields["created"])) if fields else None


def _hashed(key: str) -> str:
    return sha256(key.encode()).hexdigest()
