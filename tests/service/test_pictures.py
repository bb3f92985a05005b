"""Pictures over HTTP: who may see what, what stays the same, and what a browser may do with them."""

from __future__ import annotations

import random
import xml.etree.ElementTree as Tree

import pytest

from events.platform import Platform
from games import GAMES
from tests.each import each
from tests.service.conftest import Caller, played_on, worlds

SVG = "image/svg+xml"


@pytest.fixture
def match(platform: Platform, ada: Caller, ben: Caller) -> str:
    return worlds(platform, ada, ben)


def test_a_picture_needs_no_key_and_is_one_whole_document(anybody: Caller, match: str) -> None:
    answer = anybody.get(f"/v1/matches/{match}/state.svg")
    assert (answer.status_code, answer.mimetype) == (200, SVG)
    assert Tree.fromstring(answer.data).tag == "{http://www.w3.org/2000/svg}svg"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert "immutable" in anybody.get(f"/v1/matches/{match}/state.svg?at=3").headers["Cache-Control"], "that of one version stays as it is"


def test_the_state_comes_as_a_picture_if_the_caller_prefers_one(anybody: Caller, match: str) -> None:
    answer = anybody.get(f"/v1/matches/{match}/state", Accept=f"image/avif,{SVG},image/*,*/*;q=0.8")
    assert answer.mimetype == SVG
    assert answer.data == anybody.get(f"/v1/matches/{match}/state.svg").data
    assert answer.headers["Vary"] == "Authorization, Accept, Accept-Language, Accept-Encoding"
    assert anybody.get(f"/v1/matches/{match}/state", Accept="*/*").mimetype == "application/json"


@each("path", ["/v1/matches/{match}/state.svg", "/v1/games/war/look.svg"])
@each(
    ("accept", "comes"),
    [
        ("text/xml", "text/xml"),
        ("*/*", SVG),
        (f"{SVG},text/xml", SVG),
        ("text/html,application/xml;q=0.9,*/*;q=0.8", SVG),
        ("text/*", "text/xml"),
    ],
)
def test_a_picture_comes_as_xml_if_the_caller_prefers_that(anybody: Caller, match: str, path: str, accept: str, comes: str) -> None:
    usual, answer = anybody.get(path.format(match=match)), anybody.get(path.format(match=match), Accept=accept)
    assert (answer.mimetype, answer.data) == (comes, usual.data)
    assert "Accept" in answer.headers["Vary"]
    again = anybody.get(path.format(match=match), Accept=accept, If_None_Match=answer.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")


def test_a_hand_is_drawn_for_its_player_alone(anybody: Caller, ada: Caller, ben: Caller, match: str) -> None:
    view = ada.get(f"/v1/matches/{match}/state").json["view"]
    held = view["sides"]["aliens"]["hand"]
    assert held
    pictures = {caller: caller.get(f"/v1/matches/{match}/state.svg").text for caller in (anybody, ada, ben)}
    offered = view["sides"]["aliens"]["offer"]
    for card in set(held) - set(offered):
        assert f'data-id="{card}"' in pictures[ada]
        assert f'data-id="{card}"' not in pictures[anybody]
        assert f'data-id="{card}"' not in pictures[ben]
    refused = ben.get(f"/v1/matches/{match}/state.svg?viewer=aliens")
    assert (refused.status_code, refused.json["code"]) == (403, "hidden_view")


def test_a_picture_has_a_tag_for_its_version_its_shape_and_its_theme(anybody: Caller, ada: Caller, platform: Platform, match: str) -> None:
    path = f"/v1/matches/{match}/state.svg"
    tags = set()
    for query in ("", "?shape=tall", "?theme=dark", "?at=5"):
        first = anybody.get(path + query)
        tags.add(first.headers["ETag"])
        again = anybody.get(path + query, If_None_Match=first.headers["ETag"])
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]
    assert len(tags) == 4
    before = anybody.get(path)
    played_on(platform, match, random.Random(5), 1)
    after = anybody.get(path, If_None_Match=before.headers["ETag"])
    assert (after.status_code, after.headers["ETag"] == before.headers["ETag"]) == (200, False)


def test_a_picture_of_a_version_stays_the_same(anybody: Caller, platform: Platform, match: str) -> None:
    first = anybody.get(f"/v1/matches/{match}/state.svg?at=9")
    played_on(platform, match, random.Random(6), 3)
    again = anybody.get(f"/v1/matches/{match}/state.svg?at=9")
    assert (again.data, again.headers["ETag"]) == (first.data, first.headers["ETag"])


@each("query", ["shape=round", "theme=blue", "at=0", "at=x", "colour=red"])
def test_a_picture_of_another_kind_is_refused(anybody: Caller, match: str, query: str) -> None:
    answer = anybody.get(f"/v1/matches/{match}/state.svg?{query}")
    assert (answer.status_code, answer.json["code"]) == (400, "bad_query")


def test_a_picture_of_a_version_that_there_is_not_is_refused(anybody: Caller, match: str) -> None:
    assert anybody.get(f"/v1/matches/{match}/state.svg?at=999").json["code"] == "no_such_version"
    assert anybody.get("/v1/matches/m0000000000000000/state.svg").json["code"] == "no_such_match"


def test_a_picture_tells_what_the_last_entry_did(anybody: Caller, platform: Platform, ada: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:random"}}).json["id"]
    played_on(platform, match, random.Random(7), 2)
    version = anybody.get(f"/v1/matches/{match}").json["version"]
    (entry,) = anybody.get(f"/v1/matches/{match}/entries?after={version - 1}").json["entries"]
    (placed,) = [event for event in entry["events"] if event["type"] == "starting_unit_placed"]
    text = f">{placed['seat'].capitalize()} places a unit on {placed['tile'].upper()}.<"
    assert text in anybody.get(f"/v1/matches/{match}/state.svg").text
    assert text not in anybody.get(f"/v1/matches/{match}/state.svg?at={version - 1}").text


@pytest.mark.parametrize("game", GAMES)
def test_an_open_match_of_every_game_has_a_picture(anybody: Caller, ada: Caller, game: str) -> None:
    seats = dict.fromkeys(GAMES[game].seats.ids[: GAMES[game].seats.least], "open")
    found = ada.post("/v1/matches", {"game": game, "seats": seats}).json["id"]
    assert anybody.get(f"/v1/matches/{found}/state.svg").status_code == 200
