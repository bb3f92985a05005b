from __future__ import annotations

from collections.abc import Callable

import pytest

from events.platform import Platform
from events.players import Player
from service.keys import Keys
from service.problems import Problem
from tests.service.conftest import Caller


def test_anybody_becomes_a_player_and_gets_a_key(anybody: Caller) -> None:
    made = anybody.post("/v1/players", {"name": "Ada"})
    assert made.status_code == 201
    assert made.json["role"] == "player"
    assert Caller(anybody.client, made.json["key"]).get("/v1/players/me").json == {"id": made.json["id"], "name": "Ada", "role": "player"}


def test_the_key_is_not_in_the_store(anybody: Caller, platform: Platform) -> None:
    key = anybody.post("/v1/players", {"name": "Ada"}).json["key"]
    for name in platform.store.client.keys("{players}*"):
        assert key not in name
        assert key.encode() not in platform.store.client.ask("DUMP", name)


@pytest.mark.parametrize("role", ["referee", "admin"])
def test_only_the_admin_key_can_create_a_referee(
    anybody: Caller, ada: Caller, admin: Caller, join: Callable[..., Caller], role: str
) -> None:
    for caller in (anybody, ada, join("Rex", "referee"), join("Ann", "admin")):
        refused = caller.post("/v1/players", {"name": "Rex", "role": role})
        assert (refused.status_code, refused.json["code"]) == (403, "role_needed")
    assert admin.post("/v1/players", {"name": "Rex", "role": role}).json["role"] == role


def test_the_admin_key_belongs_to_no_player(admin: Caller) -> None:
    assert admin.get("/v1/players/me").json == {"id": None, "name": "admin", "role": "admin"}
    refused = admin.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}})
    assert (refused.status_code, refused.json["code"]) == (403, "no_player")


@pytest.mark.parametrize(
    "header", ["Bearer nobody", "Bearer ", "Bearer", "Basic YTpi", "nonsense", "Bearer \u00e9", "Bearer " + "x" * 500, ""]
)
def test_a_wrong_key_is_refused_even_where_none_is_needed(anybody: Caller, header: str) -> None:
    for path in ("/v1/players/me", "/v1/matches"):
        refused = anybody.get(path, Authorization=header)
        assert (refused.status_code, refused.json["code"]) == (401, "bad_key")
        assert refused.headers["WWW-Authenticate"].startswith("Bearer")


def test_without_a_key_where_one_is_needed_is_401(anybody: Caller) -> None:
    refused = anybody.get("/v1/players/me")
    assert (refused.status_code, refused.json["code"]) == (401, "no_key")


def test_a_key_is_remembered_once_in_every_way_of_writing_it() -> None:
    asked = []
    keys = Keys(asked.append, None, 30)
    for header in ("Bearer wl_x", "bearer  wl_x", "Bearer" + " " * 9999 + "wl_x "):
        with pytest.raises(Problem):
            keys.caller(header, "needed")
    assert asked == ["wl_x"] * 3
    found = Keys(lambda key: Player("p", key, "player", 0), None, 30)
    assert found.caller("Bearer wl_x", "needed") is found.caller("BEARER   wl_x ", "needed")


def test_a_key_is_forgotten_after_its_time() -> None:
    asked: list[str] = []

    def find(key: str) -> Player:
        asked.append(key)
        return Player("p", key, "player", 0)

    for seconds, lookups in ((30, 1), (0, 2)):
        keys = Keys(find, None, seconds)
        asked.clear()
        assert [keys.caller("Bearer wl_x", "needed").id for _ in range(2)] == ["p", "p"]
        assert len(asked) == lookups


def test_answers_with_a_key_or_for_one_caller_are_not_stored_by_caches(anybody: Caller, ada: Caller) -> None:
    assert anybody.post("/v1/players", {"name": "Ada"}).headers["Cache-Control"] == "no-store"
    assert anybody.get("/v1/players/me").headers["Cache-Control"] == "no-store"
    for path in ("/v1/players/me", "/v1/matches"):
        headers = ada.get(path).headers
        assert (headers["Vary"], headers["Cache-Control"]) == ("Authorization", "private, no-cache")


def test_the_scheme_of_a_key_ignores_case(ada: Caller) -> None:
    assert ada.get("/v1/players/me", Authorization=f"bearer {ada.key}").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "x" * 65},
        {"name": 1},
        {"name": None},
        {"name": "a\x00b"},
        {"name": "a\nb"},
        {"name": "a", "x": 1},
        [],
        "a",
        None,
    ],
)
def test_a_malformed_player_is_400(anybody: Caller, body: object) -> None:
    import orjson

    refused = anybody.ask("POST", "/v1/players", data=orjson.dumps(body))
    assert (refused.status_code, refused.json["code"]) == (400, "bad_body")
    assert refused.json["errors"]


def test_two_players_may_have_one_name(join: Callable[..., Caller]) -> None:
    assert join("Ada").id != join("Ada").id
