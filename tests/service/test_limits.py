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

from events import accounts, play
from events.platform import Platform, open_platform
from events.rebuild import rebuild
from service.app import create_app
from service.http import known_keys
from service.http.addresses import Addresses, networks
from service.http.limits import AMOUNTS, LIMITS, NO_LIMITS, OWN
from service.http.settings import Settings
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
REPLACED = {**TALLY, "clock": {"kind": "per_action", "seconds": 60}, "time_out": {"policy": "substitute", "level": "expert"}}

STEP = {"type": "add", "by": 1, "stay": True}

Open = Callable[..., Any]


@pytest.fixture
def opened(platform: Platform) -> Open:
    """Open the service with some limits and no others."""

    def open_with(own: Platform | None = None, **amounts: int) -> Any:
        return create_app(own or platform, Settings(admin_key=ADMIN, log_requests=False, limits={**NO_LIMITS, **amounts}))

    return open_with


def caller(app: Any, key: str | None = None, address: str = "127.0.0.1") -> Caller:
    """Return a client of an application that sends from an address."""
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = address
    return Caller(client, key)


def player(platform: Platform, app: Any, name: str = "Ada", address: str = "127.0.0.1") -> Caller:
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
    assert caller(app, address="127.0.0.2").get("/v1/matches").status_code == 200
    assert caller(app, ADMIN).get("/v1/matches").status_code == 200
    assert stranger.get("/healthz").status_code == stranger.get("/readyz").status_code == 200


def test_probes_have_a_limit_of_their_own(opened: Open) -> None:
    app = opened(anonymous=1, probes=5)
    assert statuses(5, lambda: caller(app).get("/readyz")) == {200: 5}
    check_refusal(exhaust(lambda: caller(app).get("/readyz")), "probes")
    check_refusal(exhaust(lambda: caller(app).get("/metrics")), "probes")
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


# ---------------------------------------------------------------- wrong keys


def test_wrong_keys_are_refused_before_the_store_is_asked_and_right_ones_go_on(
    platform: Platform, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(wrong_keys=3)
    ada, ben = player(platform, app, "Ada"), player(platform, app, "Ben")
    assert ada.get("/v1/players/me").status_code == 200
    wrong = [caller(app, f"wl_p{letter * 16}_k{letter * 16}_{'A' * 43}") for letter in ascii_lowercase[:20]]
    assert [one.get("/v1/players/me").status_code for one in wrong[:3]] == [401] * 3
    asked = []
    find = type(platform.store.accounts).fields_of
    monkeypatch.setattr(type(platform.store.accounts), "fields_of", lambda self, id: asked.append(id) or find(self, id))
    for one in wrong:
        check_refusal(one.get("/v1/players/me"), "wrong_keys")
        check_refusal(one.get("/v1/matches"), "wrong_keys")
    check_refusal(ben.get("/v1/players/me"), "wrong_keys")
    assert asked == []
    assert ada.get("/v1/players/me").status_code == 200
    assert caller(app, ADMIN).get("/v1/players/me").status_code == 200
    assert caller(app, ben.key, "127.0.0.2").get("/v1/players/me").status_code == 200
    assert ben.get("/v1/players/me").status_code == 200, "now the process knows the key"
    assert caller(app).get("/v1/matches").status_code == 200


def test_a_key_that_one_process_knows_is_known_to_all(
    platform: Platform, another_platform: Callable[[], Platform], opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_keys, "LEARN_SECONDS", 0.0)
    here, there = opened(wrong_keys=2, anonymous=10), opened(another_platform(), wrong_keys=2, anonymous=10)
    ada, ben = player(platform, here, "Ada"), player(platform, there, "Ben")
    assert ada.get("/v1/players/me").status_code == 200
    for number in range(3):
        caller(there, f"wl_{number}").get("/v1/players/me")
    within(20, lambda: caller(there, ada.key).get("/v1/players/me").status_code == 200)
    exhaust(lambda: caller(there).get("/v1/games"))
    assert ben.get("/v1/players/me").status_code == 429
    assert caller(there, ada.key).get("/v1/players/me").status_code == 200


def test_so_many_known_keys_are_kept_and_no_wrong_ones(servers: Servers, platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_keys, "MOST", 50)
    monkeypatch.setattr(known_keys, "LEARN_SECONDS", 0.0)
    here, there = (known_keys.KnownKeys(platform.counters, lambda: None) for _ in range(2))
    for number in range(200):
        here.add(f"wl_{number}", f"p{number}")
        assert here.owner("wl_wrong") is None
    assert len(here._owners) == 50
    assert (here.owner("wl_199"), here.owner("wl_149")) == ("p199", None)
    here.settle()
    assert servers.queue.zcard("{limits}:met") <= 50
    assert b"wl_199" not in b"".join(servers.queue.zrange("{limits}:met", 0, -1))
    there.learn()
    assert there.owner("wl_199") == "p199"
    assert len(there._owners) <= 50


def test_a_key_that_is_known_is_still_looked_up(platform: Platform, servers: Servers) -> None:
    app = create_app(platform, Settings(log_requests=False, key_seconds=0.0))
    ada = player(platform, app)
    assert ada.get("/v1/players/me").status_code == 200
    servers.keeper.flushall()
    assert ada.get("/v1/players/me").status_code == 401


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
    assert caller(app, address="127.0.0.2").post("/v1/players", {"name": "Ada"}).status_code == 201
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
    assert statuses(40, lambda: caller(behind).get("/v1/games", X_Forwarded_For=f"10.{next(numbers) % 256}.0.2")) == {200: 40}
    exhaust(lambda: caller(behind).get("/v1/games", X_Forwarded_For=f"10.{next(numbers) % 256}.0.3, 198.51.100.1"))


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
    live = serve(**small(anonymous=100, address=2000, requests=300, actions=100, actions_floor=100, wrong_keys=5))
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
        ("GET", "/v1/players/me", {"Authorization": "Bearer wl_wrong"}),
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
