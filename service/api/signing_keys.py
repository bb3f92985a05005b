"""Signing keys: players register, list and revoke the keys with which they sign moves. Everybody may list those of a player."""

from __future__ import annotations

from typing import Any

from flask import Response

from events import signing_keys
from events.errors import NoSuchKey
from events.notary.key_leaves import MOST_KEPT, Place, Places
from events.signing_keys import SigningKey
from games import patterns
from games.schema import described, listing, nullable, record, text, whole
from service.api.operations import Answer, Body, Call, Operation, in_json
from service.api.shapes import TIME, named, reference
from service.context import Service
from service.http.addresses import address_of
from service.http.responses import empty_response, json_response, private
from service.http.schemas import SigningKeyBody


def register_signing_key(service: Service, call: Call) -> Response:
    """Register a signing key of the caller."""
    player, body = call.caller.player(), call.body

    def spend() -> None:
        call.info.used = service.throttle.spend(("new_signing_keys", player), ("address_signing_keys", address_of(call.environ)))

    given = player, call.caller.signer, body["key"], body["name"], body["signature"]
    found, new = signing_keys.register(service.platform, *given, spend=spend)
    return private(json_response(_shown(service, player, [found], own=True)[0], 201 if new else 200))


def list_my_signing_keys(service: Service, call: Call) -> Response:
    """Return the caller's signing keys."""
    return _list(service, call.caller.player(), own=True)


def list_signing_keys(service: Service, call: Call, player: str) -> Response:
    """Return the signing keys of a player."""
    return _list(service, player, own=False)


def revoke_signing_key(service: Service, call: Call, signing_key: str) -> Response:
    """Revoke a signing key of the caller."""
    key = signing_keys.from_path(signing_key)
    if key is None:
        raise NoSuchKey
    signing_keys.revoke(service.platform, call.caller.player(), call.caller.signer, key)
    return empty_response(204)


def _list(service: Service, player: str, own: bool) -> Response:
    return private(json_response({"keys": _shown(service, player, signing_keys.listed(service.platform, player), own)}))


def _shown(service: Service, player: str, keys: list[SigningKey], own: bool) -> list[dict[str, Any]]:
    places = signing_keys.logged(service.platform, player, keys)
    return [_one(key, place, own) for key, place in zip(keys, places, strict=True)]


def _one(key: SigningKey, places: Places, own: bool) -> dict[str, Any]:
    """Return a key as it is shown. Only its owner sees the name."""
    return {
        "key": key.key,
        "name": key.name if own else None,
        "registered": key.registered,
        "logged": _place(places.registered),
        "revoked": key.revoked,
        "revocation_logged": _place(places.revoked),
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"log": place.log, "index": place.number}


_PLACE = named(
    "LogPlace",
    record({"log": text(about="The name of the log."), "index": whole(0, about="The index of the leaf.")}, "Where a leaf is."),
)
SIGNING_KEY = named(
    "SigningKey",
    record(
        {
            "key": text(patterns.anchored(patterns.SIGNING_KEY), "The public key (Ed25519), in base64."),
            "name": nullable(text(about="What the key is for; null if it is not yours.")),
            "registered": described(TIME, "When the server registered it, in milliseconds since 1970."),
            "logged": nullable(described(_PLACE, "Where the log says so; null until it does, for some seconds.")),
            "revoked": nullable(described(TIME, "When it was revoked; null if it is valid.")),
            "revocation_logged": nullable(described(_PLACE, "Where the log says so; null until it does.")),
        },
        "A key with which a player signs moves.",
    ),
)
SIGNING_KEYS = named(
    "SigningKeyList",
    record(
        {"keys": listing(SIGNING_KEY, high=MOST_KEPT, about="The keys.")}, "The signing keys of a player, in the order of registration."
    ),
)

_BODY = Body(
    reference("SigningKeyRequest"),
    SigningKeyBody(),
    examples={
        "for a bot": {
            "key": "ebVWLo/mVPlAeLES6KmLp5AfhTrmlb7X4OORC60ElmQ=",
            "name": "my bot",
            "signature": f"{'A' * 86}==",
        }
    },
)

OPERATIONS = (
    Operation(
        "list_my_signing_keys", "GET", "/v1/players/me/signing-keys", "players", "List your signing keys", list_my_signing_keys,
        {200: in_json("Your keys.", SIGNING_KEYS)},
        "Look whether you know all of them (docs/auditing.md).",
        key="needed", by="player",
    ),
    Operation(
        "register_signing_key", "POST", "/v1/players/me/signing-keys", "players", "Register a signing key", register_signing_key,
        {200: in_json("You have registered it before.", SIGNING_KEY), 201: in_json("The key.", SIGNING_KEY)},
        "Moves can be signed with it from now on. The signature shows that you have the key. A leaf of the log names key and player.",
        key="needed", by="player", scope="account", body=_BODY,
        problems=("key_unproven", "signing_key_revoked", "too_many_signing_keys"),
    ),
    Operation(
        "revoke_signing_key", "DELETE", "/v1/players/me/signing-keys/{signing_key}", "players", "Revoke a signing key", revoke_signing_key,
        {204: Answer("The key is revoked, now or earlier.")},
        "It signs no further moves, and cannot be registered again. A leaf of the log says so.",
        key="needed", by="player", scope="account",
    ),
    Operation(
        "list_signing_keys", "GET", "/v1/players/{player}/signing-keys", "players", "List the signing keys of a player", list_signing_keys,
        {200: in_json("The keys, without their names.", SIGNING_KEYS)},
        "Anybody may see them, also those of a deleted player. A key that was revoked long ago is in the log alone.",
        key="optional",
    ),
)  # fmt: skip
