from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest

from events import play, recall
from events.due import thinking_of
from events.platform import Platform
from tests.conftest import Servers
from tests.each import each
from tests.service.conftest import Caller


def test_a_match_is_created_with_its_seats_and_options(ada: Caller) -> None:
    made = ada.post(
        "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:greedy", "green": "open"}, "options": {"starting_cards": True}}
    )
    assert made.status_code == 201
    assert made.headers["Location"] == f"/v1/matches/{made.json['id']}"
    assert made.headers["ETag"] == '"1"'
    assert made.json["seats"] == {"red": {"player": ada.id}, "blue": {"ai": "greedy"}, "green": {"open": True}}
    assert made.json["order"] == ["red", "blue", "green"]
    assert (made.json["status"], made.json["to_act"], made.json["secret"]) == ("open", [], None)
    assert made.json["options"]["starting_cards"] is True
    found = ada.get(made.headers["Location"]).json
    assert made.json == {**found, "receipt": made.json["receipt"]}
    assert made.json["receipt"].split("\n")[1:3] == [found["id"], "1"]


def test_the_order_of_the_seats_is_the_one_named_or_that_of_the_game(ada: Caller) -> None:
    seats = {"green": "open", "red": "me", "blue": "open"}
    assert ada.post("/v1/matches", {"game": "war", "seats": seats}).json["order"] == ["red", "blue", "green"]
    made = ada.post("/v1/matches", {"game": "war", "seats": seats, "order": ["blue", "green", "red"]})
    assert made.json["order"] == ["blue", "green", "red"]
    assert ada.get(f"/v1/matches/{made.json['id']}/entries").json["entries"][0]["action"]["order"] == ["blue", "green", "red"]
    refused = ada.post("/v1/matches", {"game": "war", "seats": seats, "order": ["blue", "red"]})
    assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (422, "bad_order", "TBL-CRE-07")
    assert refused.json["detail"] == "The order must name each seat of the match once: blue, green, red."


