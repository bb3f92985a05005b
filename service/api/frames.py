"""Frames: a match as pictures, version by version. Each frame has what differs from the frame before."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from flask import Response

from events import recall
from games.kernel import Game
from games.schema import Fields, always, described, either, listing, mapping, nullable, optional, record, text, unchecked
from service import sight
from service.api.game_shapes import OCCUPANT
from service.api.matches import AT_TABLE_FIELDS, STATUS
from service.api.operations import UNCHANGED, Answer, Call, Operation
from service.api.pictures import drawing
from service.api.shapes import (
    ACTIVE,
    ANY_TEXT,
    GAME_ID,
    MATCH_ID,
    OUTCOME,
    PHASE,
    ROUND,
    RULE_IDS,
    SEAT,
    TIME,
    TO_ACT,
    VERSION,
    VIEWER,
    extending,
    named,
    versions,
)
from service.api.sidelog import note_view
from service.context import Service
from service.drawn_frames import Eyes
from service.http.responses import JSON, NDJSON, empty_response, kept, names_tag, prefers, sorted_json, tagged
from service.http.schemas import FramesQuery
from web.look import look


def get_frames(service: Service, call: Call, match: str) -> Response:
    """Return a page of frames."""
    newest = recall.position(service.platform, match)
    viewer = sight.viewer_of(newest, call.caller, call.query.get("viewer"))
    position = sight.seen(service.platform, newest, call.caller)
    game = recall.rules_of(service.platform, position)
    after, limit, shape = call.query["after"], call.query["limit"], call.query["shape"]
    key = call.query["key"] or after == 0
    recall.check_version(position, after)
    last = min(position.version, after + limit)
    note_view(service, newest, call.caller, viewer, last)
    call.info.open = sight.is_open(newest, viewer)
    in_lines = prefers(call.header("Accept"), NDJSON)
    tag = f"{after}-{last}-{viewer}-{shape}-{int(key)}-{look(game, call.language).mark}{'-lines' if in_lines else ''}"
    if names_tag(call.header("If-None-Match"), tag):
        response = empty_response(304)
    else:
        eyes = Eyes(match, service.histories.of(newest), viewer, shape, call.language)
        found = _frames(service, call, game, eyes, after, last, key)
        response = _page(found, in_lines, {"game": game.id, "match": match, "version": last, "viewer": viewer}, after)
    complete = newest.ended and last == after + limit
    return (kept if complete else tagged)(response, tag, "Authorization, Accept")


def _frames(service: Service, call: Call, game: Game, eyes: Eyes, after: int, last: int, key: bool) -> list[bytes]:
    """Return the frames after a version up to `last`, and draw those that are not kept."""
    found = service.frames.kept(eyes, after, last, key)
    if None in found:
        with drawing(service, call):
            for missing, places in groupby(range(len(found)), lambda place: found[place] is None):
                if missing:
                    first, *more = places
                    end = first + len(more) + 1
                    found[first:end] = service.frames.read(game, eyes, after + first, after + end, key and first == 0)
    return [frame for frame in found if frame is not None]


def _page(found: list[bytes], in_lines: bool, about: dict[str, Any], after: int) -> Response:
    if in_lines:
        return Response(b"".join([line + b"\n" for line in found]), mimetype=NDJSON)
    return Response(b'{"after":%d,"frames":[%b],%b' % (after, b",".join(found), sorted_json(about)[1:]), mimetype=JSON)


SENTENCE = (
    "A player is written as an id in braces, such as `{p234567abcdefghij}`. No other braces occur. The name is in the `players` of "
    "`get_match`."
)
_NOW: Fields = {
    "status": STATUS,
    "round": ROUND,
    "phase": PHASE,
    "active": ACTIVE,
    "to_act": TO_ACT,
    "outcome": OUTCOME,
    "seats": mapping(ANY_TEXT, OCCUPANT, "Who has each seat."),
}
TOLD: Fields = {
    "text": named("Sentences", listing(ANY_TEXT, about=f"What happened, in sentences. {SENTENCE}")),
    "rules": RULE_IDS,
}
_EDITS = named(
    "Edits",
    unchecked(
        {"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}, "minItems": 3},
        "The edits that make a fragment from the one before. Each edit is three items: how many words stay, how many go, and the text that "
        'replaces them. The remaining words stay. A word ends before the next `<`, `"` or blank.',
    ),
)
_SHEET = named(
    "FrameSheet",
    record(
        {
            "id": text(about="`heading`, `board`, or `panel-` and a seat or another id of the game."),
            "seat": optional(nullable(described(SEAT, "The seat that the panel shows, or null."))),
            "box": optional(
                listing(
                    unchecked({"type": "number"}),
                    4,
                    4,
                    "Left, top, width and height of the sheet in the units of its fragments, as in a `viewBox`.",
                )
            ),
            "fragments": optional(listing(ANY_TEXT, about="The names of its fragments, in drawing order.")),
        },
        "A part of a picture, with its own units. Missing members are as before.",
    ),
)
_CHANGED: Fields = {
    **TOLD,
    "now": optional(
        described(
            named(
                "FrameNow",
                record(
                    {name: optional(shape) for name, shape in {**_NOW, **AT_TABLE_FIELDS}.items()},
                    "The facts of a version beside the picture. A keyframe has all; other frames have those that changed.",
                ),
            ),
            "The facts that changed.",
        )
    ),
    "title": optional(text(about="The title of the picture: the game, the round and the phase.")),
    "order": optional(listing(ANY_TEXT, about="The ids of all sheets, in reading order. Other sheets are gone.")),
    "sheets": optional(listing(_SHEET, about="The sheets whose `box` or `fragments` changed.")),
    "fragments": optional(
        mapping(
            ANY_TEXT,
            either(text(about="The whole fragment: an SVG element `g` whose `id` is its name."), _EDITS),
            "The fragments that changed, by name.",
        )
    ),
    "gone": optional(listing(ANY_TEXT, about="The names of the fragments that are gone.")),
}
FRAME_CHANGE = named("FrameChange", record(_CHANGED, "What changed in a picture, and what happened, in sentences."))
FRAMES = named(
    "FrameList",
    record(
        {
            "match": MATCH_ID,
            "game": GAME_ID,
            "viewer": VIEWER,
            "after": described(VERSION, "The frames come after this version."),
            "version": described(VERSION, "The version of the last frame here, or `after` if there is none. Continue after it."),
            "frames": listing(
                named(
                    "Frame",
                    extending(
                        FRAME_CHANGE,
                        {
                            "version": versions("The version of the match that the picture shows."),
                            "at": TIME,
                            "actor": text(about="Who acted: a seat, `system`, or the id of a player."),
                            "action": text(about="The type of the action."),
                            "signed": optional(text(about="The key by which the actor has signed the action, if you see all of it.")),
                            "key": optional(always(True, "This is a keyframe: it has the whole picture and all facts.")),
                            "match": optional(MATCH_ID),
                            "game": optional(GAME_ID),
                            "viewer": optional(VIEWER),
                            "shape": optional(text(about="`wide` or `tall`: how wide the panels are.")),
                            "look": optional(
                                text(about="The mark of the look that the picture needs (`get_stylesheet`, `get_definitions`).")
                            ),
                        },
                        "A version of a match as a picture. Missing sheets, fragments and members of `now` are as in the frame before.",
                    ),
                ),
                about="The frames, oldest first.",
            ),
        },
        "Frames of a match, oldest first.",
    ),
)

OPERATIONS = (
    Operation(
        "get_frames", "GET", "/v1/matches/{match}/frames", "history", "Watch a match again, picture by picture", get_frames,
        {200: Answer("The frames, oldest first.", {JSON: FRAMES}, ("ETag",), (NDJSON,)), 304: UNCHANGED},
        "Each frame has what changed in the picture from one version to the next, and the entry in sentences. The first frame is a "
        "keyframe: it has the whole picture. With `key=false` it continues from a picture that you have. With `Accept: "
        "application/x-ndjson` the answer has one frame a line. Viewers may see what they may see with `get_state`. A full page of a match "
        "that is over never changes, so you may keep it.",
        key="optional", query=FramesQuery(), headers=("If-None-Match",), said=True,
    ),
)  # fmt: skip
