"""Streams: new entries of a match as server-sent events."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping

from flask import Response

from events import recall
from events.platform import Platform
from events.standings import at_table
from games import patterns
from games.kernel import Game
from games.schema import Schema, unchecked
from record.positions import Position
from service import sight
from service.api.operations import TEXT_SCHEMA, Answer, Call, Operation
from service.api.sidelog import note_entries
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import Caller
from service.http.places import HeldBody
from service.http.problems import Problem
from service.http.responses import EVENT_STREAM, empty_response, sorted_json
from service.http.schemas import StreamQuery
from service.shown_entries import PAGE
from table.settings import NONE
from table.state import delay


def get_stream(service: Service, call: Call, match: str) -> Response:
    """Return a stream of the entries after a version."""
    newest = recall.position(service.platform, match)
    viewer = sight.viewer_of(newest, call.caller, call.query.get("viewer"))
    position = sight.seen(service.platform, newest, call.caller)
    after = last_event(call) if call.header("Last-Event-ID") is not None else call.query["after"]
    recall.check_version(position, after)
    game = recall.rules_of(service.platform, newest)
    if position.ended and after >= position.version:
        return empty_response(204)
    return stream_response(service, call, lambda seconds: _events(service, call, game, newest, viewer, after, seconds))


def stream_response(service: Service, call: Call, events: Callable[[float], Generator[bytes, None, None]]) -> Response:
    """Return a response with server-sent events, for as many seconds as the caller asks for and the server allows.

    `events` yields the body for that many seconds. Raise Problem `too_many_streams` or `streams_full`.
    """
    response = Response(mimetype=EVENT_STREAM)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Authorization"
    response.headers["X-Accel-Buffering"] = "no"
    if call.environ["REQUEST_METHOD"] == "HEAD":
        return response
    longest = service.settings.stream_seconds
    seconds = min(call.query.get("seconds", longest), longest)
    body = HeldBody(service.streams.take(call.caller.id, call.environ), events(seconds))
    response.response = body
    response.call_on_close(body.close)
    return response


def _events(
    service: Service, call: Call, game: Game, position: Position, viewer: str, after: int, seconds: float
) -> Generator[bytes, None, None]:
    """Yield a server-sent event for each entry after a version, until the match is over or the seconds are up.

    `position` may be any position of the match: only settings that never change are read from it, and whether it is over.
    """
    match, proof = position.match, call.query["proof"]
    hides, timed = delay(position.table) != 0, position.table["clock"]["kind"] != NONE

    def renewed() -> Caller | None:
        return service.keys.renewed(call.header("Authorization"), address_of(call.environ))

    def last_seen(caller: Caller | None) -> int:
        return sight.horizon(service.platform, caller, match, viewer, hides)

    yield b"retry: 1000\n\n"
    over = position.ended
    pause = service.settings.comment_seconds
    last_sent = time.monotonic()
    until = last_sent + seconds
    with service.hub.watch(match) as watch, service.directory.waking(call.caller.id, watch.notify):
        look = True
        while True:
            watch.rearm()
            new = (look or watch.version > after) and (not hides or last_seen(renewed()) > after)
            found = service.entries.read_new(game, match, after, watch.version, viewer, proof) if new else []
            caller = renewed()
            last = last_seen(caller)
            if last == 0:
                return
            found = [entry for entry in found if entry.version <= last]
            if found:
                after = found[-1].version
                note_entries(service, match, caller, viewer, after)
                last_sent = time.monotonic()
                entries = (b"id: %d\nevent: entry\ndata: %b\n\n" % (entry.version, entry.json) for entry in found)
                yield b"".join(entries) + (_clocks(service.platform, match, after) if timed and last == sight.UNLIMITED else b"")
                over = over or any(entry.ends_match for entry in found)
                if over and len(found) < PAGE:
                    yield b'event: over\ndata: {"version":%d}\n\n' % after
                    return
                look = len(found) == PAGE or watch.version > after
                continue
            now = time.monotonic()
            if now >= until or watch.removed:
                return
            if now >= last_sent + pause:
                last_sent = now
                yield b": still here\n\n"
            look = True
            yield from watch.wait(min(until, last_sent + pause))


def _clocks(platform: Platform, match: str, version: int) -> bytes:
    """Return the server-sent event with the clocks of a match, or nothing if the match has moved on from the version."""
    position = recall.position(platform, match)
    if position.version != version:
        return b""
    return b"event: clocks\ndata: %b\n\n" % sorted_json({"version": version, "clocks": at_table(position.table)["clocks"]})


def last_event(call: Call) -> int:
    """Return the number in Last-Event-ID. Raise Problem `bad_header`."""
    given = call.header("Last-Event-ID") or ""
    if not patterns.matches(patterns.VERSION, given):
        raise Problem("bad_header", header="Last-Event-ID", reason="it must be the id of an event")
    return int(given)


STREAM: Mapping[str, Schema] = {EVENT_STREAM: unchecked(TEXT_SCHEMA, "The text of the stream.").schema}

OPERATIONS = (
    Operation(
        "get_stream", "GET", "/v1/matches/{match}/stream", "history", "Follow a match: entries as server-sent events", get_stream,
        {
            200: Answer("Server-sent events.", STREAM),
            204: Answer("The match is over, and you have its last entry. Do not connect again."),
        },
        "Each event `entry` has an entry as `data`, in JSON as in `get_entries`, and its version as `id`. After the last entry comes an "
        "event `over` with `{\"version\": …}`. In a match with clocks, an event `clocks` with `{\"version\": …, \"clocks\": …}` follows "
        "the newest entry, unless the match hides from you. A comment comes at least every 15 seconds. A generated client reads an answer "
        "to its end, so let it ask with `seconds`, such as 0 for the entries that exist. To follow a match live, use a library for "
        "server-sent events, or `get_entries` with `wait`.",
        key="optional", query=StreamQuery(), headers=("Last-Event-ID",),
    ),
)  # fmt: skip
