"""The server's log over HTTP, in the form of c2sp.org/tlog-tiles, and the leaves of a match with their proofs."""

from __future__ import annotations

import base64
import re

from flask import Response

from events import recall
from events.errors import NotInLog
from events.notary import server_log
from evidence import tiles
from evidence.tiles import BadTile
from games import patterns
from games.schema import Fields, Schema, described, ids, listing, nullable, optional, record, text, whole
from service import sight
from service.api.operations import TEXT_SCHEMA, Answer, Call, Operation, in_json
from service.api.shapes import DIGEST, GAME_ID, MATCH_ID, NEXT, TIME, named, versions
from service.context import Service
from service.http.responses import BYTES, TEXT, json_response, private
from service.http.schemas import ConsistencyQuery, LeavesQuery

_BYTES_SCHEMA: Schema = {"type": "string", "format": "binary"}
_LEVEL = re.compile("[0-9]|[1-5][0-9]|6[0-3]")
_FOR_EVER = "public, max-age=31536000, immutable"
_BRIEFLY = "public, max-age=2"


def get_checkpoint(service: Service, call: Call) -> Response:
    """Return the newest checkpoint: a signed note with its cosignatures."""
    response = Response(server_log.shown(service.platform).note, content_type=f"{TEXT}; charset=utf-8")
    response.headers["Cache-Control"] = _BRIEFLY
    return response


def get_tile(service: Service, call: Call, level: str, tile: str) -> Response:
    """Return the hashes of a tile."""
    number, width = _named(tile)
    if _LEVEL.fullmatch(level) is None:
        raise NotInLog(reason="the level of a tile is 0 to 63")
    return _bytes(server_log.tile(service.platform, int(level), number, width), width)


def get_entries_of_log(service: Service, call: Call, tile: str) -> Response:
    """Return a bundle of leaves."""
    number, width = _named(tile)
    return _bytes(server_log.bundle(service.platform, number, width), width)


def get_consistency(service: Service, call: Call) -> Response:
    """Return the proof that a smaller tree is the beginning of a larger one."""
    first, second = call.query["first"], call.query["second"]
    hashes = [base64.b64encode(each).decode() for each in server_log.consistency(service.platform, first, second)]
    response = json_response({"from": first, "to": second, "hashes": hashes})
    response.headers["Cache-Control"] = _FOR_EVER
    return response


def get_leaves(service: Service, call: Call, match: str) -> Response:
    """Return a page of the leaves of a match in the log, each with its proof."""
    platform = service.platform
    position = recall.position(platform, match)
    # The same for versions that everybody may see: an opened leaf would reveal whether the match has moved on since.
    opens = position.ended or sight.plays(position, call.caller)
    first, limit = int(call.query.get("cursor", 0)), call.query["limit"]
    leaves = server_log.leaves(platform, match, opens, first, limit + 1)
    following = str(leaves[limit]["index"]) if len(leaves) > limit else None
    return private(json_response({"match": match, "leaves": leaves[:limit], "next": following}))


def _named(tile: str) -> tuple[int, int]:
    try:
        return tiles.number_and_width(tile)
    except BadTile as reason:
        raise NotInLog(reason=str(reason)) from None


def _bytes(content: bytes, width: int) -> Response:
    response = Response(content, content_type=BYTES)
    response.headers["Cache-Control"] = _FOR_EVER if width == tiles.WIDTH else _BRIEFLY
    return response


