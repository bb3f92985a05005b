from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from events import play, recall
from events.platform import Platform
from games import GAMES
from sdk.python.warledger_client import in_the_game
from service.app import create_app
from service.http.settings import Settings
from tests.service.conftest import Caller, played_on, worlds
from tests.service.test_matches import played_out

ADD = {"type": "add", "by": 1, "stay": False}


def test_an_action_is_answered_with_what_followed(ada: Caller, tally: str) -> None:
    played = ada.act(tally, {"type": "add", "by": 2, "stay": True})
    assert played.status_code == 200
    assert played.headers["ETag"] == '"4"'
    body = played.json
    assert (body["seat"], body["first"], body["version"], body["to_act"], body["phase"]) == ("one", 4, 4, ["one"], "turn")
    assert [event["type"] for event in body["entries"][0]["events"]] == ["counted"]
    assert body["choices"] == ada.get(f"/v1/matches/{tally}/choices").json["choices"]
    assert body["choices"][0] == {"action": {"type": "add", "by": 1, "stay": False}, "choose": {"by": [1, 3]}}, "the least counts"


def test_a_list_is_carried_out_as_one_entry_each(ada: Caller, tally: str) -> None:
    body = ada.act(tally, [{"type": "add", "by": 1, "stay": True}, {"type": "add", "by": 2, "stay": True}, ADD]).json
    assert [entry["version"] for entry in body["entries"]] == [4, 5, 6]
    assert (body["first"], body["version"], body["to_act"], in_the_game(body["choices"])) == (4, 6, ["two"], [])


def test_a_list_is_carried_out_whole_or_not_at_all(ada: Caller, anybody: Caller, tally: str) -> None:
    before = anybody.get(f"/v1/matches/{tally}/state").data
    refused = ada.act(tally, [{"type": "add", "by": 1, "stay": True}, {"type": "add", "by": 9, "stay": True}])
    body = refused.json
    assert (refused.status_code, body["code"], body["rule"], body["place"]) == (422, "too_much", "TAL-ADD-01", 1)
    assert "place" not in ada.act(tally, {"type": "add", "by": 9, "stay": True}).json
    assert anybody.get(f"/v1/matches/{tally}/state").data == before


@pytest.mark.parametrize("first", [{"type": "roll"}, {"type": "draw"}])
def test_nothing_follows_a_draw_in_a_list(ada: Caller, anybody: Caller, tally: str, first: dict[str, str]) -> None:
    for second in (ADD, {"type": "add", "by": 9, "stay": True}, {"type": "nonsense"}):
        refused = ada.act(tally, [first, second])
        assert (refused.status_code, refused.json["code"], refused.json["place"]) == (422, "must_be_last", 0)
    assert anybody.get(f"/v1/matches/{tally}").json["version"] == 3


def test_a_refusal_names_the_code_the_rule_and_the_facts_in_a_sentence(ada: Caller, platform: Platform) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:random"}, "options": {"first_seat": "red"}}).json[
        "id"
    ]
    play.play(platform, match, "system", [{"type": "advance"}])
    refused = ada.act(match, {"type": "place_unit", "tile": "z36"})
    assert refused.status_code == 422
    assert refused.mimetype == "application/problem+json"
    body = refused.json
    assert (body["code"], body["game"], body["type"]) == ("unknown_tile", "war", "/v1/problems/against_the_rules")
    assert body["detail"] == "There is no tile z36 on this map."
    assert body["facts"] == {"tile": "z36"}


MALFORMED: list[tuple[object, str]] = [
    ({"type": "fly"}, "bad_action"),
    ({}, "bad_action"),
    ({"type": None}, "bad_action"),
    ({"type": ["add"]}, "bad_action"),
    ({"type": "add", "by": 1}, "bad_action"),
    ({"type": "add", "by": "1", "stay": True}, "bad_action"),
    ({"type": "add", "by": 1.5, "stay": True}, "bad_action"),
    ({"type": "add", "by": True, "stay": True}, "bad_action"),
    ({"type": "add", "by": 1, "stay": True, "more": 1}, "bad_action"),
    ({"type": "advance"}, "wrong_phase"),
]


