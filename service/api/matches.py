"""Matches: create, find and join them, and read their standing."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson
from flask import Response

from events import lists, play, recall
from events.errors import PlatformError, StoreUnavailable
from games import patterns
from games.kernel import SPECTATOR, Game, Refused
from games.schema import (
    Fields,
    Shape,
    always,
    anything,
    described,
    either,
    flag,
    ids,
    listing,
    mapping,
    nullable,
    optional,
    record,
    text,
    unchecked,
    whole,
)
from record.guides import guide_of
from record.positions import Position
from service import sight
from service.api.game_shapes import CLOCK_CHOSEN, CLOCK_REQUEST, OCCUPANT, SPECTATORS_SEE, TIME_OUT_CHOSEN, TIME_OUT_REQUEST, declared
from service.api.operations import UNCHANGED, Body, Call, Operation, in_json
from service.api.problem_shapes import problem
from service.api.receipts import receipt_at, receipt_of
from service.api.shapes import (
    ACTIVE,
    ANY_TEXT,
    CONTENT_HASH,
    COUNT,
    DIGEST,
    GAME_ID,
    LEVEL,
    MATCH_ID,
    NEXT,
    OUTCOME,
    PHASE,
    PLAYER_ID,
    PLAYERS,
    RECEIPT,
    ROUND,
    SEAT,
    TIME,
    UPDATED,
    VERSION,
    Games,
    by_game,
    extending,
    named,
    reference,
)
from service.api.sidelog import note_view
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import Caller
from service.http.limits import LARGEST_ROUND, LONGEST_NAME
from service.http.names import check_name
from service.http.problems import Problem, platform_problem, problem_response, refusal_problem
from service.http.quotas import Asked
from service.http.responses import Reply, empty_response, json_response, names_tag, private, private_json, sorted_json, tagged
from service.http.schemas import LARGEST, NAME, MatchBody, MatchesQuery, RoundBody, SeatBody
from service.kept import Key
from table.creating import CREATE
from table.data import LEVELS, MOST_TAGS
from table.forks import FORK
from table.settings import DISPUTE_DAYS, SIGNED
from table.state import CONTINUED, DISPUTE, ME, OFFER, ORIGIN, RULING_MADE, STRETCH, TO_THE_END, VOTE

SETTINGS = ("clock", "time_out", "spectators", "dispute_days", "signed", "rated", "dice")


def create_match(service: Service, call: Call) -> Response:
    """Create a match, or a practice match from a position of another one. Return its standing."""
    position = _created(service, call, call.body, call.request())
    response = match_response(service, call, position, 201, receipt_at(service.platform, position))
    response.headers["Location"] = f"/v1/matches/{position.match}"
    return response


def _created(service: Service, call: Call, body: Mapping[str, Any], request: str | None, *, made: bool = False) -> Position:
    """Create a match as a body says, and return its first position. `made`: the request is known to have made it, and costs nothing again.

    Raise Problem, and the errors of `play.create` and `play.fork` except Refused.
    """
    player = call.caller.player()
    if "guide" in body:
        body = _guided(service, body)
    if "fork_of" in body:
        game, seats = _forked(service, body)
    else:
        game, seats = recall.game_of(service.platform, body["game"]), body["seats"]
    settings = {name: body[name] for name in SETTINGS if name in body} | _labels(body)
    options = _options(game, body, len(seats))
    asked = Asked(seats.values(), settings, "fork_of" in body)
    if not made:
        call.info.used = service.throttle.spend(*asked.rates(player, address_of(call.environ)))
    try:
        with service.quotas.creating(player, asked, request):
            if "fork_of" in body:
                return play.fork(
                    service.platform, player, body["fork_of"], body["at"], seats, code=body["code"], settings=settings, request=request
                )
            return play.create(
                service.platform,
                player,
                game.id,
                seats,
                options,
                order=body.get("order"),
                code=body["code"],
                settings=settings,
                request=request,
            )
    except Refused as refused:
        raise refusal_problem(game, refused.refusal) from None


def _labels(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labels of a new match, with its tags in order. Raise Problem `name_reserved`."""
    labels = {name: given for name, given in (("name", body.get("name")), ("tags", sorted(set(body.get("tags", ()))))) if given}
    for label in (labels.get("name", ""), *labels.get("tags", ())):
        check_name(label)
    return labels


