"""The OpenAPI components of pictures: frames, and what they are made of."""

from __future__ import annotations

from games import patterns
from games.schema import (
    Fields,
    Shape,
    always,
    anything,
    described,
    either,
    listing,
    mapping,
    nullable,
    optional,
    record,
    text,
    unchecked,
    whole,
)
from service.api.game_components import (
    ACTIVE,
    ANY_TEXT,
    AT_TABLE,
    MATCH_ID,
    OUTCOME,
    PHASE,
    ROUND,
    SEAT,
    TIME,
    TO_ACT,
    VERSION,
    VIEWER,
    ref,
    versions,
)
from service.api.shared_components import GAME_ID, STATUS

NUMBER = unchecked({"type": "number"})
RULE = text(patterns.anchored(patterns.RULE))
SENTENCE = (
    "A player stands in it as an id in braces, such as `{p234567abcdefghij}`; there are no other braces. The name is in the `players` of "
    "`get_match`."
)
LEFT_OUT = "It is missing if there is no such field, and if it takes more than 1,000 bytes."
NOW: Fields = {
    "status": STATUS,
    "round": ROUND,
    "phase": PHASE,
    "active": ACTIVE,
    "to_act": listing(ANY_TEXT, about=TO_ACT),
    "outcome": OUTCOME,
    "seats": mapping(ANY_TEXT, ref("Occupant"), "Who has each seat."),
    **AT_TABLE,
}

TOLD: Fields = {
    "text": listing(ANY_TEXT, about=f"What happened, in sentences. {SENTENCE}"),
    "rules": listing(RULE, about="The ids of the rules by which it happened (`get_rule`)."),
}
CHANGED: Fields = {
    "now": optional(described(ref("FrameNow"), "What holds at this version, as far as it differs from the version before.")),
    "title": optional(text(about="The picture in a few words: the game, the round and the phase.")),
    "order": optional(listing(ANY_TEXT, about="The ids of all sheets, in the order of reading. Other sheets are gone.")),
    "sheets": optional(
        listing(ref("FrameSheet"), about="The parts of the picture that have another `box` or other `fragments` than before.")
    ),
    "fragments": optional(
        mapping(
            ANY_TEXT,
            either(text(about="The whole fragment: an SVG element `g` whose `id` is its name."), ref("Edits")),
            "The fragments that differ from the version before, by name.",
        )
    ),
    "gone": optional(listing(ANY_TEXT, about="The names of the fragments that there are no more.")),
}


def components() -> dict[str, Shape]:
    """Return the components of pictures, by name."""
    return {
        "Frame": record(
            {
                "version": versions("The version of the match that the picture shows."),
                "at": TIME,
                "actor": text(about="Who acted: a seat, `system`, or the id of a player."),
                "action": text(about="The type of the action."),
                **TOLD,
                "key": optional(always(True, "This is a keyframe. Then everything below is there, and of the whole picture.")),
                "match": optional(MATCH_ID),
                "game": optional(GAME_ID),
                "viewer": optional(VIEWER),
                "shape": optional(text(about="`wide` or `tall`: how wide the panels are.")),
                "look": optional(text(about="The mark of the looks with which it was drawn (`get_stylesheet`, `get_definitions`).")),
                **CHANGED,
            },
            "A version of a match as a picture. What is missing is as in the version before: a sheet, a fragment, a member of `now`.",
        ),
        "Frames": record(
            {
                "match": MATCH_ID,
                "game": GAME_ID,
                "viewer": VIEWER,
                "after": described(VERSION, "The version after which the frames come."),
                "version": described(VERSION, "The version of the last frame here, or `after` if there is none. Continue after it."),
                "frames": listing(ref("Frame"), about="The frames, oldest first."),
            },
            "Frames of a match, oldest first.",
        ),
        "TriedFrame": record({**TOLD, **CHANGED}, "What actions would change in a picture, told like a frame."),
        "Why": record(
            {
                "match": MATCH_ID,
                "game": GAME_ID,
                "viewer": VIEWER,
                "pointer": text(about="The field, as a JSON Pointer into the view."),
                "at": described(VERSION, "The version up to which changes were searched for."),
                "value": optional(unchecked({}, f"The field at that version. {LEFT_OUT}")),
                "changes": listing(ref("Change"), about="The entries that changed it, the newest first."),
                "next": nullable(text(about="The `cursor` of the next page; null if the search has come to the first version.")),
            },
            "Why a field has its value.",
        ),
        "Change": record(
            {
                "version": versions("The version of the match after the entry."),
                "at": TIME,
                "actor": text(about="Who acted: a seat, `system`, or the id of a player."),
                "action": anything("The action. Only its `type` if the viewer may not know the rest."),
                **TOLD,
                "events": listing(ref("ChangingEvent"), about="The events of the entry that changed the field."),
                "before": optional(unchecked({}, f"The field before. {LEFT_OUT}")),
                "after": optional(unchecked({}, f"The field after it. {LEFT_OUT}")),
            },
            "An entry that changed a field.",
        ),
        "ChangingEvent": record(
            {
                "place": whole(0, about="The place of the event among those of the entry, from 0."),
                "type": text(about="The type of the event."),
                "text": nullable(text(about="The event in a sentence; null if it has none.")),
                "rules": listing(RULE, about="The ids of the rules by which it happened."),
            },
            "An event that changed a field.",
        ),
        "FrameNow": record(
            {name: optional(shape) for name, shape in NOW.items()},
            "What holds at a version beside the picture. In a keyframe everything, else what differs from the version before.",
        ),
        "FrameSheet": record(
            {
                "id": text(about="`heading`, `board`, or `panel-` and a seat or a word of the game."),
                "seat": optional(nullable(described(SEAT, "The seat whose panel it is, or null."))),
                "box": optional(
                    listing(NUMBER, 4, 4, "Left, top, width and height of the sheet in the units of its fragments, as for a `viewBox`.")
                ),
                "fragments": optional(listing(ANY_TEXT, about="The names of its fragments, in the order of drawing.")),
            },
            "A part of a picture, with units of its own. What is missing is as in the version before.",
        ),
        "Edits": unchecked(
            {
                "type": "array",
                "items": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]},
                "minItems": 3,
            },
            "A fragment as it differs from that of the version before: how many words stay, how many go, the text that comes in their "
            'place, and again, as often as needed. The rest stays. A word ends before the next `<`, `"` or blank.',
        ),
    }
