"""Receipts: signed notes about the versions of a match, and the keys to check them."""

from __future__ import annotations

from flask import Response

from events import recall
from events.errors import NoVersion
from events.platform import Platform
from events.play import Played
from evidence.statements import SideLog
from games import patterns
from games.kernel import SPECTATOR
from games.schema import described, listing, nullable, record, text
from record.entries import Entry, parse
from record.positions import Position
from service import sight
from service.api.operations import UNCHANGED, Answer, Call, Operation, in_json
from service.api.shapes import MATCH_ID, RECEIPT, TIME, named, versions
from service.api.sidelog import note_view
from service.context import Service
from service.http.responses import JSON, TEXT, empty_response, json_response, names_tag, prefers, public, tagged


def receipt_of(platform: Platform, entry: Entry, sidelog: SideLog | None = None) -> str:
    """Return the receipt of an entry, as a signed note. `sidelog`: only for the seat that acted, in the answer to its action."""
    return platform.signer.receipt(entry.match, entry.version, entry.digest, entry.at, sidelog)


def receipt_for(platform: Platform, played: Played) -> str:
    """Return the receipt for whoever has acted: that of the last entry."""
    return receipt_of(platform, played.entries[-1], played.sidelog)


def receipt_at(platform: Platform, position: Position) -> str:
    """Return the receipt of the entry that led to a position. Raise StoreUnavailable."""
    if position.version == 1:
        return platform.signer.receipt(position.match, 1, position.digest, position.created)
    return receipt_of(platform, _entry(platform, position.match, position.version))


def get_receipt(service: Service, call: Call, match: str, version: str) -> Response:
    """Return the receipt of a version, in JSON or as the bare signed note. Raise NoVersion."""
    newest = recall.position(service.platform, match)
    position = sight.seen(service.platform, newest, call.caller)
    number = int(version) if patterns.matches(patterns.VERSION, version) else 0
    if number < 1:
        raise NoVersion(version=version, last=position.version)
    recall.check_version(position, number)
    note_view(service, newest, call.caller, SPECTATOR, number)
    entry = _entry(service.platform, match, number)
    receipt = receipt_of(service.platform, entry)
    as_text = prefers(call.header("Accept"), TEXT)
    # After restoring a backup a version may have another digest, and after a rotation the receipt has another signature.
    tag = f"{number}-{receipt[-24:-2]}" + ("-text" if as_text else "")
    vary = "Authorization, Accept"
    if names_tag(call.header("If-None-Match"), tag):
        return tagged(empty_response(304), tag, vary)
    if as_text:
        return tagged(Response(receipt, mimetype=TEXT), tag, vary)
    return tagged(json_response({"match": match, "version": number, "receipt": receipt}), tag, vary)


def get_server_keys(service: Service, call: Call) -> Response:
    """Return the name of the server, and every key that it has signed with."""
    signer = service.opened.signer
    keys = [published.as_json() for published in signer.published]
    return public(json_response({"name": signer.name, "keys": keys}), call.header("If-None-Match"))


def _entry(platform: Platform, match: str, version: int) -> Entry:
    """Return the entry of a version that exists. Raise NoVersion if the store has lost it meanwhile, or the match is gone."""
    found = [parse(raw) for raw in platform.store.log.read(match, version - 1, 1)]
    if not found or found[0].version != version:
        raise NoVersion(version=version, last=version - 1)
    return found[0]


RECEIPT_GIVEN = named(
    "Receipt",
    record({"match": MATCH_ID, "version": versions("The version."), "receipt": RECEIPT}, "A receipt of a version of a match."),
)
SERVER_KEYS = named(
    "ServerKeys",
    record(
        {
            "name": text(about="The name of the server. It signs everything by this name."),
            "keys": listing(
                named(
                    "ServerKey",
                    record(
                        {
                            "id": text("^[0-9a-f]{8}$", "The id of the key, as in its signatures."),
                            "vkey": text(about="The key in the form of C2SP signed-note: name, id and public key."),
                            "from": described(TIME, "When it began to sign, in milliseconds since 1970."),
                            "until": nullable(described(TIME, "When a newer key replaced it, or null.")),
                        },
                        "A key that the server signs with, or has signed with.",
                    ),
                ),
                about="Every key, oldest first.",
            ),
        },
        "The keys of the server.",
    ),
)

OPERATIONS = (
    Operation(
        "get_receipt", "GET", "/v1/matches/{match}/receipts/{version}", "history", "Get the receipt of a version", get_receipt,
        {
            200: Answer(
                "The receipt. With `Accept: text/plain` the bare signed note.", {JSON: RECEIPT_GIVEN}, ("ETag",), (TEXT,),
            ),
            304: UNCHANGED,
        },
        "A signed note of the digest that the match has at this version (docs/auditing.md). Keep it. If it disagrees with another receipt "
        "or with the record, that proves that history was rewritten. The keys are at `/.well-known/warledger-keys`.",
        key="optional", headers=("If-None-Match",),
    ),
)  # fmt: skip

SERVER_OPERATIONS = (
    Operation(
        "get_server_keys", "GET", "/.well-known/warledger-keys", "server", "Get the keys that the server signs with", get_server_keys,
        {200: in_json("The name of the server and its keys.", SERVER_KEYS, ("ETag",)), 304: UNCHANGED},
        "Every public key that the server has ever signed with, oldest first. Keep a copy and compare: whoever rewrites history must sign "
        "it with a key that you know.",
        headers=("If-None-Match",),
    ),
)  # fmt: skip
