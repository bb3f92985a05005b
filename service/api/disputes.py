"""Disputes: raise one, state a side, rule, appeal; and the referees' desk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flask import Response

from events import lists, recall
from events.platform import Platform
from games.kernel import AUDITOR, SPECTATOR
from games.schema import described, ids, listing, optional, record, text, whole
from record.entries import parse
from record.positions import Position
from record.shown import shown
from service import sight
from service.api.cases import CASE, case
from service.api.game_shapes import TABLE_EVENTS_SHOWN
from service.api.matches import DISPUTE_STANDING
from service.api.operations import Answer, Body, Call, Operation, in_json
from service.api.pictures import drawing
from service.api.playing import carry_out
from service.api.receipts import receipt_for
from service.api.shapes import (
    COUNT,
    GAME_ID,
    MATCH_ID,
    NEXT,
    PLAYERS,
    RECEIPT,
    SEAT,
    TIME,
    VERSION,
    extending,
    growing,
    named,
    union,
    versions,
)
from service.api.sidelog import note_view
from service.context import Service
from service.http.problems import Problem
from service.http.responses import JSON, json_response, private
from service.http.schemas import LARGEST, DeskQuery, DisputeBody, DisputesQuery, RulingBody, SeatQuery, TextBody
from table.facts import FACTS
from table.state import DISPUTE_TEXT, DISPUTED_FIELD, REMEDIES, VERDICTS
from web.languages import ENGLISH


def get_disputes(service: Service, call: Call, match: str) -> Response:
    """Return the disputes of a match, with the texts that the caller may see. Tell the case of one if the caller asks for it."""
    newest = recall.position(service.platform, match)
    viewer = _viewer(newest, call)
    note_view(service, newest, call.caller, viewer)
    seen, number = sight.seen(service.platform, newest, call.caller), call.query.get("case")
    if number is None:
        return _answer(service, seen, viewer)
    if number > len(seen.table["disputes"]):
        raise Problem("no_such_dispute")
    with drawing(service, call):
        return _answer(service, seen, viewer, number=number, language=call.language)


def raise_dispute(service: Service, call: Call, match: str) -> Response:
    """Dispute what happened at a version, as a seat of the caller."""
    response = _acted(service, call, match, {"type": "dispute", **call.body}, 201)
    response.headers["Location"] = f"/v1/matches/{match}/disputes"
    return response


def state_side(service: Service, call: Call, match: str, dispute: str) -> Response:
    """State the side of a seat of the caller."""
    return _acted(service, call, match, {"type": "state_side", "dispute": number_in(dispute), **call.body})


def appeal(service: Service, call: Call, match: str, dispute: str) -> Response:
    """Appeal against a ruling, as a seat of the caller."""
    return _acted(service, call, match, {"type": "appeal", "dispute": number_in(dispute), **call.body})


def rule(service: Service, call: Call, match: str, dispute: str) -> Response:
    """Rule on a dispute."""
    return _acted(service, call, match, {"type": "rule_dispute", "dispute": number_in(dispute), "remedy": "none", **call.body})


def get_desk(service: Service, call: Call) -> Response:
    """Return a page of the disputes of all matches."""
    waiting = call.query["open"]
    desk = "waiting" if waiting else "all"
    page = lists.matches(service.platform, {}, call.query["limit"], call.query.get("cursor"), desk=desk)
    found = [
        {"match": standing["id"], "game": standing["game"], **numbered}
        for standing in page.standings
        for numbered in _numbered(standing["disputes"])
        if not waiting or numbered["state"] in ("open", "appealed")
    ]
    company = service.directory.company(player for standing in page.standings for player in sight.referees_of(standing["disputes"]))
    return private(json_response({"disputes": found, "players": company.players, "next": page.cursor}))


def _acted(service: Service, call: Call, match: str, action: dict[str, Any], status: int = 200) -> Response:
    """Carry out an action about a dispute. Return the disputes afterwards, with the receipt of the action's entry."""
    played = carry_out(service, call._replace(body=action), match).played
    newest = recall.position(service.platform, match)
    viewer = _viewer(newest, call)
    note_view(service, newest, call.caller, viewer)
    return _answer(service, played.position, viewer, status, receipt_for(service.platform, played))