def test_malformed_actions_are_refused_by_the_game(ada: Caller, anybody: Caller, tally: str) -> None:
    for action, code in MALFORMED:
        refused = ada.act(tally, action)
        assert (action, refused.status_code, refused.json["code"]) == (action, 422, code)
    assert anybody.get(f"/v1/matches/{tally}").json["version"] == 3


def test_a_stale_action_is_refused_with_the_current_version(ada: Caller, ben: Caller, tally: str) -> None:
    assert ada.act(tally, ADD, If_Match='"3"').status_code == 200
    refused = ben.act(tally, ADD, If_Match='"3"')
    assert (refused.status_code, refused.json["code"], refused.json["version"]) == (412, "stale", 4)
    assert refused.headers["ETag"] == '"4"'
    assert ben.act(tally, ADD, If_Match="4").status_code == 200


def test_if_match_of_any_version_is_no_condition(ada: Caller, tally: str) -> None:
    assert ada.act(tally, ADD, If_Match="*").status_code == 200


def test_if_match_that_names_no_version_is_400(ada: Caller, tally: str) -> None:
    for tag in ("abc", '"abc"', 'W/"3"', '"3", "4"', "-1", '""', ""):
        refused = ada.act(tally, ADD, If_Match=tag)
        assert (tag, refused.status_code, refused.json["code"]) == (tag, 400, "bad_header")


def test_the_same_request_gets_the_same_answer_to_the_byte(ada: Caller, ben: Caller, tally: str, app: Flask, platform: Platform) -> None:
    action = {"stay": True, "by": 2, "type": "add"}
    first = ada.act(tally, action, Idempotency_Key="once", If_Match='"3"')
    ada.act(tally, ADD)
    ben.act(tally, {"type": "roll"})
    again = ada.act(tally, action, Idempotency_Key="once", If_Match='"3"')
    assert first.status_code == again.status_code == 200
    assert (first.data, first.headers["ETag"]) == (again.data, again.headers["ETag"])
    assert ada.get(f"/v1/matches/{tally}").json["version"] == 6


def test_another_process_gives_a_repeated_request_the_same_bytes(
    ada: Caller, platform: Platform, another_platform: Callable[[], Platform], settings: Settings
) -> None:
    """A long match of War!, so that snapshots, tails and caches all take part."""
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}}).json["id"]
    dice = random.Random(4)
    played_on(platform, match, dice, 20)
    kept = []
    for step in range(150):
        position = recall.position(platform, match)
        if position.to_act == ["system"]:
            played_on(platform, match, dice, 1)
        if not position.to_act:
            break
        seat = recall.position(platform, match).to_act[0]
        from games.kernel import any_action

        action = any_action(GAMES["war"], recall.position(platform, match).document, seat, dice.randrange)
        kept.append((action, step, ada.act(match, action, Idempotency_Key=f"k{step}").data))
    other = Caller(create_app(another_platform(), settings).test_client(), ada.key)
    for action, step, answer in kept:
        assert other.act(match, action, Idempotency_Key=f"k{step}").data == answer


def test_another_body_under_the_same_key_is_422(ada: Caller, tally: str) -> None:
    ada.act(tally, {"type": "add", "by": 1, "stay": True}, Idempotency_Key="once")
    refused = ada.act(tally, {"type": "add", "by": 2, "stay": True}, Idempotency_Key="once")
    assert (refused.status_code, refused.json["code"]) == (422, "request_reused")


def test_two_players_may_use_one_idempotency_key(ada: Caller, ben: Caller, tally: str) -> None:
    assert ada.act(tally, ADD, Idempotency_Key="k").status_code == 200
    assert ben.act(tally, ADD, Idempotency_Key="k").status_code == 200


@pytest.mark.parametrize("key", ["", "x" * 65, "with space", "caf\u00e9"])
def test_an_idempotency_key_of_the_wrong_shape_is_400(ada: Caller, tally: str, key: str) -> None:
    refused = ada.act(tally, ADD, Idempotency_Key=key)
    assert (refused.status_code, refused.json["code"]) == (400, "bad_header")


def test_a_player_with_several_seats_acts_for_the_one_that_must(ada: Caller, platform: Platform) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "me"}}).json["id"]
    play.play(platform, match, "system", [{"type": "advance"}])
    assert [ada.act(match, ADD).json["seat"] for _ in range(2)] == ["one", "two"]


