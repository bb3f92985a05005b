"""Playing: what is so, what may be done, and doing it."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from flask import Response

from events import play, recall
from events.errors import NoVersion, Reused
from events.platform import Platform
from events.positions import Position
from games.kernel import Refused
from service import sight
from service.matches import request_id
from service.operations import UNCHANGED, Answer, Asked, Body, Operation
from service.problems import Problem, refused
from service.responses import TEXT, has, in_json, in_no_words, in_text, prefers, tagged
from service.schemas import SeatQuery, StateQuery
from service.shapes import ref

_TAG = re.compile(r'"([0-9]{1,15})"|([0-9]{1,15})')

_BY_TYPE = "Authorization, Accept"

_EXAMPLES = {
    "one action": {"type": "end_moves"},
    "two, all or none": [{"type": "move", "from": "c4", "to": {"c5": 2}}, {"type": "end_moves"}],
}


def operations(platform: Platform) -> list[Operation]:
    """What can be asked at the table."""
    return [
        Operation(
            "get_state", "GET", "/v1/matches/{match}/state", "play", "See the match", partial(get_state, platform),
            {
                200: Answer(
                    "The match at a version, as its viewer may see it.",
                    {"application/json": ref("State"), TEXT: {"type": "string"}},
                    ("ETag",),
                ),
                304: UNCHANGED,
            },
            "A seat's eyes are for its holder and for referees who do not play in the match, and for everybody once it is over; "
            "`spectator` is for everybody; `auditor` is for such referees, and for the match's players once it is over. "
            "With `Accept: text/plain` the answer is a board for people, in at most 60 lines of 120 columns.",
            key="optional", query=StateQuery(), headers=("If-None-Match",),
            problems=("no_such_match", "no_such_seat", "no_such_version", "hidden_view"),
        ),
        Operation(
            "get_choices", "GET", "/v1/matches/{match}/choices", "play", "Ask what you may do", partial(get_choices, platform),
            {200: Answer("Every legal choice of your seat.", {"application/json": ref("Choices")}, ("ETag",)), 304: UNCHANGED},
            key="needed", query=SeatQuery(), headers=("If-None-Match",),
            problems=("no_player", "no_such_match", "no_such_seat", "not_your_seat", "not_seated"),
        ),
        Operation(
            "act", "POST", "/v1/matches/{match}/actions", "play", "Act", partial(act, platform),
            {200: Answer("What followed.", {"application/json": ref("Played")}, ("ETag",))},
            "One action, or a list carried out all or none. In a list, an action that draws chance or reveals something must be the last.",
            key="needed", query=SeatQuery(), headers=("If-Match", "Idempotency-Key"), body=Body(ref("Actions"), examples=_EXAMPLES),
            problems=(
                "no_player", "no_such_match", "no_such_seat", "not_your_seat", "not_seated", "not_started", "stale", "against_the_rules",
                "must_be_last", "request_reused", "busy",
            ),
        ),
    ]  # fmt: skip


def get_state(platform: Platform, asked: Asked, match: str) -> Response:
    """The match as the caller may see it."""
    now = recall.position(platform, match)
    viewer = sight.viewer_of(now, asked.caller, asked.query.get("viewer"))
    position = _at(platform, now, asked.query.get("at"))
    as_text = prefers(asked.header("Accept"), TEXT)
    tag = f"{position.version}-text" if as_text else position.version
    if has(asked.header("If-None-Match"), tag):
        return tagged(in_no_words(304), tag, _BY_TYPE)
    if as_text:
        return tagged(in_text(sight.board(platform.games[position.game], position, viewer)), tag, _BY_TYPE)
    view = sight.view(platform.games[position.game], position, viewer)
    told = {"match": match, "game": position.game, "version": position.version, "viewer": viewer, "view": view}
    return tagged(in_json(told), tag, _BY_TYPE)


def _at(platform: Platform, now: Position, version: int | None) -> Position:
    if version is None or version == now.version:
        return now
    if version > now.version:
        raise NoVersion(f"The match has the versions 1 to {now.version}; {version} is none of them.")
    return recall.state_at(platform, now.match, version)


def get_choices(platform: Platform, asked: Asked, match: str) -> Response:
    """What a seat of the caller may do."""
    position = recall.position(platform, match)
    seat = sight.seat_of(position, asked.caller, asked.query.get("seat"))
    if has(asked.header("If-None-Match"), position.version):
        return tagged(in_no_words(304), position.version)
    choices = sight.choices(platform.games[position.game], position, seat)
    told = {"match": match, "version": position.version, "seat": seat, "to_act": position.to_act, "choices": choices}
    return tagged(in_json(told), position.version)


def act(platform: Platform, asked: Asked, match: str) -> Response:
    """Carry out what the caller has decided."""
    body = asked.body
    actions = body if isinstance(body, list) else [body]
    if not actions or len(actions) > play.LONGEST_LIST or not all(isinstance(action, dict) for action in actions):
        raise Problem("bad_body", reason=f"one action belongs there, or a list of 1 to {play.LONGEST_LIST}; an action is an object")
    expected, name, player = _expected(asked), request_id(asked), asked.caller.player()
    try:
        return _acted(platform, match, asked.query.get("seat"), actions, expected, name, player)
    except Refused as refusal:
        place = refusal.place if isinstance(body, list) else None
        raise refused(platform.games[recall.hold(platform, match).position.game], refusal.refusal, place) from None


def _acted(
    platform: Platform, match: str, chosen: str | None, actions: list[Any], expected: int | None, name: str | None, player: str
) -> Response:
    if chosen is not None:
        return _played(platform, match, chosen, actions, expected, name, player)
    seats = _seats(platform, match, player)
    for place, seat in enumerate(seats):
        try:
            return _played(platform, match, seat, actions, expected, name, player)
        except Refused as refusal:
            # What is in memory was behind if another of the caller's seats turns out to be the one to act.
            if refusal.code != "not_your_turn" or place > 0 or _seats(platform, match, player)[0] == seat:
                raise
            return _played(platform, match, _seats(platform, match, player)[0], actions, expected, name, player)
        except Reused:
            # The first answer may have been lost, and another of the caller's seats may be the one to act since then.
            if place == len(seats) - 1:
                raise
    raise Problem("not_seated")


def _played(platform: Platform, match: str, seat: str, actions: list[Any], expected: int | None, name: str | None, player: str) -> Response:
    return _told(platform, play.play(platform, match, seat, actions, expected=expected, request=name, player=player), seat)


def _seats(platform: Platform, match: str, player: str) -> list[str]:
    """The seats that a player may mean, the likeliest first, by what is in memory; it may be behind, but who has a seat keeps it."""
    position = recall.hold(platform, match).position
    seats = position.seats_of(player)
    if not seats:
        position = recall.position(platform, match)
        seats = position.seats_of(player)
    if len(seats) > 1:
        likeliest = sight.acting(position, seats)
        seats = [likeliest, *(seat for seat in seats if seat != likeliest)]
    return seats


def _told(platform: Platform, played: play.Played, seat: str) -> Response:
    """What followed; of a repeated request the same bytes as the first time, for all of it is worked out from that version."""
    position = played.position
    game = platform.games[position.game]
    document = position.document
    told = {
        "match": position.match,
        "game": position.game,
        "seat": seat,
        "first": played.first,
        "version": played.last,
        "round": document["round"],
        "phase": document["phase"],
        "active": document["active"],
        "to_act": document["to_act"],
        "outcome": document["outcome"],
        "entries": [sight.shown(game, entry, seat) for entry in played.entries],
        "choices": sight.choices(game, position, seat),
    }
    return tagged(in_json(told), played.last)


def _expected(asked: Asked) -> int | None:
    """The version that If-Match asks for. Raises Problem `bad_header`."""
    given = asked.header("If-Match")
    if given is None or given == "*":
        return None
    tag = _TAG.fullmatch(given)
    if tag is None:
        raise Problem("bad_header", header="If-Match", reason='a version belongs there, as in "41"')
    return int(tag[1] or tag[2])
