"""Limits: who sends or makes too much is refused, and nobody else is."""

from __future__ import annotations

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count, cycle
from string import ascii_lowercase
from typing import Any

import pytest
import requests
from werkzeug.test import TestResponse

from events import accounts, play, recall
from events.platform import Platform, open_platform
from events.rebuild import rebuild
from service.app import create_app
from service.http.addresses import Addresses, networks
from service.http.limits import AMOUNTS, LIMITS, NO_LIMITS, OWN
from service.http.settings import Settings
from service.http.throttle import DEPOSIT, Payer, Throttle
from tests.conftest import ALL_GAMES, Servers, take_seat, within
from tests.service.conftest import ADMIN, Caller, Live, played_on
from tools import documents

# The grammar of draft-ietf-httpapi-ratelimit-headers-11: lists of strings with parameters that are non-negative integers.
POLICY = re.compile(r'"[a-z_]+";q=[0-9]+(;w=[1-9][0-9]*)?')
STATE = re.compile(r'"[a-z_]+";r=[0-9]+(;t=[0-9]+)?')

TALLY = {"game": "tally", "seats": {"one": "me", "two": "me"}}
OPEN = {"game": "tally", "seats": {"one": "me", "two": "open"}}
AI_ONLY = {"game": "tally", "seats": {"one": "ai:random", "two": "ai:random"}}

SEARCHED = {"game": "tally", "seats": {"one": "me", "two": "ai:strong"}}
SHORT = {**TALLY, "clock": {"kind": "per_action", "seconds": 59}}
REPLACED = {**TALLY, "clock": {"kind": "per_action", "seconds": 60}, "time_out": {"policy": "substitute", "level": "expert"}}

STEP = {"type": "add", "by": 1, "stay": True}

Open = Callable[..., Any]

here = "127.0.0.1"
"""The address that clients send from."""
_numbers = count(1)