def test_a_repeated_request_finds_the_seat_it_was_for(ada: Caller, platform: Platform) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "me"}}).json["id"]
    play.play(platform, match, "system", [{"type": "advance"}])
    first = ada.act(match, ADD, Idempotency_Key="k")
    assert ada.act(match, ADD, Idempotency_Key="k").data == first.data


def test_a_request_may_name_its_seat(ada: Caller, platform: Platform) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "me"}}).json["id"]
    play.play(platform, match, "system", [{"type": "advance"}])
    refused = ada.act(match, ADD, "?seat=two")
    assert (refused.status_code, refused.json["code"]) == (422, "not_your_turn")
    assert ada.act(match, ADD, "?seat=one").status_code == 200


def test_a_process_that_is_behind_learns_whose_turn_it_is(
    ada: Caller, platform: Platform, another_platform: Callable[[], Platform], settings: Settings
) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "me"}}).json["id"]
    play.play(platform, match, "system", [{"type": "advance"}])
    other = Caller(create_app(another_platform(), settings).test_client(), ada.key)
    assert other.get(f"/v1/matches/{match}/choices").json["seat"] == "one"
    assert ada.act(match, ADD).json["seat"] == "one"
    assert other.act(match, ADD).json["seat"] == "two"


def test_a_process_that_is_behind_knows_who_has_just_joined(
    ada: Caller, ben: Caller, platform: Platform, another_platform: Callable[[], Platform], settings: Settings
) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "open", "two": "me"}}).json["id"]
    other = Caller(create_app(another_platform(), settings).test_client(), ben.key)
    assert other.act(match, ADD).json["code"] == "not_seated"
    ben.post(f"/v1/matches/{match}/seats/one")
    play.play(platform, match, "system", [{"type": "advance"}])
    assert other.act(match, ADD).status_code == 200


@pytest.mark.parametrize(("path", "method"), [("choices", "GET"), ("actions", "POST")])
def test_a_seat_of_another_player_cannot_be_used(anybody: Caller, ada: Caller, cleo: Caller, tally: str, path: str, method: str) -> None:
    body = ADD if method == "POST" else None
    cases = [(ada, "?seat=two", 403, "not_your_seat"), (ada, "?seat=nine", 404, "no_such_seat"), (cleo, "", 403, "not_seated")]
    for caller, query, status, code in [*cases, (cleo, "?seat=one", 403, "not_your_seat"), (anybody, "", 401, "no_key")]:
        refused = caller.ask(method, f"/v1/matches/{tally}/{path}{query}", body)
        assert (refused.status_code, refused.json["code"]) == (status, code)
        assert code != "not_your_seat" or refused.json["detail"] == f"The seat {query.removeprefix('?seat=')} is not yours."


def test_nothing_is_played_before_every_seat_is_taken(ada: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}}).json["id"]
    refused = ada.act(match, ADD)
    assert (refused.status_code, refused.json["code"]) == (409, "not_started")
    found = ada.get(f"/v1/matches/{match}/choices").json
    assert (found["seat"], found["to_act"]) == ("one", [])
    assert [choice["action"]["type"] for choice in found["choices"]] == ["leave_seat", "close_match"]


def test_the_state_is_shown_as_the_caller_may_see_it(
    anybody: Caller, ada: Caller, ben: Caller, cleo: Caller, referee: Caller, tally: str
) -> None:
    def viewer(caller: Caller, query: str = "") -> str:
        answer = caller.get(f"/v1/matches/{tally}/state{query}").json
        return answer.get("viewer") or answer["code"]

    assert [viewer(caller) for caller in (anybody, ada, ben, cleo, referee)] == ["spectator", "one", "two", "spectator", "spectator"]
    assert viewer(ada, "?viewer=spectator") == "spectator"
    assert viewer(ada, "?viewer=two") == viewer(anybody, "?viewer=one") == viewer(cleo, "?viewer=auditor") == "hidden_view"
    assert viewer(ada, "?viewer=auditor") == "hidden_view"
    for asked in ("two", "auditor"):
        detail = ada.get(f"/v1/matches/{tally}/state?viewer={asked}").json["detail"]
        assert detail == f"You may not see the view of {asked} until the match is over."
    assert viewer(referee, "?viewer=auditor") == "auditor"
    assert viewer(referee, "?viewer=two") == "two"
    assert viewer(referee, "?viewer=nine") == "no_such_seat"


