"""Why: the entries that changed a field, in sentences, with the rules that applied."""

from __future__ import annotations

from typing import Any

from flask import Response
from jsonpointer import JsonPointer

from events import recall
from events.why import NOTHING, Change, search, value
from games.kernel import Game
from games.schema import anything, described, listing, nullable, optional, record, text, unchecked, whole
from service import sight
from service.api.frames import TOLD
from service.api.operations import Call, Operation, in_json
from service.api.pictures import drawing
from service.api.shapes import GAME_ID, MATCH_ID, RULE_IDS, TIME, VERSION, VIEWER, named, versions
from service.api.sidelog import note_view
from service.context import Service
from service.http.problems import Problem
from service.http.responses import json_response, private, sorted_json
from service.http.schemas import WhyQuery
from web.look import look
from web.news import entry_in_words, news, rules_of

LARGE = 1000  # bytes of a value in JSON; larger values are left out


def get_why(service: Service, call: Call, match: str) -> Response:
    """Return the entries that changed a field, newest first. Raise Problem `no_such_field`."""
    pointer = JsonPointer(call.query["pointer"])
    newest = recall.position(service.platform, match)
    viewer = sight.viewer_of(newest, call.caller, call.query.get("viewer"))
    seen = sight.seen(service.platform, newest, call.caller)
    at = call.query.get("at", seen.version)
    recall.check_version(seen, at)
    until = min(at, int(call.query.get("cursor", at)))
    note_view(service, newest, call.caller, viewer, at)
    call.info.open = sight.is_open(newest, viewer)
    game = recall.rules_of(service.platform, seen)
    with drawing(service, call):
        position = seen if at == seen.version else recall.state_at(service.platform, match, at)
        now = value(game, position.document, pointer, viewer)
        found = search(service.platform, game, match, pointer, viewer, until, call.query["limit"])
        if now is NOTHING and not found.changes and until == at:
            raise Problem("no_such_field", pointer=call.query["pointer"])
        body = {
            "match": match,
            "game": game.id,
            "viewer": viewer,
            "pointer": call.query["pointer"],
            "at": at,
            **field("value", now),
            "changes": [told_change(game, change, viewer, call.language) for change in found.changes],
            "next": None if found.further is None else str(found.further),
        }
        return private(json_response(body))


def told_change(game: Game, change: Change, viewer: str, language: str) -> dict[str, Any]:
    """Return a change as the viewer may see it."""
    entry, looks = change.entry, look(game, language)
    shown = sight.shown(game, entry, viewer)
    scene = looks.shown(game.scene(sight.view_read(game, change.position, viewer)))
    events = [shown["events"][place] for place in change.places]
    return {
        "version": entry.version,
        "at": entry.at,
        "actor": entry.actor,
        "action": shown["action"],
        "text": entry_in_words(news(scene, shown["events"], looks).sentences, entry.actor, entry.action, looks),
        "rules": rules_of(entry.action, shown["events"], looks),
        "events": [
            {
                "place": place,
                "type": event["type"],
                "text": " ".join(news(scene, [event], looks).sentences) or None,
                "rules": rules_of({"type": ""}, [event], looks),
            }
            for place, event in zip(change.places, events, strict=True)
        ],
        **field("before", change.before),
        **field("after", change.after),
    }


def field(name: str, found: Any) -> dict[str, Any]:
    """Return a value as a member, or nothing if the field does not exist or is too large."""
    return {} if found is NOTHING or len(sorted_json(found)) > LARGE else {name: found}


_LEFT_OUT = "Left out if it does not exist or has more than 1,000 bytes."
_EVENT = named(
    "ChangingEvent",
    record(
        {
            "place": whole(0, about="The place of the event among those of the entry, from 0."),
            "type": text(about="The type of the event."),
            "text": nullable(text(about="The event in a sentence; null if it has none.")),
            "rules": RULE_IDS,
        },
        "An event that changed a field.",
    ),
)
_CHANGE = named(
    "Change",
    record(
        {
            "version": versions("The version of the match after the entry."),
            "at": TIME,
            "actor": text(about="Who acted: a seat, `system`, or the id of a player."),
            "action": anything("The action. Only its `type` if the viewer may not know the rest."),
            **TOLD,
            "events": listing(_EVENT, about="The events of the entry that changed the field."),
            "before": optional(unchecked({}, f"The value before. {_LEFT_OUT}")),
            "after": optional(unchecked({}, f"The value after it. {_LEFT_OUT}")),
        },
        "An entry that changed a field.",
    ),
)
VALUE = optional(unchecked({}, f"The value at that version. {_LEFT_OUT}"))
CHANGES = listing(_CHANGE, about="The entries that changed it, newest first.")
WHY = named(
    "Why",
    record(
        {
            "match": MATCH_ID,
            "game": GAME_ID,
            "viewer": VIEWER,
            "pointer": text(about="The field, as a JSON Pointer into the view."),
            "at": described(VERSION, "The newest version that was searched."),
            "value": VALUE,
            "changes": CHANGES,
            "next": nullable(text(about="The `cursor` of the next page; null if the search has reached the first version.")),
        },
        "Why a field has its value.",
    ),
)

OPERATIONS = (
    Operation(
        "get_why", "GET", "/v1/matches/{match}/why", "history", "Ask why a field has its value", get_why,
        {200: in_json("The entries that changed the field.", WHY)},
        "The entries that changed a field of the `view` of `get_state`, newest first, with sentences, rules and events. `pointer` is a "
        "JSON Pointer (RFC 6901), such as `/regions/london/civilians`. Viewers may see the same as with `get_state`. A page searches at "
        "most 1,000 versions. Continue with `next` until it is null.",
        key="optional", query=WhyQuery(), problems=("no_such_field",), said=True,
    ),
)  # fmt: skip