@pytest.fixture(autouse=True)
def _no_other_test_has_sent_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an address of its own: the processes of earlier tests may still settle what was sent from theirs."""
    monkeypatch.setattr(f"{__name__}.here", f"10.77.{next(_numbers)}.1")


@pytest.fixture
def opened(platform: Platform) -> Open:
    """Open the service with some limits and no others."""

    def open_with(own: Platform | None = None, **amounts: int) -> Any:
        return create_app(own or platform, Settings(admin_key=ADMIN, log_requests=False, limits={**NO_LIMITS, **amounts}))

    return open_with


def caller(app: Any, key: str | None = None, address: str | None = None) -> Caller:
    """Return a client of an application that sends from an address."""
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = address or here
    return Caller(client, key)


def player(platform: Platform, app: Any, name: str = "Ada", address: str | None = None) -> Caller:
    """Return a client with the key of a new player, which the process does not know yet."""
    made, key = accounts.register(platform, name)
    found = caller(app, key, address)
    found.id = made.id
    return found


def statuses(times: int, ask: Callable[[], TestResponse]) -> Counter[int]:
    return Counter(ask().status_code for _ in range(times))


def exhaust(ask: Callable[[], TestResponse]) -> TestResponse:
    """Ask until the answer is 429, and return that."""
    deadline = time.monotonic() + 60
    while (answer := ask()).status_code != 429:
        assert time.monotonic() < deadline, "never refused"
    return answer


def check_refusal(answer: TestResponse, limit: str, code: str = "too_many_requests") -> None:
    """Fail unless an answer is a refusal by a limit, complete with its headers."""
    problem = answer.json
    assert (answer.status_code, problem["code"], problem["limit"]) == (429, code, limit)
    assert int(answer.headers["Retry-After"]) == problem["retry_after"] >= 1
    assert POLICY.fullmatch(answer.headers["RateLimit-Policy"])
    assert STATE.fullmatch(answer.headers["RateLimit"])
    window = re.search(r";t=([0-9]+)", answer.headers["RateLimit"])
    assert window is None or int(window[1]) <= problem["retry_after"]
    assert answer.headers["Cache-Control"] == "no-store"


def test_who_asks_too_often_without_a_key_is_refused_and_nobody_else(platform: Platform, opened: Open) -> None:
    app = opened(anonymous=20)
    ada = player(platform, app)
    assert ada.get("/v1/players/me").status_code == 200
    stranger = caller(app)
    assert statuses(19, lambda: stranger.get("/v1/matches")) == {200: 19}
    exhaust(lambda: stranger.get("/v1/matches"))
    for path in ("/v1/matches", "/v1/games", "/nothing", "/docs", "/openapi.json"):
        check_refusal(exhaust(lambda path=path: stranger.get(path)), "anonymous")
    check_refusal(exhaust(lambda: stranger.post("/v1/players", {"name": "Eve"})), "anonymous")
    assert statuses(50, lambda: ada.get("/v1/players/me")) == {200: 50}
    assert caller(app, address=f"{here}2").get("/v1/matches").status_code == 200
    assert caller(app, ADMIN).get("/v1/matches").status_code == 200
    assert stranger.get("/healthz").status_code == stranger.get("/readyz").status_code == 200


def test_probes_have_a_limit_of_their_own(opened: Open) -> None:
    app = opened(anonymous=1, probes=5, metrics=2)
    assert statuses(5, lambda: caller(app).get("/readyz")) == {200: 5}
    check_refusal(exhaust(lambda: caller(app).get("/readyz")), "probes")
    assert statuses(2, lambda: caller(app).get("/metrics")) == {200: 2}
    check_refusal(exhaust(lambda: caller(app).get("/metrics")), "metrics")
    assert caller(app).get("/v1/games").status_code == 200


def test_a_player_is_limited_at_every_address_and_with_every_spelling_of_the_key(platform: Platform, opened: Open) -> None:
    app = opened(requests=20)
    ada, ben = player(platform, app, "Ada"), player(platform, app, "Ben")
    ada.get("/v1/players/me")
    ben.get("/v1/players/me")
    headers = cycle([f"Bearer {ada.key}", f"bearer   {ada.key}", f"BEARER {ada.key} "])
    addresses = cycle([f"10.0.0.{number}" for number in range(100)])

    def elsewhere() -> TestResponse:
        return caller(app, address=next(addresses)).get("/v1/players/me", Authorization=next(headers))

    assert statuses(18, elsewhere) == {200: 18}
    check_refusal(exhaust(elsewhere), "requests")
    check_refusal(exhaust(lambda: ada.get("/v1/players/me")), "requests")
    assert ben.get("/v1/players/me").status_code == 200


def test_headers_tell_when_less_than_half_is_left(platform: Platform, opened: Open) -> None:
    app = opened(anonymous=10)
    answers = [caller(app).get("/v1/games") for _ in range(10)]
    assert ["RateLimit" in answer.headers for answer in answers[:5]] == [False] * 5
    told = [answer for answer in answers if "RateLimit" in answer.headers]
    assert told
    for answer in told:
        assert POLICY.fullmatch(answer.headers["RateLimit-Policy"])
        assert answer.headers["RateLimit-Policy"] == '"anonymous";q=10;w=10'
        assert STATE.fullmatch(answer.headers["RateLimit"])
    assert told[-1].headers["RateLimit"].startswith('"anonymous";r=')


def test_an_action_is_never_refused_below_the_floor(platform: Platform, opened: Open) -> None:
    app = opened(requests=1, actions=1, address=1, anonymous=1, actions_floor=50)
    ada = player(platform, app)
    match = begun(platform, ada.id)
    caller(app, ADMIN).get("/v1/players/me", Authorization=f"Bearer {ada.key}")
    exhaust(lambda: caller(app).get("/v1/games"))
    exhaust(lambda: ada.get(f"/v1/matches/{match}/state"))
    assert statuses(50, lambda: ada.act(match, STEP)) == {200: 50}
    refused = exhaust(lambda: ada.act(match, STEP))
    assert refused.json["limit"] in ("actions", "address")
    check_refusal(refused, refused.json["limit"])


def begun(platform: Platform, player: str) -> str:
    """Begin a match of the test game that does not end soon, with both seats of one player."""
    match = play.create(platform, player, "tally", {"one": "me", "two": "me"}, {"target": 1_000_000}).match
    play.play(platform, match, "system", [{"type": "advance"}])
    return match


# ---------------------------------------------------------------- CPU time


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the milliseconds of CPU time that each request takes from now on, as the server measures it."""
    cost, used = 0.0, 0.0

    def takes(milliseconds: float) -> None:
        nonlocal cost
        cost = milliseconds / 1000

    def counted(*_: Any) -> None:
        nonlocal used
        used += cost

    monkeypatch.setattr("time.thread_time", lambda: used)
    monkeypatch.setattr("service.http.metrics.count", counted)
    return takes


