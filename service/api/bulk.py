"""Bulk files: all finished matches by game and month, to download part by part, with the evidence that nothing was changed later."""

from __future__ import annotations

import re
from typing import Any

from flask import Response

from events import recall
from events.errors import NoBulk
from events.notary import bulk
from events.notary.bulk import File
from games import patterns
from games.schema import Fields, Shape, described, flag, listing, nullable, record, text, whole
from service.api.operations import UNCHANGED, Answer, Call, Operation, as_text, in_json
from service.api.server_log import PROVEN_LEAF
from service.api.shapes import DIGEST, GAME_ID, NEXT, extending, named
from service.context import Service
from service.http.addresses import address_of
from service.http.responses import NDJSON, TEXT, empty_response, json_response, kept, names_tag, prefers, public
from service.http.schemas import BulkQuery

_NUMBER = "[1-9][0-9]{0,8}"
_RANGE = re.compile(r"bytes=([0-9]{1,15})-([0-9]{1,15})?")


def list_bulk(service: Service, call: Call) -> Response:
    """Return the files."""
    files = [_shown(file) for file in bulk.files(service.platform)]
    return public(json_response({"files": files}), call.header("If-None-Match"))


def get_bulk_file(service: Service, call: Call, game: str, month: str) -> Response:
    """Return a file: its digest, the leaf that names it, and a page of its parts."""
    file = _file(service, game, month)
    first, limit = int(call.query.get("cursor", 1)), call.query["limit"]
    parts = bulk.parts(service.platform, file, first, limit)
    following = first + len(parts)
    body = {
        **_shown(file),
        "leaf": bulk.leaf_of(service.platform, file),
        "list": [{"part": part.number, "matches": part.matches, "bytes": part.bytes, "sha256": part.sha256} for part in parts],
        "next": str(following) if parts and following <= file.parts else None,
    }
    return public(json_response(body), call.header("If-None-Match"))


def get_bulk_part(service: Service, call: Call, game: str, month: str, part: str) -> Response:
    """Return the bytes of a part, or those that a Range header asks for."""
    file = _file(service, game, month)
    if not patterns.matches(_NUMBER, part):
        raise NoBulk(game=game, month=month)
    found = bulk.part(service.platform, file, int(part))
    vary = "Accept"
    if names_tag(call.header("If-None-Match"), found.sha256):
        return kept(empty_response(304), found.sha256, vary)
    call.info.used = service.throttle.count("bulk", address_of(call.environ))
    response = Response(mimetype=TEXT if prefers(call.header("Accept"), TEXT, NDJSON) else NDJSON)
    content = bulk.content(service.platform, found.spans)
    span = _range(call, found.sha256, len(content))
    if span is None:
        call.info.open = True  # it may be compressed
        response.set_data(content)
    else:
        response.set_data(content[span[0] : span[1] + 1])
        response.status_code = 206
        response.headers["Content-Range"] = f"bytes {span[0]}-{span[1]}/{len(content)}"
    response.headers["Accept-Ranges"] = "bytes"
    return kept(response, found.sha256, vary)


def _file(service: Service, game: str, month: str) -> File:
    recall.game_of(service.platform, game)
    if not patterns.matches(patterns.MONTH, month):
        raise NoBulk(game=game, month=month)
    return bulk.file_of(service.platform, game, month)


def _range(call: Call, tag: str, size: int) -> tuple[int, int] | None:
    """Return the first and the last byte that a Range header asks for, or None for all. A range that makes no sense is ignored."""
    if call.header("If-Range") not in (None, f'"{tag}"'):
        return None
    asked = _RANGE.fullmatch(call.header("Range") or "")
    if asked is None:
        return None
    first, last = int(asked[1]), min(size - 1, int(asked[2] or size))
    return (first, last) if first <= last else None


def _shown(file: File) -> dict[str, Any]:
    return {
        "game": file.game,
        "month": file.month,
        "complete": file.until is not None,
        "matches": file.matches,
        "parts": file.parts,
        "bytes": file.bytes,
        "digest": file.digest,
        "log": {"origin": file.origin, "from": file.since, "to": file.until},
    }


_FROM_LOG = named(
    "BulkLog",
    record(
        {
            "origin": text(about="The name of the log."),
            "from": whole(0, about="The first leaf from which the file comes."),
            "to": nullable(whole(0, about="The leaf before which it ends; null while the file grows.")),
        },
        "The leaves of the server's log from whose ends of matches a file comes.",
    ),
)
_FILE: Fields = {
    "game": GAME_ID,
    "month": text(patterns.anchored(patterns.MONTH), "The month, in UTC."),
    "complete": flag("Whether the month is over. Until then the file gets further parts."),
    "matches": whole(0, about="How many records end in its parts."),
    "parts": whole(1, about="How many parts it has."),
    "bytes": whole(0, about="The bytes of all parts."),
    "digest": described(DIGEST, "`d` after all parts: it is 32 zero bytes, then for each part SHA-256(`d` || SHA-256(part))."),
    "log": _FROM_LOG,
}
_LISTED = named("BulkFile", record(_FILE, "All finished matches of a game and a month."))
BULK = named("BulkFiles", record({"files": listing(_LISTED, about="The files, by game and month.")}, "The bulk files."))
_PART: Shape = named(
    "BulkPart",
    record(
        {
            "part": whole(1, about="Its number, from 1."),
            "matches": whole(0, about="How many records end in it."),
            "bytes": whole(1, about="Its bytes."),
            "sha256": described(DIGEST, "SHA-256 of its bytes, also its ETag."),
        },
        "A part of a file. It never changes.",
    ),
)
MANIFEST = named(
    "BulkManifest",
    extending(
        _LISTED,
        {
            "leaf": nullable(described(PROVEN_LEAF, "The leaf of the server's log that names `digest`; null until the log has it.")),
            "list": listing(_PART, about="The parts of this page."),
            "next": NEXT,
        },
        "A file with its parts.",
    ),
)

OPERATIONS = (
    Operation(
        "list_bulk", "GET", "/v1/bulk", "history", "List the files of all finished matches", list_bulk,
        {200: in_json("The files.", BULK, ("ETag",)), 304: UNCHANGED},
        "All finished matches that are no practice, by game and month. A match is in the file of the month in which the server's log "
        "recorded its end, in the order of the log.",
        headers=("If-None-Match",), problems=("store_away", "store_refused"),
    ),
    Operation(
        "get_bulk_file", "GET", "/v1/bulk/{game}/{month}", "history", "Get the parts of a file, and its digest", get_bulk_file,
        {200: in_json("The file.", MANIFEST, ("ETag",)), 304: UNCHANGED},
        "When the month is over, the file is complete, and a leaf of the server's log names its digest.",
        headers=("If-None-Match",), query=BulkQuery(), problems=("no_bulk_file", "not_in_log", "store_away", "store_refused"),
    ),
    Operation(
        "get_bulk_part", "GET", "/v1/bulk/{game}/{month}/{part}", "history", "Download a part of a file", get_bulk_part,
        {
            200: Answer("Lines of records.", as_text(NDJSON, TEXT), ("ETag", "AcceptRanges")),
            206: Answer("The bytes that `Range` asked for.", as_text(NDJSON, TEXT), ("ETag", "AcceptRanges", "ContentRange")),
            304: UNCHANGED,
        },
        "The parts one after the other are whole records, each as `get_record` gives it in lines. A part has about a mebibyte, and never "
        "changes. `Range` gives the rest of a download that broke off.",
        headers=("If-None-Match", "Range", "If-Range"), problems=("no_bulk_file", "store_away", "store_refused"),
    ),
)  # fmt: skip
