"""Problems: every way in which a request can fail, in the form of RFC 9457.

`CODES` is the whole list. A problem's `type` is the address of its entry there (`GET /v1/problems/{code}`). A refusal by the rules of a
game has the type of `against_the_rules` and the game's own code. A refusal by the table has an entry of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from flask import Response

from events.errors import MustBeLast, PlatformError, Stale
from games.kernel import Game, Refusal
from table.rules import is_table_refusal, sentence

MEDIA_TYPE = "application/problem+json"


class Code(NamedTuple):
    """One kind of problem: its status, a short title, and a sentence with the facts of the case in braces."""

    status: int
    title: str
    detail: str


CODES: Mapping[str, Code] = {
    "bad_json": Code(400, "Not JSON", "The body is not JSON: {reason}."),
    "bad_body": Code(400, "Wrong body", "The body does not match its schema: {reason}."),
    "bad_list": Code(400, "Wrong list", "An action of the table is sent alone, not in a list."),
    "bad_query": Code(400, "Wrong query", "The query does not match its schema: {reason}."),
    "bad_header": Code(400, "Wrong header", "The header {header} has the wrong form: {reason}."),
    "bad_request": Code(400, "Bad request", "The request could not be read."),
    "no_key": Code(401, "Key needed", "This needs a key. Send it as `Authorization: Bearer <key>`."),
    "bad_key": Code(401, "Unknown key", "No player has this key."),
    "role_needed": Code(403, "Not allowed", "Only {needed} may do this."),
    "scope_needed": Code(403, "Scope needed", "This key does not have the scope {scope}."),
    "no_player": Code(403, "No player", "The admin key belongs to no player. Use the key of a player here."),
    "not_seated": Code(403, "Not seated", "You have no seat in this match."),
    "not_your_seat": Code(403, "Not your seat", "The seat {seat} is not yours."),
    "not_invited": Code(403, "Not invited", "The seat is kept for another player."),
    "wrong_code": Code(403, "Wrong code", "This match asks for a code, and you gave none or another one. Its creator has it."),
    "not_offered": Code(403, "Not offered", "The seat {seat} is not offered to you."),
    "not_creator": Code(403, "Not the creator", "Only the creator of the match may close it."),
    "hidden_view": Code(403, "Hidden", "You may not see the view of {viewer} while the match goes on."),
    "hidden_refusals": Code(
        403, "Hidden", "While the match goes on, you may see the refused actions of your own seats, and you have no seat in it."
    ),
    "audit_closed": Code(403, "Hidden", "Everybody may audit a match when it is over. Referees may audit it at any time."),
    "not_a_referee": Code(403, "Not a referee", "Only a referee may rule on a dispute."),
    "is_party": Code(403, "Party", "You have or had a seat in this match, so another referee must rule."),
    "same_referee": Code(403, "Same referee", "You have ruled on this dispute, so another referee must rule on the appeal."),
    "needs_admin": Code(403, "Admin needed", "No referee has answered this dispute in time. Now only an admin may rule."),
    "no_such_path": Code(404, "Not found", "There is nothing at this address."),
    "no_such_problem": Code(404, "Not found", "There is no problem with this code."),
    "no_such_game": Code(404, "No such game", "There is no game with this id."),
    "no_such_rule": Code(404, "No such rule", "The game has no rule with this id."),
    "no_such_player": Code(404, "No such player", "There is no player with this id."),
    "no_such_key": Code(404, "No such key", "The player has no key with this id."),
    "no_such_match": Code(404, "No such match", "There is no match with this id."),
    "no_such_seat": Code(404, "No such seat", "The match has no such seat."),
    "no_such_dispute": Code(404, "No such dispute", "The number of a dispute is a number from 1."),
    "no_such_version": Code(404, "No such version", "The match has not reached this version."),
    "no_analysis": Code(404, "Not analysed", "Nobody has asked for this analysis lately. Ask for it with POST."),
    "not_in_log": Code(404, "Not in the log", "The log does not have this, or not yet."),
    "wrong_method": Code(405, "Wrong method", "This address only accepts {allowed}."),
    "seat_taken": Code(409, "Seat taken", "The seat is already taken."),
    "already_created": Code(409, "Already created", "The match exists already."),
    "left_too_often": Code(409, "Left too often", "You have left {limit} seats of this match, so you can take no more of it."),
    "already_started": Code(409, "Already started", "The match has started. Seats can be left, and the match closed, before that only."),
    "match_closed": Code(409, "Match closed", "The match was closed before it began."),
    "too_many_keys": Code(409, "Too many keys", "A player has at most {limit} keys. Revoke one first."),
    "not_confirmed": Code(409, "Not confirmed", "`confirm` must be the id of the player whom you delete, {player}."),
    "still_seated": Code(409, "Still seated", "You have seats in more than {limit} matches that have not started. Ask again."),
    "not_started": Code(409, "Not started", "A seat of this match is still open."),
    "not_in_play": Code(409, "Out of play", "The seat {seat} is out of play."),
    "match_paused": Code(409, "Paused", "The match is paused. Nobody can act in it until it goes on."),
    "time_is_up": Code(409, "Time is up", "The time of the seat {seat} had run out when this was received."),
    "substituted": Code(409, "Substituted", "An artificial player plays the seat {seat}. Send `return` first to take it back."),
    "not_substituted": Code(409, "Not substituted", "No artificial player plays the seat {seat}. It is yours to play."),
    "no_vote": Code(409, "No vote", "There is no vote about the seat {seat} in which you have a voice."),
    "already_voted": Code(409, "Already voted", "You have voted about the seat {seat} already."),
    "already_offered": Code(409, "Already offered", "The seat {seat} has offered this ({what}) already. Accept it, or decline it first."),
    "no_offer": Code(409, "No such offer", "There is no offer ({what}) that you could answer like this."),
    "too_many_offers": Code(409, "Too many offers", "The seat has made {limit} offers in this match, so it can make no more."),
    "ai_declines": Code(409, "No draw", "Artificial players never agree to a draw: {seats}."),
    "nobody_to_agree": Code(409, "Nobody to agree", "There is no other player who could agree to a draw."),
    "player_away": Code(409, "Player away", "A substitute plays for a player who is away and would have to agree: {seats}."),
    "vote_open": Code(409, "Vote open", "There is a vote about a seat whose time has run out. The match can be paused after it."),
    "not_paused": Code(409, "Not paused", "The match is not paused."),
    "cannot_take_back": Code(409, "Cannot be taken back", "The match can only go back to a version from {first} to {last}."),
    "offered_already": Code(409, "Nothing changes", "The seat {seat} is offered like that already, or the player has it."),
    "origin_not_over": Code(409, "Not over", "The match {match} is not over. Only a match that is over can be forked."),
    "nothing_to_play": Code(409, "Nothing to play", "At version {version} that match was over, so nothing can be played from there."),
    "not_practice": Code(
        409, "Not practice", "Hints are given in practice matches only. Any position of a match that is over can be practised from."
    ),
    "nothing_to_decide": Code(409, "Nothing to decide", "The seat {seat} does not have to act now."),
    "analysis_closed": Code(409, "Not over", "A match can be analysed when it is over and everything in it is known to everybody."),
    "analysis_too_long": Code(409, "Too long", "Matches of more than {limit} versions are not analysed here."),
    "not_over": Code(409, "Not over", "The match is not over. A rematch can be asked for when it is."),
    "match_disputed": Code(409, "Disputed", "The match is frozen until a dispute about it is settled."),
    "no_such_past": Code(409, "No such version", "The match has the versions 1 to {last}, so version {version} cannot be disputed."),
    "too_late": Code(409, "Too late", "It is too late for this: the time for it ended at {until}."),
    "already_disputed": Code(409, "Disputed already", "The seat {seat} has a dispute that is not settled."),
    "too_many_disputes": Code(409, "Too many disputes", "There have been {limit} disputes in this match, so there can be no more."),
    "no_dispute": Code(409, "No such dispute", "There is no dispute {dispute} for which you could do this now."),
    "already_stated": Code(409, "Stated already", "The seat {seat} has stated its side of this dispute."),
    "stale": Code(412, "Stale", "The match is now at version {version}."),
    "too_large": Code(413, "Too large", "The body is larger than {limit} bytes."),
    "not_json": Code(415, "Wrong media type", "The body must be sent as application/json."),
    "encoded": Code(415, "Encoded body", "The body must be sent as it is, without the Content-Encoding {encoding}."),
    "address_too_long": Code(414, "Address too long", "The path or the query is longer than {limit} bytes."),
    "too_many_requests": Code(
        429,
        "Too many requests",
        "Each {scope} has {amount} {unit} in {window} seconds (limit `{limit}`). Try again in {retry_after} s.",
    ),
    "quota_reached": Code(
        429,
        "Too many at a time",
        "Each {scope} may have {amount} {unit} of this kind at a time (limit `{limit}`).",
    ),
    "header_too_large": Code(431, "Header too large", "The header {header} is longer than {limit} bytes."),
    "against_the_rules": Code(422, "Against the rules", "The rules of the game do not allow this. `code` and `rule` say why."),
    "must_be_last": Code(422, "Must be last", "An action of the list draws chance or reveals something, so nothing can follow it."),
    "request_reused": Code(422, "Idempotency key reused", "This Idempotency-Key was used before for another request."),
    "bad_seats": Code(422, "Wrong seats", "The seats cannot be assigned like this."),
    "bad_remedy": Code(422, "Wrong remedy", "This remedy is not possible: {reason}."),
    "other_seats": Code(422, "Other seats", "A fork has the seats of the match that it begins from: {seats}."),
    "bad_settings": Code(422, "Wrong settings", "The setting {setting} is not possible: {reason}."),
    "bad_order": Code(422, "Wrong order", "The order must name each seat of the match once."),
    "too_many_streams": Code(429, "Too many streams", "There are already {limit} {what} for this {whose}. Close one first."),
    "too_many_at_once": Code(429, "Too many at once", "There are already {limit} {what} for this {whose}. Finish one first."),
    "busy": Code(503, "Busy", "Too many requests are writing now. Try again."),
    "streams_full": Code(503, "Too many streams", "This server has as many open streams as it allows. Try again."),
    "secret_lost": Code(503, "Secret lost", "The secret of the match is missing from the store, so the match cannot go on."),
    "rules_missing": Code(503, "Rules missing", "This server does not have the rules that the match began with. No others decide it."),
    "store_away": Code(503, "Store unavailable", "The store cannot be reached now. Try again."),
    "store_refused": Code(500, "Store error", "The store refused a command. It has been logged."),
    "thinking_failed": Code(500, "Thinking failed", "The level could not think about this. It has been logged. Try again in a minute."),
    "broken": Code(500, "Broken", "Something went wrong in the server. It has been logged."),
}

RETRY_AFTER: Mapping[str, str] = {
    "thinking_failed": "60",
    "too_many_streams": "5",
    "too_many_at_once": "1",
    "busy": "1",
    "streams_full": "5",
    "secret_lost": "60",
    "rules_missing": "60",
    "store_away": "1",
}


class Problem(Exception):
    """A request that fails. `kind` is its key in `CODES`.

    `facts` fill the sentence of that entry, unless `detail` is given. `code` is the kind, or a game's own refusal code. `more` are
    further members of the answer, `headers` further headers.
    """

    def __init__(
        self, kind: str, more: Mapping[str, Any] | None = None, /, *, code: str | None = None, detail: str | None = None, **facts: Any
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        self.code = code or kind
        self.more = more or {}
        self.headers: Sequence[tuple[str, str]] = ()
        self.detail = CODES[kind].detail.format_map(facts) if detail is None else detail


def platform_problem(error: PlatformError) -> Problem:
    """Return an error of the platform as a problem with the same code and sentence."""
    more: dict[str, Any] = {}
    if isinstance(error, Stale):
        more["version"] = error.version
    if isinstance(error, MustBeLast):
        more["place"] = error.place
    return Problem(error.code, more, detail=error.sentence)


def refusal_problem(game: Game, refusal: Refusal, place: int | None = None) -> Problem:
    """Return a refusal of a game or its table as a problem: the code, the sentence, the rule, and the facts of the case.

    `place`: which action of a list was refused.
    """
    more: dict[str, Any] = {"game": game.id, "rule": refusal.rule, "facts": dict(refusal.facts)}
    if place is not None:
        more["place"] = place
    kind = refusal.code if is_table_refusal(refusal) else "against_the_rules"
    return Problem(kind, more, code=refusal.code, detail=sentence(game, refusal))


class ProblemResponse(Response):
    """The response that describes a problem, with the problem's code."""

    code = ""


def problem_response(problem: Problem) -> ProblemResponse:
    """Return the response that describes a problem (RFC 9457)."""
    status, title, _ = CODES[problem.kind]
    kind = f"/v1/problems/{problem.kind}"
    members = {"type": kind, "title": title, "status": status, "code": problem.code, "detail": problem.detail, **problem.more}
    try:
        body = orjson.dumps(members)
    except TypeError:  # a number beyond 64 bits among the facts
        body = json.dumps(members).encode()
    response = ProblemResponse(body, status, mimetype=MEDIA_TYPE)
    response.code = problem.code
    response.headers["Cache-Control"] = "no-store"
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
