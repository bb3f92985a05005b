"""Friends and clubs: the form of a new match, invitations, and the pages of players."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from events.platform import Platform
from games import GAMES
from service.pages import player as page_of_player
from service.pages.player import Finished, finished_of, streak
from table.creating import CREATE
from table.deeds import DEEDS
from table.settings import CLOCK_GIVEN, TIME_OUT_GIVEN
from tests.service.conftest import Caller


@pytest.fixture
def client(anybody: Caller) -> FlaskClient:
    return anybody.client


def new(caller: Caller, body: dict[str, Any]) -> str:
    answer = caller.post("/v1/matches", body)
    assert answer.status_code == 201, answer.text
    match: str = answer.json["id"]
    return match


def played(winner: Caller, loser: Caller, **more: Any) -> str:
    """Return a match of War! that the second player has given up: red is the one who wins."""
    match = new(winner, {"game": "war", "seats": {"red": "me", "blue": "open"}, **more})
    assert loser.post(f"/v1/matches/{match}/seats/blue", {}).status_code == 200
    assert loser.post(f"/v1/matches/{match}/actions", {"type": "resign"}).status_code == 200
    return match


# ---------------------------------------------------------------- the form


def test_the_form_has_every_field_of_a_new_match(client: FlaskClient) -> None:
    names = set(re.findall(r' name="([\w.]+)"', client.get("/?part=form").text))
    elsewhere = {"rematch_of", "dice", "options", "seats", "order", "clock", "time_out"}  # a guide says which dice are known
    request = DEEDS[CREATE].fields.keys() - elsewhere | {"profile"}
    assert names >= request
    assert names >= {f"clock.{field}" for kind in CLOCK_GIVEN.schema["anyOf"] for field in kind["properties"]}
    assert names >= {f"time_out.{field}" for field in TIME_OUT_GIVEN.schema["properties"]} | {"spectators.delay"}
    for game in GAMES.values():
        assert names >= {f"options.{name}" for name in game.options.schema["properties"]}
        assert names >= {f"seats.{seat}" for seat in game.seats.ids}


def test_options_and_profiles_are_explained_in_the_form(client: FlaskClient) -> None:
    text = client.get("/?part=form").text
    for words in ("The units of a seat that leaves go back to its reserve", "(WAR-LEA-02)", "With 2 seats: Must play: no.", "rulings"):
        assert words in text


# ---------------------------------------------------------------- invitations


def invitations(caller: Caller) -> str:
    text: str = caller.get("/?part=list&invited=true").text
    return text


def test_invitations_are_listed_for_whom_they_are_with_seats_to_take_and_to_decline(client: FlaskClient, ada: Caller, ben: Caller) -> None:
    match = new(ada, {"game": "war", "seats": {"red": "me", "blue": f"player:{ben.id}"}})
    assert f'data-join="{match}" data-seat="blue"' in invitations(ben)
    assert f'data-decline="{match}" data-seat="blue"' in invitations(ben)
    assert match not in invitations(ada)
    assert client.get("/?part=list&invited=true").status_code == 401
    lobby = client.get("/?part=list").text
    assert "kept for Ben" in lobby
    assert "data-join" not in lobby
    assert ben.post(f"/v1/matches/{match}/actions", {"type": "decline_seat", "seat": "blue"}).status_code == 200
    assert match not in invitations(ben)


def test_a_seat_that_is_offered_is_listed_for_whom_it_is(ada: Caller, ben: Caller) -> None:
    match = new(ada, {"game": "war", "seats": {"red": "me", "blue": "ai:random"}, "spectators": "none"})
    assert ada.post(f"/v1/matches/{match}/actions", {"type": "hand_over", "player": ben.id}).status_code == 200
    assert "offered to you" in invitations(ben)
    assert "offered to you" not in ada.get("/?part=list&mine=true").text
    assert ben.post(f"/v1/matches/{match}/actions", {"type": "take_over", "seat": "red"}).status_code == 200
    assert match not in invitations(ben)


# ---------------------------------------------------------------- pages of players


def test_the_page_of_a_player_has_results_by_game_and_seat_and_links_matches(client: FlaskClient, ada: Caller, ben: Caller) -> None:
    first, second, third = played(ada, ben), played(ada, ben), played(ben, ada)
    running = new(ada, {"game": "war_of_the_worlds", "seats": {"aliens": "me", "humans": "ai:random"}})
    text = client.get(f"/p/{ada.id}").text
    results, _, rest = text.partition('id="playing-title"')
    assert re.findall(r"<dt>(\w+)</dt><dd>(\d+)", results) == [("Won", "2"), ("Played", "3")]
    assert ("Red: 2 of 2 won" in results, "Blue: 0 of 1 won" in results) == (True, True)
    assert re.findall(r'<a href="/m/(\w+)" class="\w+"', results) == [third, second, first]
    now, _, finished = rest.partition('id="over-title"')
    assert running in now
    assert all(match in finished for match in (first, second, third))
    for path in ("/?part=list", f"/m/{first}"):
        assert f'<a href="/p/{ada.id}">Ada</a>' in client.get(path).text
    assert ada.get(f"/p/{ada.id}").text == text


def test_a_page_counts_a_bounded_part_and_lists_the_rest_page_by_page(
    client: FlaskClient, ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_of_player, "WINDOW", 3)
    monkeypatch.setattr(page_of_player, "PAGE", 2)
    made = [played(ada, ben) for _ in range(5)]
    text = client.get(f"/p/{ada.id}").text
    assert "Has won the last 3 matches or more." in text
    assert "By seat: of the newest 3 finished matches." in text
    found = []
    while True:
        found += re.findall(r'<h3><a href="/m/(\w+)">', text)
        more = re.search(r'rel="next" href="([^"]+)"', text)
        if more is None:
            break
        text = client.get(more[1].replace("&amp;", "&")).text
        assert "Results" not in text
    assert found == made[::-1]


def test_what_is_hidden_does_not_show_on_the_page_of_a_player(client: FlaskClient, ada: Caller) -> None:
    match = new(ada, {"game": "war", "seats": {"red": "me", "blue": "ai:random"}, "spectators": "none"})
    before = re.sub(r"\w+ \w+ ago|just now", "", client.get(f"/p/{ada.id}").text)
    assert match in before
    assert ada.post(f"/v1/matches/{match}/actions", {"type": "offer", "what": "pause", "hours": 2}).status_code == 200
    assert re.sub(r"\w+ \w+ ago|just now", "", ada.get(f"/p/{ada.id}").text) == before


def test_pages_of_players_who_have_left_and_of_nobody(client: FlaskClient, ada: Caller, ben: Caller) -> None:
    match = played(ada, ben)
    assert ben.ask("DELETE", f"/v1/players/me?confirm={ben.id}").status_code == 204
    text = client.get(f"/p/{ben.id}").text
    assert "Somebody who has left" in text
    assert match in text
    assert ("Ben" in text, "/?invite=" in text) == (False, False)
    for nobody in ("paaaaaaaaaaaaaaaa", "me", "Ada"):
        assert client.get(f"/p/{nobody}").status_code == 404


def test_a_name_on_a_page_is_text_and_nothing_else(client: FlaskClient, ada: Caller) -> None:
    assert ada.ask("PATCH", "/v1/players/me", {"name": "<script>alert(1)</script>"}).status_code == 200
    answer = client.get(f"/p/{ada.id}")
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;" in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def standing(number: int, **more: Any) -> dict[str, Any]:
    """Return a standing as far as the results follow from it: the player `a` has red."""
    seats = {"red": {"player": "a"}, "blue": {"player": "b"}}
    whole = {"id": f"m{number}", "game": "war", "updated": number, "practice": False, "substitutes": {}, "seats": seats}
    return {**whole, "outcome": {"winners": ["red"], "reason": "points"}, **more}


def test_a_result_is_that_of_the_profile_whatever_the_match_was(platform: Platform) -> None:
    given = [
        standing(1),
        standing(2, practice=True),
        standing(3, substitutes={"red": "greedy"}),
        standing(4, outcome={"winners": ["blue"], "reason": "points"}),
        standing(5, outcome={"winners": [], "reason": "void"}),
        standing(6, outcome={"winners": ["red", "blue"], "reason": "draw"}),
        standing(7, outcome={"winners": ["red"], "reason": "points", "overruled": {"remedy": "forfeit", "seat": "red"}}),
    ]
    found = [(one.match, one.result) for one in finished_of("a", given)]
    assert found == [("m7", "lost"), ("m6", "drawn"), ("m5", "void"), ("m4", "lost"), ("m3", "stood_in"), ("m1", "won")]
    assert streak([Finished("m", "war", "red", result) for result in ("won", "won", "drawn", "won")]) == 2
