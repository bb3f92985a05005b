"""Names of players in matches, lists, boards and pages of entries; profiles."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from events import play, rebuild
from events.platform import Platform
from games.drawing import WIDTH
from tests.each import each
from tests.service.conftest import Caller

ME = "/v1/players/me"


def rename(caller: Caller, name: str) -> None:
    assert caller.ask("PATCH", ME, {"name": name}).json["name"] == name


def board(caller: Caller, match: str) -> str:
    """Return the board of a match in one line."""
    return " ".join(caller.get(f"/v1/matches/{match}/state", Accept="text/plain").text.split())


def test_names_stand_beside_a_match_its_state_its_entries_and_lists(ada: Caller, ben: Caller, anybody: Caller, tally: str) -> None:
    names = {ada.id: {"name": "Ada"}, ben.id: {"name": "Ben"}}
    for path in (f"/v1/matches/{tally}", f"/v1/matches/{tally}/state", f"/v1/matches/{tally}/entries", "/v1/matches"):
        assert anybody.get(path).json["players"] == names, path


def test_creating_and_joining_answer_with_names(ada: Caller, ben: Caller) -> None:
    made = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}})
    assert made.json["players"] == {ada.id: {"name": "Ada"}}
    assert made.headers["ETag"] == '"1"'
    joined = ben.post(f"/v1/matches/{made.json['id']}/seats/two")
    assert joined.json["players"] == {ada.id: {"name": "Ada"}, ben.id: {"name": "Ben"}}


def test_a_page_of_entries_names_players_who_have_left(ada: Caller, ben: Caller, cleo: Caller, anybody: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open", "three": "open"}}).json["id"]
    ben.act(match, {"type": "take_seat", "seat": "two"})
    ben.act(match, {"type": "leave_seat", "seat": "two"})
    cleo.act(match, {"type": "take_seat", "seat": "two"})
    page = anybody.get(f"/v1/matches/{match}/entries").json
    assert page["players"] == {caller.id: {"name": name} for caller, name in ((ada, "Ada"), (ben, "Ben"), (cleo, "Cleo"))}
    assert set(re.findall("p[a-z2-7]{16}", str(page["entries"]))) == set(page["players"])
    last = anybody.get(f"/v1/matches/{match}/entries?after=3").json
    assert set(last["players"]) == {ada.id, cleo.id}, "who is in no entry of the page and has no seat is left out"


def test_players_for_whom_seats_are_kept_are_named(ada: Caller, ben: Caller, anybody: Caller) -> None:
    body = {"game": "tally", "seats": {"one": "open", "two": f"player:{ben.id}"}}
    made = ada.post("/v1/matches", body)
    names = {ada.id: {"name": "Ada"}, ben.id: {"name": "Ben"}}
    match = made.json["id"]
    assert made.json["players"] == names
    assert board(anybody, match).startswith('Waiting for players. one: open, two: kept for "Ben"')
    for path in (f"/v1/matches/{match}", f"/v1/matches/{match}/state", f"/v1/matches/{match}/entries", "/v1/matches"):
        assert anybody.get(path).json["players"] == names, path
    ben.act(match, {"type": "decline_seat", "seat": "two"})
    assert anybody.get(f"/v1/matches/{match}").json["players"] == {ada.id: {"name": "Ada"}}
    assert anybody.get(f"/v1/matches/{match}/entries").json["players"] == names, "the entries still name him"


def test_records_streams_and_single_entries_have_no_names(ada: Caller, referee: Caller, tally: str) -> None:
    """They are evidence, and names change."""
    for caller, path, accept in (
        (referee, "/record", "application/json"),
        (ada, "/stream?seconds=0", "text/event-stream"),
        (ada, "/entries", "application/x-ndjson"),
    ):
        assert b"Ada" not in caller.get(f"/v1/matches/{tally}{path}", Accept=accept).data


def test_a_board_shows_names_in_quotation_marks(ada: Caller, anybody: Caller, join: Callable[..., Caller]) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open", "three": "ai:greedy"}}).json["id"]
    assert board(anybody, match).startswith('Waiting for players. one: "Ada", three: greedy, two: open')
    eve = join('greedy", two: "Ben')
    assert eve.act(match, {"type": "take_seat", "seat": "two"}).status_code == 200
    assert board(anybody, match).startswith(r'one: "Ada", three: greedy, two: "greedy\", two: \"Ben"')
    assert ada.id not in board(anybody, match)


def test_long_names_fit_the_width_of_a_board(anybody: Caller, join: Callable[..., Caller]) -> None:
    players = [join("x" * 64), *(join("\u5f20" * 64) for _ in range(5))]
    seats = ["red", "blue", "green", "yellow", "white", "black"]
    game = next(game for game in anybody.get("/v1/games").json["games"] if game["most_seats"] >= 6)
    seats = game["seats"][:6]
    body = {"game": game["id"], "seats": dict.fromkeys(seats[1:], "open") | {seats[0]: "me"}}
    match = players[0].post("/v1/matches", body).json["id"]
    for player, seat in zip(players[1:], seats[1:], strict=True):
        assert player.act(match, {"type": "take_seat", "seat": seat}).status_code == 200
        lines = anybody.get(f"/v1/matches/{match}/state", Accept="text/plain").text.splitlines()
        assert max(map(len, lines)) <= WIDTH


def test_a_new_name_stands_everywhere_at_once(ada: Caller, ben: Caller, anybody: Caller, tally: str) -> None:
    anybody.get(f"/v1/matches/{tally}")
    rename(ada, "Countess")
    for path in (f"/v1/matches/{tally}", f"/v1/matches/{tally}/state", f"/v1/matches/{tally}/entries", "/v1/matches"):
        assert anybody.get(path).json["players"][ada.id] == {"name": "Countess"}, path
    assert '"Countess"' in board(anybody, tally)
    assert anybody.get(f"/v1/players/{ada.id}").json["name"] == ada.get(ME).json["name"] == "Countess"


def test_a_changed_name_is_not_hidden_by_a_304(ada: Caller, ben: Caller, anybody: Caller, tally: str) -> None:
    paths = [(f"/v1/matches/{tally}", "application/json")]
    paths += [(f"/v1/matches/{tally}/state", accept) for accept in ("application/json", "text/plain")]
    seen: dict[tuple[str, str], set[str]] = {}
    for who, name in ((ada, "Ada"), (ada, "A"), (ben, "B"), (ada, "Ada"), (ben, "Ben")):
        rename(who, name)
        for path, accept in paths:
            first = anybody.get(path, Accept=accept)
            tag = first.headers["ETag"]
            assert tag not in seen.setdefault((path, accept), set()), "names as they once were, but this tag had other ones in between"
            seen[path, accept].add(tag)
            assert anybody.get(path, Accept=accept, If_None_Match=tag).status_code == 304
            for old in seen[path, accept] - {tag}:
                assert anybody.get(path, Accept=accept, If_None_Match=old).status_code == 200
    assert ada.ask("DELETE", f"{ME}?confirm={ada.id}").status_code == 204
    for path, accept in paths:
        for old in seen[path, accept]:
            assert anybody.get(path, Accept=accept, If_None_Match=old).status_code == 200


def test_an_action_takes_the_etag_of_a_match_whose_names_have_changed(ada: Caller, tally: str) -> None:
    assert ada.get(f"/v1/matches/{tally}").headers["ETag"] == '"3"'
    rename(ada, "Countess")
    tag = ada.get(f"/v1/matches/{tally}").headers["ETag"]
    assert tag == '"3.1"'
    assert ada.act(tally, {"type": "add", "by": 1, "stay": True}, If_Match=tag).headers["ETag"] == '"4"'
    assert ada.act(tally, {"type": "add", "by": 1, "stay": True}, If_Match=tag).status_code == 412
    for wrong in ('"3."', '"3.x"', '".1"', "3.1", '"3.1.1"'):
        assert ada.act(tally, {"type": "add", "by": 1, "stay": True}, If_Match=wrong).json["code"] == "bad_header"


def test_the_same_name_again_changes_nothing(ada: Caller, tally: str) -> None:
    rename(ada, "Ada")
    assert ada.get(f"/v1/matches/{tally}").headers["ETag"] == '"3"'


@each("body", [{}, {"name": ""}, {"name": None}, {"name": "\u200b"}, {"name": "x", "role": "admin"}, []])
def test_a_malformed_name_is_400(ada: Caller, body: Any) -> None:
    assert ada.ask("PATCH", ME, body).json["code"] == "bad_body"
    assert ada.get(ME).json["name"] == "Ada"


def test_the_names_of_a_list_are_looked_up_together(ada: Caller, ben: Caller, anybody: Caller, platform: Platform) -> None:
    """However many matches a page has, its names take one round trip, and none if they are remembered."""
    for caller in (ada, ben) * 3:
        caller.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}})
    asked: list[int] = []
    names = platform.store.accounts.names
    platform.store.accounts.names = lambda ids: asked.append(len(ids)) or names(ids)  # type: ignore[method-assign, func-returns-value]
    for _ in range(20):
        assert len(anybody.get("/v1/matches").json["matches"]) == 6
    assert len(asked) <= 2, "once, and once more if the subscription began meanwhile"
    assert sum(asked) <= 4


def test_an_action_looks_up_no_names(ada: Caller, tally: str, platform: Platform) -> None:
    platform.store.accounts.names = None  # type: ignore[method-assign, assignment]
    assert "players" not in ada.act(tally, {"type": "add", "by": 1, "stay": True}).json


# ---------------------------------------------------------------- profiles


def test_a_profile_counts_finished_matches_by_game(ada: Caller, ben: Caller, anybody: Caller, platform: Platform) -> None:
    assert anybody.get(f"/v1/players/{ada.id}").json["finished"] == {}
    for target, seats in ((1, {"one": "me", "two": "open"}), (1, {"two": "me", "one": "open"}), (1000, {"one": "me", "two": "open"})):
        match = ada.post("/v1/matches", {"game": "tally", "seats": seats, "options": {"target": target}}).json["id"]
        ben.act(match, {"type": "take_seat", "seat": next(seat for seat, who in seats.items() if who == "open")})
        play.play(platform, match, "system", [{"type": "advance"}])
        play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}])
    profile = anybody.get(f"/v1/players/{ada.id}").json
    assert profile["name"] == "Ada"
    assert profile["created"] > 0
    counted = {"tally": {"matches": 2, "won": 1, "stood_in": 0, "drawn": 0, "void": 0}}
    assert profile["finished"] == counted
    assert anybody.get(f"/v1/players/{ben.id}").json["finished"] == counted
    assert rebuild.rebuild(platform).strays == 0
    assert anybody.get(f"/v1/players/{ada.id}").json == profile


def test_a_match_with_several_seats_of_a_player_is_practice_and_counts_for_nobody(ada: Caller, anybody: Caller, platform: Platform) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "me"}, "options": {"target": 1}}).json["id"]
    play.play(platform, match, "system", [{"type": "advance"}])
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}])
    assert anybody.get(f"/v1/matches/{match}").json["practice"] is True
    assert anybody.get(f"/v1/players/{ada.id}").json["finished"] == {}


def test_a_profile_shows_no_keys_and_no_role(anybody: Caller, referee: Caller) -> None:
    profile = anybody.get(f"/v1/players/{referee.id}")
    assert set(profile.json) == {"id", "name", "created", "finished", "ratings"}
    assert str(referee.key).encode() not in profile.data