def test_who_has_used_much_cpu_time_is_refused_and_nobody_else(platform: Platform, opened: Open, work: Callable[[float], None]) -> None:
    app = opened(cpu=1000, anonymous_cpu=1000, address_cpu=3000)
    ada, eve, stranger = player(platform, app), player(platform, app, "Eve"), caller(app)
    work(100)
    for one, limit in ((eve, "cpu"), (stranger, "anonymous_cpu")):
        assert statuses(10, lambda one=one: one.get("/v1/games")) == {200: 10}
        check_refusal(exhaust(lambda one=one: one.get("/v1/games")), limit)
    assert "Each address has 1000 milliseconds of CPU time in 10 seconds" in stranger.get("/v1/matches").json["detail"]
    assert ada.get("/v1/players/me").status_code == 200
    assert caller(app, address=f"{here}2").get("/v1/games").status_code == 200
    assert caller(app, ADMIN).get("/v1/games").status_code == 200
    assert stranger.get("/readyz").status_code == stranger.get("/metrics").status_code == 200


def test_all_callers_at_an_address_share_its_cpu_time(platform: Platform, opened: Open, work: Callable[[float], None]) -> None:
    app = opened(cpu=1000, address_cpu=3000)
    work(100)
    served, began = 0, time.monotonic()
    for number in range(6):
        one = player(platform, app, f"Player {number}")
        served += statuses(8, lambda one=one: one.get("/v1/players/me"))[200]
    assert 30 <= served <= 33 + 3 * (time.monotonic() - began)
    check_refusal(exhaust(lambda: player(platform, app).get("/v1/players/me")), "address_cpu")
    assert player(platform, app, address=f"{here}2").get("/v1/players/me").status_code == 200


def test_a_request_that_took_long_is_waited_for(opened: Open, work: Callable[[float], None]) -> None:
    app = opened(anonymous_cpu=1000)
    work(6000)
    assert caller(app).get("/v1/games").status_code == 200
    refused = caller(app).get("/v1/games")
    check_refusal(refused, "anonymous_cpu")
    assert 45 <= refused.json["retry_after"] <= 51, "six seconds come back in a minute, and one may be used at once"


def test_an_action_is_never_refused_below_the_floor_whatever_it_costs(
    platform: Platform, opened: Open, work: Callable[[float], None]
) -> None:
    app = opened(cpu=1000, anonymous_cpu=1000, address_cpu=1000, actions_floor=50)
    ada = player(platform, app)
    match = begun(platform, ada.id)
    work(500)
    exhaust(lambda: caller(app).get("/v1/games"))
    exhaust(lambda: ada.get(f"/v1/matches/{match}/state"))
    assert statuses(50, lambda: ada.act(match, STEP)) == {200: 50}
    assert exhaust(lambda: ada.act(match, STEP)).json["limit"] in ("cpu", "address_cpu")


