"""Receipts: what the server signs about a version of a match, and the keys by which anybody checks it."""

from __future__ import annotations

from flask import Response

from events import recall
from events.errors import NoVersion
from events.platform import Platform
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


def receipt_of(platform: Platform, entry: Entry) -> str:
    """Return the receipt of an entry, as a signed note."""
    return platform.signer.receipt(entry.match, entry.version, entry.digest, entry.at)


def receipt_at(platform: Platform, position: Position) -> str:
    """Return the receipt of the entry that led to a position. Raises StoreUnavailable."""
    if position.version == 1:
        return platform.signer.receipt(position.match, 1, position.digest, position.created)
    return receipt_of(platform, _entry(platform, position.match, position.version))


def get_receipt(service: Service, call: Call, match: str, version: str) -> Response:
    """Return the receipt of a version, in JSON or as the signed note alone."""
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
    # After a restored backup a version may have another digest, and after a rotation the receipt has another signature.
    tag = f"{number}-{receipt[-24:-2]}" + ("-text" if as_text else "")
    vary = "Authorization, Accept"
    if names_tag(call.header("If-None-Match"), tag):
        return tagged(empty_response(304), tag, vary)
    if as_text:
        return tagged(Response(receipt, mimetype=TEXT), tag, vary)
    return tagged(json_response({"match": match, "version": number, "receipt": receipt}), tag, vary)


def get_server_keys(service: Service, call: Call) -> Response:
    """Return the name of the server and every key with which it has signed."""
    signer = service.opened.signer
    keys = [published.as_json() for published in signer.published]
    return public(json_response({"name": signer.name, "keys": keys}), call.header("If-None-Match"))


def _entry(platform: Platform, match: str, version: int) -> Entry:
    """Return the entry of a version that the match has just had. Raises NoVersion if the store has lost it, or the match is gone."""
    found = [parse(raw) for raw in platform.store.log.read(match, version - 1, 1)]
    if not found or found[0].version != version:
        raise NoVersion(version=version, last=version - 1)
    return found[0]


RECEIPT_GIVEN = named(
    "Receipt",
    record(
        {"match": MATCH_ID, "version": versions("The version."), "receipt": RECEIPT}, "What the server signs about a version of a match."
    ),
)
SERVER_KEYS = named(
    "ServerKeys",
    record(
        {
            "name": text(about="The name of the server. All that it signs has this name."),
            "keys": listing(
                named(
                    "ServerKey",
                    record(
                        {
                            "id": text("^[0-9a-f]{8}$", "The id of the key, as in the signatures by it."),
                            "vkey": text(about="The key as C2SP signed-note has it: the name, the id, and the public key."),
                            "from": described(TIME, "Since when it signs, in milliseconds since 1970-01-01T00:00Z."),
                            "until": nullable(described(TIME, "Until when it was the newest key; null for the newest one.")),
                        },
                        "A key with which the server signs, or has signed.",
                    ),
                ),
                about="Every key, the oldest first.",
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
                "The receipt. With `Accept: text/plain` the signed note alone.", {JSON: RECEIPT_GIVEN}, ("ETag",), (TEXT,),
            ),
            304: UNCHANGED,
        },
        "A signed note that says which digest the match has at this version (docs/auditing.md). Keep it: two receipts that disagree, or a "
        "receipt and a record that do, prove that history was rewritten. The keys are at `/.well-known/warledger-keys`.",
        key="optional", headers=("If-None-Match",),
    ),
)  # fmt: skip

SERVER_OPERATIONS = (
    Operation(
        "get_server_keys", "GET", "/.well-known/warledger-keys", "server", "Get the keys with which the server signs", get_server_keys,
        {200: in_json("The name of the server and its keys.", SERVER_KEYS, ("ETag",)), 304: UNCHANGED},
        "Every public key that the server has ever signed with, the oldest first. Note them, and compare: who changes history must sign it "
        "by a key that you know.",
        headers=("If-None-Match",),
    ),
)  # fmt: skip
