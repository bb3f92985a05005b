"""Webhooks of a player over HTTP: made, listed, changed, rotated, deleted; what they have sent, and what they send shows nothing hidden."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from events.accounts import RETRY_MS
from events.hooks import deliveries, push, subscriptions
from events.hooks.deliveries import CONNECTION, Outcome
from events.hooks.messages import Reader, public_key, trial
from events.hooks.subscriptions import GONE, MOST_HOOKS, ORGANISER, OVERLAP, PLAYER, Hook
from events.platform import Platform
from events.timing.clock import wall_time
from games import patterns
from record.notices import KINDS
from service.http.limits import BY_NAME
from tests.conftest import Servers
from tests.each import each
from tests.pushing import Browser
from tests.service.conftest import Caller, played_on
from tests.service.secrecy import replace_entries
from tests.service.test_secrecy import hidden_deck

HOOKS = "/v1/players/me/hooks"
URL = "https://chat.example/hooks/1"
KEYS = Browser(private=7).keys


def body(**more: Any) -> dict[str, Any]:
    return {"url": URL, "kinds": ["turn", "over"], **more}


def made(caller: Caller, **more: Any) -> dict[str, Any]:
    answer = caller.post(HOOKS, body(**more))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json
    return found


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["code"]


def test_a_hook_is_made_its_secret_is_shown_once_and_it_is_listed(platform: Platform, ada: Caller, tally: str) -> None:
    before = wall_time()
    answer = ada.post(HOOKS, body(role="organiser", match=tally))
    hook = answer.json
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    assert answer.headers["Location"] == f"{HOOKS}/{hook['id']}"
    assert patterns.matches(patterns.HOOK, hook["id"])
    assert before <= hook["created"] <= wall_time()
    assert hook["secret"].startswith("whsec_")
    shown = {name: value for name, value in hook.items() if name not in ("secret", "id", "created")}
    assert shown == {
        "url": URL,
        "role": ORGANISER,
        "kinds": ["over", "turn"],
        "match": tally,
        "on": True,
        "push": False,
        "stopped": None,
        "public_key": public_key(platform),
    }
    without = {name: value for name, value in hook.items() if name != "secret"}
    assert ada.get(answer.headers["Location"]).json == without
    assert ada.get(HOOKS).json == {"hooks": [without], "push_key": push.public_key(platform)}
    assert made(ada)["role"] == PLAYER


def test_a_push_subscription_is_a_hook_and_shows_none_of_its_keys(platform: Platform, ada: Caller) -> None:
    keys = Browser().keys
    hook = made(ada, push=keys)
    assert hook["push"]
    assert subscriptions.get(platform, ada.id, hook["id"]).push == tuple(keys.values())
    assert not any(key in ada.get(HOOKS).text for key in keys.values())


def test_hooks_belong_to_their_player(ada: Caller, ben: Caller) -> None:
    hook = made(ada)["id"]
    assert ben.get(HOOKS).json["hooks"] == []
    for method, path, given in (
        ("GET", "", None),
        ("PATCH", "", {"on": False}),
        ("DELETE", "", None),
        ("POST", "/rotate", {}),
        ("POST", "/test", None),
        ("GET", "/deliveries", None),
        ("POST", f"/deliveries/test-1-{hook}/again", None),
    ):
        assert refused(ben.ask(method, f"{HOOKS}/{hook}{path}", given)) == (404, "no_such_hook")
    assert ada.get(f"{HOOKS}/{hook}").json["on"]


def test_a_key_for_play_alone_does_not_reach_hooks(ada: Caller) -> None:
    key = ada.post("/v1/players/me/keys", {"name": "bot", "scopes": ["play"]}).json["key"]
    assert refused(Caller(ada.client, key).get(HOOKS)) == (403, "scope_needed")


@each(
    ("given", "code"),
    [
        ({"url": "http://chat.example/"}, "bad_hook_url"),
        ({"url": "https://127.0.0.1/"}, "bad_hook_url"),
        ({"url": "https://localhost/"}, "bad_hook_url"),
        ({"url": "https://chat.example/" + "a" * 500}, "bad_body"),
        ({"url": ""}, "bad_body"),
        ({"kinds": []}, "bad_body"),
        ({"kinds": ["nothing"]}, "bad_body"),
        ({"kinds": "turn"}, "bad_body"),
        ({"role": "referee"}, "bad_body"),
        ({"match": "m" + "a" * 16}, "no_such_match"),
        ({"match": "x"}, "bad_body"),
        ({"secret": "whsec_a"}, "bad_body"),
        ({"push": {}}, "bad_body"),
        ({"push": {**KEYS, "more": 1}}, "bad_body"),
        ({"push": {**KEYS, "auth": "short"}}, "bad_body"),
        ({"push": {**KEYS, "p256dh": f"{KEYS['p256dh'][:-2]}AA"}}, "bad_body"),
        ({"push": KEYS, "url": "https://10.0.0.1/"}, "bad_hook_url"),
    ],
)
def test_a_hook_that_cannot_be_is_refused(ada: Caller, given: dict[str, Any], code: str) -> None:
    answer = ada.post(HOOKS, body(**given))
    assert answer.json["code"] == code
    assert ada.get(HOOKS).json["hooks"] == []


def test_a_request_that_comes_again_gets_the_same_hook_and_secret(ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    first, again = (ada.post(HOOKS, body(), Idempotency_Key="once") for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json == again.json
    assert len(ada.get(HOOKS).json["hooks"]) == 1
    assert ben.post(HOOKS, body(), Idempotency_Key="once").json["id"] != first.json["id"]
    assert refused(ada.post(HOOKS, body(url="https://other.example/"), Idempotency_Key="once")) == (422, "request_reused")
    assert ada.ask("DELETE", f"{HOOKS}/{first.json['id']}").status_code == 204
    assert refused(ada.post(HOOKS, body(), Idempotency_Key="once")) == (422, "request_reused")
    late = ada.post(HOOKS, body(), Idempotency_Key="late").json
    monkeypatch.setattr(subscriptions, "wall_time", lambda: late["created"] + RETRY_MS + 1)
    assert refused(ada.post(HOOKS, body(), Idempotency_Key="late")) == (422, "request_reused")


def test_there_are_ten_hooks_at_most(ada: Caller) -> None:
    for _ in range(MOST_HOOKS):
        made(ada)
    assert refused(ada.post(HOOKS, body())) == (409, "too_many_hooks")
    assert BY_NAME["hooks"].amount == MOST_HOOKS


def test_what_is_given_is_changed_and_the_rest_stays(ada: Caller) -> None:
    hook = made(ada)
    path = f"{HOOKS}/{hook['id']}"
    without = {name: value for name, value in hook.items() if name != "secret"}
    assert ada.ask("PATCH", path, {}).json == without
    assert ada.ask("PATCH", path, {"kinds": ["over"]}).json == {**without, "kinds": ["over"]}
    assert ada.ask("PATCH", path, {"on": False}).json == {**without, "kinds": ["over"], "on": False}
    assert ada.ask("PATCH", path, {"url": "https://new.example/"}).json["url"] == "https://new.example/"
    assert refused(ada.ask("PATCH", path, {"url": "https://10.0.0.1/"})) == (422, "bad_hook_url")
    assert refused(ada.ask("PATCH", path, {"match": None})) == (400, "bad_body")
    assert ada.get(path).json["url"] == "https://new.example/"


def test_what_the_server_has_turned_off_says_why_and_can_be_turned_on(platform: Platform, ada: Caller) -> None:
    hook = made(ada)["id"]
    before = wall_time()
    subscriptions.stop(platform, ada.id, subscriptions.get(platform, ada.id, hook), GONE)
    found = ada.get(f"{HOOKS}/{hook}").json
    assert (found["on"], found["stopped"]["reason"]) == (False, GONE)
    assert before <= found["stopped"]["at"] <= wall_time()
    assert refused(ada.post(f"{HOOKS}/{hook}/test")) == (409, "hook_off")
    found = ada.ask("PATCH", f"{HOOKS}/{hook}", {"on": True}).json
    assert (found["on"], found["stopped"]) == (True, None)


def test_a_hook_gets_another_secret(platform: Platform, ada: Caller) -> None:
    hook = made(ada)
    path = f"{HOOKS}/{hook['id']}/rotate"
    before = wall_time()
    answer = ada.post(path, {})
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json["secret"] != hook["secret"]
    found = subscriptions.get(platform, ada.id, hook["id"])
    assert before + OVERLAP * 1000 <= found.old_until <= wall_time() + OVERLAP * 1000
    assert subscriptions.valid_secrets(platform, ada.id, found, wall_time()) == [answer.json["secret"], hook["secret"]]
    at_once = ada.post(path, {"overlap": 0}).json["secret"]
    assert subscriptions.valid_secrets(platform, ada.id, subscriptions.get(platform, ada.id, hook["id"]), wall_time()) == [at_once]
    for wrong in (-1, OVERLAP + 1, 1.5, "1"):
        assert refused(ada.post(path, {"overlap": wrong})) == (400, "bad_body")


def test_deliveries_are_listed_and_sent_again(platform: Platform, ada: Caller) -> None:
    hook = made(ada)["id"]
    found = subscriptions.get(platform, ada.id, hook)
    message = trial(found, 5)
    deliveries.note(platform, ada.id, found, message, 1, False, Outcome(12, failure=CONNECTION))
    deliveries.note(platform, ada.id, found, message, 2, False, Outcome(7, 200, "thanks"))
    newest, oldest = ada.get(f"{HOOKS}/{hook}/deliveries").json["deliveries"]
    assert {name: value for name, value in newest.items() if name != "at"} == {
        "id": message.id,
        "type": "test",
        "match": None,
        "version": None,
        "index": None,
        "number": 2,
        "again": False,
        "ms": 7,
        "status": 200,
        "answer": "thanks",
        "failure": None,
    }
    assert (oldest["status"], oldest["failure"], oldest["number"]) == (None, CONNECTION, 1)
    again = ada.post(f"{HOOKS}/{hook}/deliveries/{message.id}/again")
    assert (again.status_code, again.json) == (202, {"id": message.id})
    assert platform.store.hooks.size() == 1
    assert refused(ada.post(f"{HOOKS}/{hook}/deliveries/test-6-{hook}/again")) == (404, "no_such_delivery")


def test_a_test_is_asked_for(platform: Platform, ada: Caller) -> None:
    hook = made(ada)["id"]
    answer = ada.post(f"{HOOKS}/{hook}/test")
    assert answer.status_code == 202
    assert answer.json["id"].startswith("test-")
    (unsent,) = platform.store.hooks.claim(0, 10, 10**9)[0]
    assert unsent.message == f"{answer.json['id']}-0"


def test_tests_and_new_hooks_are_limited(
    platform: Platform, servers: Servers, ada: Caller, monkeypatch: pytest.MonkeyPatch, app: Any, settings: Any
) -> None:
    from service.app import create_app

    tight = settings._replace(limits={**settings.limits, "hook_calls": 2, "new_hooks": 3})
    caller = Caller(create_app(platform, tight).test_client(), ada.key, ada.id)
    hook = made(caller)["id"]
    answers = [caller.post(f"{HOOKS}/{hook}/test") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert [caller.post(HOOKS, body()).status_code for _ in range(3)] == [201, 201, 429]


# ---------------------------------------------------------------- secrecy


def sent(platform: Platform, hooks: list[tuple[str, Hook]], match: str) -> Iterator[tuple[str, bytes]]:
    """Yield everything that hooks of players send for a match."""
    for player, hook in hooks:
        version, at_head = 0, False
        while not at_head:
            messages, version, at_head = Reader(platform).after(player, hook, match, version)
            yield from ((message.id, message.body) for message in messages)


def test_what_hooks_send_and_list_does_not_depend_on_what_is_hidden(
    platform: Platform, another_platform: Callable[..., Platform], servers: Servers, ada: Caller, ben: Caller, cleo: Caller
) -> None:
    dice = random.Random(5)
    seats = {"red": "open", "blue": "open"}
    match = cleo.post("/v1/matches", {"game": "war", "seats": seats}).json["id"]
    for caller, seat in ((ada, "red"), (ben, "blue")):
        assert caller.post(f"/v1/matches/{match}/seats/{seat}").status_code == 200
    played_on(platform, match, dice, 40)
    hooks = [
        (caller.id, subscriptions.get(platform, caller.id, made(caller, kinds=[*KINDS], role=role)["id"]))
        for caller, role in ((ada, PLAYER), (ben, PLAYER), (cleo, ORGANISER), (cleo, PLAYER))
    ]
    told = list(sent(platform, hooks, match))
    assert {id.split("-")[3] for id, _ in told} >= {"started", "turn", "joined"}
    for _ in range(3):
        replace_entries(servers, platform, match, hidden_deck(platform, match, dice))
        assert list(sent(another_platform(), hooks, match)) == told


def test_a_delivery_does_not_show_how_far_a_hidden_match_has_got(platform: Platform, ada: Caller) -> None:
    """Whoever is offered a seat in a hidden match is told the version at which play began. The entry that told it stays with the server."""
    hook = made(ada)["id"]
    found = subscriptions.get(platform, ada.id, hook)
    message = trial(found, 5)._replace(about=("m" + "a" * 16, 2, 3), entry=97)
    deliveries.note(platform, ada.id, found, message, 1, False, Outcome(1, 200))
    shown = ada.get(f"{HOOKS}/{hook}/deliveries").json["deliveries"][0]
    assert (shown["version"], shown["index"]) == (2, 3)
    assert 97 not in shown.values()