@pytest.mark.parametrize(
    ("path", "measured"),
    [
        ("/v1/matches", 1), ("/v1/matches/{}", 1), ("/v1/matches/{}/frames", 1), ("/v1/games", 1), ("/m/{}", 1),
        ("/nothing", 1), ("/v1/matches/{}/entries?after=2&wait=1", 2), ("/v1/matches/{}/stream?seconds=0", 3),
        ("/v1/matches/{}/dossier", 3),
    ],
)  # fmt: skip
def test_every_request_is_charged_also_those_that_go_past_flask_and_what_is_sent_in_parts(
    platform: Platform, opened: Open, path: str, measured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`measured`: how often at least CPU time is measured, each time as five seconds."""
    app = opened(anonymous_cpu=1000)
    match = begun(platform, player(platform, app).id)
    used = count()
    monkeypatch.setattr("time.thread_time", lambda: next(used) * 5.0)
    answer = caller(app).get(path.format(match))
    assert answer.status_code in (200, 404)
    assert answer.data
    left = app.wsgi_app._throttle._anonymous_cpu.peek(here, 1000)
    assert -left > 50 * measured - 40, "five seconds come back in fifty"


def test_cpu_time_is_never_told(platform: Platform, opened: Open, work: Callable[[float], None]) -> None:
    """How long an answer takes may depend on what its reader must not know."""
    app = opened(anonymous_cpu=1000)
    work(190)
    for _ in range(5):
        answer = caller(app).get("/v1/games")
        assert answer.status_code == 200
        assert "RateLimit" not in answer.headers


def test_requests_at_the_same_moment_do_not_go_far_beyond_their_cpu_time(platform: Platform) -> None:
    """What has begun counts, once a caller has used half of the limit. Otherwise all would begin who come when some is back."""
    throttle = Throttle(platform.counters, {**NO_LIMITS, "cpu": 1000}, Addresses())
    throttle.charge_more(Payer("eve", here), 0.6)
    begun = [Payer("eve", here) for _ in range(100)]
    refused = [throttle.admit(payer, acts=False) is not None for payer in begun]
    assert 400 / DEPOSIT < refused.count(False) < 30
    for payer, waits in zip(begun, refused, strict=True):
        if not waits:
            throttle.charge(payer, 0.0)
    assert throttle.admit(Payer("eve", here), acts=False) is None
    assert throttle.admit(Payer("ada", here), acts=False) is None


def test_processes_learn_what_requests_have_cost_elsewhere(
    platform: Platform, another_platform: Callable[[], Platform], opened: Open, work: Callable[[float], None]
) -> None:
    here, there = opened(anonymous_cpu=1000), opened(another_platform(), anonymous_cpu=1000)
    work(600)
    assert statuses(2, lambda: caller(here).get("/v1/games")) == {200: 2}
    assert caller(there).get("/v1/games").status_code == 200
    within(20, lambda: caller(there).get("/v1/games").status_code == 429)


# ---------------------------------------------------------------- keys


@pytest.fixture
def asked(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The players that are looked up in the store, in turn."""
    found: list[str] = []
    look_up = type(platform.store.accounts).fields_of
    monkeypatch.setattr(type(platform.store.accounts), "fields_of", lambda self, id: found.append(id) or look_up(self, id))
    return found


def made_up(number: int) -> str:
    """Return a key with the form of a real one, which no service has made."""
    letter = ascii_lowercase[number % 26]
    return f"wl_p{letter * 16}_k{letter * 16}_{'A' * 43}"


def test_keys_that_nobody_has_made_are_refused_without_asking_the_store_and_lock_nobody_out(
    platform: Platform, another_platform: Callable[[], Platform], opened: Open, asked: list[str]
) -> None:
    here, there = opened(anonymous=30), opened(another_platform(), anonymous=30)
    ada = player(platform, here)
    altered = f"{ada.key[:-1]}{'A' if ada.key[-1] != 'A' else 'E'}"  # type: ignore[index]
    for app in (here, there):
        wrong = [caller(app, key).get("/v1/players/me").status_code for key in (altered, *map(made_up, range(26)))]
        assert set(wrong) <= {401, 429}, "the processes share a limit"
        exhaust(lambda app=app: caller(app, made_up(0)).get("/v1/players/me"))
    assert asked == []
    for app in (there, here):
        assert caller(app, ada.key).get("/v1/players/me").status_code == 200, "each process knows a key that was just made"
        exhaust(lambda app=app: caller(app, made_up(1)).get("/v1/players/me"))  # some time has passed, so a few are looked at
    assert asked[0] == ada.id
    assert set(asked) == {ada.id}


def test_a_process_whose_store_is_another_one_learns_its_secret(platform: Platform, servers: Servers, opened: Open) -> None:
    app = opened()
    assert player(platform, app).get("/v1/players/me").status_code == 200
    servers.keeper.flushall()
    ben = player(open_platform(platform.settings, ALL_GAMES), app, "Ben")
    assert ben.get("/v1/players/me").status_code == 200


def test_a_key_that_was_valid_is_still_looked_up(platform: Platform, servers: Servers) -> None:
    app = create_app(platform, Settings(log_requests=False, key_seconds=0.0))
    ada = player(platform, app)
    assert ada.get("/v1/players/me").status_code == 200
    servers.keeper.flushall()
    assert ada.get("/v1/players/me").status_code == 401


def test_only_a_valid_key_that_may_play_uses_up_what_its_player_has(platform: Platform, opened: Open) -> None:
    """Whoever has a key that was revoked, or that may only read, spends what his address has, and not the floor of the player."""
    app = opened(actions=5, actions_floor=50, requests=40, anonymous=60)
    ada = player(platform, app)
    match = begun(platform, ada.id)
    thieves = {}
    for number, scope in enumerate(("play", "read", "account", "referee"), 2):
        key = ada.post("/v1/players/me/keys", {"name": "x", "scopes": [scope]}).json["key"]
        thieves[scope] = caller(app, key, f"{here}{number}")
    revoked = thieves["play"]
    assert revoked.act(match, STEP).status_code == 200
    assert ada.ask("DELETE", f"/v1/players/me/keys/{revoked.get('/v1/players/me').json['key_id']}").status_code == 204
    for scope, thief in thieves.items():
        answers = statuses(60, lambda thief=thief: thief.act(match, STEP))
        assert answers == {401 if scope == "play" else 403: 60}
        check_refusal(exhaust(lambda thief=thief: thief.act(match, STEP)), "anonymous")
        check_refusal(exhaust(lambda thief=thief: thief.get(f"/v1/matches/{match}")), "anonymous")
    assert statuses(52, lambda: ada.act(match, STEP)) == {200: 52}
    assert ada.get(f"/v1/matches/{match}").status_code == 200


# ---------------------------------------------------------------- players and matches


def test_an_address_makes_so_many_players_in_all_processes_together(
    platform: Platform, another_platform: Callable[[], Platform], opened: Open
) -> None:
    apps = cycle([opened(players=10), opened(another_platform(), players=10)])
    answers = [caller(next(apps)).post("/v1/players", {"name": "Eve"}) for _ in range(20)]
    assert Counter(answer.status_code for answer in answers) == {201: 10, 429: 10}
    for answer in answers[10:]:
        check_refusal(answer, "players")
    assert answers[0].headers["RateLimit-Policy"] == '"players";q=10;w=3600'
    assert answers[0].headers["RateLimit"].startswith('"players";r=9;t=')
    app = next(apps)
    assert caller(app, ADMIN).post("/v1/players", {"name": "Ada"}).status_code == 201
    assert caller(app, address=f"{here}2").post("/v1/players", {"name": "Ada"}).status_code == 201
    assert caller(app, address="2001:db8::1").post("/v1/players", {"name": "Ada"}).status_code == 201
    found = [caller(app, address=f"2001:db8:0:1:{number:x}::1").post("/v1/players", {"name": "Eve"}).status_code for number in range(12)]
    assert found == [201] * 10 + [429] * 2


def test_a_player_creates_so_many_matches(platform: Platform, opened: Open) -> None:
    app = opened(matches=3, address_matches=5)
    ada, ben = player(platform, app, "Ada"), player(platform, app, "Ben")
    assert [ada.post("/v1/matches", TALLY).status_code for _ in range(3)] == [201] * 3
    check_refusal(ada.post("/v1/matches", TALLY), "matches")
    assert [ben.post("/v1/matches", TALLY).status_code for _ in range(2)] == [201] * 2
    check_refusal(ben.post("/v1/matches", TALLY), "address_matches")


def test_matches_in_which_levels_search_are_limited_per_address(platform: Platform, opened: Open) -> None:
    app = opened(address_searching_matches=2)
    ada, ben = player(platform, app, "Ada"), player(platform, app, "Ben")
    assert [ada.post("/v1/matches", body).status_code for body in (SEARCHED, REPLACED, TALLY)] == [201] * 3
    check_refusal(ben.post("/v1/matches", SEARCHED), "address_searching_matches")
    assert ben.post("/v1/matches", AI_ONLY).status_code == 201
    nonsense = {**REPLACED, "time_out": {"policy": "substitute", "level": ["strong"]}}
    assert ada.post("/v1/matches", nonsense).status_code == 422


@pytest.mark.parametrize(
    ("quota", "body"),
    [
        ("open_matches", OPEN),
        ("ai_matches", AI_ONLY),
        ("searching_matches", SEARCHED),
        ("searching_matches", REPLACED),
        ("short_clock_matches", SHORT),
        ("short_clock_matches", {**SHORT, "time_out": {"policy": "skip"}}),
        ("unfinished_matches", TALLY),
    ],
)
def test_a_creator_has_so_many_matches_at_a_time(platform: Platform, opened: Open, quota: str, body: Any) -> None:
    app = opened(**{quota: 3})
    ada, ben = player(platform, app, "Ada"), player(platform, app, "Ben")
    made = [ada.post("/v1/matches", body, Idempotency_Key=f"r{number}") for number in range(3)]
    assert [answer.status_code for answer in made] == [201] * 3
    check_refusal(ada.post("/v1/matches", body, Idempotency_Key="r3"), quota, "quota_reached")
    assert ada.post("/v1/matches", body, Idempotency_Key="r1").data == made[1].data
    assert ben.post("/v1/matches", body).status_code == 201
    if quota != "unfinished_matches":
        assert ada.post("/v1/matches", TALLY).status_code == 201
    rebuild(platform)
    check_refusal(ada.post("/v1/matches", body), quota, "quota_reached")


@pytest.mark.parametrize(
    "settings",
    [
        {"clock": {"kind": "per_action", "seconds": 60}},
        {"clock": {"kind": "days", "hours": 1}},
        {"clock": {"kind": "per_action", "seconds": 5}, "time_out": {"policy": "forfeit"}},
        {},
    ],
)
def test_a_match_that_stands_still_or_ends_without_its_players_has_no_short_clock(
    platform: Platform, opened: Open, settings: dict[str, Any]
) -> None:
    app = opened(short_clock_matches=1)
    ada = player(platform, app)
    assert [ada.post("/v1/matches", {**TALLY, **settings}).status_code for _ in range(2)] == [201, 201]
    for nonsense in ({"seconds": "5"}, "5", ["seconds"]):
        assert ada.post("/v1/matches", {**SHORT, "clock": nonsense}).status_code in (400, 422)


@pytest.mark.parametrize("limit", ["practice_matches", "forks"])
def test_a_player_forks_so_often_and_has_so_many_practice_matches(platform: Platform, opened: Open, limit: str) -> None:
    app = opened(**{limit: 2})
    ada, ben = player(platform, app, "Ada"), player(platform, app, "Ben")
    match = ada.post("/v1/matches", {**TALLY, "options": {"target": 10}}).json["id"]
    played_on(platform, match, random.Random(1), 1000)
    begun = next(number for number in range(2, 9) if recall.state_at(platform, match, number).to_act[:1] not in ([], ["system"]))
    fork = {"fork_of": match, "at": begun}
    assert [ada.post("/v1/matches", fork).status_code for _ in range(2)] == [201] * 2
    check_refusal(ada.post("/v1/matches", fork), limit, "quota_reached" if limit == "practice_matches" else "too_many_requests")
    assert ben.post("/v1/matches", fork).status_code == 201
    assert ada.post("/v1/matches", TALLY).status_code == 201


@pytest.mark.parametrize("limit", ["disputes", "disputed_matches"])
def test_a_player_disputes_so_often_and_so_many_matches(platform: Platform, opened: Open, limit: str) -> None:
    app = opened(**{limit: 2})
    ada, ben = player(platform, app, "Ada"), player(platform, app, "Ben")

    def begun(caller: Caller) -> str:
        match = str(caller.post("/v1/matches", TALLY).json["id"])
        play.play(platform, match, "system", [{"type": "advance"}])
        return match

    matches = [begun(ada) for _ in range(3)]
    dispute = {"version": 1, "text": "The die."}
    assert [ada.post(f"/v1/matches/{match}/disputes", dispute).status_code for match in matches[:2]] == [201] * 2
    check_refusal(
        ada.post(f"/v1/matches/{matches[2]}/disputes", dispute), limit, "quota_reached" if limit != "disputes" else "too_many_requests"
    )
    assert ben.post(f"/v1/matches/{begun(ben)}/disputes", dispute).status_code == 201
    if limit == "disputed_matches":
        assert ada.act(matches[2], {"type": "dispute", **dispute}).json["code"] == "quota_reached"
        rebuild(platform)
        assert ada.act(matches[0], {"type": "dispute", **dispute}).status_code == 200, "of the other seat; that match is counted already"
        assert ada.act(matches[1], {"type": "withdraw_dispute", "dispute": 1}).status_code == 200
        assert ada.post(f"/v1/matches/{matches[2]}/disputes", dispute).status_code == 201


def test_a_match_that_is_over_is_no_longer_counted(platform: Platform, opened: Open) -> None:
    app = opened(ai_matches=1, searching_matches=1, unfinished_matches=1)
    ada = player(platform, app)
    searched = {**AI_ONLY, "seats": {"one": "ai:random", "two": "ai:expert"}}
    match = ada.post("/v1/matches", {**searched, "options": {"target": 10}}).json["id"]
    check_refusal(ada.post("/v1/matches", AI_ONLY), "unfinished_matches", "quota_reached")
    played_on(platform, match, random.Random(1), 1000)
    assert platform.store.lists.sizes([f"{index}:{ada.id}" for index in ("ai", "searching", "unfinished")]) == [0, 0, 0]
    assert ada.post("/v1/matches", AI_ONLY).status_code == 201


def test_a_match_that_fills_is_no_longer_open(platform: Platform, opened: Open) -> None:
    app = opened(open_matches=1)
    ada, ben = player(platform, app, "Ada"), player(platform, app, "Ben")
    match = ada.post("/v1/matches", OPEN).json["id"]
    assert ada.post("/v1/matches", OPEN).status_code == 429
    take_seat(platform, match, ben.id, "two")
    assert ada.post("/v1/matches", OPEN).status_code == 201


def test_requests_at_the_same_moment_do_not_go_beyond_a_quota(platform: Platform, opened: Open) -> None:
    app = opened(open_matches=10)
    ada = player(platform, app)
    with ThreadPoolExecutor(16) as pool:
        answers = pool.map(lambda _: caller(app, ada.key).post("/v1/matches", OPEN).status_code, range(64))
        assert Counter(answers)[201] <= 10
    assert platform.store.lists.sizes([f"open:{ada.id}"])[0] <= 10
    while ada.post("/v1/matches", OPEN).status_code == 201:
        pass
    assert platform.store.lists.sizes([f"open:{ada.id}"]) == [10]


def test_without_the_queue_everything_is_served_and_still_limited(servers: Servers, platform: Platform, opened: Open) -> None:
    lonely = open_platform(platform.settings._replace(queue_url="unix:///nowhere.sock"), ALL_GAMES)
    app = opened(lonely, players=3, matches=2, anonymous=100)
    assert [caller(app).post("/v1/players", {"name": "Eve"}).status_code for _ in range(5)] == [201] * 3 + [429] * 2
    ada = player(platform, app)
    assert [ada.post("/v1/matches", TALLY).status_code for _ in range(3)] == [201, 201, 429]
    exhaust(lambda: caller(app).get("/v1/games"))
    lonely.close()


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "counted"),
    [
        ("", "203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.0/8", "203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.0/8", "10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.0/8", "10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.0/8", "10.0.0.1", "1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1"),
        ("10.0.0.0/8", "10.0.0.1", "10.0.0.7, 10.0.0.8", "10.0.0.7"),
        ("10.0.0.0/8", "10.0.0.1", "1.1.1.1, nonsense", "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", ",,,", "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", "1.1.1.1," * 500 + "198.51.100.1:4711", "198.51.100.1"),
        ("10.0.0.0/8,::1", "::1", "[2001:db8:1:2:3::4]:80", "2001:db8:1:2::/64"),
        ("10.0.0.0/8", "::ffff:10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"),
        ("", "2001:db8:1:2:ffff::1", None, "2001:db8:1:2::/64"),
        ("", "fe80::1%eth0", None, "fe80::/64"),
        ("", "", None, ""),
        ("10.0.0.0/8", "unix:", "198.51.100.1", "unix:"),
    ],
)
def test_the_address_is_the_last_that_no_trusted_proxy_has(trusted: str, peer: str, forwarded: str | None, counted: str) -> None:
    addresses = Addresses(networks([text for text in trusted.split(",") if text]))
    assert addresses.of({"REMOTE_ADDR": peer} | ({} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded})) == counted


