"""Why, over HTTP: a field's changes in sentences, page by page, for each viewer what it may know."""

from __future__ import annotations

import random
from typing import Any

import pytest
from jsonpointer import resolve_pointer

from events import recall, why
from events.platform import Platform
from tests.each import each
from tests.service.conftest import Caller, played_on, worlds


@pytest.fixture
def match(platform: Platform, ada: Caller, ben: Caller) -> str:
    return worlds(platform, ada, ben, 40)


def asked(caller: Caller, match: str, query: str) -> Any:
    answer = caller.get(f"/v1/matches/{match}/why?{query}")
    assert answer.status_code == 200, answer.json
    return answer.json


def values(caller: Caller, match: str, pointer: str) -> list[Any]:
    """Return a field at every version, from 0, as a caller sees it; at 0 there is none."""
    newest = caller.get(f"/v1/matches/{match}").json["version"]
    views = [caller.get(f"/v1/matches/{match}/state?at={version}").json["view"] for version in range(1, newest + 1)]
    return [None, *[resolve_pointer(view, pointer, None) for view in views]]


@pytest.mark.parametrize(
    "pointer",
    [
        *("/damage", "/sides/humans/hand"),
        *(pytest.param(pointer, marks=pytest.mark.soak) for pointer in ("/to_act", "/sides/aliens/hand", "/round", "/phase")),
    ],
)
def test_every_change_of_a_field_is_there_with_its_sentences_and_rules(anybody: Caller, ada: Caller, match: str, pointer: str) -> None:
    for caller in (anybody, ada):
        history = values(caller, match, pointer)
        found = asked(caller, match, f"pointer={pointer}&limit=100")
        assert [one["version"] for one in found["changes"]] == [
            version for version in range(len(history) - 1, 0, -1) if history[version] != history[version - 1]
        ]
        assert found.get("value") == history[-1]
        assert found["next"] is None
        for change in found["changes"]:
            assert (change.get("before"), change.get("after")) == (history[change["version"] - 1], history[change["version"]])
            assert change["text"]
            assert change["rules"]
            assert change["events"]
            (entry,) = caller.get(f"/v1/matches/{match}/entries?after={change['version'] - 1}&limit=1").json["entries"]
            assert change["action"] == entry["action"]
            assert [event["type"] for event in change["events"]] == [entry["events"][event["place"]]["type"] for event in change["events"]]


def test_a_change_is_told_by_the_event_that_made_it(anybody: Caller, match: str) -> None:
    change = asked(anybody, match, "pointer=/active")["changes"][0]
    (event,) = [event for event in change["events"] if event["type"] in ("turn_started", "phase_changed", "round_ended")][-1:]
    assert set(event["rules"]) <= set(change["rules"])


@pytest.mark.parametrize("searched", [3, 7, 1000])
def test_pages_and_searches_fit_together(anybody: Caller, match: str, searched: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asked(anybody, match, "pointer=/to_act&limit=100")["changes"]
    monkeypatch.setattr(why, "SEARCHED", searched)
    found, query = list[Any](), "pointer=/to_act&limit=2"
    page = asked(anybody, match, query)
    found += page["changes"]
    while page["next"] is not None:
        page = asked(anybody, match, f"{query}&cursor={page['next']}")
        found += page["changes"]
    assert found == whole
    assert len(whole) > 3


def test_a_field_that_there_is_not_and_never_was_is_not_found(anybody: Caller, match: str) -> None:
    refused = anybody.get(f"/v1/matches/{match}/why?pointer=/nowhere/0/-")
    assert (refused.status_code, refused.json["code"]) == (404, "no_such_field")
    assert refused.json["detail"] == "This view has no field /nowhere/0/-, and no entry that was searched changed one."


def test_a_field_that_is_gone_is_explained(anybody: Caller, ada: Caller, match: str) -> None:
    """While it is not there, its changes say how it came to an end."""
    newest = ada.get(f"/v1/matches/{match}").json["version"]
    views = [ada.get(f"/v1/matches/{match}/state?at={version}").json["view"] for version in range(1, newest + 1)]
    hands = [view["sides"]["aliens"]["hand"] for view in views]
    at, place = next(
        (version, len(hands[version - 1])) for version in range(2, newest + 1) if len(hands[version - 2]) > len(hands[version - 1])
    )
    found = asked(ada, match, f"pointer=/sides/aliens/hand/{place}&at={at}")
    assert "value" not in found
    assert found["changes"][0]["version"] == at


@each("cursor", ["0", "x", "1.m", "-1"])
def test_a_cursor_that_no_page_has_given_is_refused(anybody: Caller, match: str, cursor: str) -> None:
    refused = anybody.get(f"/v1/matches/{match}/why?pointer=/to_act&cursor={cursor}")
    assert (refused.status_code, refused.json["code"]) == (400, "bad_query")


def test_a_cursor_beyond_the_version_begins_there(anybody: Caller, match: str) -> None:
    assert asked(anybody, match, "pointer=/to_act&at=9&cursor=99999") == asked(anybody, match, "pointer=/to_act&at=9")


def test_a_large_field_is_not_repeated(anybody: Caller, match: str) -> None:
    found = asked(anybody, match, "pointer=")
    assert len(found["changes"]) == 20
    assert "value" not in found
    assert not any("before" in change or "after" in change for change in found["changes"])


@each("query", ["", "pointer=damage", "pointer=/~2", "pointer=/a&limit=0", "pointer=/a&limit=101", "pointer=/" + "a" * 600])
def test_a_question_that_is_none_is_refused(anybody: Caller, match: str, query: str) -> None:
    answer = anybody.get(f"/v1/matches/{match}/why?{query}")
    assert (answer.status_code, answer.json["code"]) == (400, "bad_query")


def test_a_hand_is_explained_to_its_player_alone(anybody: Caller, ada: Caller, ben: Caller, match: str) -> None:
    query = "pointer=/sides/aliens/hand&limit=100"
    assert isinstance(asked(ada, match, query)["value"], list)
    for caller in (anybody, ben):
        assert isinstance(asked(caller, match, query)["value"], int)
        assert all(isinstance(change["after"], int) for change in asked(caller, match, query)["changes"])
    refused = ben.get(f"/v1/matches/{match}/why?{query}&viewer=aliens")
    assert (refused.status_code, refused.json["code"]) == (403, "hidden_view")


def test_a_hidden_match_is_explained_as_far_as_everybody_may_see(anybody: Caller, ada: Caller, platform: Platform) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:random"}, "spectators": {"delay": 3}}).json["id"]
    played_on(platform, match, random.Random(6), 8)
    newest = recall.position(platform, match).version
    assert asked(ada, match, "pointer=/to_act")["at"] == newest
    assert asked(anybody, match, "pointer=/to_act")["at"] == newest - 3
    assert anybody.get(f"/v1/matches/{match}/why?pointer=/to_act&at={newest - 2}").json["code"] == "no_such_version"