def create_round(service: Service, call: Call) -> Response:
    """Create several matches, each on its own. Return what became of each."""
    player, request = call.caller.player(), call.request()
    if request is None:
        raise Problem("bad_header", header="Idempotency-Key", reason="a round needs one, so that it can be sent again")
    asked = [_request_of(request, number) for number in range(len(call.body["matches"]))]
    made = play.were_created(service.platform, player, asked)
    return private(
        json_response({"matches": [_outcome(service, call, *one) for one in zip(call.body["matches"], asked, made, strict=True)]})
    )


def _request_of(request: str, number: int) -> str:
    """Return the id of the request for one match of a round. It is as long as an id may be, whatever the id of the round."""
    return f"{sha256(request.encode()).hexdigest()[:48]}.{number}"


def _outcome(service: Service, call: Call, body: Mapping[str, Any], request: str, made: bool) -> dict[str, Any]:
    """Create a match of a round. Return what became of it."""
    try:
        position = _created(service, call, body, request, made=made)
    except Problem as refused:
        found = refused
    except StoreUnavailable:
        raise  # for the others it would be the same; the same round can be sent again
    except PlatformError as error:
        found = platform_problem(error)
    else:
        code = recall.code_of(service.platform, position)
        receipt = {"receipt": receipt_at(service.platform, position)}
        return {"status": 201, "id": position.match, "version": position.version, **receipt, **({} if code is None else {"code": code})}
    response = problem_response(found, call.language)
    return {"status": response.status_code, "problem": orjson.loads(response.get_data())}


def _options(game: Game, body: Mapping[str, Any], seats: int) -> dict[str, Any]:
    """Return the options that a match is given: those of the profile, then those that the request names."""
    given: dict[str, Any] = body.get("options", {})
    if "profile" not in body:
        return given
    try:
        return {**game.options_of(body["profile"], seats), **given}
    except Refused as refused:
        raise refusal_problem(game, refused.refusal) from None


