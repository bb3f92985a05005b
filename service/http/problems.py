"""Problems: every way in which a request can fail, in the form of RFC 9457.

`CODES` lists all kinds: those of HTTP, the errors of the platform, and the refusals of the table that a request can meet. The `type` of a
problem is the address of its kind (`GET /v1/problems/{code}`). Its `detail` is the kind's sentence with the facts of the case. A refusal by
the rules of a game has the type of `against_the_rules`, and the code and the sentence of the game. The language is that of the request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from flask import Response

from events.errors import ERRORS, MustBeLast, PlatformError, SignatureInvalid, Stale
from games.kernel import Game, Refusal
from games.sentences import Sentence
from table.deeds import DEEDS
from table.refusals import REFUSALS, Kind, codes_in
from table.rules import is_table_refusal, play_refusal, sentence, signature_refusal
from table.session import BY_SYSTEM
from web.languages import words_of
from web.look import look

MEDIA_TYPE = "application/problem+json"


OWN: Mapping[str, Kind] = {
    "bad_body": Kind(400, "Wrong body", "The body does not match its schema: {reason}."),
    "bad_header": Kind(400, "Wrong header", "The header {header} has the wrong form: {reason}."),
    "bad_json": Kind(400, "Not JSON", "The body is not JSON: {reason}."),
    "bad_request": Kind(400, "Bad request", "The request could not be read."),
    "no_key": Kind(401, "Key needed", "This needs a key. Send it as `Authorization: Bearer <key>`."),
    "audit_closed": Kind(403, "Hidden", "Everybody may audit a match when it is over. Referees may audit it at any time."),
    "hidden_refusals": Kind(
        403, "Hidden", "Until the match is over, you may only see refused actions of your own seats, and you have no seat in it."
    ),
    "hidden_view": Kind(403, "Hidden", "You may not see the view of {viewer} until the match is over."),
    "no_player": Kind(403, "No player", "The admin key belongs to no player. Use the key of a player here."),
    "not_seated": Kind(403, "Not seated", "You have no seat in this match."),
    "role_needed": Kind(403, "Not allowed", "Only {needed} may do this."),
    "no_analysis": Kind(404, "Not analysed", "Nobody has asked for this analysis lately. Ask for it with POST."),
    "no_such_dispute": Kind(404, "No such dispute", "Disputes are numbered from 1."),
    "no_such_field": Kind(404, "No such field", "This view has no field {pointer}, and no entry that was searched changed one."),
    "no_such_path": Kind(404, "Not found", "There is nothing at this address."),
    "no_such_puzzle": Kind(404, "No such puzzle", "There is no puzzle {puzzle}."),
    "no_such_problem": Kind(404, "Not found", "There is no problem with this code."),
    "no_such_rule": Kind(404, "No such rule", "The game has no rule with this id."),
    "wrong_method": Kind(405, "Wrong method", "This address only accepts {allowed}."),
    "analysis_closed": Kind(409, "Not over", "A match can be analysed when it is over, has a result, and hides nothing."),
    "analysis_too_long": Kind(409, "Too long", "Matches of more than {limit} versions are not analysed here."),
    "no_puzzle": Kind(
        409,
        "No puzzle",
        "Version {version} makes no puzzle: no seat decided it among several actions, or none of them is much worse than the best.",
    ),
    "not_confirmed": Kind(409, "Not confirmed", "`confirm` must be your own id, {player}."),
    "not_practice": Kind(
        409, "Not practice", "Hints are only for practice matches. You can practise from any position of a match that is over."
    ),
    "nothing_to_decide": Kind(409, "Nothing to decide", "The seat {seat} does not have to act now."),
    "too_large": Kind(413, "Too large", "The body is larger than {limit} bytes."),
    "address_too_long": Kind(414, "Address too long", "The path or the query is longer than {limit} bytes."),
    "encoded": Kind(415, "Encoded body", "Send the body as it is, without the Content-Encoding {encoding}."),
    "not_json": Kind(415, "Wrong media type", "The body must be sent as application/json."),
    "against_the_rules": Kind(422, "Against the rules", "{sentence}"),
    "name_reserved": Kind(422, "Name reserved", "This name could pass for the server or its staff. Choose another one."),
    "quota_reached": Kind(429, "Too many at a time", "Each {scope} may have {amount} {unit} of this kind at a time (limit `{limit}`)."),
    "too_many_at_once": Kind(429, "Too many at once", "There are already {limit} {what} for this {whose}. Finish one first."),
    "too_many_requests": Kind(
        429,
        "Too many requests",
        "Each {scope} has {amount} {unit} in {window} seconds (limit `{limit}`). Try again in {retry_after} s.",
    ),
    "too_many_streams": Kind(429, "Too many streams", "There are already {limit} {what} for this {whose}. Close one first."),
    "header_too_large": Kind(431, "Header too large", "The header {header} is longer than {limit} bytes."),
    "thinking_failed": Kind(500, "Thinking failed", "The level failed to answer. The error has been logged. Try again in a minute."),
    "not_ready": Kind(503, "Not ready", "Waiting for {what}."),
    "streams_full": Kind(503, "Too many streams", "This server has no place for another stream. Try again."),
}
"""The kinds that only HTTP has."""


def refusals_of(*deeds: str) -> frozenset[str]:
    """Return the codes that the table may refuse these kinds of action with."""
    return frozenset[str]().union(*(codes_in(DEEDS[deed].refusal) for deed in deeds))


CHOSEN = tuple(kind for kind, deed in DEEDS.items() if deed.by != BY_SYSTEM)
"""The actions of the table that players choose, not the system."""

_REFUSED = refusals_of(*CHOSEN) | codes_in(play_refusal) | codes_in(signature_refusal)
_BY_CODE = {**OWN, **ERRORS, **{code: REFUSALS[code] for code in _REFUSED}}
CODES: Mapping[str, Kind] = {code: _BY_CODE[code] for code in sorted(_BY_CODE, key=lambda code: (_BY_CODE[code].status, code))}

RETRY_AFTER: Mapping[str, str] = {
    "thinking_failed": "60",
    "too_many_streams": "5",
    "too_many_at_once": "1",
    "busy": "1",
    "streams_full": "5",
    "not_ready": "1",
    "archive_away": "5",
    "archive_damaged": "60",
    "log_damaged": "60",
    "secret_lost": "60",
    "rules_missing": "60",
    "store_away": "1",
}


def documented() -> Iterator[str]:
    """Yield the lines of the table of problems in docs/api.md."""
    yield "| status | code | sentence |"
    yield "| --- | --- | --- |"
    for code, kind in CODES.items():
        yield f"| {kind.status} | `{code}` | {kind.detail} |"


class Problem(Exception):
    """A request that fails. `kind` is a key of `CODES`, and `facts` fill its sentence.

    `code`: the kind, or a refusal code of a game. `more`: further members of the answer. `headers`: further headers. `of`: the game whose
    words say it.
    """

    of: Game | None = None

    def __init__(self, kind: str, more: Mapping[str, Any] | None = None, /, *, code: str | None = None, **facts: Any) -> None:
        super().__init__(kind)
        self.kind = kind
        self.code = code or kind
        self.more = more or {}
        self.headers: Sequence[tuple[str, str]] = ()
        self.detail = Sentence(CODES[kind].detail, facts)


def platform_problem(error: PlatformError) -> Problem:
    """Return an error of the platform as a problem with the same code and sentence."""
    more: dict[str, Any] = {}
    if isinstance(error, Stale):
        more["version"] = error.version
    if isinstance(error, (MustBeLast, SignatureInvalid)):
        more["place"] = error.place
    if isinstance(error, SignatureInvalid):
        more["statement"] = error.statement
    return Problem(error.code, more, **error.facts)


def refusal_problem(game: Game, refusal: Refusal, place: int | None = None) -> Problem:
    """Return a refusal of a game or of the table as a problem, with the code, the sentence, the rule and the facts of the case.

    `place`: the place of the refused action in a list.
    """
    more: dict[str, Any] = {"game": game.id, "rule": refusal.rule, "facts": dict(refusal.facts)}
    if place is not None:
        more["place"] = place
    if is_table_refusal(refusal):
        problem = Problem(refusal.code, more, **refusal.facts)
    else:
        problem = Problem("against_the_rules", more, code=refusal.code, sentence=sentence(game, refusal))
    problem.of = game
    return problem


class ProblemResponse(Response):
    """A response that describes a problem. `code`: the problem's code."""

    code = ""


def problem_response(problem: Problem, language: str) -> ProblemResponse:
    """Return the response that describes a problem (RFC 9457), in a language."""
    status, title, _ = CODES[problem.kind]
    kind, say = f"/v1/problems/{problem.kind}", words_of(language) if problem.of is None else look(problem.of, language).say
    members = {"type": kind, "title": say(title), "status": status, "code": problem.code, "detail": say(problem.detail), **problem.more}
    try:
        body = orjson.dumps(members)
    except TypeError:  # a number beyond 64 bits among the facts
        body = json.dumps(members).encode()
    response = ProblemResponse(body, status, mimetype=MEDIA_TYPE)
    response.code = problem.code
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Language"] = language
    if "version" in problem.more:
        response.headers["ETag"] = f'"{problem.more["version"]}"'
    if problem.kind in RETRY_AFTER:
        response.headers["Retry-After"] = RETRY_AFTER[problem.kind]
    if "retry_after" in problem.more:
        response.headers["Retry-After"] = str(problem.more["retry_after"])
    response.headers.extend(problem.headers)
    if problem.kind == "encoded":
        response.headers["Accept-Encoding"] = "identity"
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="warledger"'
    return response
