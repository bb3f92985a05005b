"""Players and the hashes of their keys, as they are stored. This is source data: it is derived from nothing."""

from __future__ import annotations

from collections.abc import Mapping

from events.store.client import RedisClient


class Accounts:
    """The players. Every method raises StoreUnavailable."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client

    def add(self, id: str, fields: Mapping[str, str | int], key_hash: str) -> None:
        """Store a player, then the hash of the key: a key that leads nowhere would be worse than a player without a key."""
        self._client.ask("HSET", _player(id), *[text for pair in fields.items() for text in pair])
        self._client.ask("SET", _key(key_hash), id)

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