def test_no_header_gives_a_client_another_address(platform: Platform, opened: Open) -> None:
    app = opened(anonymous=10)
    numbers = count()
    exhaust(lambda: caller(app).get("/v1/games", X_Forwarded_For=f"10.{next(numbers) % 256}.0.1", Forwarded="for=10.1.1.1"))
    behind = create_app(
        platform, Settings(log_requests=False, trusted_proxies=networks(["127.0.0.1"]), limits={**NO_LIMITS, "anonymous": 10})
    )
    proxy = caller(behind, address="127.0.0.1")
    assert statuses(40, lambda: proxy.get("/v1/games", X_Forwarded_For=f"10.{next(numbers) % 256}.0.2")) == {200: 40}
    exhaust(lambda: proxy.get("/v1/games", X_Forwarded_For=f"10.{next(numbers) % 256}.0.3, 198.51.100.1"))


# ---------------------------------------------------------------- what is published


def test_the_table_is_published_with_the_amounts_of_this_server(platform: Platform) -> None:
    amounts = {**AMOUNTS, "players": 0, "actions_floor": 50}
    app = create_app(platform, Settings(log_requests=False, limits=amounts, streams=7))
    answer = caller(app).get("/v1/limits")
    found = {row["name"]: row for row in answer.json["limits"]}
    assert list(found) == [limit.name for limit in LIMITS]
    assert found["players"]["amount"] is None
    assert (found["actions_floor"]["amount"], found["actions_floor"]["seconds"]) == (50, 10)
    assert found["streams"]["amount"] == 7
    assert found["list"]["amount"] == 50
    assert answer.headers["Cache-Control"].startswith("public")
    assert caller(app).get("/v1/limits", If_None_Match=answer.headers["ETag"]).status_code == 304


