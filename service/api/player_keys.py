"""Keys: players create, list, rotate and revoke their own; the owner of the admin key replaces lost ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Response

from events import accounts
from events.accounts import MOST_KEYS, Key
from games.schema import described, listing, nullable, record, text, unchecked
from service.api.operations import Answer, Body, Call, Operation, in_json
from service.api.players import SCOPE
from service.api.shapes import KEY_ID, TIME, named, reference
from service.context import Service
from service.http.responses import empty_response, json_response, made, private, unstored
from service.http.schemas import KeyBody

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def list_my_keys(service: Service, call: Call) -> Response:
    """Return the caller's keys."""
    return _list(service, call.caller.player())


def list_keys(service: Service, call: Call, player: str) -> Response:
    """Return the keys of a player."""
    return _list(service, player)


def get_my_key(service: Service, call: Call, key: str) -> Response:
    """Return one of the caller's keys."""
    return get_key(service, call, call.caller.player(), key)


def create_my_key(service: Service, call: Call) -> Response:
    """Create another key for the caller."""
    key, text = _create(service, call, call.caller.player())
    return _made(key, text, f"/v1/players/me/keys/{key.id}")


def create_key(service: Service, call: Call, player: str) -> Response:
    """Create another key for a player who has lost one."""
    key, text = _create(service, call, player)
    return _made(key, text, f"/v1/players/{player}/keys/{key.id}")


def get_key(service: Service, call: Call, player: str, key: str) -> Response:
    """Return one of the keys of a player."""
    return private(json_response(_shown(accounts.key_of(service.platform, player, key))))


def rotate_my_key(service: Service, call: Call, key: str) -> Response:
    """Rotate one of the caller's keys. Return it with its new text."""
    player = call.caller.player()
    new, text = accounts.rotate_key(service.platform, player, call.caller.signer, key, call.caller.scopes)
    service.directory.forget(player)
    return unstored(json_response({**_shown(new), "key": text}))


def revoke_my_key(service: Service, call: Call, key: str) -> Response:
    """Revoke one of the caller's keys."""
    return _revoke(service, call, call.caller.player(), key)


def revoke_key(service: Service, call: Call, player: str, key: str) -> Response:
    """Revoke a key of a player."""
    return _revoke(service, call, player, key)


def _list(service: Service, player: str) -> Response:
    return private(json_response({"keys": [_shown(key) for key in accounts.keys_of(service.platform, player)]}))


def _create(service: Service, call: Call, player: str) -> tuple[Key, str]:
    caller, body = call.caller, call.body
    created = accounts.add_key(service.platform, player, caller.signer, body["name"], body["scopes"], caller.scopes, call.request())
    service.directory.forget(player)
    return created


def _revoke(service: Service, call: Call, player: str, key: str) -> Response:
    accounts.revoke_key(service.platform, player, call.caller.signer, key)
    service.directory.forget(player)
    return empty_response(204)


def _made(key: Key, text: str, address: str) -> Response:
    return unstored(made({**_shown(key), "key": text}, address))


def _shown(key: Key) -> dict[str, Any]:
    """Return a key without its secret."""
    used = None if key.used is None else (_EPOCH + timedelta(days=key.used)).date().isoformat()
    return {"id": key.id, "name": key.name, "scopes": key.scopes, "created": key.created, "used": used}


_KEY = {
    "id": described(KEY_ID, "The id of the key. It is part of the key's text."),
    "name": text(about="What the key is for."),
    "scopes": listing(SCOPE, about="What the key may do."),
    "created": TIME,
    "used": nullable(unchecked({"type": "string", "format": "date"}, "The day (UTC) on which the key was last used; null if never.")),
}
KEY = named("Key", record(_KEY, "A key of a player, without its text."))
KEYS = named("KeyList", record({"keys": listing(KEY, high=MOST_KEYS, about="The keys.")}, "The keys of a player, oldest first."))
NEW_KEY = named(
    "NewKey",
    record(
        {**_KEY, "key": text(about="The bearer key. The server stores only its hash.")},
        "A key with its text.",
    ),
)

_BODY = Body(
    reference("KeyRequest"),
    KeyBody(),
    examples={"for a bot": {"name": "my bot", "scopes": ["play"]}, "for a page": {"name": "scoreboard", "scopes": ["read"]}},
)
_NEW = "The key. This is the only answer that contains its text."
_ADMIN = "Only for the owner of the admin key."

OPERATIONS = (
    Operation(
        "list_my_keys", "GET", "/v1/players/me/keys", "players", "List your keys", list_my_keys,
        {200: in_json("Your keys, oldest first, without their texts.", KEYS)},
        "What each key is for, what it may do, and on which day it was last used.",
        key="needed", by="player", scope="account",
    ),
    Operation(
        "create_my_key", "POST", "/v1/players/me/keys", "players", "Create another key", create_my_key,
        {201: in_json(_NEW, NEW_KEY, ("Location",))},
        "A key can only create keys with scopes that it has. A player has at most 20 keys. With an `Idempotency-Key`, repeating the "
        "request with the same key gets the same answer for an hour.",
        key="needed", by="player", scope="account", headers=("Idempotency-Key",), body=_BODY, problems=("too_many_keys",),
    ),
    Operation(
        "get_my_key", "GET", "/v1/players/me/keys/{key}", "players", "Get one of your keys", get_my_key,
        {200: in_json("The key, without its text.", KEY)},
        "What the key is for, what it may do, and on which day it was last used.",
        key="needed", by="player", scope="account",
    ),
    Operation(
        "revoke_my_key", "DELETE", "/v1/players/me/keys/{key}", "players", "Revoke one of your keys", revoke_my_key,
        {204: Answer("The key is revoked.")},
        "Revoking takes effect at once, in open streams, too. A key may revoke itself.",
        key="needed", by="player", scope="account",
    ),
    Operation(
        "rotate_my_key", "POST", "/v1/players/me/keys/{key}/rotate", "players", "Give one of your keys a new text", rotate_my_key,
        {200: in_json(_NEW, NEW_KEY)},
        "The old text stops working at once. If a key rotates itself and the answer is lost, the key is lost, too. If that matters, "
        "create another key and revoke this one. A key can only rotate keys with scopes that it has.",
        key="needed", by="player", scope="account",
    ),
    Operation(
        "list_keys", "GET", "/v1/players/{player}/keys", "players", "List the keys of a player", list_keys,
        {200: in_json("The keys, oldest first, without their texts.", KEYS)},
        _ADMIN, key="needed", by="admin", scope=None,
    ),
    Operation(
        "create_key", "POST", "/v1/players/{player}/keys", "players", "Replace a lost key of a player", create_key,
        {201: in_json(_NEW, NEW_KEY, ("Location",))},
        f"{_ADMIN} The lost key stays valid until it is revoked.",
        key="needed", by="admin", scope=None, headers=("Idempotency-Key",), body=_BODY, problems=("too_many_keys",),
    ),
    Operation(
        "get_key", "GET", "/v1/players/{player}/keys/{key}", "players", "Get a key of a player", get_key,
        {200: in_json("The key, without its text.", KEY)},
        _ADMIN, key="needed", by="admin", scope=None,
    ),
    Operation(
        "revoke_key", "DELETE", "/v1/players/{player}/keys/{key}", "players", "Revoke a key of a player", revoke_key,
        {204: Answer("The key is revoked.")},
        f"{_ADMIN} It takes effect at once, in open streams, too.",
        key="needed", by="admin", scope=None,
    ),
)  # fmt: skip
