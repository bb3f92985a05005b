"""Matches: creating one, taking a seat, finding them, and where one stands."""

from __future__ import annotations

import re
from typing import Any

from flask import Response

from events import play, recall
from events.lists import BadCursor
from events.lists import matches as listed
from events.platform import Platform
from events.positions import Position
from games.kernel import Refused
from service import sight
from service.keys import Caller
from service.operations import UNCHANGED, Answer, Asked, Body, Operation
from service.problems import Problem, refused
from service.responses import has, in_json, in_no_words, private, tagged
from service.schemas import MatchBody, MatchesQuery, SeatBody
from service.shapes import ref

_REQUEST = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


def operations(platform: Platform) -> list[Operation]:
    """What can be asked about matches as such."""

    def create_match(asked: Asked) -> Response:
        player = asked.caller.player()
        body = asked.body
        game = recall.game_of(platform, body["game"])
        try:
            position = play.create(platform, player, game.id, body["seats"], body["options"], request=request_id(asked))
        except Refused as refusal:
            raise refused(game, refusal.refusal) from None
        answer = _told(position, 201)
        answer.headers["Location"] = f"/v1/matches/{position.match}"
        return answer

    def join_match(asked: Asked, match: str, seat: str) -> Response:
        player = asked.caller.player()
        return _told(play.join(platform, match, player, seat, asked.body.get("contribution"), request=request_id(asked)))

    def list_matches(asked: Asked) -> Response:
        filters = {name: asked.query[name] for name in ("status", "game", "player", "to_act") if name in asked.query}
        for name in ("player", "to_act"):
            if filters.get(name) == "me":
                filters[name] = _me(asked.caller)
        try:
            page = listed(platform, filters, asked.query["limit"], asked.query.get("cursor"))
        except BadCursor as reason:
            raise Problem("bad_query", reason=str(reason)) from None
        return private(in_json({"matches": page.standings, "next": page.cursor}))

    def get_match(asked: Asked, match: str) -> Response:
        position = recall.position(platform, match)
        if has(asked.header("If-None-Match"), position.version):
            return tagged(in_no_words(304), position.version)
        return _told(position)

    match = {"application/json": ref("Match")}
    return [
        Operation(
            "create_match", "POST", "/v1/matches", "matches", "Create a match", create_match,
            {201: Answer("The match. It starts as soon as every seat is taken.", match, ("ETag", "Location"))},
            key="needed", headers=("Idempotency-Key",),
            problems=("no_player", "no_such_game", "bad_seats", "against_the_rules", "request_reused"),
            body=Body(ref("NewMatch"), MatchBody(), examples=_EXAMPLES), links=_LINKS,
        ),
        Operation(
            "list_matches", "GET", "/v1/matches", "matches", "Find matches", list_matches,
            {200: Answer("Matches, newest first. A page may be short; go on with `next`.", {"application/json": ref("Matches")})},
            key="optional", query=MatchesQuery(), problems=("no_key", "no_player"),
        ),
        Operation(
            "get_match", "GET", "/v1/matches/{match}", "matches", "Ask where a match stands", get_match,
            {200: Answer("Where it stands.", match, ("ETag",)), 304: UNCHANGED}, key="optional", headers=("If-None-Match",),
            problems=("no_such_match",),
        ),
        Operation(
            "join_match", "POST", "/v1/matches/{match}/seats/{seat}", "matches", "Take an open seat", join_match,
            {200: Answer("The match, with you in it.", match, ("ETag",))},
            key="needed", headers=("Idempotency-Key",),
            problems=("no_player", "no_such_match", "no_such_seat", "seat_taken", "request_reused", "busy"),
            body=Body(ref("SeatRequestBody"), SeatBody(), needed=False, examples={"plain": {}, "with dice": {"contribution": "c0ffee"}}),
        ),
    ]  # fmt: skip


_EXAMPLES: dict[str, Any] = {
    "against the machine": {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}},
    "with friends": {"game": "war", "seats": {"red": "me", "blue": "open", "green": "ai:random"}, "options": {"starting_cards": True}},
}

_NEXT = {
    "standing": "get_match", "state": "get_state", "choices": "get_choices", "act": "act", "entries": "get_entries", "stream": "get_stream",
    "audit": "get_audit", "record": "get_record",
}  # fmt: skip

_LINKS: dict[str, Any] = {
    "201": {name: {"operationId": operation, "parameters": {"match": "$response.body#/id"}} for name, operation in _NEXT.items()}
}


def request_id(asked: Asked) -> str | None:
    """The caller's own id of the request. Raises Problem `bad_header`."""
    given = asked.header("Idempotency-Key")
    if given is not None and not _REQUEST.fullmatch(given):
        raise Problem("bad_header", header="Idempotency-Key", reason="it has 1 to 64 letters, digits or _ . : -")
    return given


def _me(caller: Caller) -> str:
    if caller.role is None:
        raise Problem("no_key")
    return caller.player()


def _told(position: Position, status: int = 200) -> Response:
    return tagged(in_json(sight.match_shown(position), status), position.version)