def test_when_it_is_over_everybody_may_see_everything(
    platform: Platform, anybody: Caller, ada: Caller, ben: Caller, cleo: Caller, tally: str
) -> None:
    played_out(platform, ada, ben, tally)
    for caller, query, expected in (
        (ada, "auditor", "auditor"),
        (anybody, "two", "two"),
        (cleo, "auditor", "auditor"),
        (anybody, "auditor", "auditor"),
    ):
        assert caller.get(f"/v1/matches/{tally}/state?viewer={query}").json.get("viewer") == expected


def test_the_state_can_be_seen_at_every_version(platform: Platform, anybody: Caller, ada: Caller, tally: str) -> None:
    seen = {}
    for _ in range(5):
        version = anybody.get(f"/v1/matches/{tally}").json["version"]
        seen[version] = anybody.get(f"/v1/matches/{tally}/state").data
        ada.act(tally, {"type": "add", "by": 1, "stay": True})
    for version, data in seen.items():
        answer = anybody.get(f"/v1/matches/{tally}/state?at={version}")
        assert (answer.data, answer.headers["ETag"]) == (data, f'"{version}"')
    refused = anybody.get(f"/v1/matches/{tally}/state?at=99")
    assert (refused.status_code, refused.json["code"]) == (404, "no_such_version")


def test_an_unchanged_state_is_304(anybody: Caller, ada: Caller, tally: str) -> None:
    path = f"/v1/matches/{tally}/state"
    tag = anybody.get(path).headers["ETag"]
    for given in (tag, f"W/{tag}", f'"1", {tag}', "*"):
        fresh = anybody.get(path, If_None_Match=given)
        assert (fresh.status_code, fresh.data, fresh.headers["ETag"]) == (304, b"", tag)
        assert "Authorization" in fresh.headers["Vary"]
    ada.act(tally, ADD)
    assert anybody.get(path, If_None_Match=tag).status_code == 200


def test_no_action_is_accepted_when_it_is_over(platform: Platform, ada: Caller, ben: Caller, tally: str) -> None:
    played_out(platform, ada, ben, tally)
    refused = ada.act(tally, ADD)
    assert (refused.status_code, refused.json["code"]) == (422, "match_over")


def test_the_middleware_answers_as_flask_does(ada: Caller, anybody: Caller, tally: str, app: Flask) -> None:
    """The middleware calls operations of matches directly. Without that, Flask calls the same ones."""
    middleware: Any = app.wsgi_app
    direct = middleware._direct
    paths = [path.format(match=tally) for method, path in direct if method == "GET" and "dossier" not in path]  # it has a time
    asked = [(who, path, coding) for path in paths for who in (ada, anybody) for coding in ("identity", "gzip")]

    def answers() -> list[Any]:
        given = [{"X-Request-Id": "r1", "Authorization": f"Bearer {ada.key}"}, {"X-Request-Id": "r1"}]
        got = [ada.client.get(path, headers={**given[who is anybody], "Accept-Encoding": coding}) for who, path, coding in asked]
        return [(answer.status, answer.data, sorted(answer.headers)) for answer in got]

    def refused() -> Any:
        answer = ada.act(tally, {"type": "fly"}, X_Request_Id="r1")
        return answer.status, answer.data, sorted(answer.headers)

    by_middleware, middleware._direct = answers(), {}
    for one, other, who in zip(by_middleware, answers(), asked, strict=True):
        assert one == other, who
    by_flask, middleware._direct = refused(), direct
    assert refused() == by_flask
    assert len(paths) > 5


@pytest.fixture
def wars(platform: Platform, ada: Caller, ben: Caller) -> str:
    """A match of the game with hidden hands."""
    return worlds(platform, ada, ben, 40)


