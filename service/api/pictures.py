"""Pictures of matches: SVG documents that `web` draws from what a viewer may see."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from flask import Response

from events import recall
from games.kernel import Event, Game
from record.positions import Position
from service import sight
from service.api.operations import Call
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import ADMIN
from service.http.problems import Problem
from service.http.responses import SVG, empty_response, names_tag, tagged
from service.kept import of_position
from web.look import AUTO, look
from web.picture import WIDE, svg

POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # for a picture that is opened alone; it has styles but no script

# A page of frames needs much CPU, and anybody may ask for one. So a process draws one at a time, and few callers wait.
_DRAWING = threading.BoundedSemaphore(1)
_PATIENCE = 5.0  # seconds


@contextmanager
def drawing(service: Service, call: Call) -> Iterator[None]:
    """Count an expensive drawing, and hold the turn to draw. Raise Problem `too_many_requests`, `too_many_at_once` or `busy`."""
    if call.caller != ADMIN:
        call.info.used = service.throttle.count("drawings", address_of(call.environ))
    with service.drawings.take(call.caller.id, call.environ):
        if not _DRAWING.acquire(timeout=_PATIENCE):
            raise Problem("busy")
        try:
            yield
        finally:
            _DRAWING.release()


def picture_response(
    service: Service,
    call: Call,
    position: Position,
    viewer: str,
    vary: str,
    shape: str = WIDE,
    theme: str = AUTO,
    language: str | None = None,
) -> Response:
    """Return the picture of a position for a viewer, or 304 if the caller already has it.

    `language`: of its words, instead of that which the caller prefers.
    """
    language = language or call.language
    game = recall.rules_of(service.platform, position)
    tag = f"{position.version}-{viewer}-{shape}-{theme}-{look(game, language).mark}"
    if names_tag(call.header("If-None-Match"), tag):
        return tagged(empty_response(304), tag, vary)

    def drawn() -> bytes:
        view = sight.view_read(game, position, viewer)
        return svg(game, view, last_events(service, game, position, viewer), shape, theme, language).encode()

    response = Response(service.kept.made(of_position("picture", position, viewer, (shape, theme, language)), drawn), mimetype=SVG)
    response.headers["Content-Security-Policy"] = POLICY
    return tagged(response, tag, vary)


def last_events(service: Service, game: Game, position: Position, viewer: str) -> list[Event]:
    """Return the events of the entry that led to a position, as the viewer may see them."""
    found = service.entries.read(game, position.match, position.version - 1, 1, viewer, proof=False)
    entry: dict[str, Any] = orjson.loads(found[0].json) if found else {"events": []}
    events: list[Event] = entry["events"]
    return events
