"""Store players and the hashes of their keys. This is source data: it is not derived from anything.

A player is one hash with `name`, `role`, `created`, `revision` (how often the name changed), and three fields for each key: `key:<id>`
(JSON), `hash:<id>` and `used:<id>` (a day). Each hook is a field `hook:<id>` (JSON), and `hooks` counts their changes. `revoked` has the
ids of the last hundred revoked keys and deleted hooks. A deleted player keeps only `deleted`, `revision` and `hooks`. What a hook has sent
lately is a hash of its own, `{players}:l:<player>:<hook>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from events.store.client import RedisClient
from events.store.heads import Lost, listen
from events.store.library import script

_CHANNEL = "{players}:changed"

_ADD_PLAYER = script("add_player")
_SET_NAME = script("set_name")
_SET_ROLE = script("set_role")
_DELETE = script("delete_player")
_ADD_KEY = script("add_key")
_ROTATE = script("rotate_key")
_REVOKE = script("revoke_key")
_NOTE_USE = script("note_use")
_PUT_HOOK = script("put_hook")
_DELETE_HOOK = script("delete_hook")
_NOTE_DELIVERY = script("note_delivery")
_TOLD = script("told")

_UNTOLD = "{players}:untold"


class Result(IntEnum):
    """The answer of a script."""

    KNOWN = 2
    DONE = 1
    MISSING = 0
    REVOKED = -1
    FULL = -2
    REUSED = -3


class Signer(NamedTuple):
    """The key that signs a change. The script carries the change out only if this key is valid. `ADMIN` stands for the admin key."""

    key: str
    hash: str


ADMIN = Signer("", "")


class StoredKey(NamedTuple):
    """A key in stored form: its id, its other fields in JSON, and the hash of its secret."""

    id: str
    json: str
    hash: str


class Accounts:
    """The players. Every method raises StoreUnavailable. Each change is one script, which is safe to send twice. It refuses invalid
    arguments (StoreRefused)."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client

    def fields_of(self, id: str) -> dict[str, str]:
        """Return the fields of a player, or {} if there never was one with this id."""
        return {name.decode(): value.decode() for name, value in self._client.ask("HGETALL", _player(id)).items()}

    def names(self, ids: Sequence[str]) -> list[tuple[str | None, int]]:
        """Return the name of each player and how often it has changed. The name of a deleted or unknown player is None."""
        found = self._client.ask_all([("HMGET", _player(id), "name", "revision") for id in ids])
        return [(None if name is None else name.decode(), int(revision or 0)) for name, revision in found]

    def add(self, id: str, name: str, role: str, moment: int, key: StoredKey) -> Result:
        """Store a new player with the first key."""
        return Result(self._client.run(_ADD_PLAYER, [_player(id)], [name, role, moment, *key]))

    def rename(self, id: str, signer: Signer, name: str) -> Result:
        """Give a player another name."""
        return Result(self._client.run(_SET_NAME, [_player(id)], [*signer, name]))

    def set_role(self, id: str, role: str) -> Result:
        """Give a player another role."""
        return Result(self._client.run(_SET_ROLE, [_player(id)], [role]))

    def delete(self, id: str, signer: Signer, moment: int) -> Result:
        """Delete a player with all keys."""
        return Result(self._client.run(_DELETE, [_player(id)], [*signer, moment]))

    def add_key(self, id: str, signer: Signer, key: StoredKey, most: int) -> Result:
        """Give a player another key, up to `most` keys. REUSED: another key has or had its id."""
        return Result(self._client.run(_ADD_KEY, [_player(id)], [*signer, *key, most]))

    def rotate_key(self, id: str, signer: Signer, key: StoredKey) -> Result:
        """Give a key another secret."""
        return Result(self._client.run(_ROTATE, [_player(id)], [*signer, *key]))

    def revoke_key(self, id: str, signer: Signer, key: str) -> Result:
        """Revoke a key."""
        return Result(self._client.run(_REVOKE, [_player(id)], [*signer, key]))

    def note_use(self, id: str, key: Signer, day: int) -> Result:
        """Record the day on which a key was last used, in days since 1970."""
        return Result(self._client.run(_NOTE_USE, [_player(id)], [*key, day]))

    def put_hook(self, id: str, signer: Signer, hook: str, before: str, after: str, most: int) -> Result:
        """Give a player a hook, up to `most`, or change it. REUSED: it is not as it was `before`, or another hook has or had its id."""
        return Result(self._client.run(_PUT_HOOK, [_player(id)], [*signer, hook, before, after, most]))

    def delete_hook(self, id: str, signer: Signer, hook: str) -> Result:
        """Delete a hook with its deliveries."""
        return Result(self._client.run(_DELETE_HOOK, [_player(id)], [*signer, hook]))

    def note_delivery(self, id: str, hook: str, delivery: bytes, most: int, arrived: int | None) -> bool:
        """Note a delivery of a hook; the newest `most` are kept. `arrived`: the moment, if it did. Return False if the hook is deleted."""
        moment = "" if arrived is None else arrived
        return bool(self._client.run(_NOTE_DELIVERY, [_player(id)], [hook, delivery, most, moment]))

    def deliveries(self, id: str, hook: str) -> dict[str, bytes]:
        """Return the deliveries of a hook, by their places in a ring, with `number`, how many there were, and `arrived`, when the last
        arrived."""
        return {name.decode(): value for name, value in self._client.ask("HGETALL", f"{{players}}:l:{id}:{hook}").items()}

    def untold(self, limit: int) -> list[str]:
        """Return some players whose hooks have changed, while a partition may not know it."""
        return [id.decode() for id in self._client.ask("ZRANGE", _UNTOLD, 0, limit - 1)]

    def told(self, id: str, changes: int) -> None:
        """Note that every partition knows the hooks of a player after so many changes, unless they have changed since."""
        self._client.run(_TOLD, [_player(id)], [changes])

    def with_hooks(self) -> Iterator[str]:
        """Yield each player who has or had hooks. Some may come twice."""
        for key in self._client.keys(_player("*")):
            if self._client.ask("HEXISTS", key, "hooks"):
                yield key.removeprefix(_player(""))

    def changed(self, patience: float) -> Iterator[str | Lost | None]:
        """Yield the id of each player whose name, role or keys changed, and None after each `patience` seconds of silence.

        Yield `Lost` at the start, when the connection breaks, and when it is back: any player may have changed. The iterator ends when the
        client is closed. It is meant for one thread of a process.
        """
        for heard in listen(self._client, [_CHANNEL], patience):
            yield heard.decode() if isinstance(heard, bytes) else heard


def _player(id: str) -> str:
    return f"{{players}}:p:{id}"
