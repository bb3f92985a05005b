"""A revoked key, a lost role and a deleted player count at once, in every process and in open streams.

Both servers remember players for an hour, and comment on silent streams once a minute. So what happens within seconds follows from news.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import requests

from events import accounts, play
from events.accounts import SCOPES
from events.platform import Platform
from events.store.accounts import ADMIN as ADMIN_SIGNER
from tests.conftest import Servers, within
from tests.service.conftest import ADMIN, Live
from tests.service.test_streams import listening

ADD = {"type": "add", "by": 1, "stay": True}
PATIENCE = 20


@pytest.fixture(scope="module")
def pair(serve: Callable[..., Live]) -> tuple[Live, Live]:
    slow = {"WARLEDGER_KEY_SECONDS": "3600", "WARLEDGER_COMMENT_SECONDS": "60"}
    return serve(**slow), serve(**slow)


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def ask(live: Live, method: str, path: str, key: str, body: Any = None) -> requests.Response:
    return requests.request(method, live.url + path, json=body, headers=headers(key), timeout=30)


def known(live: Live, key: str) -> bool:
    return ask(live, "GET", "/v1/players/me", key).status_code == 200


def remember(live: Live, key: str, expected: bool = True) -> None:
    """Let a process remember the owner of a key, with its subscription in place."""
    for _ in range(3):
        assert known(live, key) is expected


@pytest.fixture
def match(begin: Callable[..., str]) -> str:
    return begin()


def test_a_revoked_key_loses_its_requests_and_its_stream_in_another_process(
    pair: tuple[Live, Live], platform: Platform, match: str
) -> None:
    one, two = pair
    player, key = accounts.register(platform, "Ada")
    made, bot = accounts.add_key(platform, player.id, ADMIN_SIGNER, "bot", ["read"], SCOPES)
    remember(two, bot)
    with (
        listening(f"{two.url}/v1/matches/{match}/stream", **headers(bot)) as his,
        listening(f"{two.url}/v1/matches/{match}/stream", **headers(key)) as hers,
    ):
        his.next("id: 2")
        hers.next("id: 2")
        assert ask(one, "DELETE", f"/v1/players/me/keys/{made.id}", key).status_code == 204
        assert his.ended.wait(PATIENCE), "a stream of a revoked key goes on"
        within(PATIENCE, lambda: not known(two, bot))
        assert not known(one, bot)
        play.play(platform, match, "one", [ADD])
        hers.next("id: 3")
        assert known(two, key)


def test_a_role_that_is_taken_away_ends_a_referees_stream(pair: tuple[Live, Live], platform: Platform, match: str) -> None:
    one, two = pair
    rex, key = accounts.register(platform, "Rex", "referee")
    remember(two, key)
    with listening(f"{two.url}/v1/matches/{match}/stream?viewer=auditor", **headers(key)) as ear:
        ear.next("id: 2")
        assert ask(one, "PATCH", f"/v1/players/{rex.id}", ADMIN, {"role": "player"}).status_code == 200
        assert ear.ended.wait(PATIENCE)
    assert ask(two, "GET", f"/v1/matches/{match}/state?viewer=auditor", key).status_code == 403


def test_a_new_name_stands_in_another_process(pair: tuple[Live, Live], platform: Platform) -> None:
    one, two = pair
    player, key = accounts.register(platform, "Ada")
    made = ask(one, "POST", "/v1/matches", key, {"game": "tally", "seats": {"one": "me", "two": "open"}}).json()

    def name() -> Any:
        return requests.get(f"{two.url}/v1/matches/{made['id']}", timeout=30).json()["players"][player.id]["name"]

    assert name() == "Ada"
    assert ask(one, "PATCH", "/v1/players/me", key, {"name": "Countess"}).status_code == 200
    within(PATIENCE, lambda: name() == "Countess")
    assert ask(one, "DELETE", f"/v1/players/me?confirm={player.id}", key).status_code == 204
    within(PATIENCE, lambda: name() is None)


def test_news_that_was_missed_is_made_up_for(pair: tuple[Live, Live], platform: Platform, servers: Servers) -> None:
    _, two = pair
    player, key = accounts.register(platform, "Ada")
    remember(two, key)
    stop = threading.Event()

    def cut() -> None:
        while not stop.is_set():
            servers.keeper.execute_command("CLIENT", "KILL", "TYPE", "pubsub")

    cutting = threading.Thread(target=cut)
    cutting.start()
    try:
        accounts.revoke_key(platform, player.id, ADMIN_SIGNER, accounts.first_key(player.id))
    finally:
        stop.set()
        cutting.join()
    within(PATIENCE, lambda: not known(two, key))


def test_a_player_who_is_deleted_while_playing_is_refused_from_then_on(pair: tuple[Live, Live], platform: Platform) -> None:
    """Threads act through both processes while the player is deleted. Every answer is a success or a 401, and the log has the successes."""
    one, two = pair
    player, key = accounts.register(platform, "Ada")
    body = {"game": "tally", "seats": {"one": "me", "two": "me"}, "options": {"target": 1_000_000}}
    match = ask(one, "POST", "/v1/matches", key, body).json()["id"]
    play.play(platform, match, "system", [{"type": "advance"}])
    answers: list[int] = []
    deleted = threading.Event()

    def act(live: Live) -> None:
        while not deleted.is_set():
            answers.append(ask(live, "POST", f"/v1/matches/{match}/actions", key, ADD).status_code)

    threads = [threading.Thread(target=act, args=[live]) for live in (one, two, one, two)]
    for thread in threads:
        thread.start()
    within(PATIENCE, lambda: answers.count(200) > 10)
    assert ask(two, "DELETE", f"/v1/players/me?confirm={player.id}", key).status_code == 204
    within(PATIENCE, lambda: not known(one, key) and not known(two, key))
    deleted.set()
    for thread in threads:
        thread.join()
    assert set(answers) <= {200, 401}
    assert platform.store.log.head(match) == 2 + answers.count(200)
    for live in pair:
        assert ask(live, "POST", f"/v1/matches/{match}/actions", key, ADD).status_code == 401
    assert platform.store.log.head(match) == 2 + answers.count(200)
