"""Entries, page by page."""

from __future__ import annotations

from flask import Response

from events import recall
from service import longpoll, sight
from service.context import Service
from service.game_components import reference
from service.operations import Answer, Call, Operation
from service.problems import Problem
from service.request_schemas import EntriesQuery
from service.responses import JSON, NDJSON, prefers, private, sorted_json


def get_entries(service: Service, call: Call, match: str) -> Response:
    """Return a page of entries. With `wait`, return the next entry as soon as it exists."""
    position = recall.position(service.platform, match)
    viewer = sight.viewer_of(position, call.caller, call.query.get("viewer"))
    game = service.games[position.game]
    after, limit, seconds, proof = call.query["after"], call.query["limit"], call.query["wait"], bool(call.query["proof"])
    recall.check_version(position, after)
    found = service.entries.read(game, match, after, limit, viewer, proof)
    if not found and seconds and call.environ["REQUEST_METHOD"] != "HEAD" and position.status != "over":
        found = longpoll.wait_for_entries(service, game, match, after, limit, viewer, seconds, proof)
    if not sight.may_still_view(service.platform, call.caller, match, viewer):
        raise Problem("hidden_view", viewer=viewer)
    if prefers(call.header("Accept"), NDJSON):
        response = Response(b"".join(entry.json + b"\n" for entry in found), mimetype=NDJSON)
    else:
        version = found[-1].version if found else after
        rest = sorted_json({"game": game.id, "match": match, "version": version, "viewer": viewer})
        entries = b",".join(entry.json for entry in found)
        response = Response(b'{"after":%d,"entries":[%b],%b' % (after, entries, rest[1:]), mimetype=JSON)
    return private(response, "Authorization, Accept")


OPERATIONS = (
    Operation(
        "get_entries", "GET", "/v1/matches/{match}/entries", "history", "Get entries: actions with the events that followed",
        get_entries,
        {200: Answer("The entries.", {JSON: reference("Entries")}, preferred=(NDJSON,))},
        "With `Accept: application/x-ndjson` the answer has one entry a line. With `wait` the answer comes as soon as there is an entry "
        "after `after`. It is empty if the time is up before. An `after` that the match has not reached is 404.",
        key="optional", query=EntriesQuery(), problems=("no_such_match", "no_such_seat", "no_such_version", "hidden_view", "streams_full"),
    ),
)  # fmt: skip
