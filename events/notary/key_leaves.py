"""Make the leaves of signing keys for the server's log: one when a player registers a key, and one when the key is revoked.

The change of a key and the note that the log lacks it are one write, so no leaf is forgotten. The sequencer adds these leaves within a
second, before those of matches: a leaf of a match never names a version that was signed with a key which the log does not have.
docs/auditing.md describes the leaves for other languages.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from events.notary import server_log
from events.notary.server_log import Shown
from events.platform import Platform
from events.store.server_logs import Logged, NewLeaf
from events.store.signing_keys import StoredSigningKey
from evidence.leaves import REGISTERED, REVOKED
from record.entries import canonical

AT_ONCE = 256  # keys of a round
MOST_KEPT = 100  # in the list of a player; the log has those that were forgotten, too

_NAMES = {REGISTERED: "registered:1", REVOKED: "revoked:1"}  # of the leaves of a key, within the key


Key = tuple[str, StoredSigningKey]
"""A key and its player."""


class Place(NamedTuple):
    """Where a leaf is: the name of the server's log, and the index of the leaf (`number`)."""

    log: str
    number: int


class Places(NamedTuple):
    """Where the leaves of a key are; None if no published checkpoint has it yet, or if the key is not revoked."""

    registered: Place | None
    revoked: Place | None


class Wanted(NamedTuple):
    """The leaves that the log lacks, and the keys that they are for. `more`: it lacks others, too."""

    leaves: list[NewLeaf]
    keys: list[Key]
    more: bool


def wanted(platform: Platform) -> Wanted:
    """Return the leaves of keys that the server's log lacks, at most those of AT_ONCE keys. Raises StoreUnavailable."""
    rows = platform.store.signing_keys.unlogged(AT_ONCE + 1)
    keys = rows[:AT_ONCE]
    return Wanted([leaf for leaves in _missing(platform, keys) for leaf in leaves], keys, len(rows) > AT_ONCE)


def settle(platform: Platform, keys: Sequence[Key]) -> None:
    """Note which of these keys the server's log lacks nothing of. Raises StoreUnavailable."""
    for (player, stored), leaves in zip(keys, _missing(platform, keys), strict=True):
        if not leaves:
            platform.store.signing_keys.set_unlogged(player, stored, None)


def rebuild(platform: Platform) -> None:
    """Note anew what the server's log lacks of every key. Raises StoreUnavailable."""
    for player in platform.store.signing_keys.players():
        keys = [(player, stored) for stored in platform.store.signing_keys.of(player)]
        for (_, stored), leaves in zip(keys, _missing(platform, keys), strict=True):
            since = min((leaf.noted.at for leaf in leaves), default=None)
            platform.store.signing_keys.set_unlogged(player, stored, since)


def places(platform: Platform, player: str, keys: Sequence[str]) -> list[Places]:
    """Return where the leaves of a player's keys are. Raises StoreUnavailable."""
    if not keys:
        return []
    sizes = {log.origin: log.size for log in server_log.all_shown(platform)}
    found = []
    for logged in _logged(platform, [_name(player, key) for key in keys]):
        by_name = {leaf.name: Place(origin, leaf.number) for origin, leaf in logged if leaf.number < sizes.get(origin, 0)}
        found.append(Places(by_name.get(_NAMES[REGISTERED]), by_name.get(_NAMES[REVOKED])))
    return found


def knows(platform: Platform, player: str, key: str) -> bool:
    """Return True if a server's log has a leaf of this key of a player. Raises StoreUnavailable."""
    return bool(_logged(platform, [_name(player, key)])[0])


def proven(platform: Platform, player: str, key: str, logs: Sequence[Shown]) -> list[dict[str, Any]]:
    """Return the leaves of a key of a player in these logs, as `server_log.leaves` does. Raises StoreUnavailable."""
    return [leaf for log in logs for leaf in server_log.leaves(platform, _name(player, key), log=log)]


def audit(platform: Platform) -> Iterator[str]:
    """Yield what is wrong with keys and their leaves in the logs of the server, as sentences. Raises StoreUnavailable."""
    held = {player: platform.store.signing_keys.of(player) for player in platform.store.signing_keys.players()}
    unlogged = {(player, stored.key) for player, stored in platform.store.signing_keys.unlogged(0)}
    for player, keys in held.items():
        for stored, logged in zip(keys, _logged(platform, [_name(player, stored.key) for stored in keys]), strict=True):
            due = {leaf.noted.name: leaf.raw for leaf in _leaves(player, stored)}
            for origin, leaf in logged:
                raw = platform.store.server_logs.leaves(origin, [(leaf.number, 1)])[0]
                if raw != [due.get(leaf.name)]:
                    yield f"The leaf {leaf.number} of the log {origin} does not match the signing key {stored.key} of {player}."
            if due.keys() - {leaf.name for _, leaf in logged} and (player, stored.key) not in unlogged:
                yield f"The server's log lacks a leaf of the signing key {stored.key} of {player}, and none is scheduled. Rebuild it."
    for origin in server_log.origins(platform):
        for name in platform.store.server_logs.named(origin, "key/"):
            _, player, key = name.split("/")
            keys = held.get(player, [])
            if len(keys) < MOST_KEPT and key not in {_hex(stored.key) for stored in keys}:
                yield f"The log {origin} has a leaf of a signing key of {player} that the player does not have, {key} in hex."


def _missing(platform: Platform, keys: Sequence[Key]) -> list[list[NewLeaf]]:
    """Return for each key the leaves that no log of the server has."""
    known = _logged(platform, [_name(player, stored.key) for player, stored in keys])
    found = []
    for (player, stored), logged in zip(keys, known, strict=True):
        names = {leaf.name for _, leaf in logged}
        found.append([leaf for leaf in _leaves(player, stored) if leaf.noted.name not in names])
    return found


def _logged(platform: Platform, names: Sequence[str]) -> list[list[tuple[str, Logged]]]:
    """Return the leaves under each name in all logs of the server, each with the name of its log."""
    found: list[list[tuple[str, Logged]]] = [[] for _ in names]
    for origin in server_log.origins(platform):
        for place, leaves in enumerate(platform.store.server_logs.logged(origin, names)):
            found[place] += [(origin, leaf) for leaf in leaves]
    return found


def _name(player: str, key: str) -> str:
    """Return what the server's log has the leaves of a key under, in place of the id of a match."""
    return f"key/{player}/{_hex(key)}"


def _leaves(player: str, stored: StoredSigningKey) -> list[NewLeaf]:
    """Return all leaves that a key must have."""
    registered, revoked, signature = stored.text.split(" ")
    found = [_leaf(player, stored.key, int(registered), kind=REGISTERED, signature=signature)]
    if revoked != "0":
        found.append(_leaf(player, stored.key, int(revoked), kind=REVOKED))
    return found


def _leaf(player: str, key: str, at: int, **more: str) -> NewLeaf:
    leaf = canonical({"at": at, "key": key, "player": player, **more})
    return NewLeaf(leaf, _name(player, key), Logged(_NAMES[more["kind"]], 0, 1, _hex(key), at, at))


def _hex(key: str) -> str:
    return base64.b64decode(key).hex()
