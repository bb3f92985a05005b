"""Frames: a match as pictures, version by version, each with what differs from the one before."""

from __future__ import annotations

from typing import Any

from flask import Response

from events import recall
from service import sight
from service.api.beside import note_view
from service.api.game_components import reference
from service.api.operations import UNCHANGED, Answer, Call, Operation
from service.api.pictures import drawing
from service.context import Service
from service.http.responses import JSON, NDJSON, empty_response, kept, names_tag, prefers, sorted_json, tagged
from service.http.schemas import FramesQuery
from web.look import look


def get_frames(service: Service, call: Call, match: str) -> Response:
    """Return a page of frames."""
    newest = recall.position(service.platform, match)
    viewer = sight.viewer_of(newest, call.caller, call.query.get("viewer"))
    position = sight.seen(service.platform, newest, call.caller)
    game = recall.rules_of(service.platform, position)
    after, limit, shape, key = call.query["after"], call.query["limit"], call.query["shape"], call.query["key"]
    recall.check_version(position, after)
    last = min(position.version, after + limit)
    note_view(service, newest, call.caller, viewer, last)
    call.info.open = sight.is_open(newest, viewer)
    in_lines = prefers(call.header("Accept"), NDJSON)
    tag = f"{after}-{last}-{viewer}-{shape}-{int(key)}-{look(game).mark}{'-lines' if in_lines else ''}"
    if names_tag(call.header("If-None-Match"), tag):
        response = empty_response(304)
    else:
        found = [] if last == after else None if key else service.frames.remembered(match, after, last, viewer, shape)
        if found is None:
            with drawing(service, call):
                found = list(service.frames.read(game, match, after, last, viewer, shape, key))
        response = _page(found, in_lines, {"game": game.id, "match": match, "version": last, "viewer": viewer}, after)
    complete = newest.ended and last == after + limit
    return (kept if complete else tagged)(response, tag, "Authorization, Accept")


def _page(found: list[bytes], in_lines: bool, about: dict[str, Any], after: int) -> Response:
    if in_lines:
        return Response(b"".join([line + b"\n" for line in found]), mimetype=NDJSON)
    return Response(b'{"after":%d,"frames":[%b],%b' % (after, b",".join(found), sorted_json(about)[1:]), mimetype=JSON)


OPERATIONS = (
    Operation(
        "get_frames", "GET", "/v1/matches/{match}/frames", "history", "Watch a match again, picture by picture", get_frames,
        {200: Answer("The frames, oldest first.", {JSON: reference("Frames")}, ("ETag",), (NDJSON,)), 304: UNCHANGED},
        "Each frame is the picture of a version as it differs from that of the version before, with the entry in sentences. The first one "
        "is a keyframe, which has the whole picture; with `key=false` it continues from a picture that you have. With `Accept: "
        "application/x-ndjson` the answer has one frame a line. What a viewer may see is as for `get_state`. A full page of a match that "
        "is over stays as it is, and may be kept.",
        key="optional", query=FramesQuery(), headers=("If-None-Match",),
    ),
)  # fmt: skip
