"""Frames over HTTP: a replay is the pictures of its versions, who may see what, and what stays the same."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from events import recall
from events.platform import Platform
from games import GAMES
from games.kernel import Game
from record.entries import Entry
from service import drawn_frames
from service.app import create_app
from service.http.limits import NO_LIMITS
from service.http.settings import Settings
from tests.service.conftest import Caller, played_on, worlds
from tests.service.test_bidding import BEGAN, bid, hand, laid
from tests.signing import Signer, header
from tests.web.frames import Reader
from web.look import look

NDJSON = "application/x-ndjson"


@pytest.fixture
def match(platform: Platform, ada: Caller, ben: Caller) -> str:
    return worlds(platform, ada, ben, clock={"kind": "per_action", "seconds": 3600})


def frames(answer: TestResponse) -> list[dict[str, Any]]:
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json["frames"]
    return found


def test_a_replay_has_a_frame_for_every_version_and_shows_what_the_state_says(anybody: Caller, ada: Caller, match: str) -> None:
    for caller in (anybody, ada):
        found = frames(caller.get(f"/v1/matches/{match}/frames?limit=100"))
        state = caller.get(f"/v1/matches/{match}/state").json
        assert [frame["version"] for frame in found] == list(range(1, state["version"] + 1))
        assert [frame.get("key", False) for frame in found] == [True] + [False] * (len(found) - 1)
        assert (found[0]["match"], found[0]["viewer"], found[0]["look"]) == (match, state["viewer"], look(GAMES["war_of_the_worlds"]).mark)
        reader = Reader()
        for frame in found:
            reader.apply(frame)
        for name in ("clocks", "offers", "votes", "substitutes", "handovers", "paused_until"):
            assert reader.now[name] == state[name]
        for name in ("round", "phase", "active", "outcome", "to_act"):
            assert reader.now[name] == state["view"][name]
        picture = caller.get(f"/v1/matches/{match}/state.svg").text
        told = {name for name in reader.fragments if name != "heading"}  # in a picture the heading also has sentences
        assert all(reader.fragments[name] in picture for name in told)


@pytest.mark.parametrize("after", [0, 1, 5, 13])
def test_pages_fit_together_wherever_they_begin(anybody: Caller, match: str, after: int) -> None:
    readers = Reader(), Reader()
    for frame in frames(anybody.get(f"/v1/matches/{match}/frames?limit=100")):
        readers[0].apply(frame)
    if after:
        for frame in frames(anybody.get(f"/v1/matches/{match}/frames?limit={after}")):
            readers[1].apply(frame)
    for frame in frames(anybody.get(f"/v1/matches/{match}/frames?after={after}&limit=1&key=false")):
        readers[1].apply(frame)
    for frame in frames(anybody.get(f"/v1/matches/{match}/frames?after={after + 1}&key=false")):
        readers[1].apply(frame)
    assert vars(readers[0]) == vars(readers[1])
    (key, *_) = frames(anybody.get(f"/v1/matches/{match}/frames?after={after}"))
    assert key["key"]


def test_frames_are_the_same_remembered_and_drawn_anew(platform: Platform, settings: Settings, anybody: Caller, match: str) -> None:
    path = f"/v1/matches/{match}/frames?after=3&key=false"
    first = anybody.get(path)
    assert anybody.get(path).data == first.data
    assert Caller(create_app(platform, settings).test_client()).get(path).data == first.data
    played_on(platform, match, random.Random(5), 2)
    assert frames(anybody.get(path))[: len(frames(first))] == frames(first)


def test_a_page_may_have_a_frame_a_line(anybody: Caller, match: str) -> None:
    path = f"/v1/matches/{match}/frames?after=3"
    lines = anybody.get(path, Accept=NDJSON)
    assert lines.mimetype == NDJSON
    assert lines.headers["Vary"] == "Authorization, Accept, Accept-Language, Accept-Encoding"
    assert [json.loads(line) for line in lines.data.splitlines()] == frames(anybody.get(path))
    assert lines.headers["ETag"] != anybody.get(path).headers["ETag"]


def test_a_hand_is_in_the_frames_of_its_player_alone(anybody: Caller, ada: Caller, ben: Caller, match: str) -> None:
    side = ada.get(f"/v1/matches/{match}/state").json["view"]["sides"]["aliens"]
    replays = {caller: caller.get(f"/v1/matches/{match}/frames?limit=100").text for caller in (anybody, ada, ben)}
    newest = {caller: caller.get(f"/v1/matches/{match}/frames?after=13").text for caller in (anybody, ada, ben)}
    for card in set(side["hand"]) - set(side["offer"]):
        mark = f'data-id=\\"{card}\\"'
        assert mark in newest[ada]
        assert mark not in newest[anybody]
        assert mark not in newest[ben]
    assert len(set(replays.values())) == 3
    refused = ben.get(f"/v1/matches/{match}/frames?viewer=aliens")
    assert (refused.status_code, refused.json["code"]) == (403, "hidden_view")


def test_no_name_of_a_player_is_in_a_frame(anybody: Caller, ada: Caller, match: str) -> None:
    name = anybody.get(f"/v1/matches/{match}").json["players"][ada.id]["name"]
    text = anybody.get(f"/v1/matches/{match}/frames?limit=100").text
    assert name not in text
    assert ada.id in text


def test_a_page_has_a_tag_for_all_that_it_depends_on(anybody: Caller, ada: Caller, platform: Platform, match: str) -> None:
    path = f"/v1/matches/{match}/frames"
    tags = set()
    for caller, query in (
        (anybody, ""),
        (ada, ""),
        (anybody, "?shape=tall"),
        (anybody, "?after=5"),
        (anybody, "?after=5&key=false"),
        (anybody, "?limit=3"),
    ):
        first = caller.get(path + query)
        assert first.headers["Cache-Control"] == "private, no-cache"
        tags.add(first.headers["ETag"])
        again = caller.get(path + query, If_None_Match=first.headers["ETag"])
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert len(tags) == 6
    before = anybody.get(path).headers["ETag"]
    played_on(platform, match, random.Random(5), 1)
    assert anybody.get(path, If_None_Match=before).status_code == 200
    assert anybody.get(f"{path}?limit=3").headers["ETag"] in tags


def test_a_full_page_of_a_match_that_is_over_may_be_kept(anybody: Caller, ada: Caller, platform: Platform) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:random"}}).json["id"]
    path = f"/v1/matches/{match}/frames?limit=2"
    assert anybody.get(path).headers["Cache-Control"] == "private, no-cache"
    assert ada.act(match, {"type": "resign"}).status_code == 200
    assert recall.position(platform, match).ended
    assert anybody.get(path).headers["Cache-Control"].startswith("public, max-age=")
    assert anybody.get(f"{path}&after=2").headers["Cache-Control"] == "private, no-cache"  # there may be more later


@pytest.mark.parametrize("query", ["after=-1", "limit=0", "limit=101", "shape=round", "key=2", "viewer=A", "at=1"])
def test_a_page_of_another_kind_is_refused(anybody: Caller, match: str, query: str) -> None:
    answer = anybody.get(f"/v1/matches/{match}/frames?{query}")
    assert (answer.status_code, answer.json["code"]) == (400, "bad_query")


def test_frames_of_a_version_that_there_is_not_are_refused(anybody: Caller, match: str) -> None:
    assert anybody.get(f"/v1/matches/{match}/frames?after=999").json["code"] == "no_such_version"
    assert anybody.get("/v1/matches/m0000000000000000/frames").json["code"] == "no_such_match"
    newest = anybody.get(f"/v1/matches/{match}").json["version"]
    assert frames(anybody.get(f"/v1/matches/{match}/frames?after={newest}")) == []


def test_frames_of_a_hidden_match_end_where_everybody_may_see(anybody: Caller, ada: Caller, platform: Platform) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:random"}, "spectators": {"delay": 3}}).json["id"]
    played_on(platform, match, random.Random(6), 8)
    newest = recall.position(platform, match).version
    assert frames(ada.get(f"/v1/matches/{match}/frames?limit=100"))[-1]["version"] == newest
    assert frames(ada.get(f"/v1/matches/{match}/frames?limit=100&viewer=spectator"))[-1]["version"] == newest
    assert frames(anybody.get(f"/v1/matches/{match}/frames?limit=100"))[-1]["version"] == newest - 3
    assert anybody.get(f"/v1/matches/{match}/frames?after={newest - 2}&key=false").json["code"] == "no_such_version"
    assert frames(anybody.get(f"/v1/matches/{match}/frames?after={newest - 3}&key=false")) == []


@pytest.mark.parametrize("game", GAMES)
def test_the_style_and_the_definitions_of_a_game_are_for_every_cache(anybody: Caller, game: str) -> None:
    style, definitions = anybody.get(f"/v1/games/{game}/look.css"), anybody.get(f"/v1/games/{game}/look.svg")
    assert (style.mimetype, definitions.mimetype) == ("text/css", "image/svg+xml")
    assert "light-dark(" in style.text
    assert definitions.text.startswith("<svg ")
    for answer, name in ((style, "look.css"), (definitions, "look.svg")):
        assert answer.headers["Cache-Control"].startswith("public")
        assert anybody.get(f"/v1/games/{game}/{name}", If_None_Match=answer.headers["ETag"]).status_code == 304
    assert anybody.get("/v1/games/chess/look.css").json["code"] == "no_such_game"


def test_a_match_that_keeps_earlier_rules_keeps_their_looks(platform: Platform, settings: Settings, tmp_path: Path) -> None:
    war = GAMES["war"]
    shutil.copytree(war.folder, tmp_path / "war", ignore=shutil.ignore_patterns("__pycache__"))
    picture = tmp_path / "war/picture.json"
    picture.write_text(picture.read_text(encoding="utf-8").replace("#426c5c", "#123456"), encoding="utf-8")
    first = war._replace(folder=tmp_path / "war")
    games = {"war": war._replace(revision=2, earlier={1: first})}
    anybody = Caller(create_app(replace(platform, games=games), settings).test_client())
    for name, colour in ((look(first).mark, "#123456"), (look(war).mark, "#426c5c"), ("0" * len(look(war).mark), "#426c5c")):
        assert colour in anybody.get(f"/v1/games/war/look.css?look={name}").text


def test_whoever_has_more_frames_drawn_than_the_limit_is_refused(platform: Platform, ada: Caller) -> None:
    limited = create_app(platform, Settings(log_requests=False, limits={**NO_LIMITS, "drawings": 3}))
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:random"}}).json["id"]
    caller = Caller(limited.test_client(), ada.key)
    queries = ("shape=wide", "shape=tall", "shape=tall", "shape=page", "shape=wide&viewer=spectator", "shape=wide")
    assert [caller.get(f"/v1/matches/{match}/frames?{query}").status_code for query in queries] == [200, 200, 200, 200, 429, 200]


@pytest.mark.parametrize("viewer", ["aliens", "spectator"])
def test_each_frame_is_drawn_once_for_the_same_eyes(monkeypatch: pytest.MonkeyPatch, ada: Caller, match: str, viewer: str) -> None:
    drawn: list[int] = []

    def counted(game: Game, before: Any, after: Any, entry: Entry, *eyes: str) -> bytes:
        drawn.append(entry.version)
        return line(game, before, after, entry, *eyes)

    line = drawn_frames._line
    monkeypatch.setattr(drawn_frames, "_line", counted)
    path = f"/v1/matches/{match}/frames?viewer={viewer}&limit=4"
    first = frames(ada.get(f"{path}&after=2"))
    assert drawn == [3, 4, 5, 6]
    assert frames(ada.get(f"{path}&after=2")) == first
    assert drawn == [3, 4, 5, 6]
    later = frames(ada.get(f"{path}&after=4"))
    assert (drawn[4:], later[1]) == ([5, 7, 8], first[3])  # 5 is a keyframe this time
    assert frames(ada.get(f"{path}&after=4&key=false")) == [first[2], *later[1:]]
    assert frames(ada.get(f"{path}&after=5")) != later[1:]
    assert drawn[7:] == [6, 9]


def test_a_frame_names_the_key_that_signed_to_those_who_see_the_action(
    platform: Platform, ada: Caller, ben: Caller, cleo: Caller, anybody: Caller
) -> None:
    _, match = laid(platform, ada, ben, cleo)
    signer, now, action = Signer(), recall.position(platform, match), bid(3, hand("fox", 1))
    signer.register(platform, ada.id)
    signature = header(signer.sign(match, "fox", now.version, now.digest, [action]))
    assert ada.act(match, action, Warledger_Signature=signature).status_code == 200
    found = [frames(caller.get(f"/v1/matches/{match}/frames?after={BEGAN}&key=true"))[0] for caller in (ada, ben, anybody)]
    assert [frame.get("signed") for frame in found] == [signer.key, None, None]
