"""History: what has happened in a match, entry by entry, now and as it comes; and the audit of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import NamedTuple

from flask import Response

from events import recall
from events.audit import audit, plain
from events.entries import parse
from events.lists import standing_of
from events.platform import Platform
from games.kernel import Game
from service import sight
from service.hub import Hub
from service.operations import Answer, Asked, Operation
from service.problems import Problem
from service.responses import JSON, NDJSON, in_json, in_no_words, prefers, private, written
from service.schemas import EntriesQuery, StreamQuery
from service.settings import Settings
from service.shapes import ref

PAGE = 200
LINES = 8192
EVENT_STREAM = "text/event-stream"


class Telling(NamedTuple):
    """What it takes to tell what has happened and what comes."""

    platform: Platform
    hub: Hub
    lines: Lines
    settings: Settings


def operations(platform: Platform, hub: Hub, settings: Settings) -> list[Operation]:
    """What can be asked about the past, and heard of what comes."""
    tell = Telling(platform, hub, Lines(platform), settings)
    seen = ("no_such_match", "no_such_seat", "hidden_view", "streams_full")
    return [
        Operation(
            "get_entries", "GET", "/v1/matches/{match}/entries", "history", "Get entries: actions and the facts that followed",
            partial(get_entries, tell),
            {200: Answer("The entries; as NDJSON, one entry a line.", {"application/json": ref("Entries"), NDJSON: {"type": "string"}})},
            "With `Accept: application/x-ndjson` the answer is one entry a line. With `wait` the answer comes as soon as there is an entry "
            "after `after`, or empty when the time is up.",
            key="optional", query=EntriesQuery(), problems=seen,
        ),
        Operation(
            "get_stream", "GET", "/v1/matches/{match}/stream", "history", "Follow a match: entries as server-sent events",
            partial(get_stream, tell),
            {
                200: Answer(
                    "Events named `entry`, with the version as `id` and an `Entry` as `data`; a comment at least every 15 seconds; "
                    "after the last entry of a match an event `over`.",
                    {EVENT_STREAM: ref("StreamEvent")},
                ),
                204: Answer("The match is over, and nothing comes after what you have; do not connect again."),
            },
            key="optional", query=StreamQuery(), headers=("Last-Event-ID",), problems=seen,
        ),
        Operation(
            "get_audit", "GET", "/v1/matches/{match}/audit", "history", "Audit a match", partial(get_audit, tell),
            {200: Answer("The report.", {"application/json": ref("Audit")})},
            "Replays the match from its stream, decides every action anew with the recorded dice, and compares; names the version "
            "of whatever differs. For referees who do not play in the match at any time, for its players when it is over.",
            key="needed", problems=("no_such_match", "audit_closed"),
        ),
        Operation(
            "get_record", "GET", "/v1/matches/{match}/record", "history", "Get the full record, for an audit of one's own",
            partial(get_record, tell),
            {200: Answer("The entries in full; as NDJSON, one a line.", {"application/json": ref("Record"), NDJSON: {"type": "string"}})},
            "What `audit` reads, for whoever would rather check it alone (docs/auditing.md). For whoever may audit.",
            key="needed", problems=("no_such_match", "audit_closed"),
        ),
    ]  # fmt: skip


def get_entries(tell: Telling, asked: Asked, match: str) -> Response:
    """A page of entries, or the next one as soon as it is there."""
    position = recall.position(tell.platform, match)
    viewer = sight.viewer_of(position, asked.caller, asked.query.get("viewer"))
    game = tell.platform.games[position.game]
    after, limit = asked.query["after"], asked.query["limit"]
    found = tell.lines.read(game, match, after, limit, viewer)
    if not found and asked.query["wait"] and position.status != "over":
        found = _waited_for(tell, game, match, after, limit, viewer, asked.query["wait"])
    if not may_still(tell, asked, match, viewer):
        raise Problem("hidden_view", viewer=viewer)
    if prefers(asked.header("Accept"), NDJSON):
        answer = Response(b"".join(line.written + b"\n" for line in found), mimetype=NDJSON)
    else:
        last = found[-1].version if found else after
        tail = written({"game": game.id, "match": match, "version": last, "viewer": viewer})
        entries = b",".join(line.written for line in found)
        answer = Response(b'{"after":%d,"entries":[%b],%b' % (after, entries, tail[1:]), mimetype=JSON)
    return private(answer, "Authorization, Accept")


def _waited_for(tell: Telling, game: Game, match: str, after: int, limit: int, viewer: str, seconds: float) -> list[Line]:
    until = time.monotonic() + min(seconds, tell.settings.wait_limit)
    tell.hub.enter()
    try:
        with tell.hub.watch(match) as watch:
            while True:
                watch.ready()
                found = tell.lines.read(game, match, after, limit, viewer)
                left = until - time.monotonic()
                if found or left <= 0:
                    return found
                watch.wait(left)
    finally:
        tell.hub.leave()


def get_stream(tell: Telling, asked: Asked, match: str) -> Response:
    """Entries as they come, as server-sent events."""
    position = recall.position(tell.platform, match)
    viewer = sight.viewer_of(position, asked.caller, asked.query.get("viewer"))
    after = _last_event(asked) if asked.header("Last-Event-ID") is not None else asked.query["after"]
    if position.status == "over" and after >= position.version:
        return in_no_words(204)
    answer = Response(mimetype=EVENT_STREAM)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Vary"] = "Authorization"
    answer.headers["X-Accel-Buffering"] = "no"
    if asked.environ["REQUEST_METHOD"] == "HEAD":
        return answer
    seconds = min(asked.query.get("seconds", tell.settings.stream_seconds), tell.settings.stream_seconds)
    game, comments = tell.platform.games[position.game], tell.settings.comment_seconds
    stream = Stream(tell.hub, tell.lines, game, match, viewer, after, seconds, comments, lambda: may_still(tell, asked, match, viewer))
    answer.response = stream
    answer.call_on_close(stream.close)
    return answer


def may_still(tell: Telling, asked: Asked, match: str, viewer: str) -> bool:
    """Whether the caller may look through these eyes still: a referee may have taken a seat in the meantime."""
    if not asked.caller.referees or asked.caller.id is None:
        return True
    try:
        sight.viewer_of(recall.position(tell.platform, match), asked.caller, viewer)
    except Problem:
        return False
    return True


def get_audit(tell: Telling, asked: Asked, match: str) -> Response:
    """What an audit finds."""
    guard(tell, asked, match)
    report = plain(audit(tell.platform, match))
    guard(tell, asked, match)
    return private(in_json(report))


def get_record(tell: Telling, asked: Asked, match: str) -> Response:
    """Every entry in full, as it lies in the stream."""
    guard(tell, asked, match)
    if not tell.platform.store.head(match):
        raise Problem("no_such_match")
    # Read to the end before anything is answered: a body that breaks off looks like a record that ends there.
    full = list(tell.platform.store.read_all(match))
    guard(tell, asked, match)
    if prefers(asked.header("Accept"), NDJSON):
        answer = Response(b"".join(line + b"\n" for line in full), mimetype=NDJSON)
    else:
        answer = Response(b'{"entries":[%b],%b' % (b",".join(full), written({"match": match})[1:]), mimetype=JSON)
    return private(answer, "Authorization, Accept")


def guard(tell: Telling, asked: Asked, match: str) -> None:
    """Let only those through who may audit. A referee who has no part in a match is let through without reading it, so that a spoilt
    match can be audited too."""
    caller, platform = asked.caller, tell.platform
    standing = standing_of(platform, match) if caller.referees and caller.id is not None else None
    part = standing is not None and any(holder.get("player") == caller.id for holder in standing["seats"].values())
    if caller.referees and not part:
        return
    if not sight.may_audit(recall.position(platform, match), caller):
        raise Problem("audit_closed")


class Line(NamedTuple):
    """An entry as a viewer sees it, written; `ends` in the one that ended its match."""

    version: int
    written: bytes
    ends: bool


class Lines:
    """Entries as their viewers see them, written; the latest are kept, since many viewers see the same."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._kept: dict[tuple[str, int, str], Line] = {}

    def read(self, game: Game, match: str, after: int, limit: int, viewer: str) -> list[Line]:
        """The entries after a version, from the store."""
        found = []
        for wire in self._platform.store.read(match, after, limit):
            entry = parse(wire)
            found.append(Line(entry.version, written(sight.shown(game, entry, viewer)), entry.secret is not None))
        return found

    def news(self, game: Game, match: str, after: int, version: int, viewer: str) -> list[Line]:
        """The entries after a version, a page of them; those up to `version` without the store where another viewer has just had them."""
        kept = [self._kept.get((match, number, viewer)) for number in range(after + 1, min(version, after + PAGE) + 1)]
        if kept and None not in kept:
            return [line for line in kept if line is not None]
        found = self.read(game, match, after, PAGE, viewer)
        if len(found) < PAGE:
            if len(self._kept) > LINES:
                self._kept = {}
            self._kept.update({(match, line.version, viewer): line for line in found})
        return found