def _guided(service: Service, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole body of a guided match: as the guide of the game says. Raise NoGame."""
    guide = guide_of(recall.game_of(service.platform, body["guide"]))
    if guide is None:
        raise Problem("bad_body", reason="the game has no guide")
    return {**body, "game": body["guide"], "seats": guide.seats, "order": guide.order, "options": guide.options, **guide.settings}


def _forked(service: Service, body: Mapping[str, Any]) -> tuple[Game, Mapping[str, str]]:
    """Return the game of a fork, and who takes each seat: the caller, unless the request says otherwise."""
    origin = recall.position(service.platform, body["fork_of"])
    return recall.game_of(service.platform, origin.game), body.get("seats") or dict.fromkeys(origin.document["seats"], ME)


def join_match(service: Service, call: Call, match: str, seat: str) -> Response:
    """Take a seat for the caller. Return the standing."""
    player = call.caller.player()
    action = {"type": "take_seat", "seat": seat, **call.body}
    try:
        played = play.act_at_table(service.platform, match, player, action, request=call.request())
    except Refused as refused:
        raise refusal_problem(recall.game_of_match(service.platform, match), refused.refusal) from None
    return match_response(service, call, played.position, receipt=receipt_of(service.platform, played.entries[-1]))


def list_matches(service: Service, call: Call) -> Reply:
    """Return a page of matches."""
    named = ("status", "game", "player", "invited", "to_act", "creator", "tag")
    filters = {name: call.query[name] for name in named if name in call.query}
    if "practice" in call.query:
        filters["practice"] = "true" if call.query["practice"] else "false"
    if "game" in filters:
        recall.game_of(service.platform, filters["game"])
    for name in ("player", "invited", "to_act", "creator"):
        if filters.get(name) == "me":
            filters[name] = _me(call.caller)
    by_deadline = "sort" in call.query
    if by_deadline:
        _me(call.caller)  # only players have deadlines
    asker = lists.Asker(call.caller.id)
    page: lists.Page | lists.Updates
    if "updated_since" in call.query:
        since = call.query.get("cursor", call.query["updated_since"])
        page = lists.updates(service.platform, filters["creator"], since, filters, call.query["limit"], asker)
        more: dict[str, Any] = {"next": page.mark if page.more else None, "updated_until": page.mark}
    else:
        page = lists.matches(service.platform, filters, call.query["limit"], call.query.get("cursor"), asker=asker, by_deadline=by_deadline)
        more = {"next": page.cursor}
    written = [_written(service, standing, mark).partition(b"\n") for standing, mark in zip(page.standings, page.marks, strict=True)]
    company = service.directory.company(b" ".join([players for players, _, _ in written]).decode().split())
    rest = sorted_json({"players": company.players, **more})
    return private_json(b'{"matches":[%b],%b' % (b",".join([match for _, _, match in written]), rest[1:]))


def _written(service: Service, standing: Mapping[str, Any], mark: str) -> bytes:
    """Return two lines: the players of a standing, between blanks, and the standing in JSON. They are kept by the mark, if it has one."""

    def write() -> bytes:
        match = sorted_json(sight.with_defaults(service.platform.games, standing))
        return b"%b\n%b" % (" ".join(sight.players_listed(standing)).encode(), match)

    return service.kept.made(Key("standing", mark, ""), write) if mark else write()


def get_match(service: Service, call: Call, match: str) -> Response:
    """Return the standing of a match."""
    newest = recall.position(service.platform, match)
    position = sight.seen(service.platform, newest, call.caller)
    note_view(service, newest, call.caller, SPECTATOR)
    tag = service.directory.company(sight.players_at(position)).tag(position.version)
    return tagged(empty_response(304), tag) if names_tag(call.header("If-None-Match"), tag) else match_response(service, call, position)


def match_response(service: Service, call: Call, position: Position, status: int = 200, receipt: str | None = None) -> Response:
    """Return the response with the standing of a match, as the caller may see it. Its ETag covers the version and the players' names.

    `receipt`: the receipt of the entry that the request led to.
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


RULING = named("Ruling", described(RULING_MADE, "A ruling on a dispute."))
_DISPUTED: Fields = {
    **{name: unchecked(schema) for name, schema in DISPUTE.schema["properties"].items()},
    "rulings": listing(RULING, high=2, about="The ruling, and the ruling on appeal."),
}
DISPUTE_STANDING = named("DisputeStanding", record(_DISPUTED, "A dispute, without its texts."))
_CLOCK = named(
    "SeatClock",
    record(
        {
            "left": whole(0, about="The seat's milliseconds when its clock last started; while it is stopped, the milliseconds left."),
            "deadline": nullable(described(TIME, "When its time runs out; null while the clock is stopped.")),
            "late": whole(0, about="How many times in a row its time has run out."),
        },
        "The clock of a seat. It does not change while time passes: the time left is `deadline` minus the present moment.",
    ),
)
AT_TABLE_FIELDS: Fields = {
    "clocks": mapping(ANY_TEXT, _CLOCK, "The clock of each seat; empty in a match without clocks."),
    "offers": mapping(
        ANY_TEXT,
        named("OpenOffer", described(OFFER, "An open offer.")),
        "The open offers, by kind: draw, void, pause, resume or takeback.",
    ),
    "offers_made": mapping(ANY_TEXT, whole(1), "How many offers each seat has made. Seats without offers are left out."),
    "votes": mapping(
        ANY_TEXT,
        named("OpenVote", described(VOTE, "A vote about a seat whose time has run out.")),
        "The open votes, by the seat whose time has run out.",
    ),
    "substitutes": mapping(
        ANY_TEXT, text(about="The level of play."), "The seats that an artificial player plays until their owners return."
    ),
    "held": mapping(
        ANY_TEXT,
        ids([STRETCH, TO_THE_END], "`stretch` or `end`."),
        "The seats that their owners cannot take back: before the substitute has played the `stretch` that ran out, or to the `end`.",
    ),
    "handovers": mapping(ANY_TEXT, PLAYER_ID, "The seats that are offered to another player, with that player."),
    "paused_until": nullable(described(TIME, "When the pause ends at the latest; null if the match is not paused.")),
    "disputes": listing(
        DISPUTE_STANDING,
        about="The disputes without texts, in order of their numbers, from 1.",
    ),
    "disputed_since": nullable(described(TIME, "When a dispute froze the match; null if it is not frozen.")),
    "continued": nullable(
        described(
            named(
                "Continued",
                described(CONTINUED, "The match that continues, by a ruling, from an earlier position of this match."),
            ),
            "The match that continues this one by a ruling, or null.",
        )
    ),
}
AT_TABLE = named("AtTable", record(AT_TABLE_FIELDS, "The state of the table beside play: clocks, offers, votes, disputes."))
STATUS = named(
    "MatchStatus",
    ids(
        ["open", "playing", "over", "closed"],
        "`open` while a seat is open, then `playing`, then `over`. `closed`: its creator closed it before it began.",
    ),
)
MATCH_NAME = text(patterns.anchored(NAME), "The name of the match. Everybody sees it, and it never changes.", LONGEST_NAME)
TAG = text(patterns.anchored(patterns.TAG), "A tag.")
TAGS = listing(TAG, high=MOST_TAGS, about="Its tags, in alphabetical order. They never change.")
_STANDING: Fields = {
    "id": MATCH_ID,
    "game": GAME_ID,
    "status": STATUS,
    "created": described(TIME, "When it was created, in milliseconds since 1970."),
    "creator": described(PLAYER_ID, "The player who created it."),
    "rematch_of": nullable(described(MATCH_ID, "The match that this is a rematch of, or null.")),
    "name": nullable(described(MATCH_NAME, "Its name, or null.")),
    "tags": TAGS,
    "practice": flag("Whether its result does not count: it began from a position of another match, or a player has several seats."),
    "rated": flag("Whether it counts for ratings."),
    "origin": nullable(
        described(
            named("Origin", described(ORIGIN, "The position of another match that a match began from.")),
            "The position that it began from; null if it began with the first document of its game.",
        )
    ),
    "clock": described(CLOCK_CHOSEN, "The clock of each seat."),
    "time_out": nullable(described(TIME_OUT_CHOSEN, "What a time-out does; null without a clock.")),
    "spectators": described(SPECTATORS_SEE, "What spectators see before the match is over."),
    "dispute_days": DISPUTE_DAYS,
    "signed": SIGNED,
    "revision": described(COUNT, "The revision of the game's rules that the match began with."),
    "options": anything("The options of the match, with defaults."),
    "order": listing(SEAT, about="The seats in turn order."),
    "seats": mapping(ANY_TEXT, OCCUPANT, "Who has each seat."),
    "invited": mapping(ANY_TEXT, PLAYER_ID, "The player for whom an open seat is kept. Other seats are left out."),
    "expires": nullable(
        described(
            TIME,
            "When the match is removed if it has not started, in milliseconds since 1970; null once it has started.",
        )
    ),
    "code_needed": flag("Whether an open seat that is kept for nobody needs a code."),
    "round": ROUND,
    "phase": PHASE,
    "active": ACTIVE,
    "to_act": listing(
        ANY_TEXT,
        about="The actors who must decide now: seats or `system`. Empty while a seat is open, and when the match is over.",
    ),
    "outcome": OUTCOME,
    "commitment": described(DIGEST, "SHA-256 of the match's secret, in hex. It was published before anybody joined."),
    "secret": nullable(described(DIGEST, "The secret in hex; null until the match has ended.")),
    "version": VERSION,
    "updated": UPDATED,
}
STANDING = named("Standing", extending(AT_TABLE, _STANDING, "The standing of a match, as lists show it."))
_THINKING = named(
    "Thinking",
    record(
        {
            "seat": described(SEAT, "The seat whose decision is due."),
            "level": described(LEVEL, "The level of play that decides for it."),
            "since": described(TIME, "When its decision became due, in milliseconds since 1970."),
        },
        "An artificial player that is thinking.",
    ),
)
MATCH = named(
    "Match",
    extending(
        STANDING,
        {
            "thinking": nullable(
                described(
                    _THINKING,
                    "The artificial player that must decide now, one at a time, or null. A level that searches may take some seconds.",
                )
            ),
            "code": optional(
                text(
                    patterns.anchored(patterns.JOIN_CODE),
                    "The code for players who may join. Only the creator sees it, while a seat is open.",
                )
            ),
            "rules": described(CONTENT_HASH, "The content hash of the rules that decided the last entry."),
            "players": PLAYERS,
            "receipt": optional(
                described(RECEIPT, "The receipt of the version that your request led to. Only in the answer to that request.")
            ),
        },
        "The standing of a match, with its version.",
    ),
)
MATCHES = named(
    "MatchList",
    record(
        {
            "matches": listing(STANDING, about="The matches of this page."),
            "players": PLAYERS,
            "next": NEXT,
            "updated_until": optional(
                text(
                    about="With `updated_since`: after all these changes. Give it as `updated_since` when you ask again, at once or later."
                )
            ),
        },
        "Matches, newest first or as `sort` says.",
    ),
)

_WHO = named(
    "SeatTaker",
    either(
        named(
            "SeatRequest",
            ids(
                ["me", "open", *(f"ai:{level}" for level in LEVELS)],
                "`me`: you. `open`: the first player who takes the seat. `ai:<level>`: an artificial player.",
            ),
        ),
        named("Invitation", text(patterns.anchored(f"player:{patterns.PLAYER}"), "`player:<id>`: the seat is kept for this player.")),
        about="Who takes a seat.",
    ),
)
_HOW: Fields = {
    "code": optional(flag("Whether open seats need a code. The answer has the code.")),
    "clock": optional(CLOCK_REQUEST),
    "time_out": optional(TIME_OUT_REQUEST),
    "spectators": optional(SPECTATORS_SEE),
    "dispute_days": optional(DISPUTE_DAYS),
    "signed": optional(SIGNED),
    "name": optional(MATCH_NAME),
    "tags": optional(listing(TAG, high=MOST_TAGS, about="Tags by which you and your programs find the match. Everybody sees them.")),
}
_FORK = named(
    "Fork",
    record(
        {
            "fork_of": described(MATCH_ID, "The match whose position this one begins from. It is over."),
            "at": whole(1, LARGEST, "The version of that match."),
            "seats": optional(
                mapping(
                    ANY_TEXT,
                    described(_WHO, "Who takes the seat."),
                    "Who takes which seat: each seat of that match once. Default: you take all.",
                )
            ),
            **_HOW,
        },
        "A practice match. It begins from a position of a match that is over, and has its game and its options.",
    ),
)


_GUIDED = named("Guided", record({"guide": GAME_ID}, "A guided first match."))
_PROFILE = named("HouseProfile", text(about="A house profile. `options` come on top of it."))


def _new_match(game: Game) -> Shape:
    """Return the shape of a new match of a game."""
    own = declared(game)
    seats = record({seat: optional(_WHO) for seat in game.seats.ids}, "Who takes which seat, in any order.")
    order = listing(own.seat, game.seats.least, game.seats.most, "Each seat of the match once, in turn order.")
    return record(
        {
            "game": always(game.id),
            "seats": unchecked({**seats.schema, "minProperties": game.seats.least, "maxProperties": game.seats.most}),
            "options": optional(described(own.options, "The options. Missing options have their defaults.")),
            "profile": optional(_PROFILE),
            "order": optional(order),
            "rated": optional(always(True, "It counts for ratings (TBL-RAT-01).")),
            **_HOW,
        },
        f"A new match of {game.title}.",
    )


def new_match(games: Games) -> Shape:
    """Return the shape of a new match of any game, of a practice match from a position of another one, or of a guided match."""
    return either(by_game("NewMatch", "A new match.", _new_match)(games), _FORK, _GUIDED)


def new_round(games: Games) -> Shape:
    """Return the shape of several new matches."""
    matches = listing(new_match(games), 1, LARGEST_ROUND, "The matches.")
    return named("NewRound", record({"matches": matches}, "Several new matches, such as a round of a tournament."))


def round_made(games: Games) -> Shape:
    """Return the shape of what became of a round."""
    outcome = record(
        {
            "status": whole(
                200, 599, "201 if the match exists, made by this request or by an earlier one with the same key; else the status."
            ),
            "id": optional(MATCH_ID),
            "version": optional(described(VERSION, "1.")),
            "code": optional(text(patterns.anchored(patterns.JOIN_CODE), "The code for players who may join.")),
            "receipt": optional(described(RECEIPT, "The receipt of version 1.")),
            "problem": optional(problem(games)),
        },
        "What became of a match of a round: `id`, `version` and `receipt`, or a `problem`.",
    )
    return named("Round", record({"matches": listing(named("RoundMatch", outcome), about="In order.")}, "What became of a round."))


_EXAMPLES: dict[str, Any] = {
    "against the machine": {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}},
    "with a friend alone": {"game": "war", "seats": {"red": "me", "blue": "player:p234567abcdefghij"}},
    "with all who have the code": {
        "game": "war",
        "seats": {"red": "me", "blue": "open"},
        "code": True,
        "options": {"starting_cards": True},
    },
    "with a clock": {
        "game": "war",
        "seats": {"red": "me", "blue": "open"},
        "clock": {"kind": "bank", "seconds": 900, "increment": 10},
        "time_out": {"policy": "forfeit"},
        "order": ["blue", "red"],
    },
    "by correspondence": {
        "game": "war",
        "seats": {"red": "me", "blue": "open", "green": "open"},
        "clock": {"kind": "days", "hours": 48, "vacation_days": 14},
        "time_out": {"policy": "wait"},
        "spectators": "none",
    },
    "practice from a position": {"fork_of": "m234567abcdefghij", "at": 41, "seats": {"red": "me", "blue": "ai:greedy"}},
}