def test_the_page_of_the_docs_is_written_from_the_table() -> None:
    assert documents.OPERATING.read_text("utf-8") == dict(documents.files())[documents.OPERATING], "run `./run documents`"
    for limit in LIMITS:
        assert f"| `{limit.name}` |" in documents.OPERATING.read_text("utf-8")


def test_refusals_are_counted_by_limit_and_addresses_are_not_logged(platform: Platform, capfdbinary: Any) -> None:
    app = create_app(platform, Settings(log_requests=True, limits={**NO_LIMITS, "anonymous": 1}))
    stranger = caller(app, address="198.51.100.77")
    exhaust(lambda: stranger.get("/v1/games"))
    assert b'"code":"too_many_requests"' in (logged := capfdbinary.readouterr().out)
    assert b"198.51.100" not in logged
    text = stranger.get("/metrics").text
    assert '\nwarledger_limited_total{limit="anonymous"}' in text
    assert '\nwarledger_problems_total{code="too_many_requests"}' in text
    assert "198.51.100" not in text


# ---------------------------------------------------------------- servers of their own


def small(**amounts: int) -> dict[str, str]:
    """Return the environment of a server with some limits and no others."""
    return {str(limit.setting): str(amounts.get(limit.name, 0)) for limit in OWN}


def test_a_polite_player_goes_on_while_others_flood(platform: Platform, serve: Callable[..., Live]) -> None:
    live = serve(**small(anonymous=100, address=2000, requests=300, actions=100, actions_floor=100))
    ada, key = accounts.register(platform, "Ada")
    _, hostile = accounts.register(platform, "Eve")
    match = begun(platform, ada.id)
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"
    assert session.get(f"{live.url}/v1/players/me", timeout=5).ok
    ended = threading.Event()
    found: list[Counter[int]] = []

    def flood(method: str, path: str, **headers: str) -> None:
        counts: Counter[int] = Counter()
        line = requests.Session()
        while not ended.is_set():
            counts[line.request(method, live.url + path, headers=headers, timeout=30).status_code] += 1
        found.append(counts)

    floods = [
        ("GET", "/v1/matches", {}),
        ("GET", "/v1/matches", {"X-Forwarded-For": "198.51.100.1"}),
        ("GET", "/v1/players/me", {"Authorization": f"Bearer {made_up(0)}"}),
        ("GET", "/v1/players/me", {"Authorization": f"Bearer {hostile}"}),
        ("POST", f"/v1/matches/{match}/actions", {"Authorization": f"Bearer {hostile}", "Content-Type": "application/json"}),
    ]
    threads = [threading.Thread(target=flood, args=(method, path), kwargs=headers) for method, path, headers in floods]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    acted = [session.post(f"{live.url}/v1/matches/{match}/actions", json=STEP, timeout=30).status_code for _ in range(60)]
    ended.set()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    session.close()
    assert acted == [200] * 60
    answers = sum(found, Counter())
    assert answers[429] > 0
    served = answers.total() - answers[429]
    assert served <= 100 + 300 + 100 + 100 + (10 + 30 + 10 + 10 + 1) * seconds + 50
    assert answers[500] == answers[503] == 0


def test_two_web_processes_share_a_limit(platform: Platform, serve: Callable[..., Live]) -> None:
    lives = [serve(**small(requests=200)) for _ in range(2)]
    _, key = accounts.register(platform, "Eve")
    counts: list[int] = []

    def hammer(url: str) -> None:
        line = requests.Session()
        line.headers["Authorization"] = f"Bearer {key}"
        counts.append(sum(line.get(f"{url}/v1/players/me", timeout=30).status_code == 200 for _ in range(350)))

    began = time.monotonic()
    threads = [threading.Thread(target=hammer, args=(live.url,)) for live in lives]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fair = min(200 + 20 * (time.monotonic() - began), 700)
    assert min(counts) > 0
    assert fair * 0.9 <= sum(counts) <= fair * 1.35, (counts, fair)