class Stream:
    """The body of an answer that goes on while the match does: server-sent events, one for each entry."""

    def __init__(
        self,
        hub: Hub,
        lines: Lines,
        game: Game,
        match: str,
        viewer: str,
        after: int,
        seconds: float,
        comment_seconds: float,
        may_look: Callable[[], bool],
    ) -> None:
        hub.enter()
        self._open = True
        self._hub = hub
        self._lines = lines
        self._game = game
        self._match = match
        self._viewer = viewer
        self._after = after
        self._until = time.monotonic() + seconds
        self._comment_seconds = comment_seconds
        self._may_look = may_look
        self._chunks = self._written()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._chunks)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the place back; whoever asked has gone, or all is told."""
        if self._open:
            self._open = False
            self._hub.leave()
            self._chunks.close()

    def _written(self) -> Generator[bytes, None, None]:
        yield b"retry: 1000\n\n"
        spoken = time.monotonic()
        with self._hub.watch(self._match) as watch:
            look = True
            while True:
                watch.ready()
                news = (
                    self._lines.news(self._game, self._match, self._after, watch.version, self._viewer)
                    if look or watch.version > self._after
                    else []
                )
                if news:
                    if not self._may_look():
                        return
                    self._after = news[-1].version
                    spoken = time.monotonic()
                    yield b"".join(b"id: %d\nevent: entry\ndata: %b\n\n" % (line.version, line.written) for line in news)
                    if news[-1].ends:
                        yield b'event: over\ndata: {"version":%d}\n\n' % self._after
                        return
                    look = len(news) == PAGE or watch.version > self._after
                    continue
                now = time.monotonic()
                if now >= self._until:
                    return
                if now >= spoken + self._comment_seconds:
                    spoken = now
                    yield b": still here\n\n"
                look = True
                watch.wait(min(self._until, spoken + self._comment_seconds) - now)


def _last_event(asked: Asked) -> int:
    given = asked.header("Last-Event-ID") or ""
    if not (given.isascii() and given.isdigit() and len(given) <= 15):
        raise Problem("bad_header", header="Last-Event-ID", reason="a version belongs there")
    return int(given)
