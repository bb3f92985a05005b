"""Problems: every way in which a request can fail, as RFC 9457 wants it told.

`CODES` is the whole list. A problem's `type` leads to its entry there (`GET /v1/problems/{code}`). What the rules of a game refuse has
the type of `against_the_rules` and the game's own code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from flask import Response

from events.errors import MustBeLast, PlatformError, Stale
from games.kernel import Game, Refusal, sentence

MEDIA_TYPE = "application/problem+json"


class Code(NamedTuple):
    """One kind of failure: its status, a short title, and the sentence that tells of a case."""

    status: int
    title: str
    detail: str


CODES: Mapping[str, Code] = {
    "bad_json": Code(400, "Not JSON", "The body is not JSON: {reason}."),
    "bad_body": Code(400, "Wrong shape", "The body does not have the shape asked for: {reason}."),
    "bad_query": Code(400, "Wrong query", "The query does not have the shape asked for: {reason}."),
    "bad_header": Code(400, "Wrong header", "The header {header} does not have the shape asked for: {reason}."),
    "bad_request": Code(400, "Bad request", "The request could not be read."),
    "no_key": Code(401, "Key needed", "This needs a key, sent as `Authorization: Bearer <key>`."),
    "bad_key": Code(401, "Unknown key", "No player has this key."),
    "role_needed": Code(403, "Not allowed", "This is for {needed} only."),
    "no_player": Code(403, "No player", "The admin key belongs to no player; use the key of a player here."),
    "not_seated": Code(403, "Not seated", "You hold no seat in this match."),
    "not_your_seat": Code(403, "Not your seat", "The seat {seat} is not yours."),
    "hidden_view": Code(403, "Hidden", "While the match goes on, the view of {viewer} is not for you."),
    "audit_closed": Code(403, "Hidden", "Referees may audit a match at any time, its players when it is over."),
    "no_such_path": Code(404, "Not found", "There is nothing at this address."),
    "no_such_problem": Code(404, "Not found", "There is no problem with this code."),
    "no_such_game": Code(404, "No such game", "There is no game with this id."),
    "no_such_rule": Code(404, "No such rule", "The game has no rule with this id."),
    "no_such_match": Code(404, "No such match", "There is no match with this id."),
    "no_such_seat": Code(404, "No such seat", "The match has no such seat."),
    "no_such_version": Code(404, "No such version", "The match has not come to this version."),
    "wrong_method": Code(405, "Wrong method", "This address answers {allowed} only."),
    "seat_taken": Code(409, "Seat taken", "Somebody holds the seat already."),
    "not_started": Code(409, "Not started", "A seat of this match is still free."),
    "stale": Code(412, "Stale", "The match has moved on to version {version}."),
    "too_large": Code(413, "Too large", "A body may hold {limit} bytes at most."),
    "not_json": Code(415, "Wrong media type", "The body must be sent as application/json."),
    "against_the_rules": Code(422, "Against the rules", "The rules of the game do not allow this; `code` and `rule` say why."),
    "must_be_last": Code(422, "Must be last", "An action of the list draws chance or reveals something, so nothing can follow it."),
    "request_reused": Code(422, "Idempotency key reused", "This Idempotency-Key came before with another request."),
    "bad_seats": Code(422, "Wrong seats", "The seats cannot be given like this."),
    "busy": Code(503, "Busy", "Too many others are writing just now; ask again."),
    "streams_full": Code(503, "Too many streams", "This server holds as many open streams as it can; try again."),
    "store_away": Code(503, "Away", "The store cannot be reached just now; try again."),
    "broken": Code(500, "Broken", "Something went wrong on our side; it has been noted."),
}

RETRY_AFTER: Mapping[str, str] = {"busy": "1", "streams_full": "5", "store_away": "1"}


class Problem(Exception):
    """A request that fails as `CODES` says under `kind`.

    `facts` fill the sentence there, or `detail` is it; `code` is the kind, but where a game refuses its own code; `more` are further
    members of the answer.
    """

    def __init__(
        self, kind: str, more: Mapping[str, Any] | None = None, /, *, code: str | None = None, detail: str | None = None, **facts: Any
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        self.code = code or kind
        self.more = more or {}
        self.detail = CODES[kind].detail.format_map(facts) if detail is None else detail


def declined(reason: PlatformError) -> Problem:
    """What the memory declines, as a problem: same code, same sentence."""
    more: dict[str, Any] = {}
    if isinstance(reason, Stale):
        more["version"] = reason.version
    if isinstance(reason, MustBeLast):
        more["place"] = reason.place
    return Problem(reason.code, more, detail=reason.sentence)


def refused(game: Game, refusal: Refusal, place: int | None = None) -> Problem:
    """What the rules of `game` do not allow, as a problem: the game's code and sentence, the rule, and the facts of the case; and `place`,
    which of a list of actions it was."""
    more: dict[str, Any] = {"game": game.id, "rule": refusal.rule, "facts": dict(refusal.facts)}
    if place is not None:
        more["place"] = place
    return Problem("against_the_rules", more, code=refusal.code, detail=sentence(game, refusal))


class Told(Response):
    """The answer that tells of a problem, with its code."""

    code = ""


def told(problem: Problem) -> Told:
    """The answer that tells of a problem (RFC 9457)."""
    status, title, _ = CODES[problem.kind]
    kind = f"/v1/problems/{problem.kind}"
    body = {"type": kind, "title": title, "status": status, "code": problem.code, "detail": problem.detail, **problem.more}
    try:
        written = orjson.dumps(body)
    except TypeError:  # a number beyond 64 bits among the facts
        written = json.dumps(body).encode()
    answer = Told(written, status, mimetype=MEDIA_TYPE)
    answer.code = problem.code
    answer.headers["Cache-Control"] = "no-store"
    if "version" in problem.more:
        answer.headers["ETag"] = f'"{problem.more["version"]}"'
    if problem.kind in RETRY_AFTER:
        answer.headers["Retry-After"] = RETRY_AFTER[problem.kind]
    if status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="warledger"'
    return answer
