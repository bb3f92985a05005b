"""The same request for a player or a key, sent again: the same answer, and nothing is made twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from events import accounts
from events.notary.signer import Signer
from events.platform import Platform
from service.app import create_app
from service.http.limits import NO_LIMITS
from service.http.settings import Settings
from tests.service.conftest import ADMIN, Caller

KEYS = "/v1/players/me/keys"
REQUEST = "0d6bf2b0-9d1c-4f0e-8a8e-6f1f5f3a9c11"
BOT = {"name": "bot", "scopes": ["play"]}


@pytest.fixture
def made(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the players and keys that were stored."""
    found: list[str] = []
    for name in ("add", "add_key"):
        send = getattr(platform.store.accounts, name)

        def noted(id: str, *more: Any, send: Callable[..., Any] = send) -> Any:
            result = send(id, *more)
            found.append(id)
            return result

        monkeypatch.setattr(platform.store.accounts, name, noted)
    return found


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let players and keys be as much older."""
    now = accounts.wall_time

    def moved(by: int) -> None:
        monkeypatch.setattr(accounts, "wall_time", lambda: now() + by)

    return moved


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["code"]


def test_a_player_who_asks_again_is_the_same_player_with_the_same_key(anybody: Caller, made: list[str]) -> None:
    first, again = (anybody.post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST) for _ in range(2))
    assert (again.status_code, again.data, again.headers["Location"]) == (201, first.data, f"/v1/players/{first.json['id']}")
    assert made == [first.json["id"]]
    caller = Caller(anybody.client, first.json["key"])
    assert caller.get("/v1/players/me").json["id"] == first.json["id"]
    assert caller.get(first.headers["Location"]).json["name"] == "Ada"


def test_without_an_id_every_request_makes_a_player(anybody: Caller) -> None:
    assert len({anybody.post("/v1/players", {"name": "Ada"}).json["id"] for _ in range(3)}) == 3


@pytest.mark.parametrize("body", [{"name": "Eve"}, {"name": "Ada", "role": "referee"}])
def test_an_id_that_asks_for_something_else_is_refused(admin: Caller, made: list[str], body: dict[str, str]) -> None:
    assert admin.post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST).status_code == 201
    assert refused(admin.post("/v1/players", body, Idempotency_Key=REQUEST)) == (422, "request_reused")
    assert len(made) == 1


def test_an_id_is_that_of_its_owner(anybody: Caller, admin: Caller, ada: Caller, ben: Caller) -> None:
    """What one has made nobody else gets, whoever knows the id of the request."""
    answers = [caller.post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST).json for caller in (anybody, admin, ada, ben)]
    assert len({answer["id"] for answer in answers}) == len({answer["key"].split("_")[3] for answer in answers}) == 4


@pytest.mark.parametrize("request_id", ["1", "a" * 21, "a" * 65, "a b" * 10])
def test_the_id_of_a_request_for_a_player_cannot_be_guessed(anybody: Caller, request_id: str) -> None:
    """Nobody else has shown a key then: whoever knows the id gets the key."""
    answer = anybody.post("/v1/players", {"name": "Ada"}, Idempotency_Key=request_id)
    assert refused(answer) == (400, "bad_header")
    assert "22 to 64" in answer.json["detail"]


def test_ids_and_keys_follow_from_the_secret_of_the_server_too(platform: Platform, tmp_path: Path) -> None:
    """Whoever knows the request alone cannot compute them: a server with another secret makes others of it."""
    asked, other = accounts.Asked("", REQUEST), replace(platform, signer=Signer(tmp_path / "keys"))
    assert asked.id(platform, "p") == asked.id(platform, "p") != asked.id(other, "p")
    assert asked.random(platform, "Ada", "player") != asked.random(other, "Ada", "player")
    assert len({asked.random(platform, *what) for what in (("Ada", "player"), ("Ad", "aplayer"), ("Ada,player",), ())}) == 4


def test_the_answer_can_be_asked_for_again_for_an_hour(anybody: Caller, ada: Caller, made: list[str], later: Callable[[int], None]) -> None:
    first = anybody.post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST).data
    key = ada.post(KEYS, BOT, Idempotency_Key="1").data
    later(accounts.RETRY_MS - 60_000)
    assert anybody.post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST).data == first
    assert ada.post(KEYS, BOT, Idempotency_Key="1").data == key
    later(accounts.RETRY_MS + 60_000)
    assert refused(anybody.post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST)) == (422, "request_reused")
    assert refused(ada.post(KEYS, BOT, Idempotency_Key="1")) == (422, "request_reused")
    assert len(made) == 2


@pytest.mark.parametrize("change", ["rotated", "revoked", "deleted", "renamed"])
def test_what_has_changed_since_then_is_not_shown_and_not_made_again(anybody: Caller, made: list[str], change: str) -> None:
    first = anybody.post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST)
    caller, key = Caller(anybody.client, first.json["key"]), f"{KEYS}/k{first.json['id'][1:]}"
    if change == "rotated":
        assert caller.post(f"{key}/rotate").status_code == 200
    elif change == "revoked":
        assert caller.ask("DELETE", key).status_code == 204
    elif change == "deleted":
        assert caller.ask("DELETE", f"/v1/players/me?confirm={first.json['id']}").status_code == 204
    else:
        assert caller.ask("PATCH", "/v1/players/me", {"name": "Countess"}).status_code == 200
    again = anybody.post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST)
    if change == "renamed":
        assert again.data == first.data
    else:
        assert refused(again) == (422, "request_reused")
    assert len(made) == 1


def test_a_player_who_asks_again_counts_once_for_the_limit(platform: Platform) -> None:
    app = create_app(platform, Settings(admin_key=ADMIN, log_requests=False, limits={**NO_LIMITS, "players": 1}))
    anybody = Caller(app.test_client())
    answers = [anybody.post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert refused(anybody.post("/v1/players", {"name": "Ben"})) == (429, "too_many_requests")


def test_many_at_once_with_one_id_are_one_player(app: Flask, platform: Platform) -> None:
    together = threading.Barrier(6)

    def ask(_: int) -> bytes:
        together.wait()
        return Caller(app.test_client()).post("/v1/players", {"name": "Ada"}, Idempotency_Key=REQUEST).data

    with ThreadPoolExecutor(6) as asking:
        assert len(set(asking.map(ask, range(6)))) == 1


# ---------------------------------------------------------------- keys


def test_a_key_that_is_asked_for_again_is_the_same_key(ada: Caller, made: list[str]) -> None:
    first = ada.post(KEYS, BOT, Idempotency_Key="1")
    assert Caller(ada.client, first.json["key"]).get("/v1/players/me").json["key_id"] == first.json["id"]
    again = ada.post(KEYS, BOT, Idempotency_Key="1")
    assert (again.status_code, again.data, again.headers["Location"]) == (201, first.data, f"{KEYS}/{first.json['id']}")
    assert made == [ada.id]
    assert refused(ada.post(KEYS, {**BOT, "name": "page"}, Idempotency_Key="1")) == (422, "request_reused")
    assert refused(ada.post(KEYS, {**BOT, "scopes": ["read"]}, Idempotency_Key="1")) == (422, "request_reused")
    assert len(ada.get(KEYS).json["keys"]) == 2


def test_the_last_key_that_a_player_may_have_can_be_asked_for_again(ada: Caller) -> None:
    for number in range(accounts.MOST_KEYS - 1):
        last = ada.post(KEYS, BOT, Idempotency_Key=str(number)).data
    assert ada.post(KEYS, BOT, Idempotency_Key=str(accounts.MOST_KEYS - 2)).data == last
    assert refused(ada.post(KEYS, BOT, Idempotency_Key="one more")) == (400, "bad_header")
    assert refused(ada.post(KEYS, BOT, Idempotency_Key="more")) == (409, "too_many_keys")


def test_a_key_gets_no_answer_that_another_key_has_asked_for(ada: Caller) -> None:
    """Else a key without a scope could get a key that has it."""
    weak = Caller(ada.client, ada.post(KEYS, {"name": "weak", "scopes": ["account"]}).json["key"])
    strong = ada.post(KEYS, BOT, Idempotency_Key="1").json["key"]
    assert refused(weak.post(KEYS, BOT, Idempotency_Key="1")) == (403, "scope_needed")
    mine = ada.post(KEYS, {"name": "bot", "scopes": ["account"]}, Idempotency_Key="2").json["key"]
    assert weak.post(KEYS, {"name": "bot", "scopes": ["account"]}, Idempotency_Key="2").json["key"] not in (mine, strong)


@pytest.mark.parametrize("change", ["rotated", "revoked"])
def test_a_key_that_was_rotated_or_revoked_is_not_made_again(ada: Caller, change: str) -> None:
    id = ada.post(KEYS, BOT, Idempotency_Key="1").json["id"]
    if change == "rotated":
        assert ada.post(f"{KEYS}/{id}/rotate").status_code == 200
    else:
        assert ada.ask("DELETE", f"{KEYS}/{id}").status_code == 204
    before = ada.get(KEYS).data
    assert refused(ada.post(KEYS, BOT, Idempotency_Key="1")) == (422, "request_reused")
    assert ada.get(KEYS).data == before


def test_the_owner_of_the_admin_key_replaces_a_lost_key_once(admin: Caller, ada: Caller, ben: Caller) -> None:
    path = f"/v1/players/{ada.id}/keys"
    first, again = (admin.post(path, BOT, Idempotency_Key="1") for _ in range(2))
    assert first.data == again.data
    assert admin.get(first.headers["Location"]).json == {name: value for name, value in first.json.items() if name != "key"}
    assert admin.post(f"/v1/players/{ben.id}/keys", BOT, Idempotency_Key="1").json["key"] != first.json["key"]
    assert ada.post(KEYS, BOT, Idempotency_Key="1").json["key"] != first.json["key"]
