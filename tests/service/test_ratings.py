"""Ratings over HTTP: who asks gets what the records of rated matches lead to, and can compute it again from dossiers."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from events.platform import Platform
from events.rating import LAG_MS, count
from tests.service.conftest import Caller
from tools import arena

Join = Callable[..., Caller]


def won_by(winner: Caller, loser: Caller, **settings: Any) -> str:
    """Play a match of War! that the loser resigns."""
    body = {"game": "war", "seats": {"red": "me", "blue": "open"}, **settings}
    match: str = loser.post("/v1/matches", body).json["id"]
    assert winner.post(f"/v1/matches/{match}/seats/blue").status_code == 200
    assert loser.act(match, {"type": "resign"}).status_code == 200
    return match


def count_all(platform: Platform) -> None:
    while count(platform, "war", platform.clock.now() + LAG_MS + 1000):
        pass


def test_the_ratings_of_a_game_are_listed_and_shown_in_profiles(platform: Platform, ada: Caller, ben: Caller, anybody: Caller) -> None:
    assert anybody.get("/v1/ratings?game=war").json["counted"] == {"matches": 0, "match": None, "at": None}
    won_by(ada, ben)
    last = won_by(ada, ben, rated=True)
    assert anybody.get(f"/v1/matches/{last}").json["rated"] is True
    count_all(platform)
    found = anybody.get("/v1/ratings?game=war").json
    assert found["counted"]["matches"] == 1
    assert found["counted"]["match"] == last
    assert [(each["player"], each["matches"], each["won"]) for each in found["ratings"]] == [(ada.id, 1, 1), (ben.id, 1, 0)]
    assert found["players"] == {ada.id: {"name": "Ada"}, ben.id: {"name": "Ben"}}
    profile = anybody.get(f"/v1/players/{ada.id}").json
    assert {"player": ada.id, **profile["ratings"]["war"]} == found["ratings"][0]
    assert profile["finished"]["war"]["matches"] == 2


def test_a_list_has_pages(platform: Platform, join: Join, anybody: Caller) -> None:
    players = [join(f"Bot {number}") for number in range(5)]
    for winner, loser in pairwise(players):
        won_by(winner, loser, rated=True)
    count_all(platform)
    found, query = [], "/v1/ratings?game=war&limit=2"
    page = anybody.get(query).json
    while True:
        found += [each["player"] for each in page["ratings"]]
        if page["next"] is None:
            break
        page = anybody.get(f"{query}&cursor={page['next']}").json
    assert sorted(found) == sorted(str(player.id) for player in players)
    assert found == [each["player"] for each in anybody.get("/v1/ratings?game=war").json["ratings"]]


@pytest.mark.parametrize("query", ["", "?game=chess", "?game=war&cursor=x", "?game=war&limit=0", "?game=war&cursor=1.pa"])
def test_a_query_that_asks_for_nothing_is_refused(anybody: Caller, query: str) -> None:
    assert anybody.get(f"/v1/ratings{query}").status_code in (400, 404)


def test_a_deleted_player_keeps_the_rating_and_loses_the_name(platform: Platform, ada: Caller, ben: Caller, anybody: Caller) -> None:
    won_by(ada, ben, rated=True)
    count_all(platform)
    assert ben.ask("DELETE", f"/v1/players/me?confirm={ben.id}").status_code == 204
    found = anybody.get("/v1/ratings?game=war").json
    assert found["players"][ben.id] == {"name": None}
    assert [each["player"] for each in found["ratings"]] == [ada.id, ben.id]


def test_a_match_with_an_artificial_player_a_practice_match_and_a_fork_are_not_rated(ada: Caller, ben: Caller) -> None:
    body = {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}, "rated": True}
    refused = ada.post("/v1/matches", body)
    assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (422, "bad_settings", "TBL-RAT-01")
    assert ada.post("/v1/matches", {**body, "seats": {"red": "me", "blue": "me"}}).json["code"] == "bad_settings"
    assert ada.post("/v1/matches", {**body, "rated": False}).status_code == 400
    match = won_by(ada, ben)
    assert ada.post("/v1/matches", {"fork_of": match, "at": 3, "rated": True}).status_code == 400


def test_the_rematch_of_a_rated_match_is_rated(ada: Caller, ben: Caller) -> None:
    match = won_by(ada, ben, rated=True)
    assert ada.act(match, {"type": "rematch"}).status_code in (200, 201)
    newest = ada.get("/v1/matches?player=me").json["matches"][0]
    assert (newest["rematch_of"], newest["rated"]) == (match, True)


def test_a_stranger_computes_the_ratings_again_from_dossiers(
    platform: Platform, join: Join, anybody: Caller, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ada, ben, cleo = join("Ada"), join("Ben"), join("Cleo")
    matches = [won_by(ada, ben, rated=True), won_by(ben, cleo, rated=True), won_by(cleo, ada), won_by(ada, cleo, rated=True)]
    count_all(platform)
    served = anybody.get("/v1/ratings?game=war").json
    later = won_by(cleo, ben, rated=True)
    files = []
    for match in (later, *matches):
        files.append(tmp_path / f"{match}.ndjson")
        files[-1].write_bytes(anybody.get(f"/v1/matches/{match}/dossier").data)
    keys = [key["vkey"] for key in anybody.get("/.well-known/warledger-keys").json["keys"]]
    words = ["ladder", *map(str, files), "--game", "war", "--key", keys[0], "--until", served["counted"]["match"], "--json"]
    assert arena.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["counted"], found["ratings"]) == (served["counted"], served["ratings"])
    files[0].write_bytes(files[0].read_bytes().replace(b'"resign"', b'"Resign"'))
    assert arena.main(words) == 2
    assert "does not hold" in capsys.readouterr().err
