"""Matches: creating and finding them, taking a seat, and the standing of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response

from events import lists, play, recall
from games.kernel import SPECTATOR, Game, Refused
from record.positions import Position
from service import sight
from service.api.beside import note_view
from service.api.game_components import reference
from service.api.operations import UNCHANGED, Body, Call, Operation, in_json
from service.api.receipts import receipt_at, receipt_of
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import Caller
from service.http.problems import Problem, refusal_problem
from service.http.quotas import is_searched, subjects
from service.http.responses import empty_response, json_response, names_tag, private, tagged
from service.http.schemas import MatchBody, MatchesQuery, SeatBody
from table.creating import CREATE
from table.forks import FORK
from table.state import ME

SETTINGS = ("clock", "time_out", "spectators")


def create_match(service: Service, call: Call) -> Response:
    """Create a match."""
    player, body, request = call.caller.player(), call.body, call.request()
    if "fork_of" in body:
        game, seats = _forked(service, body)
    else:
        game, seats = recall.game_of(service.platform, body["game"]), body["seats"]
    settings = {name: body[name] for name in SETTINGS if name in body}
    searched = is_searched(seats.values(), settings)
    call.info.used = service.throttle.spend(*subjects(player, address_of(call.environ), searched))
    try:
        with service.quotas.creating(player, seats.values(), searched, request):
            if "fork_of" in body:
                position = play.fork(
                    service.platform, player, body["fork_of"], body["at"], seats, code=body["code"], settings=settings, request=request
                )
            else:
                position = play.create(
                    service.platform,
                    player,
                    game.id,
                    seats,
                    body.get("options", {}),
                    order=body.get("order"),
                    code=body["code"],
                    settings=settings,
                    request=request,
                )
    except Refused as refused:
        raise refusal_problem(game, refused.refusal) from None
    response = match_response(service, call, position, 201, receipt_at(service.platform, position))
    response.headers["Location"] = f"/v1/matches/{position.match}"
    return response


def _forked(service: Service, body: Mapping[str, Any]) -> tuple[Game, Mapping[str, str]]:
    """Return the game of a fork, and who takes its seats: the caller has all of them unless the request says otherwise."""
    origin = recall.position(service.platform, body["fork_of"])
    return recall.game_of(service.platform, origin.game), body.get("seats") or dict.fromkeys(origin.document["seats"], ME)


def join_match(service: Service, call: Call, match: str, seat: str) -> Response:
    """Seat the caller."""
    player = call.caller.player()
    action = {"type": "take_seat", "seat": seat, **call.body}
    try:
        played = play.act_at_table(service.platform, match, player, action, request=call.request())
    except Refused as refused:
        raise refusal_problem(recall.game_of_match(service.platform, match), refused.refusal) from None
    return match_response(service, call, played.position, receipt=receipt_of(service.platform, played.entries[-1]))


def list_matches(service: Service, call: Call) -> Response:
    """Return a page of matches."""
    filters = {name: call.query[name] for name in ("status", "game", "player", "invited", "to_act") if name in call.query}
    if "practice" in call.query:
        filters["practice"] = "true" if call.query["practice"] else "false"
    if "game" in filters:
        recall.game_of(service.platform, filters["game"])
    for name in ("player", "invited", "to_act"):
        if filters.get(name) == "me":
            filters[name] = _me(call.caller)
    by_deadline = "sort" in call.query
    if by_deadline:
        _me(call.caller)  # only players have deadlines
    asker = lists.Asker(call.caller.id, call.caller.referees)
    page = lists.matches(service.platform, filters, call.query["limit"], call.query.get("cursor"), asker=asker, by_deadline=by_deadline)
    company = service.directory.company(player for standing in page.standings for player in sight.players_listed(standing))
    matches = [sight.with_defaults(service.platform.games, standing) for standing in page.standings]
    return private(json_response({"matches": matches, "players": company.players, "next": page.cursor}))


def get_match(service: Service, call: Call, match: str) -> Response:
    """Return the standing of a match."""
    newest = recall.position(service.platform, match)
    position = sight.seen(service.platform, newest, call.caller)
    note_view(service, newest, call.caller, SPECTATOR)
    tag = service.directory.company(sight.players_at(position)).tag(position.version)
    return tagged(empty_response(304), tag) if names_tag(call.header("If-None-Match"), tag) else match_response(service, call, position)


def match_response(service: Service, call: Call, position: Position, status: int = 200, receipt: str | None = None) -> Response:
    """Return the response with the standing of a match, as the caller may see it. Its ETag also says whether names have changed.

    `receipt`: that of the entry that the caller's request led to.
    """
    company = service.directory.company(sight.players_at(position))
    shown = sight.match_shown(service.platform, position, call.caller, company)
    if receipt is not None:
        shown["receipt"] = receipt
    return tagged(json_response(shown, status), company.tag(position.version))


def _me(caller: Caller) -> str:
    if caller.role is None:
        raise Problem("no_key")
    return caller.player()


_EXAMPLES: dict[str, Any] = {
    "against the machine": {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}},
    "in an order": {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}, "order": ["blue", "red"]},
    "with a friend alone": {"game": "war", "seats": {"red": "me", "blue": "player:p234567abcdefghij"}},
    "with all who have the code": {"game": "war", "seats": {"red": "me", "blue": "open"}, "code": True},
    "with a clock": {
        "game": "war",
        "seats": {"red": "me", "blue": "open"},
        "clock": {"kind": "bank", "seconds": 900, "increment": 10},
        "time_out": {"policy": "forfeit"},
    },
    "by correspondence": {
        "game": "war",
        "seats": {"red": "me", "blue": "open", "green": "open"},
        "clock": {"kind": "days", "hours": 48, "vacation_days": 14},
        "time_out": {"policy": "wait"},
    },
    "hidden until it is over": {"game": "war", "seats": {"red": "me", "blue": "open"}, "spectators": "none"},
    "practice from a position": {"fork_of": "m234567abcdefghij", "at": 41, "seats": {"red": "me", "blue": "ai:greedy"}},
    "with friends": {"game": "war", "seats": {"red": "me", "blue": "open", "green": "ai:random"}, "options": {"starting_cards": True}},
}

_SEAT_EXAMPLES = {"plain": {}, "with dice": {"contribution": "c0ffee"}, "with a code": {"code": "mfzwizdbonsgc43e"}}

_NEXT = {
    "standing": "get_match", "state": "get_state", "choices": "get_choices", "act": "act", "entries": "get_entries", "stream": "get_stream",
    "audit": "get_audit", "record": "get_record",
}  # fmt: skip

_LINKS: dict[str, Any] = {
    "201": {name: {"operationId": operation, "parameters": {"match": "$response.body#/id"}} for name, operation in _NEXT.items()}
}

OPERATIONS = (
    Operation(
        "create_match", "POST", "/v1/matches", "matches", "Create a match", create_match,
        {201: in_json("The match. It starts as soon as every seat is taken.", "Match", ("ETag", "Location"))},
        "You decide who takes which seat: yourself, an artificial player, or whoever comes first. With `fork_of` and `at` it is a practice "
        "match that begins from a version of a match that is over (TBL-FRK-01). With an `Idempotency-Key` a repeated request creates no "
        "second match.",
        key="needed", scope="play", headers=("Idempotency-Key",),
        deeds=(CREATE, FORK),
        body=Body({"anyOf": [reference("NewMatch"), reference("Fork")]}, MatchBody(), examples=_EXAMPLES), links=_LINKS,
    ),
    Operation(
        "list_matches", "GET", "/v1/matches", "matches", "Find matches", list_matches,
        {200: in_json("Matches, newest first or as `sort` says. A page may have fewer than `limit`. Continue with `next`.", "Matches")},
        "All matches, or those that the query asks for. Asking for `me` needs a key. A match that is hidden from spectators is listed for "
        "those who do not play in it as it was at its start, until it is over.",
        key="optional", query=MatchesQuery(), problems=("no_key", "no_player"),
    ),
    Operation(
        "get_match", "GET", "/v1/matches/{match}", "matches", "Get the standing of a match", get_match,
        {200: in_json("The standing.", "Match", ("ETag",)), 304: UNCHANGED},
        "Who has each seat, whose turn it is, and the outcome. Everybody may see it.",
        key="optional", headers=("If-None-Match",),
    ),
    Operation(
        "join_match", "POST", "/v1/matches/{match}/seats/{seat}", "matches", "Take an open seat", join_match,
        {200: in_json("The match, with you in the seat.", "Match", ("ETag",))},
        "The match starts when no seat is open. The action `take_seat` does the same.",
        key="needed", scope="play", headers=("Idempotency-Key",),
        deeds=("take_seat",),
        body=Body(
            reference("SeatRequestBody"), SeatBody(), required=False, examples=_SEAT_EXAMPLES
        ),
    ),
)  # fmt: skip
