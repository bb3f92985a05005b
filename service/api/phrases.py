"""Set phrases at the table, such as "good luck". They are told to those who are there, and leave nothing behind (docs/decisions/0137)."""

from __future__ import annotations

from flask import Response

from events import recall
from service import sight
from service.api.operations import Answer, Body, Call, Operation
from service.api.shapes import reference
from service.context import Service
from service.http.responses import empty_response
from service.http.schemas import PhraseBody, SeatQuery


def say_phrase(service: Service, call: Call, match: str) -> Response:
    """Tell the players of a match who listen what a seat of the caller says. Raise Problem `not_seated`, `too_many_requests`."""
    seat = sight.seat_of(recall.position(service.platform, match), call.caller, call.query.get("seat"))
    call.info.used = service.throttle.count("phrases", call.caller.player())
    service.platform.store.say(match, seat, call.body["phrase"])
    return empty_response(204)


OPERATIONS = (
    Operation(
        "say_phrase", "POST", "/v1/matches/{match}/phrases", "play", "Say a set phrase", say_phrase,
        {204: Answer("It is said.")},
        "To the players whose streams ask for `phrases`. It is kept nowhere.",
        key="needed", by="player", scope="play", query=SeatQuery(),
        body=Body(reference("PhraseRequest"), PhraseBody(), examples={"luck": {"phrase": "good_luck"}}),
    ),
)  # fmt: skip