def test_a_match_starts_when_the_last_seat_is_taken(ada: Caller, ben: Caller, cleo: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open", "green": "open"}}).json["id"]
    assert ben.post(f"/v1/matches/{match}/seats/blue").json["status"] == "open"
    last = cleo.post(f"/v1/matches/{match}/seats/green", {"contribution": "c0ffee"})
    assert (last.status_code, last.json["status"], last.json["to_act"]) == (200, "playing", ["system"])


def test_a_seat_is_taken_once(ada: Caller, ben: Caller, cleo: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open", "green": "ai:random"}}).json["id"]
    assert ben.post(f"/v1/matches/{match}/seats/blue").status_code == 200
    for seat in ("blue", "red", "green"):
        refused = cleo.post(f"/v1/matches/{match}/seats/{seat}")
        assert (refused.status_code, refused.json["code"]) == (409, "seat_taken")
    refused = cleo.post(f"/v1/matches/{match}/seats/yellow")
    assert (refused.status_code, refused.json["code"]) == (404, "no_such_seat")


def test_joining_needs_no_body_at_all(ada: Caller, ben: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    assert ben.ask("POST", f"/v1/matches/{match}/seats/blue").status_code == 200


def test_the_same_request_makes_one_match(ada: Caller, ben: Caller) -> None:
    body = {"game": "war", "seats": {"red": "me", "blue": "open"}}
    first, again = (ada.post("/v1/matches", body, Idempotency_Key="k1") for _ in range(2))
    assert first.data == again.data
    other = ada.post("/v1/matches", {**body, "seats": {"red": "open", "blue": "me"}}, Idempotency_Key="k1")
    assert (other.status_code, other.json["code"]) == (422, "request_reused")
    turned = ada.post("/v1/matches", {**body, "seats": dict(reversed(body["seats"].items()))}, Idempotency_Key="k1")
    assert turned.data == first.data, "the order of the members of an object counts for nothing"
    ordered = ada.post("/v1/matches", {**body, "order": ["blue", "red"]}, Idempotency_Key="k1")
    assert (ordered.status_code, ordered.json["code"]) == (422, "request_reused"), "the order that is named is part of the request"
    assert ben.post("/v1/matches", body, Idempotency_Key="k1").json["id"] != first.json["id"]


@each(
    ("body", "status", "code"),
    [
        ({"game": "war"}, 400, "bad_body"),
        ({"game": "war", "seats": {}}, 400, "bad_body"),
        ({"game": "war", "seats": []}, 400, "bad_body"),
        ({"game": "war", "seats": {"red": 1, "blue": "me"}}, 400, "bad_body"),
        ({"game": "war", "seats": {"red": "me", "blue": "open"}, "options": []}, 400, "bad_body"),
        ({"game": "war", "seats": {"red": "me", "blue": "open"}, "extra": 1}, 400, "bad_body"),
        ({"game": "chess", "seats": {"white": "me"}}, 404, "no_such_game"),
        ({"game": "war", "seats": {"red": "me", "blue": "you"}}, 422, "bad_seats"),
        ({"game": "war", "seats": {"red": "me", "blue": "ai:clever"}}, 422, "bad_seats"),
        ({"game": "war", "seats": {"red": "me"}}, 422, "bad_options"),
        ({"game": "war", "seats": {"red": "me", "pink": "open"}}, 422, "bad_options"),
        ({"game": "war", "seats": {"red": "me", "blue": "open"}, "options": {"speed": 1}}, 422, "bad_options"),
        ({"game": "war", "seats": {"red": "me", "blue": "open"}, "options": {"map_number": 1.5}}, 422, "bad_options"),
        ({"game": "war", "seats": {"red": "me", "blue": "open"}, "options": {"map_number": 2**32}}, 422, "bad_options"),
    ],
)
def test_an_invalid_match_is_refused(ada: Caller, anybody: Caller, body: object, status: int, code: str) -> None:
    refused = ada.post("/v1/matches", body)
    assert (refused.status_code, refused.json["code"]) == (status, code)
    assert anybody.get("/v1/matches").json["matches"] == []


def test_a_whole_number_with_a_point_equals_the_number_without(ada: Caller) -> None:
    body = b'{"game": "war", "seats": {"red": "me", "blue": "open"}, "options": {"map_number": 7.0}}'
    assert ada.ask("POST", "/v1/matches", data=body).json["options"]["map_number"] == 7


def test_matches_are_found_by_game_status_player_and_who_must_act(ada: Caller, ben: Caller, anybody: Caller, tally: str) -> None:
    open_match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]

    def found(caller: Caller, query: str) -> list[str]:
        return [match["id"] for match in caller.get(f"/v1/matches?{query}").json["matches"]]

    assert found(anybody, "") == [open_match, tally]
    assert found(anybody, "game=tally") == [tally]
    assert found(anybody, "status=open") == [open_match]
    assert found(anybody, f"player={ben.id}") == [tally]
    assert found(ben, "player=me") == [tally]
    assert found(ada, "to_act=me") == [tally]
    assert found(ben, "to_act=me") == []
    assert found(anybody, f"status=playing&game=tally&to_act={ada.id}") == [tally]


def test_a_list_of_an_unknown_game_is_404(anybody: Caller, tally: str) -> None:
    for query in ("game=chess", "game=chess&status=open", "game=", "game=TALLY"):
        refused = anybody.get(f"/v1/matches?{query}")
        assert (refused.status_code, refused.json["code"]) == (404, "no_such_game")


def test_a_list_has_the_version_of_each_match(ada: Caller, anybody: Caller, tally: str) -> None:
    other = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    for _ in range(2):
        ada.act(tally, {"type": "add", "by": 1, "stay": True})
        listed = {match["id"]: match["version"] for match in anybody.get("/v1/matches").json["matches"]}
        assert listed == {match: anybody.get(f"/v1/matches/{match}").json["version"] for match in (tally, other)}
    assert listed == {tally: 5, other: 1}


def test_a_list_says_when_each_match_last_changed(ada: Caller, anybody: Caller, tally: str) -> None:
    """It is the time of the last entry, in lists and in the match itself."""
    other = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json
    assert other["updated"] == other["created"]
    before = {match["id"]: match["updated"] for match in anybody.get("/v1/matches").json["matches"]}
    ada.act(tally, {"type": "add", "by": 1, "stay": True})
    after = {match["id"]: match["updated"] for match in anybody.get("/v1/matches").json["matches"]}
    last = anybody.get(f"/v1/matches/{tally}/entries?after=3").json["entries"][-1]
    assert before[other["id"]] == after[other["id"]] == other["created"]
    assert before[tally] <= after[tally] == last["at"] == anybody.get(f"/v1/matches/{tally}").json["updated"]


def test_a_match_whose_log_is_damaged_is_left_out_of_lists(
    ada: Caller, anybody: Caller, tally: str, platform: Platform, servers: Servers
) -> None:
    """The others are listed."""
    other = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    servers.keeper.xadd(platform.store.keys.of(tally).stream, {"e": b"no entry"}, id="4-0")
    assert [match["id"] for match in anybody.get("/v1/matches").json["matches"]] == [other]


def test_a_list_continues_from_its_cursor(ada: Caller, anybody: Caller) -> None:
    made = [ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"] for _ in range(5)]
    found, cursor = [], ""
    for _ in range(4):
        page = anybody.get(f"/v1/matches?limit=2{cursor}").json
        found += [match["id"] for match in page["matches"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert sorted(found) == sorted(made)


def test_me_needs_a_key(anybody: Caller) -> None:
    refused = anybody.get("/v1/matches?to_act=me")
    assert (refused.status_code, refused.json["code"]) == (401, "no_key")


@each(
    "query",
    [
        "limit=0",
        "limit=201",
        "limit=x",
        "limit=1.0",
        "limit=%2B1",
        "limit= 1",
        "limit=",
        "status=lost",
        "player=nobody",
        "cursor=x",
        "limit=1&limit=2",
        "colour=red",
        "cursor=9",
    ],
)
def test_a_query_of_the_wrong_shape_is_400(anybody: Caller, query: str) -> None:
    refused = anybody.get(f"/v1/matches?{query}")
    assert (refused.status_code, refused.json["code"]) == (400, "bad_query")


def test_the_secret_is_published_when_the_match_is_over_and_matches_its_commitment(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, tally: str
) -> None:
    commitment = anybody.get(f"/v1/matches/{tally}").json["commitment"]
    over = played_out(platform, ada, ben, tally)
    assert over["status"] == "over"
    assert sha256(bytes.fromhex(over["secret"])).hexdigest() == over["commitment"] == commitment


def played_out(platform: Platform, ada: Caller, ben: Caller, match: str) -> dict:
    """Play the match to its end. Return its standing."""
    for _ in range(60):
        standing = ada.get(f"/v1/matches/{match}").json
        if standing["status"] == "over":
            return standing
        if standing["to_act"] == ["system"]:
            play.play(platform, match, "system", [{"type": "advance"}])
            continue
        caller = ada if standing["to_act"] == ["one"] else ben
        assert caller.act(match, {"type": "add", "by": 3, "stay": False}).status_code == 200
    raise AssertionError("it does not end")


def test_all_callers_see_the_same_standing(join: Callable[..., Caller], anybody: Caller, referee: Caller, tally: str) -> None:
    assert (
        anybody.get(f"/v1/matches/{tally}").data == referee.get(f"/v1/matches/{tally}").data == join("Dan").get(f"/v1/matches/{tally}").data
    )


# ---------------------------------------------------------------- artificial players that think


def test_a_match_says_which_artificial_player_is_thinking(platform: Platform, ada: Caller, anybody: Caller) -> None:
    """It follows from the position alone, and the page says it too."""
    made = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "ai:expert", "two": "me"}}).json
    assert made["thinking"] is None, "the system is to act"
    begun = play.play(platform, made["id"], "system", [{"type": "advance"}])
    found = anybody.get(f"/v1/matches/{made['id']}").json
    assert (
        found["thinking"]
        == {"seat": "one", "level": "expert", "since": begun.position.at}
        == ada.get(f"/v1/matches/{made['id']}").json["thinking"]
    )
    assert (found["to_act"], found["updated"]) == (["one"], begun.position.at)
    play.play(platform, made["id"], "one", [{"type": "add", "by": 1, "stay": False}])
    assert anybody.get(f"/v1/matches/{made['id']}").json["thinking"] is None, "a person is to act"


@pytest.mark.parametrize(("seat", "thinks"), [("ai:strong", True), ("me", False)])
def test_the_page_of_a_match_says_who_is_thinking(platform: Platform, ada: Caller, anybody: Caller, seat: str, thinks: bool) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": seat, "blue": seat}}).json["id"]
    assert ", thinking</small>" not in anybody.client.get(f"/m/{match}").text
    play.play(platform, match, "system", [{"type": "advance"}])
    assert (", thinking</small>" in anybody.client.get(f"/m/{match}").text) == thinks


def test_an_artificial_player_that_has_taken_over_is_thinking_too(platform: Platform, ada: Caller, begin: Callable[..., str]) -> None:
    match = begin()
    position = recall.position(platform, match)
    assert thinking_of(position) is None
    taken = position._replace(table={**position.table, "substitutes": {"one": "strong"}})
    assert thinking_of(taken) == ("one", "strong", position.at)
    assert thinking_of(taken._replace(table={**taken.table, "phase": "paused"})) is None