_OF_BULK: Fields = {
    "game": described(GAME_ID, "In a leaf of the kind `bulk`: the game of the file."),
    "month": text(patterns.anchored(patterns.MONTH), "Its month."),
    "matches": whole(0, about="How many records it has."),
    "parts": whole(1, about="How many parts it has."),
    "bytes": whole(0, about="How many bytes it has."),
    "from": whole(0, about="The first leaf from which it comes."),
    "to": whole(0, about="The leaf before which it ends."),
}
_LEAF = named(
    "Leaf",
    record(
        {
            "kind": named(
                "LeafKind", ids(["begin", "hour", "end", "sealed", "bulk"], "Why the leaf was made. A sealed leaf has only a `seal`.")
            ),
            "match": optional(MATCH_ID),
            "version": optional(versions("The version of the match.")),
            "digest": optional(described(DIGEST, "The digest of the entry of that version, or of the bulk file.")),
            "at": optional(described(TIME, "When the entry of that version was received, or the bulk file completed.")),
            "commitment": optional(described(DIGEST, "The SHA-256 of the match's secret, in a leaf of the kind `begin`.")),
            "hour": optional(described(TIME, "Inside a sealed leaf: the hour that it was made for.")),
            "seal": optional(described(DIGEST, "The salted SHA-256 of the leaf inside.")),
            **{name: optional(shape) for name, shape in _OF_BULK.items()},
        },
        "A leaf of the server's log. Its bytes are the canonical JSON of this object.",
    ),
)
PROVEN_LEAF = named(
    "ProvenLeaf",
    record(
        {
            "index": whole(0, about="The place of the leaf in the log."),
            "leaf": described(_LEAF, "The leaf as the log has it."),
            "opened": optional(described(nullable(_LEAF), "The leaf inside the seal; null if you may not see it.")),
            "proof": text(about="A proof (c2sp.org/tlog-proof) that the log has the leaf, with a signed checkpoint."),
        },
        "A leaf, and the proof that the log has it. Only a sealed leaf has `opened`.",
    ),
)
LEAVES = named(
    "LeafList",
    record(
        {
            "match": MATCH_ID,
            "leaves": listing(
                PROVEN_LEAF,
                about="The leaves, by index.",
            ),
            "next": NEXT,
        },
        "The leaves of a match in the server's log.",
    ),
)
CONSISTENCY = named(
    "Consistency",
    record(
        {
            "from": whole(0, about="The size of the smaller tree."),
            "to": whole(0, about="The size of the larger tree."),
            "hashes": listing(text(about="32 bytes in base64."), about="The proof of RFC 6962, 2.1.2."),
        },
        "A proof that one tree is the beginning of another.",
    ),
)

_OF_LOG = ("not_in_log", "store_away", "store_refused")
_TILES = {200: Answer("The hashes, 32 bytes each.", {BYTES: _BYTES_SCHEMA})}
_ENTRIES = {200: Answer("The leaves, each after its length in two bytes.", {BYTES: _BYTES_SCHEMA})}

MATCH_OPERATIONS = (
    Operation(
        "get_leaves", "GET", "/v1/matches/{match}/leaves", "history", "Get a match's leaves in the server's log, with proofs", get_leaves,
        {200: in_json("The leaves, by index.", LEAVES)},
        "A match gets a leaf when it begins, when it ends, and within an hour after an entry. Each proof leads to a signed checkpoint, and "
        "you can check it without this server (docs/auditing.md). If a match hides from spectators, the leaves in between are sealed: its "
        "players see inside at once, others when it is over.",
        key="optional", query=LeavesQuery(), problems=("not_in_log",),
    ),
)  # fmt: skip

OPERATIONS = (
    Operation(
        "get_checkpoint", "GET", "/log/checkpoint", "log", "Get the newest checkpoint", get_checkpoint,
        {200: Answer("A signed note: the name of the log, the number of its leaves, and the root.", {TEXT: TEXT_SCHEMA})},
        "A checkpoint in the form of c2sp.org/tlog-checkpoint, with the cosignatures of witnesses.", problems=_OF_LOG,
    ),
    Operation(
        "get_log_tile_entries", "GET", "/log/tile/entries/{tile}", "log", "Get leaves, at the address of c2sp.org/tlog-tiles",
        get_entries_of_log, _ENTRIES, "256 leaves; with `.p/` and a number, that many.",
    ),
    Operation(
        "get_log_entries", "GET", "/log/entries/{tile}", "log", "Get leaves", get_entries_of_log, _ENTRIES,
        "256 leaves; with `.p/` and a number, that many.",
    ),
    Operation(
        "get_log_tile", "GET", "/log/tile/{level}/{tile}", "log", "Get hashes of the Merkle tree", get_tile, _TILES,
        "A tile in the form of c2sp.org/tlog-tiles: 256 hashes; with `.p/` and a number, that many.",
    ),
    Operation(
        "get_consistency", "GET", "/log/consistency", "log", "Get the proof that the log has only grown", get_consistency,
        {200: in_json("The proof.", CONSISTENCY)},
        "The proof of consistency (RFC 6962, 2.1.2) between two sizes. You can also compute it from the tiles.",
        query=ConsistencyQuery(), problems=_OF_LOG,
    ),
)  # fmt: skip
