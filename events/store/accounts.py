"""Players and the hashes of their keys, as they are stored. This is source data: it is derived from nothing."""

from __future__ import annotations

from collections.abc import Mapping

from events.errors import StoreRefused
from events.store.client import RedisClient
from events.store.library import script

_ADD = script("add_player")


class Accounts:
    """The players. Every method raises StoreUnavailable."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client

    def add(self, id: str, fields: Mapping[str, str | int], key_hash: str) -> None:
        """Store a player and the hash of the key. Raises StoreRefused if there is such a player or key."""
        if not self._client.run(_ADD, [_player(id), _key(key_hash)], [id, *[text for pair in fields.items() for text in pair]]):
            raise StoreRefused(f"there is a player {id} already, or its key is another's")

    def id_of(self, key_hash: str) -> str | None:
        """Return the id of the player whose key has this hash."""
        id = self._client.ask("GET", _key(key_hash))
        return id.decode() if id else None

    def fields_of(self, id: str) -> dict[str, str]:
        """Return the fields of a player; empty if there is no such player."""
        return {name.decode(): value.decode() for name, value in self._client.ask("HGETALL", _player(id)).items()}


def _player(id: str) -> str:
    return f"{{players}}:p:{id}"


def _key(key_hash: str) -> str:
    return f"{{players}}:k:{key_hash}"
