"""Tries: what actions would lead to, without writing them and without a look at anything hidden."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from events import play, recall
from events.platform import Platform
from games import GAMES
from games.choices import complete
from games.kernel import SYSTEM, any_action, legal
from service.app import create_app
from service.http.limits import NO_LIMITS
from service.http.settings import Settings
from tests.service.conftest import Caller, played_on
from tests.web.frames import Reader


def tried(caller: Caller, match: str, actions: Any, query: str = "", **headers: str) -> Any:
    answer = caller.post(f"/v1/matches/{match}/tries{query}", actions, **headers)
    assert answer.status_code == 200, answer.json
    return answer.json


def begun(platform: Platform, ada: Caller, game: str) -> str:
    """Return a match in which Ada has all seats, after its set-up."""
    match = str(ada.post("/v1/matches", {"game": game, "seats": dict.fromkeys(GAMES[game].seats.ids[:2], "me")}).json["id"])
    played_on(platform, match, random.Random(1), 1)
    return match


@pytest.mark.parametrize("game", [pytest.param(game, marks=pytest.mark.soak if game == "war_of_civilizations" else ()) for game in GAMES])
def test_what_is_tried_is_what_happens_when_it_is_sent(platform: Platform, ada: Caller, game: str) -> None:
    """Every action of a random match: the try shows the view, the choices and the picture that the action leads to, or that it reveals."""
    match, dice, shown, left_out = begun(platform, ada, game), random.Random(2), 0, 0
    reader = Reader()
    for _ in range(45):
        position = recall.position(platform, match)
        actor = position.to_act[0]
        if actor == SYSTEM:
            played_on(platform, match, dice, 1)
            continue
        action = any_action(GAMES[game], position.document, actor, dice.randrange)
        found = tried(ada, match, action, f"?seat={actor}")
        assert (found["version"], found["seat"]) == (position.version, actor)
        assert recall.position(platform, match).version == position.version
        (key,) = ada.get(f"/v1/matches/{match}/frames?after={position.version - 1}&viewer={actor}").json["frames"]
        reader.apply(key)
        play.play(platform, match, actor, [action])
        if found["reveals"]:
            assert (found["tried"], found["frame"]) == (0, {"text": [], "rules": []})
            left_out += 1
            continue
        shown += 1
        assert found["tried"] == 1
        assert found["view"] == ada.get(f"/v1/matches/{match}/state?viewer={actor}").json["view"]
        choices = ada.get(f"/v1/matches/{match}/choices?seat={actor}").json["choices"]
        assert found["choices"] == [choice for choice in choices if not choice.get("at_table")]
        (after,) = ada.get(f"/v1/matches/{match}/frames?after={position.version}&viewer={actor}&key=false").json["frames"]
        reader.apply({"version": position.version + 1, **found["frame"]})
        drawn = dict(reader.fragments)
        assert (found["frame"]["text"], found["frame"]["rules"]) == (after["text"], after["rules"])
        reader.apply(key)
        reader.apply(after)
        assert drawn == reader.fragments
    assert shown > 5
    assert left_out > 0 or game == "war_of_civilizations"


def test_a_list_is_tried_as_a_whole(platform: Platform, ada: Caller) -> None:
    match, dice = begun(platform, ada, "war"), random.Random(3)
    position = recall.position(platform, match)
    state, actor, actions = position.document, position.to_act[0], list[Any]()
    for _ in range(2):
        choice = dice.choice(legal(GAMES["war"], state, actor))
        actions.append(complete(choice["action"], choice.get("choose", {}), dice.randrange))
        found = tried(ada, match, actions, f"?seat={actor}")
        assert found["tried"] == len(actions)
        if actor not in found["view"]["to_act"]:
            break
        state = found["view"]
    assert recall.position(platform, match).version == position.version


def test_tries_begin_from_any_version_that_the_seat_may_see(platform: Platform, ada: Caller) -> None:
    match = begun(platform, ada, "war")
    version = recall.position(platform, match).version
    actor = recall.position(platform, match).to_act[0]
    action = ada.get(f"/v1/matches/{match}/choices?seat={actor}").json["choices"][0]["action"]
    first = tried(ada, match, action, f"?seat={actor}")
    played_on(platform, match, random.Random(1), 20)
    assert tried(ada, match, action, f"?seat={actor}", If_Match=f'"{version}"') == first
    assert tried(ada, match, action, If_Match=f'"{version}"') == first  # the seat that had to act then
    ahead = ada.post(f"/v1/matches/{match}/tries", action, If_Match='"999"')
    assert (ahead.status_code, ahead.json["code"]) == (404, "no_such_version")


def test_what_draws_or_reveals_is_left_out_as_the_last_and_refused_before(ada: Caller, tally: str) -> None:
    add = {"type": "add", "by": 2, "stay": True}
    for action in ({"type": "roll"}, {"type": "draw"}):
        found = tried(ada, tally, [add, action])
        assert (found["tried"], found["reveals"]) == (1, True)
        assert found["view"] == tried(ada, tally, add)["view"]
        refused = ada.post(f"/v1/matches/{tally}/tries", [add, action, add])
        assert (refused.status_code, refused.json["code"], refused.json["place"]) == (422, "must_be_last", 1)


def test_a_refusal_names_the_place_the_sentence_and_the_rule(ada: Caller, tally: str) -> None:
    add = {"type": "add", "by": 2, "stay": True}
    refused = ada.post(f"/v1/matches/{tally}/tries", [add, {"type": "add", "by": 99, "stay": True}])
    assert (refused.status_code, refused.json["place"]) == (422, 1)
    assert refused.json["detail"]
    assert "place" not in ada.post(f"/v1/matches/{tally}/tries", {"type": "add", "by": 99, "stay": True}).json


def test_nobody_tries_for_another(ada: Caller, ben: Caller, cleo: Caller, anybody: Caller, referee: Caller, tally: str) -> None:
    path, add = f"/v1/matches/{tally}/tries", {"type": "add", "by": 2, "stay": True}
    assert anybody.post(path, add).json["code"] == "no_key"
    assert cleo.post(path, add).json["code"] == "not_seated"
    assert referee.post(path, add).json["code"] == "not_seated"
    assert ben.post(f"{path}?seat=one", add).json["code"] == "not_your_seat"
    assert ben.post(f"{path}?seat=three", add).json["code"] == "no_such_seat"
    assert ben.post(path, add).json["code"] == "not_your_turn"
    assert ada.post(path, {"type": "resign"}).json["code"] == "bad_list"
    assert ada.post(path, [add, {"type": "resign"}]).json["code"] == "bad_list"
    for body in ([], [add] * 51, "add", [1]):
        assert ada.post(path, body).json["code"] == "bad_body"
    assert ada.post(path, add, If_Match="x").json["code"] == "bad_header"


def test_nothing_is_tried_before_the_start(ada: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    assert ada.post(f"/v1/matches/{match}/tries", {"type": "end_moves"}).json["code"] == "not_started"


def test_a_try_leaves_no_trace(platform: Platform, ada: Caller, tally: str) -> None:
    before = recall.position(platform, tally)
    raw = list(platform.store.log.read_all(tally))
    tried(ada, tally, [{"type": "add", "by": 2, "stay": True}] * 3)
    assert recall.position(platform, tally) == before
    assert list(platform.store.log.read_all(tally)) == raw


def test_tries_are_counted(platform: Platform, join: Callable[..., Caller], tally: str, ada: Caller) -> None:
    limited = create_app(platform, Settings(log_requests=False, limits={**NO_LIMITS, "drawings": 2}))
    caller = Caller(limited.test_client(), ada.key)
    add = {"type": "add", "by": 2, "stay": True}
    assert [caller.post(f"/v1/matches/{tally}/tries", add).status_code for _ in range(3)] == [200, 200, 429]


def test_an_answer_to_a_try_has_no_digest_and_no_secret(ada: Caller, tally: str) -> None:
    text = json.dumps(tried(ada, tally, {"type": "add", "by": 2, "stay": True}))
    assert '"digest"' not in text
    assert '"secret"' not in text
