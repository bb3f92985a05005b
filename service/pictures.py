"""Pictures of matches: SVG documents, drawn by `web` from what a viewer may see."""

from __future__ import annotations

from typing import Any

import orjson
from flask import Response

from events.positions import Position
from games.kernel import Event, Game
from service import sight
from service.context import Service
from service.operations import Call
from service.responses import SVG, empty_response, names_tag, sorted_json, tagged
from web.look import AUTO, look
from web.picture import WIDE, svg

POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # for a picture that is opened by itself; it has a style and no script


def picture_response(
    service: Service, call: Call, position: Position, viewer: str, vary: str, shape: str = WIDE, theme: str = AUTO
) -> Response:
    """Return the picture of a position for a viewer, or 304 if the caller has it."""
    game = service.games[position.game]
    tag = f"{position.version}-{viewer}-{shape}-{theme}-{look(game).mark}"
    if names_tag(call.header("If-None-Match"), tag):
        return tagged(empty_response(304), tag, vary)
    view = orjson.loads(sorted_json(sight.view(game, position, viewer)))
    response = Response(svg(game, view, _last_events(service, game, position, viewer), shape, theme), mimetype=SVG)
    response.headers["Content-Security-Policy"] = POLICY
    return tagged(response, tag, vary)


def _last_events(service: Service, game: Game, position: Position, viewer: str) -> list[Event]:
    """Return the events of the entry that led to a position, as the viewer is shown them."""
    found = service.entries.read(game, position.match, position.version - 1, 1, viewer, proof=False)
    entry: dict[str, Any] = orjson.loads(found[0].json) if found else {"events": []}
    events: list[Event] = entry["events"]
    return events
