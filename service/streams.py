"""Streams: the entries of a match as server-sent events, as they come."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator

from flask import Response

from events import recall
from games import patterns
from games.kernel import Game
from games.schema import unchecked
from service import sight
from service.context import Service
from service.keys import Caller
from service.operations import TEXT_SCHEMA, Answer, Call, Operation
from service.problems import Problem
from service.request_schemas import StreamQuery
from service.responses import EVENT_STREAM, empty_response
from service.shown_entries import PAGE


def get_stream(service: Service, call: Call, match: str) -> Response:
    """Return a stream of the entries after a version."""
    position = recall.position(service.platform, match)
    viewer = sight.viewer_of(position, call.caller, call.query.get("viewer"))
    after = _last_event(call) if call.header("Last-Event-ID") is not None else call.query["after"]
    recall.check_version(position, after)
    if position.status == "over" and after >= position.version:
        return empty_response(204)
    response = Response(mimetype=EVENT_STREAM)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Authorization"
    response.headers["X-Accel-Buffering"] = "no"
    if call.environ["REQUEST_METHOD"] == "HEAD":
        return response
    longest = service.settings.stream_seconds
    seconds = min(call.query.get("seconds", longest), longest)
    game, proof = service.games[position.game], bool(call.query["proof"])
    stream = Stream(service, call.caller, game, match, viewer, after, seconds, proof)
    response.response = stream
    response.call_on_close(stream.close)
    return response


class Stream:
    """The body of a response that goes on while the match does: one server-sent event for each entry.

    It takes a place of the hub until it is closed. Raises Problem `streams_full`.
    """

    def __init__(
        self, service: Service, caller: Caller, game: Game, match: str, viewer: str, after: int, seconds: float, proof: bool
    ) -> None:
        service.hub.acquire()
        self._open = True
        self._service = service
        self._caller = caller
        self._game = game
        self._match = match
        self._viewer = viewer
        self._proof = proof
        self._after = after
        self._until = time.monotonic() + seconds
        self._chunks = self._generate()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._chunks)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the place back. The client has gone, or the stream is at its end."""
        if self._open:
            self._open = False
            self._service.hub.release()
            self._chunks.close()

    def _generate(self) -> Generator[bytes, None, None]:
        yield b"retry: 1000\n\n"
        service, pause = self._service, self._service.settings.comment_seconds
        last_sent = time.monotonic()
        with service.hub.watch(self._match) as watch:
            look = True
            while True:
                watch.rearm()
                found = (
                    service.entries.read_new(self._game, self._match, self._after, watch.version, self._viewer, self._proof)
                    if look or watch.version > self._after
                    else []
                )
                if found:
                    if not sight.may_still_view(service.platform, self._caller, self._match, self._viewer):
                        return
                    self._after = found[-1].version
                    last_sent = time.monotonic()
                    yield b"".join(b"id: %d\nevent: entry\ndata: %b\n\n" % (entry.version, entry.json) for entry in found)
                    if found[-1].ends_match:
                        yield b'event: over\ndata: {"version":%d}\n\n' % self._after
                        return
                    look = len(found) == PAGE or watch.version > self._after
                    continue
                now = time.monotonic()
                if now >= self._until:
                    return
                if now >= last_sent + pause:
                    last_sent = now
                    yield b": still here\n\n"
                look = True
                watch.wait(min(self._until, last_sent + pause) - now)


def _last_event(call: Call) -> int:
    """Return the version in Last-Event-ID. Raise Problem `bad_header`."""
    given = call.header("Last-Event-ID") or ""
    if not patterns.matches(patterns.VERSION, given):
        raise Problem("bad_header", header="Last-Event-ID", reason="it must be a version")
    return int(given)


OPERATIONS = (
    Operation(
        "get_stream", "GET", "/v1/matches/{match}/stream", "history", "Follow a match: entries as server-sent events", get_stream,
        {
            200: Answer(
                "Server-sent events.", {EVENT_STREAM: unchecked(TEXT_SCHEMA, "The text of the stream, of any length.").schema},
            ),
            204: Answer("The match is over and there is no entry after yours. Do not connect again."),
        },
        "Each event `entry` has the version as `id` and an entry of the match in JSON as `data`, like one of `get_entries`. After the last "
        "entry comes an event `over`, whose `data` is `{\"version\": …}`. A comment comes at least every 15 seconds. A generated client "
        "reads an answer to its end, so let it ask with `seconds`, such as 0 for the entries that exist. To follow a match live, use a "
        "library for server-sent events, or `get_entries` with `wait`.",
        key="optional", query=StreamQuery(), headers=("Last-Event-ID",),
        problems=("no_such_match", "no_such_seat", "no_such_version", "hidden_view", "streams_full"),
    ),
)  # fmt: skip