def test_a_caller_who_prefers_text_gets_a_board(platform: Platform, ada: Caller, anybody: Caller, wars: str) -> None:
    path = f"/v1/matches/{wars}/state"
    answer = ada.get(path, Accept="text/plain")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    game, position = GAMES["war_of_the_worlds"], recall.position(platform, wars)
    seat = game.seats.ids[0]
    drawn = game.board(json.loads(json.dumps(game.view(position.document, seat), sort_keys=True)), seat)
    assert answer.text.endswith("\n\n" + "\n".join(drawn) + "\n")
    assert answer.headers["ETag"] == f'"{position.version}-text"'
    assert anybody.get(path, Accept="text/plain").text != answer.text
    assert ada.get(path, Accept="text/plain", If_None_Match=ada.get(path).headers["ETag"]).status_code == 200, "the tags differ"
    assert anybody.get(path, Accept="text/plain", If_None_Match=answer.headers["ETag"]).status_code == 304
    for headers in (answer.headers, ada.get(path).headers, ada.get(path, If_None_Match="*").headers):
        assert headers["Vary"] == "Authorization, Accept, Accept-Language"


def test_an_unchanged_match_or_list_of_choices_is_304(ada: Caller, tally: str) -> None:
    for path in (f"/v1/matches/{tally}", f"/v1/matches/{tally}/choices"):
        tag = ada.get(path).headers["ETag"]
        for given in (tag, f"W/{tag}", f'"1", {tag}', "*"):
            same = ada.get(path, If_None_Match=given)
            assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", tag)
        for given in ('"1"', "abc3", "nonsense"):
            assert ada.get(path, If_None_Match=given).status_code == 200


def test_what_is_blocked_says_why_as_the_refusal_of_the_action_does(platform: Platform, ada: Caller, ben: Caller) -> None:
    match, turn, dice = worlds(platform, ada, ben), None, random.Random(5)
    path = f"/v1/matches/{match}/choices"
    while turn is None:  # until somebody has cards to play first; the order of the cards is another one in each match
        played_on(platform, match, dice, 1)
        player, other = (ada, ben) if ada.get(path).json["seat"] in ada.get(path).json["to_act"] else (ben, ada)
        plain, asked = player.get(path).json, player.get(f"{path}?blocked=true").json
        blocked = asked.pop("blocked")
        assert asked == plain
        turn = next((one for one in blocked if one["action"] == {"type": "end_turn"}), None)
    assert (turn["code"], turn["rule"]) == ("cards_left", "WOW-TRN-05")
    for one in blocked:
        refused = player.act(match, one["action"]).json
        assert {name: refused[name] for name in ("code", "detail", "rule")} | {"action": one["action"]} == one
    assert other.get(f"{path}?blocked=true").json["blocked"] == [], "it is not their turn"
    assert player.get(f"{path}?blocked=1").status_code == 400


@pytest.mark.parametrize(
    ("accept", "comes"),
    [
        ("text/plain", "text/plain"),
        ("text/*", "text/plain"),
        ("text/plain;charset=utf-8", "text/plain"),
        ("application/json;q=0.5, text/plain", "text/plain"),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/html, */*;q=0.8", "application/json"),
        ("text/plain, application/json", "application/json"),
        ("image/png", "application/json"),
        ("nonsense", "application/json"),
        ("", "application/json"),
        (None, "application/json"),
    ],
)
def test_the_answer_is_json_unless_text_is_preferred(anybody: Caller, tally: str, accept: str | None, comes: str) -> None:
    answer = anybody.get(f"/v1/matches/{tally}/state", **({} if accept is None else {"Accept": accept}))
    assert (answer.status_code, answer.mimetype) == (200, comes)


def test_a_board_follows_the_same_rules_of_sight_and_version(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, wars: str
) -> None:
    path, second = f"/v1/matches/{wars}/state", GAMES["war_of_the_worlds"].seats.ids[1]
    for viewer in (second, "auditor"):
        refused = ada.get(f"{path}?viewer={viewer}", Accept="text/plain")
        assert (refused.status_code, refused.mimetype, refused.json["code"]) == (403, "application/problem+json", "hidden_view")
    assert ben.get(f"{path}?viewer={second}", Accept="text/plain").status_code == 200
    early = ada.get(f"{path}?at=2", Accept="text/plain")
    assert (early.status_code, early.headers["ETag"]) == (200, '"2-text"')
    assert early.text != ada.get(path, Accept="text/plain").text
    assert anybody.get(f"{path}?at=9999", Accept="text/plain").json["code"] == "no_such_version"
    assert ada.get(f"{path}?viewer=spectator", Accept="text/plain").text == anybody.get(path, Accept="text/plain").text
