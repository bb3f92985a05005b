"""Guided matches over HTTP: each guide is played to its end by its own steps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from events import play, recall
from events.audit import audit
from events.due import owed
from events.platform import Platform
from games import GAMES
from record.entries import parse
from record.guides import FILE, guide_of
from record.thinking.again import Decisions
from record.trail import audit_entries
from service.api.catalogue import rules
from tests.service.conftest import Caller
from workers import jobs


def waited(platform: Platform, match: str) -> None:
    """Let the system and the artificial player act until the player is to act."""
    while (works := owed(recall.position(platform, match))) and works[0].kind in ("advance", "think"):
        jobs.carry_out(platform, works[0])


def step(caller: Caller, match: str) -> dict[str, Any]:
    found: dict[str, Any] = caller.get(f"/v1/matches/{match}/choices").json
    return found


@pytest.mark.parametrize("game", GAMES)
def test_a_guide_is_played_to_its_end_by_its_own_steps(platform: Platform, ada: Caller, game: str) -> None:
    jobs.bind(platform)
    made = ada.post("/v1/matches", {"guide": game}, Idempotency_Key=game)
    assert made.status_code == 201
    assert ada.post("/v1/matches", {"guide": game}, Idempotency_Key=game).json["id"] == made.json["id"]
    match, known = made.json["id"], {rule["id"] for rule in rules(GAMES[game], "en")}
    assert (made.json["practice"], made.json["rated"]) == (True, False)
    told = json.loads((GAMES[game].folder / FILE).read_text("utf-8"))
    waited(platform, match)
    texts: list[str] = []
    while (found := step(ada, match))["guide"]["action"] is not None:
        guide = found["guide"]
        assert set(guide["rules"]) <= known
        assert 10 <= guide["steps"] <= 20
        if guide["text"] not in texts:
            texts.append(guide["text"])
        assert guide["step"] == len(texts)
        assert ada.act(match, guide["action"]).status_code == 200, guide
        waited(platform, match)
    assert found["guide"]["step"] == found["guide"]["steps"] == len(texts) + 1, "the last step only tells how to go on"
    assert [*texts, found["guide"]["text"]] == [move["text"] for move in told["moves"] if "text" in move]

    assert audit(platform, match).ok
    raws = list(platform.store.log.read_all(match))
    created, others = parse(raws[0]).events[0], [parse(raw) for raw in raws]
    assert (created["practice"], len(created["dice"])) == (True, 64), "the record says what its dice follow from"
    for seat in created["roster"]:
        played = [entry.action for entry in others if entry.actor == seat]
        assert played == [
            move["do"] for move in told["moves"] if "do" in move and told["seats"][seat] == ("ai:novice" if "seat" in move else "me")
        ]
    assert ada.act(match, {"type": "resign"}).status_code == 200
    decisions = Decisions()
    assert audit_entries(platform.games, platform.store.log.read_all(match), watch=decisions).ok
    assert (decisions.findings, decisions.tasks) == ([], []), "what the guide plays is no decision of a level"


def test_whoever_leaves_the_guide_is_helped_on_and_may_come_back(platform: Platform, ada: Caller) -> None:
    jobs.bind(platform)
    match = ada.post("/v1/matches", {"guide": "war"}).json["id"]
    waited(platform, match)
    first, version = step(ada, match)["guide"], recall.position(platform, match).version
    assert ada.act(match, {"type": "place_unit", "tile": "d4"}).status_code == 200
    waited(platform, match)
    outside = step(ada, match)["guide"]
    assert (outside["step"], outside["action"], outside["steps"]) == (0, None, first["steps"])
    assert outside["text"] == json.loads((GAMES["war"].folder / FILE).read_text("utf-8"))["otherwise"]["placement"]["text"]
    assert ada.act(match, {"type": "offer", "what": "takeback", "version": version}).status_code == 200
    assert step(ada, match)["guide"] == first


def test_other_matches_have_no_guide_even_with_the_same_moves(platform: Platform, ada: Caller) -> None:
    jobs.bind(platform)
    guide = guide_of(GAMES["war"])
    assert guide is not None
    position = play.create(platform, ada.id, "war", guide.seats, guide.options, order=guide.order)
    waited(platform, position.match)
    assert "guide" not in step(ada, position.match)
    other = play.create(platform, ada.id, "war", guide.seats, guide.options, order=guide.order, settings={"dice": "0a" * 32})
    waited(platform, other.match)
    assert "guide" not in step(ada, other.match)


def test_a_guided_match_has_no_settings_and_needs_a_guide(ada: Caller) -> None:
    for body in ({"guide": "war", "seats": {"red": "me", "blue": "open"}}, {"guide": "war", "rated": True}):
        assert ada.post("/v1/matches", body).json["code"] == "bad_body"
    assert ada.post("/v1/matches", {"guide": "chess"}).json["code"] == "no_such_game"
    assert ada.post("/v1/matches", {"guide": "tally"}).json["code"] == "bad_body"