def _viewer(newest: Position, call: Call) -> str:
    """Return AUDITOR if the caller may audit the match, else the caller's first seat, or SPECTATOR. An auditor sees all texts."""
    if sight.may_audit(newest, call.caller):
        return AUDITOR
    seats = newest.seats_of(call.caller.id) if call.caller.id is not None else []
    return seats[0] if seats else SPECTATOR


def _answer(
    service: Service,
    position: Position,
    viewer: str,
    status: int = 200,
    receipt: str | None = None,
    number: int | None = None,
    language: str = ENGLISH,
) -> Response:
    """Return the response with the disputes of a match at a position. `number`: of the dispute whose case is told, in a language."""
    disputes = [
        {**numbered, "steps": _steps(service.platform, position, numbered, viewer)} for numbered in _numbered(position.table["disputes"])
    ]
    company = service.directory.company(sight.players_at(position))
    if number is not None:
        one = disputes[number - 1]
        one["case"] = case(service, position, one, one["steps"], viewer, company, language)
    body = {"match": position.match, "version": position.version, "disputes": disputes, "players": company.players}
    if receipt is not None:
        body["receipt"] = receipt
    return private(json_response(body, status))


def _numbered(disputes: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield each dispute with its number."""
    for number, dispute in enumerate(disputes, 1):
        yield {"number": number, **dispute}


def _steps(platform: Platform, position: Position, dispute: dict[str, Any], viewer: str) -> list[dict[str, Any]]:
    """Return the steps of a dispute up to the version of a position, as a viewer may see them."""
    game = recall.rules_of(platform, position)
    steps: list[dict[str, Any]] = []
    for version in dispute["entries"]:  # the rules bound how many there are
        entry = parse(platform.store.log.read(position.match, version - 1, 1)[0])
        events = [event for event in shown(game, entry, viewer)["events"] if event.get("dispute") == dispute["number"]]
        steps += [{"version": entry.version, "at": entry.at, "actor": entry.actor, "event": event} for event in events]
    return steps


def number_in(text: str) -> int:
    """Return the number of a dispute in an address. Raise Problem `no_such_dispute`."""
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise Problem("no_such_dispute")
    return int(text)


_NUMBERED = {"number": described(COUNT, "Its number in the match, from 1.")}
_STEP = named(
    "DisputeStep",
    record(
        {
            "version": versions("The version of its entry."),
            "at": TIME,
            "actor": text(about="A seat, `system`, or the id of a referee."),
            "event": growing(
                union(
                    {kind: TABLE_EVENTS_SHOWN[kind] for kind, (_, fields) in FACTS.items() if "dispute" in fields},
                    "What happened, as the caller may see it.",
                ),
                "type",
            ),
        },
        "A step of a dispute.",
    ),
)
DISPUTES = named(
    "DisputeList",
    record(
        {
            "match": MATCH_ID,
            "version": described(VERSION, "The newest version that the caller may see."),
            "disputes": listing(
                named(
                    "DisputeInFull",
                    extending(
                        DISPUTE_STANDING,
                        {**_NUMBERED, "steps": listing(_STEP, about="What happened, oldest first."), "case": CASE},
                        "A dispute.",
                    ),
                ),
                about="The disputes, in order of their numbers.",
            ),
            "players": PLAYERS,
            "receipt": optional(described(RECEIPT, "The receipt of your step. Only in the answer to a step.")),
        },
        "The disputes of a match.",
    ),
)
DESK = named(
    "Desk",
    record(
        {
            "disputes": listing(
                named(
                    "DeskDispute",
                    extending(DISPUTE_STANDING, {"match": MATCH_ID, "game": GAME_ID, **_NUMBERED}, "A dispute."),
                ),
                about="The disputes of this page.",
            ),
            "players": PLAYERS,
            "next": NEXT,
        },
        "Disputes of all matches.",
    ),
)
_DISPUTE_TEXT = named("DisputeText", record({"text": DISPUTE_TEXT}, "A text about a dispute."))
_DISPUTE_REQUEST = named(
    "DisputeRequest",
    record(
        {
            "version": whole(1, LARGEST, "The version of the match that the dispute is about."),
            "text": DISPUTE_TEXT,
            "field": optional(DISPUTED_FIELD),
        },
        "A dispute.",
    ),
)
_RULING_REQUEST = named(
    "RulingRequest",
    record(
        {
            "verdict": ids(VERDICTS, "What the ruling says."),
            "remedy": optional(ids(REMEDIES, "What follows from it. Default: nothing.")),
            "seat": optional(described(SEAT, "The seat that forfeits.")),
            "version": optional(whole(1, LARGEST, "The version from which another match continues.")),
            "text": DISPUTE_TEXT,
        },
        "A ruling.",
    ),
)
_AFTERWARDS = in_json("The disputes of the match afterwards.", DISPUTES)

OPERATIONS = (
    Operation(
        "get_disputes", "GET", "/v1/matches/{match}/disputes", "disputes", "See the disputes of a match", get_disputes,
        {200: in_json("The disputes, in order of their numbers, with their steps.", DISPUTES)},
        "Seats and referees see all texts. A report lists refused actions; a seat sees its own. Everybody else sees that there is a "
        "dispute and the ruling, and also the texts when the match is over. `case` tells what happened around the version, with the boards "
        "before and after it.",
        key="optional", query=DisputesQuery(), problems=("no_such_dispute",),
    ),
    Operation(
        "raise_dispute", "POST", "/v1/matches/{match}/disputes", "disputes", "Dispute what happened", raise_dispute,
        {201: Answer("The disputes of the match afterwards.", {JSON: DISPUTES}, ("Location",))},
        "Freezes the match and its clocks until the dispute is settled (TBL-DIS-02). The action `dispute` does the same.",
        key="needed", scope="play", query=SeatQuery(), headers=("If-Match", "Idempotency-Key", "Warledger-Signature"),
        body=Body(_DISPUTE_REQUEST, DisputeBody(), examples={"a die": {"version": 41, "text": "Six sixes in a row."}}),
        deeds=("dispute",),
    ),
    Operation(
        "state_side", "POST", "/v1/matches/{match}/disputes/{dispute}/statements", "disputes", "State your side", state_side,
        {200: _AFTERWARDS},
        "Each of the other seats may do so once. The action `state_side` does the same.",
        key="needed", scope="play", query=SeatQuery(), headers=("If-Match", "Idempotency-Key", "Warledger-Signature"),
        body=Body(_DISPUTE_TEXT, TextBody(), examples={"a side": {"text": "I saw the die. It was fair."}}),
        deeds=("state_side",),
    ),
    Operation(
        "rule_dispute", "POST", "/v1/matches/{match}/disputes/{dispute}/ruling", "disputes", "Rule on a dispute", rule,
        {200: _AFTERWARDS},
        "For referees who have no seat in the match and never had one. Without an appeal the ruling takes effect after seven days, or when "
        "all seats that it concerns accept it. After an appeal another referee rules, and that ruling takes effect at once.",
        key="needed", by="referee", scope="referee", headers=("If-Match", "Idempotency-Key", "Warledger-Signature"),
        body=Body(
            _RULING_REQUEST, RulingBody(),
            examples={
                "rejected": {"verdict": "rejected", "text": "The record holds."},
                "play on": {"verdict": "upheld", "remedy": "play_on", "version": 40, "text": "Go on from before the roll."},
                "a seat forfeits": {"verdict": "upheld", "remedy": "forfeit", "seat": "red", "text": "Two accounts of one player."},
            },
        ),
        deeds=("rule_dispute",),
    ),
    Operation(
        "appeal_ruling", "POST", "/v1/matches/{match}/disputes/{dispute}/appeal", "disputes", "Appeal against a ruling", appeal,
        {200: _AFTERWARDS},
        "Any seat may appeal, once, within seven days. Another referee then rules, and that ruling is final. The action `appeal` does the "
        "same.",
        key="needed", scope="play", query=SeatQuery(), headers=("If-Match", "Idempotency-Key", "Warledger-Signature"),
        body=Body(_DISPUTE_TEXT, TextBody(), examples={"an appeal": {"text": "Look at version 40, too."}}),
        deeds=("appeal",),
    ),
    Operation(
        "get_desk", "GET", "/v1/disputes", "disputes", "See the referees' desk: the disputes of all matches", get_desk,
        {200: in_json("Disputes, the earliest deadline first. Continue with `next`.", DESK)},
        "With `open=true`, the default, the disputes that wait for a ruling. With `open=false` all disputes.",
        key="needed", by="referee", scope="referee", query=DeskQuery(),
    ),
)  # fmt: skip
