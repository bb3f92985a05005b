"""Store the signing keys of players. This is source data: it is not derived from anything.

The keys of a player are one hash, `{players}:s:<player>`, which stays when the player is deleted. It has two fields for each key, which is
written as base64: `<key>` has when it was registered and when it was revoked (ms since 1970, or 0), and the signature that its owner made;
`name:<key>` has its name, until the player is deleted. `{players}:unlogged` is a sorted set of keys, as `<player> <key>`, with the moment
since when the server's log lacks what became of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from events.store.accounts import Result, Signer
from events.store.client import RedisClient
from events.store.library import script

_ADD = script("add_signing_key")
_REVOKE = script("revoke_signing_key")
_LOG = script("log_signing_key")

_UNLOGGED = "{players}:unlogged"
_NAME = "name:"


class StoredSigningKey(NamedTuple):
    """A signing key in stored form: the key in base64, its name (None if its player is deleted), and the rest."""

    key: str
    name: str | None
    text: str


class SigningKeys:
    """The signing keys of players. Every method raises StoreUnavailable. Each change is one script, which is safe to send twice."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client

    def of(self, player: str) -> list[StoredSigningKey]:
        """Return all keys of a player."""
        return [StoredSigningKey(*each) for each in _read(self._client.ask("HGETALL", _held(player)))]

    def get(self, player: str, key: str) -> StoredSigningKey | None:
        """Return a key of a player, or None."""
        text, name = self._client.ask("HMGET", _held(player), key, _NAME + key)
        return None if text is None else StoredSigningKey(key, None if name is None else name.decode(), text.decode())

    def add(self, player: str, signer: Signer, key: str, name: str, moment: int, signature: str, most_valid: int, most: int) -> Result:
        """Give a player a key: up to `most_valid` that are not revoked, and `most` in all. Beyond those the key that was revoked first is
        forgotten, unless the log lacks it. KNOWN: the player has the key. REUSED: the player has revoked it."""
        return Result(self._client.run(_ADD, [_player(player)], [*signer, key, name, moment, signature, most_valid, most]))

    def revoke(self, player: str, signer: Signer, key: str, moment: int) -> Result:
        """Revoke a key. The first moment counts."""
        return Result(self._client.run(_REVOKE, [_player(player)], [*signer, key, moment]))

    def unlogged(self, limit: int) -> list[tuple[str, StoredSigningKey]]:
        """Return the keys, without names, that the server's log has lacked something of for longest, each with its player. A limit of 0 is
        none."""
        rows = [member.decode().split(" ") for member in self._client.ask("ZRANGE", _UNLOGGED, 0, limit - 1)]
        texts = self._client.ask_all([("HGET", _held(player), key) for player, key in rows])
        return [
            (player, StoredSigningKey(key, None, text.decode()))
            for (player, key), text in zip(rows, texts, strict=True)
            if text is not None
        ]

    def late(self, before: int) -> int:
        """Return how many keys the server's log lacks since before a moment."""
        return int(self._client.ask("ZCOUNT", _UNLOGGED, "-inf", before))

    def set_unlogged(self, player: str, key: StoredSigningKey, since: int | None) -> bool:
        """Note since when the server's log lacks something of a key; None: it lacks nothing. Return False if the key has changed."""
        return bool(self._client.run(_LOG, [_player(player)], [key.key, key.text, "" if since is None else since]))

    def players(self) -> Iterator[str]:
        """Yield each player who has or had signing keys. Some may come twice."""
        for key in self._client.keys(_held("*")):
            yield key.removeprefix(_held(""))


def _read(fields: Mapping[bytes, bytes]) -> Iterator[tuple[str, str | None, str]]:
    stored = {name.decode(): value.decode() for name, value in fields.items()}
    for name, value in stored.items():
        if not name.startswith(_NAME):
            yield name, stored.get(_NAME + name), value


def _player(id: str) -> str:
    return f"{{players}}:p:{id}"


def _held(player: str) -> str:
    return f"{{players}}:s:{player}"
