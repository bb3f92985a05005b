"""The table over HTTP: seats are taken and left, by everybody who may, and nothing else changes."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
import rfc8785

from events import play, recall
from events.platform import Platform
from sdk.python.warledger_client import in_the_game
from service.app import create_app
from service.http.settings import Settings
from tests.each import each
from tests.service.conftest import Caller
from tests.service.test_matches import played_out

ADD = {"type": "add", "by": 1, "stay": True}
ADVANCE = [{"type": "advance"}]
CLOSE = {"type": "close_match"}


def take(seat: str, contribution: str | None = None) -> dict[str, Any]:
    return {"type": "take_seat", "seat": seat} | ({} if contribution is None else {"contribution": contribution})


def leave(seat: str) -> dict[str, Any]:
    return {"type": "leave_seat", "seat": seat}


def opened(caller: Caller, **seats: str) -> str:
    """Create a match of the test game. Without `seats` the caller has one, and two and three are open."""
    seats = seats or {"one": "me", "two": "open", "three": "open"}
    made = caller.post("/v1/matches", {"game": "tally", "seats": seats, "options": {"target": 12}})
    assert made.status_code == 201
    return str(made.json["id"])


def offered(caller: Caller, match: str) -> tuple[str | None, list[Any]]:
    """Return the seat and the actions that a caller may choose."""
    found = caller.get(f"/v1/matches/{match}/choices").json
    return found["seat"], [choice["action"] for choice in found["choices"]]


def everything(caller: Caller, match: str) -> list[bytes]:
    """Return all that a change would change."""
    return [caller.get(f"/v1/matches{path}").data for path in ("", f"/{match}", f"/{match}/state", f"/{match}/entries")]


# ---------------------------------------------------------------- taking and leaving


def test_a_seat_is_taken_and_left_by_actions(ada: Caller, ben: Caller, cleo: Caller) -> None:
    match = opened(ada)
    taken = ben.act(match, take("two", "c0ffee"))
    assert (taken.status_code, taken.headers["ETag"]) == (200, '"2"')
    body = taken.json
    assert (body["seat"], body["first"], body["version"], body["to_act"], body["phase"]) == ("two", 2, 2, [], "setup")
    (entry,) = body["entries"]
    assert (entry["actor"], entry["action"]) == (ben.id, take("two", "c0ffee"))
    assert entry["events"] == [{"type": "seat_taken", "seat": "two", "player": ben.id, "contribution": "c0ffee"}]
    assert [choice["action"] for choice in body["choices"]] == [leave("two")]
    left = ben.act(match, leave("two")).json
    assert (left["seat"], left["version"]) == (None, 3)
    assert left["entries"][0]["events"] == [{"type": "seat_left", "seat": "two", "player": ben.id}]
    assert [choice["action"] for choice in left["choices"]] == [take("three"), take("two")]
    assert ada.get(f"/v1/matches/{match}").json["seats"] == {"one": {"player": ada.id}, "two": {"open": True}, "three": {"open": True}}
    assert cleo.act(match, take("two")).json["seat"] == "two"


def test_both_ways_to_take_a_seat_lead_to_the_same(ada: Caller, ben: Caller, cleo: Caller) -> None:
    by_action, by_path = opened(ada), opened(ada)
    ben.act(by_action, take("two", "00ff"))
    assert ben.post(f"/v1/matches/{by_path}/seats/two", {"contribution": "00ff"}).json["seats"]["two"] == {"player": ben.id}
    last = cleo.act(by_action, take("three")).json
    assert (last["to_act"], in_the_game(last["choices"])) == (["system"], [])
    assert cleo.post(f"/v1/matches/{by_path}/seats/three").json["status"] == "playing"
    facts = []
    for match in (by_action, by_path):
        entries = ada.get(f"/v1/matches/{match}/entries?after=1").json["entries"]
        facts.append([(entry["actor"], entry["action"], entry["events"]) for entry in entries])
    assert facts[0] == facts[1]
    assert [event["type"] for event in facts[0][-1][2]] == ["seat_taken", "seats_filled"]


def test_a_player_may_leave_one_of_several_seats(ada: Caller, ben: Caller) -> None:
    match = opened(ada, one="me", two="me", three="open")
    left = ada.act(match, leave("one")).json
    assert (left["seat"], [choice["action"] for choice in left["choices"][-2:]]) == ("two", [leave("two"), CLOSE])
    assert ada.act(match, leave("two"), "?seat=two").json["seat"] is None
    assert ada.get(f"/v1/matches/{match}").json["creator"] == ada.id
    assert offered(ada, match) == (None, [take("one"), take("three"), take("two"), CLOSE])


# ---------------------------------------------------------------- choices


def test_choices_of_players_with_and_without_a_seat(anybody: Caller, ada: Caller, ben: Caller, cleo: Caller) -> None:
    match = opened(ada)
    assert offered(ada, match) == ("one", [leave("one"), CLOSE])
    assert offered(ben, match) == (None, [take("three"), take("two")])
    assert anybody.get(f"/v1/matches/{match}/choices").json["code"] == "no_key"
    ben.act(match, take("two"))
    assert offered(ben, match) == ("two", [leave("two")])
    assert offered(cleo, match) == (None, [take("three")])
    refused = cleo.get(f"/v1/matches/{match}/choices?seat=two")
    assert (refused.status_code, refused.json["code"]) == (403, "not_your_seat")
    cleo.act(match, take("three"))
    offers = [*({"type": "offer", "what": what} for what in ("draw", "void", "pause")), {"type": "offer", "what": "pause", "hours": 1}]
    assert offered(cleo, match)[1] == [{"type": "resign"}, *offers]
    gone = opened(ada, one="me", two="me")
    refused = ben.get(f"/v1/matches/{gone}/choices")
    assert (refused.status_code, refused.json["code"]) == (403, "not_seated")


def test_every_choice_at_the_table_is_accepted_as_it_is(ada: Caller, ben: Caller) -> None:
    for number in range(3):
        match = opened(ada)
        assert ben.act(match, offered(ben, match)[1][number % 2]).status_code == 200
        assert ben.act(match, offered(ben, match)[1][0]).status_code == 200


def test_choices_at_the_table_have_an_etag(ada: Caller, ben: Caller, cleo: Caller) -> None:
    match = opened(ada)
    path = f"/v1/matches/{match}/choices"
    tag = ben.get(path).headers["ETag"]
    assert tag == '"1"'
    same = ben.get(path, If_None_Match=tag)
    assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", tag)
    cleo.act(match, take("two"))
    assert ben.get(path, If_None_Match=tag).headers["ETag"] == '"2"'
    assert offered(ben, match) == (None, [take("three")])


# ---------------------------------------------------------------- refusals

NEW = {"type": "create_match", "game": "tally", "seats": {"one": "me", "two": "me"}, "options": {}}
REFUSED: dict[str, tuple[Any, int, str, str | None, str]] = {
    "take no seat": (take("nine"), 404, "no_such_seat", "TBL-SEA-01", "The match has no seat 'nine'. Its seats are one, three, two."),
    "take the system's": (
        take("system"),
        404,
        "no_such_seat",
        "TBL-SEA-01",
        "The match has no seat 'system'. Its seats are one, three, two.",
    ),
    "leave no seat": (leave("nine"), 404, "no_such_seat", "TBL-SEA-04", "The match has no seat 'nine'. Its seats are one, three, two."),
    "take a seat twice": (take("one"), 409, "seat_taken", "TBL-SEA-02", "The seat one is taken."),
    "take the AI's seat": (take("three"), 409, "seat_taken", "TBL-SEA-02", "The seat three is taken."),
    "leave another's": (leave("one"), 403, "not_your_seat", "TBL-SEA-04", "The seat one is not yours."),
    "leave the AI's": (leave("three"), 403, "not_your_seat", "TBL-SEA-04", "The seat three is not yours."),
    "leave an open seat": (leave("two"), 403, "not_your_seat", "TBL-SEA-04", "The seat two is not yours."),
    "create it again": (NEW, 409, "already_created", "TBL-CRE-01", "The match exists already."),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_table_refuses_with_a_code_a_rule_and_a_sentence(ada: Caller, ben: Caller, anybody: Caller, case: str) -> None:
    action, status, code, rule, sentence = REFUSED[case]
    match = opened(ada, one="me", two="open", three="ai:random")
    before = everything(anybody, match)
    refused = ben.act(match, action)
    body = refused.json
    assert (refused.status_code, body["status"], body["code"], body["rule"], body["detail"]) == (status, status, code, rule, sentence)
    assert (refused.mimetype, body["type"], body["game"]) == ("application/problem+json", f"/v1/problems/{code}", "tally")
    assert "place" not in body
    assert anybody.get(body["type"]).json["status"] == status
    assert everything(anybody, match) == before


@pytest.mark.parametrize(
    ("seat", "status", "code", "rule"), [("one", 409, "seat_taken", "TBL-SEA-02"), ("nine", 404, "no_such_seat", "TBL-SEA-01")]
)
def test_a_seat_by_its_address_is_refused_in_the_same_words(ada: Caller, ben: Caller, seat: str, status: int, code: str, rule: str) -> None:
    match = opened(ada)
    by_path, by_action = ben.post(f"/v1/matches/{match}/seats/{seat}"), ben.act(match, take(seat))
    assert (by_path.status_code, by_path.json["code"], by_path.json["rule"]) == (status, code, rule)
    assert by_path.data == by_action.data


def test_a_seat_cannot_be_left_once_the_match_has_started(ada: Caller, ben: Caller, tally: str) -> None:
    for caller, seat in ((ada, "one"), (ben, "two")):
        refused = caller.act(tally, leave(seat))
        body = refused.json
        assert (refused.status_code, body["code"], body["rule"]) == (409, "already_started", "TBL-SEA-05")
        assert body["detail"] == "The match has started. Seats can be left, and the match closed, before that only."
    assert ada.get(f"/v1/matches/{tally}").json["version"] == 3


@each("requested", ["you", "ai:clever", "ai:", "AI:random", ""])
def test_a_seat_that_is_requested_wrongly_is_named(ada: Caller, anybody: Caller, requested: str) -> None:
    refused = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": requested}})
    body = refused.json
    assert (refused.status_code, body["code"], body["rule"]) == (422, "bad_seats", "TBL-CRE-03")
    assert body["detail"] == f"The seat two can be requested as `me`, `open`, `ai:<level>` or `player:<id>`, not as {requested!r}."
    assert body["facts"] == {"seat": "two", "request": requested}
    assert anybody.get("/v1/matches").json["matches"] == []


@each(
    "action",
    [
        {"type": "take_seat"},
        {"type": "leave_seat"},
        {"type": "take_seat", "seat": None},
        {"type": "leave_seat", "seat": ["one"]},
        {"type": "leave_seat", "seat": "one", "more": 1},
        {"type": "leave_seat", "seat": "one", "contribution": "00"},
        take("two", ""),
        take("two", "C0FFEE"),
        take("two", "abc"),
        take("two", "00\n"),
        take("two", "00" * 65),
        {"type": "take_seat", "seat": "two", "contribution": None},
        {"type": "create_match"},
    ],
)
def test_malformed_actions_at_the_table_are_refused_at_every_version(ada: Caller, anybody: Caller, action: Any) -> None:
    match = opened(ada)
    before = everything(anybody, match)
    for headers in ({}, {"If_Match": '"1"'}, {"If_Match": '"7"'}):
        refused = ada.act(match, action, **headers)
        body = refused.json
        assert (refused.status_code, body["code"], body["type"], body["rule"]) == (
            422,
            "bad_action",
            "/v1/problems/against_the_rules",
            None,
        )
        assert action["type"] in body["detail"]
    assert everything(anybody, match) == before


def test_an_action_at_the_table_of_no_match_is_404(ada: Caller) -> None:
    for action in (take("one"), leave("one"), {"type": "take_seat"}):
        refused = ada.act("maaaaaaaaaaaaaaaa", action)
        assert (refused.status_code, refused.json["code"]) == (404, "no_such_match")


def test_an_action_at_the_table_needs_the_key_of_a_player(anybody: Caller, admin: Caller, ada: Caller) -> None:
    match = opened(ada)
    for caller, status, code in ((anybody, 401, "no_key"), (admin, 403, "no_player")):
        refused = caller.act(match, take("two"))
        assert (refused.status_code, refused.json["code"]) == (status, code)


@pytest.mark.parametrize(
    "actions",
    [
        [take("two")],
        [leave("one")],
        [take("two"), take("three")],
        [take("two"), leave("two")],
        [ADD, leave("one")],
        [leave("one"), ADD],
        [{"type": "take_seat"}, ADD],
    ],
    ids=str,
)
def test_an_action_of_the_table_in_a_list_is_refused_and_changes_nothing(ada: Caller, anybody: Caller, tally: str, actions: Any) -> None:
    for match in (opened(ada), tally):
        before = everything(anybody, match)
        refused = ada.act(match, actions)
        assert (refused.status_code, refused.json["code"]) == (400, "bad_list")
        assert refused.json["detail"] == "The list of actions is wrong: an action of the table is sent alone."
        assert everything(anybody, match) == before


# ---------------------------------------------------------------- versions and repeats


def test_an_action_at_the_table_may_name_its_version(ada: Caller, ben: Caller, cleo: Caller) -> None:
    match = opened(ada)
    assert ben.act(match, take("two"), If_Match='"1"').status_code == 200
    for action in (take("three"), leave("two")):
        refused = (cleo if action == take("three") else ben).act(match, action, If_Match='"1"')
        assert (refused.status_code, refused.json["code"], refused.json["version"]) == (412, "stale", 2)
        assert refused.headers["ETag"] == '"2"'
    assert ada.get(f"/v1/matches/{match}").json["version"] == 2
    assert ben.act(match, leave("two"), If_Match='"2"').headers["ETag"] == '"3"'


def test_a_repeated_request_at_the_table_gets_the_same_bytes_after_the_match_has_moved_on(
    platform: Platform, another_platform: Callable[[], Platform], settings: Settings, ada: Caller, ben: Caller, cleo: Caller
) -> None:
    """Here and in another process."""
    match = opened(ada)
    sent: list[tuple[Caller, str, Any, str]] = [
        (ben, f"/v1/matches/{match}/actions", take("two", "c0ffee"), "in"),
        (ben, f"/v1/matches/{match}/actions", leave("two"), "out"),
        (cleo, f"/v1/matches/{match}/seats/two", {"contribution": "00"}, "in"),
        (ben, f"/v1/matches/{match}/seats/three", {}, "last"),
    ]
    first = [caller.post(path, body, Idempotency_Key=key) for caller, path, body, key in sent]
    assert [answer.headers["ETag"] for answer in first] == ['"2"', '"3"', '"4"', '"5"']
    play.play(platform, match, "system", ADVANCE)
    assert ada.act(match, ADD).status_code == 200
    elsewhere = create_app(another_platform(), settings)
    for (caller, path, body, key), answer in zip(sent, first, strict=True):
        for asker in (caller, Caller(elsewhere.test_client(), caller.key)):
            again = asker.post(path, body, Idempotency_Key=key)
            assert (again.status_code, again.data, again.headers["ETag"]) == (200, answer.data, answer.headers["ETag"])
    reused = ben.act(match, take("two"), Idempotency_Key="in")
    assert (reused.status_code, reused.json["code"]) == (422, "request_reused"), "the contribution is part of the request"
    assert ada.get(f"/v1/matches/{match}").json["version"] == 7


# ---------------------------------------------------------------- what follows from leaving


def test_a_seat_that_was_left_is_free_in_all_lists(anybody: Caller, ada: Caller, ben: Caller, cleo: Caller) -> None:
    match = opened(ada)
    full = opened(ada, one="me", two="me")

    def found(caller: Caller, query: str) -> list[str]:
        return [one["id"] for one in caller.get(f"/v1/matches?{query}").json["matches"]]

    assert (found(anybody, "status=open"), found(ben, "player=me")) == ([match], [])
    ben.act(match, take("two"))
    assert (found(anybody, "status=open"), found(ben, "player=me")) == ([match], [match])
    ben.act(match, leave("two"))
    assert (found(anybody, "status=open"), found(ben, "player=me")) == ([match], [])
    ada.act(match, leave("one"))
    assert found(ada, "player=me") == [full]
    listed = anybody.get("/v1/matches?status=open").json["matches"][0]["seats"]
    assert listed == {seat: {"open": True} for seat in ("one", "two", "three")}
    for caller, seat in ((ada, "one"), (ben, "two"), (cleo, "three")):
        assert caller.act(match, take(seat)).status_code == 200
    assert (found(anybody, "status=open"), found(ben, "player=me")) == ([], [match])


def test_a_contribution_is_gone_from_the_dice_when_its_seat_is_left(platform: Platform, ada: Caller, ben: Caller, cleo: Caller) -> None:
    stayed, left = opened(ada), opened(ada)
    for match in (stayed, left):
        ben.act(match, take("two", "c0ffee"))
    ben.act(left, leave("two"))
    ben.act(left, take("two"))
    for match, contributions in ((stayed, {"two": "c0ffee", "three": "00ff"}), (left, {"three": "00ff"})):
        assert cleo.act(match, take("three", "00ff")).json["to_act"] == ["system"]
        message = rfc8785.dumps({"contributions": contributions, "match": match})
        for found in (recall.newest(platform, match), recall.load(platform, match)):
            assert found.dice == hmac.new(found.secret, message, sha256).digest()


def test_the_audit_of_a_match_with_seats_that_were_left_holds(platform: Platform, ada: Caller, ben: Caller) -> None:
    match = opened(ada, one="me", two="open")
    assert ada.act(match, leave("one")).status_code == 200
    assert ada.act(match, take("one", "beef")).status_code == 200
    assert ada.act(match, leave("one")).status_code == 200
    assert ben.act(match, take("two", "c0ffee")).headers["ETag"] == '"5"'
    assert ben.act(match, leave("two")).status_code == 200
    assert ben.act(match, take("two", "00ff")).status_code == 200
    assert ada.act(match, take("one")).json["to_act"] == ["system"]
    play.play(platform, match, "system", ADVANCE)
    assert ada.act(match, {"type": "roll"}).status_code == 200
    version = played_out(platform, ada, ben, match)["version"]
    report = ada.get(f"/v1/matches/{match}/audit").json
    assert (report["ok"], report["dice"], report["chain"], report["versions"]) == (True, "verified", "verified", version)
