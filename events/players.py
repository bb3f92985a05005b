"""Players and their keys. A key is told once and kept as its SHA-256 only; both are source data, not worked out from anything."""

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
    """Somebody who plays or watches over play; `created` in milliseconds since 1970."""

    id: str
    name: str
    role: str
    created: int


def register(platform: Platform, name: str, role: str = "player") -> tuple[Player, str]:
    """A new player and its bearer key, which nobody can be told again. Raises StoreUnavailable."""
    assert role in ROLES
    id = "p" + base64.b32encode(secrets.token_bytes(10)).decode().lower()
    key = new_key()
    player = Player(id, name, role, time.time_ns() // 1_000_000)
    # The player first: a key that leads nowhere would be worse than a player whom nobody can be.
    platform.store.wire.ask("HSET", _player(id), "name", name, "role", role, "created", player.created)
    platform.store.wire.ask("SET", _hashed(key), id)
    return player, key


def new_key() -> str:
    """A key that nobody has. It begins with a letter, so that no command takes it for an option."""
    return _KEY + secrets.token_urlsafe(32)


def find(platform: Platform, key: str) -> Player | None:
    """The player whose key this is. Raises StoreUnavailable."""
    id = platform.store.wire.ask("GET", _hashed(key))
    return get(platform, id.decode()) if id else None


def get(platform: Platform, id: str) -> Player | None:
    """The player of an id. Raises StoreUnavailable."""
    fields = platform.store.wire.ask("HGETALL", _player(id))
    if not fields:
        return None
    return Player(id, fields[b"name"].decode(), fields[b"role"].decode(), int(fields[b"created"]))


def _player(id: str) -> str:
    return f"{{players}}:p:{id}"


def _hashed(key: str) -> str:
    return f"{{players}}:k:{sha256(key.encode()).hexdigest()}"
