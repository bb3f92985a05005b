"""Streams: new entries of a match as server-sent events."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import NamedTuple

from flask import Response

from events import recall
from events.standings import at_table
from games import patterns
from service import sight
from service.api.event_shapes import in_stream, match_data
from service.api.operations import Answer, Call, Operation
from service.api.sidelog import note_entries
from service.api.viewing import Viewing, plays, viewing
from service.context import Service
from service.http.following import Follower, Round, Steps, Wake, follow
from service.http.hub import Watch
from service.http.keys import Caller
from service.http.places import Place
from service.http.presence import Found, Visit
from service.http.problems import Problem
from service.http.responses import EVENT_STREAM, empty_response, sorted_json
from service.http.schemas import StreamQuery
from service.shown_entries import PAGE, ShownEntry
from table.settings import NONE

LISTENS_SECONDS = 600.0  # after the end of a match, to set phrases


def get_stream(service: Service, call: Call, match: str) -> Response:
    """Return a stream of the entries after a version."""
    newest = recall.position(service.platform, match)
    viewer = sight.viewer_of(newest, call.caller, call.query.get("viewer"))
    position = sight.seen(service.platform, newest, call.caller)
    after = last_event(call) if call.header("Last-Event-ID") is not None else call.query["after"]
    recall.check_version(position, after)
    view = viewing(service, call, newest, viewer)
    if position.ended and after >= position.version:
        return empty_response(204)
    if newest.ended:
        service.platform.archive.fold(match)  # the loop of all streams neither reads nor folds an archived match
    timed = newest.table["clock"]["kind"] != NONE
    seated = call.caller.id is not None and bool(newest.seats_of(call.caller.id))
    asks = _Asks(seated and call.query["phrases"], call.query["here"], call.caller.id if seated else None)
    return stream_response(
        service, call, partial(_steps, view, call.caller.id, after, newest.ended, timed, asks), plays(newest, call.caller)
    )


class _Asks(NamedTuple):
    """What a stream has besides entries: `hears` set phrases, as long as the caller has a seat; who is `here`.

    `player`: the id of the caller, if the caller has a seat when the stream begins.
    """

    hears: bool
    here: bool
    player: str | None


def stream_response(service: Service, call: Call, steps: Callable[[float, Place, Wake], Steps], plays: bool) -> Response:
    """Return a response with server-sent events, for as many seconds as the caller asks for and the server allows.

    `steps` returns the steps of a follower for that many seconds, in a place. `plays`: the caller plays what is followed. Raise Problem
    `too_many_streams` or `streams_full`.
    """
    response = Response(mimetype=EVENT_STREAM)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Authorization"
    response.headers["X-Accel-Buffering"] = "no"
    if call.environ["REQUEST_METHOD"] == "HEAD":
        return response
    longest = service.settings.stream_seconds
    seconds = min(call.query.get("seconds", longest), longest)
    place = service.streams.take(call.caller.id, call.environ, plays)
    return follow(response, call.environ, Follower(place, partial(steps, seconds, place)))


def _steps(
    view: Viewing, player: str | None, after: int, over: bool, timed: bool, asks: _Asks, seconds: float, place: Place, wake: Wake
) -> Steps:
    """Yield a server-sent event for each entry after a version, until the match is over or the seconds are up.

    `player`: the id of the caller, or None. `over`: whether the match is over. `timed`: whether it has clocks. Who hears phrases hears them
    after the end as well, for `LISTENS_SECONDS` at most; then the caller does not play any more.
    """
    service, match, hears = view.service, view.match, asks.hears
    counted: AbstractContextManager[Visit | None] = service.presence.visit(match, asks.player, wake) if asks.here else nullcontext()
    shown: Found | None = None
    round = yield 0.0
    round = yield b"retry: 1000\n\n"
    pause = service.settings.comment_seconds
    last_sent = time.monotonic()
    until = last_sent + seconds
    with service.hub.watch(match, wake) as watch, service.directory.waking(player, watch.notify), counted as visit:
        watch.hears = hears
        while True:
            found = _read(view, round, after, watch.version) if view.may_be_new(round, after) else []
            caller = view.caller(round)
            last = view.horizon(round, caller, found[-1].version if found else 0)
            if last == 0:
                return
            found = [entry for entry in found if entry.version <= last]
            if found:
                before, after = after, found[-1].version
                note_entries(service, match, caller, view.viewer, after)
                if caller is not None and any(caller.id in entry.players for entry in found):
                    place.mark(plays(newest := view.newest(round, after), caller))
                    if visit is not None:
                        visit.player = caller.id if sight.plays(newest, caller) else None
                last_sent = time.monotonic()
                with_clocks = timed and last == sight.UNLIMITED
                key = ("sent", match, view.viewer, view.proof, before, after, with_clocks)
                round = yield round.share(key, partial(_events, view, round, found, with_clocks))
                over = over or any(entry.ends_match for entry in found)
                if over and len(found) < PAGE:
                    round = yield b'event: over\ndata: {"version":%d}\n\n' % after
                    if not hears:
                        return
                    place.mark(plays=False)
                    until = min(until, time.monotonic() + LISTENS_SECONDS)
                if len(found) == PAGE or watch.version > after:
                    continue
            if hears and (said := _said(view, round, caller, watch)):
                last_sent = time.monotonic()
                round = yield said
            if visit is not None and caller is not None and visit.found not in (None, shown):
                shown = visit.found
                if told := _here(view, round, caller, shown):
                    last_sent = time.monotonic()
                    round = yield told
            now = time.monotonic()
            if now >= until or watch.removed:
                return
            if now >= last_sent + pause:
                last_sent = now
                round = yield b": still here\n\n"
            round = yield min(until, last_sent + pause)


def _read(view: Viewing, round: Round, after: int, version: int) -> list[ShownEntry]:
    """Return the entries after a version, up to `version` at least, or a page of them."""
    look = partial(view.service.entries.read_new, view.game, view.match, after, version, view.viewer, view.proof)
    key = ("entries", view.match, view.viewer, view.proof, after)
    return round.share(key, look, lambda found: len(found) == PAGE or (found[-1].version if found else after) >= version)


def _events(view: Viewing, round: Round, found: list[ShownEntry], with_clocks: bool) -> bytes:
    """Return server-sent events of entries, and of the clocks after them unless the match has moved on."""
    events = [b"id: %d\nevent: entry\ndata: %b\n\n" % (entry.version, entry.json) for entry in found]
    version = found[-1].version
    if with_clocks and (position := view.newest(round, version)).version == version:
        clocks = sorted_json({"version": version, "clocks": at_table(position.table)["clocks"]})
        events.append(b"event: clocks\ndata: %b\n\n" % clocks)
    return b"".join(events)


def _said(view: Viewing, round: Round, caller: Caller | None, watch: Watch) -> bytes:
    """Return server-sent events of what was said at the table since this was last asked, if the caller has a seat there."""
    said = [watch.said.popleft() for _ in range(len(watch.said))]
    if not said or caller is None or caller.id is None or not view.newest(round).seats_of(caller.id):
        return b""
    return b"".join([b"event: phrase\ndata: %b\n\n" % sorted_json({"seat": one.seat, "phrase": one.phrase}) for one in said])


def _here(view: Viewing, round: Round, caller: Caller, found: Found) -> bytes:
    """Return a server-sent event of who is there, unless play is hidden from the caller: seats may have changed hands unseen."""
    newest = view.newest(round)
    if not sight.follows(newest, caller):
        return b""
    seats = [seat for seat in newest.document["seats"] if newest.roster[seat].get("player") in found.players]
    return b"event: here\ndata: %b\n\n" % sorted_json({"seats": seats, "watching": found.watching})


def last_event(call: Call) -> int:
    """Return the number in Last-Event-ID. Raise Problem `bad_header`."""
    given = call.header("Last-Event-ID") or ""
    if not patterns.matches(patterns.VERSION, given):
        raise Problem("bad_header", header="Last-Event-ID", reason="it must be the id of an event")
    return int(given)


OPERATIONS = (
    Operation(
        "get_stream", "GET", "/v1/matches/{match}/stream", "history", "Follow a match: entries as server-sent events", get_stream,
        {
            200: Answer("Server-sent events.", in_stream(match_data, "The text of the stream.")),
            204: Answer("The match is over, and you have its last entry. Do not connect again."),
        },
        "Each event `entry` has an entry as `data`, in JSON as in `get_entries`, and its version as `id`. After the last entry comes an "
        "event `over` with `{\"version\": …}`. In a match with clocks, an event `clocks` with `{\"version\": …, \"clocks\": …}` follows "
        "the newest entry, unless the match hides from you. A comment comes at least every 15 seconds. A generated client reads an answer "
        "to its end: let it ask with `seconds`. To follow live, use a library for server-sent events, or `get_entries` with `wait`.",
        key="optional", query=StreamQuery(), headers=("Last-Event-ID",),
    ),
)  # fmt: skip