_ROUNDS: dict[str, Any] = {
    "a round": {
        "matches": [
            {
                "game": "war",
                "seats": {"red": "player:p234567abcdefghij", "blue": "player:pabcdefghij234567"},
                "name": "Spring cup, round 1",
                "tags": ["round-1", "spring-cup"],
            }
        ]
    }
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
        {201: in_json("The match. It starts as soon as every seat is taken.", MATCH, ("ETag", "Location"))},
        "You decide who takes which seat: you, an artificial player, a player whom you invite, or whoever comes first. With `fork_of` and "
        "`at` you create a practice match that begins from a version of a match that is over (TBL-FRK-01). With an `Idempotency-Key` a "
        "repeated request creates no second match.",
        key="needed", scope="play", headers=("Idempotency-Key",),
        deeds=(CREATE, FORK), problems=("name_reserved",),
        body=Body(new_match, MatchBody(), examples=_EXAMPLES), links=_LINKS,
    ),
    Operation(
        "create_round", "POST", "/v1/rounds", "matches", "Create several matches at once", create_round,
        {200: in_json("What became of each match.", round_made)},
        "For organisers: up to 32 matches, such as a round of a tournament. Each is created on its own, as `create_match` does, or refused "
        "with a problem; players whom you name are invited, and nobody has a seat before taking it. It needs an `Idempotency-Key`. Sent "
        "again with the same key, it creates only what is missing, and only that counts towards limits.",
        key="needed", by="player", scope="play", headers=("Idempotency-Key",), needed_headers=("Idempotency-Key",),
        body=Body(new_round, RoundBody(), examples=_ROUNDS), problems=("name_reserved",),
    ),
    Operation(
        "list_matches", "GET", "/v1/matches", "matches", "Find matches", list_matches,
        {200: in_json("Matches, newest first or as `sort` says. A page may have fewer than `limit`. Continue with `next`.", MATCHES)},
        "All matches, or those that the query selects. `me` needs a key. Until a match that hides from spectators is over, callers who do "
        "not play in it see it as it was at its start.",
        key="optional", query=MatchesQuery(), problems=("no_key", "no_player"),
    ),
    Operation(
        "get_match", "GET", "/v1/matches/{match}", "matches", "Get the standing of a match", get_match,
        {200: in_json("The standing.", MATCH, ("ETag",)), 304: UNCHANGED},
        "Who has each seat, whose turn it is, and the outcome. Anybody may see it.",
        key="optional", headers=("If-None-Match",),
    ),
    Operation(
        "join_match", "POST", "/v1/matches/{match}/seats/{seat}", "matches", "Take an open seat", join_match,
        {200: in_json("The match, with you in the seat.", MATCH, ("ETag",))},
        "The match starts when no seat is open. The action `take_seat` does the same.",
        key="needed", scope="play", headers=("Idempotency-Key",),
        deeds=("take_seat",),
        body=Body(
            reference("SeatRequestBody"), SeatBody(), required=False, examples=_SEAT_EXAMPLES
        ),
    ),
)  # fmt: skip
