"""CORS: what pages of other origins may send and read (docs/decisions/0102)."""

from __future__ import annotations

import pytest
import requests
from flask import Flask

from events.platform import Platform
from service.api.openapi import REQUEST_HEADERS
from service.api.routes import OPERATIONS
from service.app import create_app
from service.http.cors import OPEN
from service.http.limits import NO_LIMITS
from service.http.settings import Settings
from service.http.throttle import PROBES
from service.pages.routes import VIEWS
from tests.service.conftest import ADMIN, Caller, Live

ORIGIN = "https://play.example"
FOR_PEOPLE = {"/docs", "/docs/assets/<name>", "/favicon.ico", "/pyodide/<mark>/<name>", "/worker.js", *VIEWS} - {"/oembed"}


def opened(platform: Platform, *origins: str) -> Caller:
    """Return a client of the service, whose answers the pages of these origins may read."""
    return Caller(create_app(platform, Settings(admin_key=ADMIN, cors_origins=origins, log_requests=False)).test_client())


def preflight(
    caller: Caller, path: str, method: str = "POST", origin: str = ORIGIN, **more: str
) -> requests.structures.CaseInsensitiveDict[str]:
    """Ask as browsers do what a page may send. Return the headers of the answer."""
    answer = caller.client.open(path, method="OPTIONS", headers={"Origin": origin, "Access-Control-Request-Method": method, **more})
    assert (answer.status_code, answer.data) == (204, b"")
    return requests.structures.CaseInsensitiveDict(answer.headers)


def words(header: str) -> set[str]:
    """Return the words of a header."""
    return set(header.split(", "))


def test_pages_of_all_origins_may_read_by_default(anybody: Caller) -> None:
    answer = anybody.get("/v1/games", Origin=ORIGIN)
    assert answer.headers.getlist("Access-Control-Allow-Origin") == ["*"]
    exposed = words(answer.headers["Access-Control-Expose-Headers"])
    assert exposed >= {"ETag", "Location", "Retry-After", "RateLimit", "RateLimit-Policy", "X-Request-Id", "Deprecation", "Sunset"}


def test_a_cache_may_keep_an_answer_for_all_origins(anybody: Caller) -> None:
    one, other, none = (anybody.get("/v1/games", **headers) for headers in ({"Origin": ORIGIN}, {"Origin": "null"}, {}))
    for answer in (one, other, none):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "Origin" not in answer.headers.get("Vary", "")
    assert one.data == other.data == none.data


def test_no_answer_lets_browsers_send_credentials_of_their_own(anybody: Caller, ada: Caller, tally: str) -> None:
    answers = [ada.get(f"/v1/matches/{tally}", Origin=ORIGIN), ada.act(tally, {"type": "roll"}, Origin=ORIGIN), anybody.get("/")]
    assert preflight(anybody, "/v1/matches").get("Access-Control-Allow-Credentials") is None
    for answer in answers:
        assert not {"Access-Control-Allow-Credentials", "Set-Cookie"} & set(answer.headers.keys())


def test_what_pages_may_send_follows_from_the_operations(anybody: Caller) -> None:
    headers = preflight(anybody, "/v1/matches")
    assert words(headers["Access-Control-Allow-Methods"]) == {operation.method for operation in OPERATIONS}
    assert words(headers["Access-Control-Allow-Headers"]) == {*REQUEST_HEADERS, "Authorization", "Content-Type", "X-Request-Id"}
    assert int(headers["Access-Control-Max-Age"]) >= 600


def test_what_browsers_could_not_send_otherwise_is_not_allowed(anybody: Caller) -> None:
    allowed = preflight(anybody, "/v1/matches", **{"Access-Control-Request-Headers": "x-forwarded-for"})["Access-Control-Allow-Headers"]
    assert "*" not in allowed
    assert "forwarded" not in allowed.lower()


def test_every_address_is_open_unless_it_is_for_people_or_a_probe(app: Flask) -> None:
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    assert {rule for rule in rules if not rule.startswith(OPEN)} == (FOR_PEOPLE & rules) | set(PROBES)
    assert {rule for rule in FOR_PEOPLE if rule.startswith(OPEN)} == set()


@pytest.mark.parametrize("path", ["/", "/m/m234567abcdefghij", "/docs", "/metrics", "/healthz", "/nothing"])
def test_pages_for_people_and_probes_are_closed(anybody: Caller, path: str) -> None:
    assert not [name for name, _ in anybody.get(path, Origin=ORIGIN).headers if name.startswith("Access-Control")]
    assert not [name for name in preflight(anybody, path, "GET") if name.startswith("Access-Control")]


def test_pages_can_read_every_failure(
    platform: Platform, anybody: Caller, ada: Caller, tally: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    answers = [
        anybody.get("/v1/nothing", Origin=ORIGIN),
        anybody.ask("DELETE", "/v1/games", Origin=ORIGIN),
        anybody.post("/v1/matches", Origin=ORIGIN),
        anybody.get("/v1/games", Origin=ORIGIN, X_Padding="x" * 5000),
        ada.act(tally, {"type": "add", "by": 9, "stay": True}, Origin=ORIGIN),
        ada.act(tally, {"type": "add", "by": 1, "stay": True}, Origin=ORIGIN, If_Match='"1"'),
        ada.ask("POST", "/v1/matches", data=b"x" * 70_000, Origin=ORIGIN),
        ada.ask("POST", "/v1/players", data=b"x" * 70_000, Origin=ORIGIN),
    ]
    monkeypatch.setattr("events.recall.position", broken)
    answers += [ada.get(f"/v1/matches/{tally}/state", Origin=ORIGIN), anybody.get(f"/oembed?url=http://localhost/m/{tally}", Origin=ORIGIN)]
    assert [answer.status_code for answer in answers] == [404, 405, 401, 431, 422, 412, 413, 413, 500, 500]
    for answer in answers:
        assert answer.headers.getlist("Access-Control-Allow-Origin") == ["*"]
        assert answer.headers["Access-Control-Expose-Headers"]


def test_pages_can_read_that_a_limit_is_used_up_and_preflights_count_towards_none(platform: Platform) -> None:
    app = create_app(platform, Settings(log_requests=False, limits={**NO_LIMITS, "anonymous": 1}))
    caller = Caller(app.test_client())
    caller.client.environ_base["REMOTE_ADDR"] = "10.78.1.1"
    for _ in range(3):
        preflight(caller, "/v1/games", "GET")
    answers = [caller.get("/v1/games", Origin=ORIGIN) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    preflight(caller, "/v1/games", "GET")
    assert answers[1].headers["Access-Control-Allow-Origin"] == "*"
    assert "Retry-After" in words(answers[1].headers["Access-Control-Expose-Headers"])


def test_a_setting_names_the_origins_whose_pages_may_read(platform: Platform) -> None:
    caller = opened(platform, ORIGIN, "https://other.example")
    answers = {origin: caller.get("/v1/games", **({"Origin": origin} if origin else {})) for origin in (ORIGIN, "https://evil.example", "")}
    for origin, answer in answers.items():
        assert answer.headers.get("Access-Control-Allow-Origin") == (ORIGIN if origin == ORIGIN else None)
        assert "Origin" in answer.headers.getlist("Vary")
    assert preflight(caller, "/v1/matches")["Access-Control-Allow-Origin"] == ORIGIN
    refused = preflight(caller, "/v1/matches", origin="https://evil.example")
    assert {name for name in refused if name.startswith("Access-Control")} == set()
    assert "Origin" in refused["Vary"]


def test_only_a_named_origin_in_the_internet_may_reach_a_server_in_a_private_network(platform: Platform, anybody: Caller) -> None:
    asked = {"Access-Control-Request-Private-Network": "true"}
    allowed = "Access-Control-Allow-Private-Network"
    assert preflight(opened(platform, ORIGIN), "/v1/matches", **asked)[allowed] == "true"
    assert allowed not in preflight(opened(platform, ORIGIN), "/v1/matches")
    assert allowed not in preflight(anybody, "/v1/matches", **asked)


def test_none_closes_everything(platform: Platform) -> None:
    caller = opened(platform)
    answer = caller.get("/v1/games", Origin=ORIGIN)
    assert not [name for name in [*answer.headers.keys(), *preflight(caller, "/v1/games")] if name.startswith("Access-Control")]
    assert "Origin" not in answer.headers.getlist("Vary")


def test_answers_over_a_socket_have_the_headers_too_also_streams_and_what_fails(live: Live) -> None:
    origin = {"Origin": ORIGIN}
    key = requests.post(f"{live.url}/v1/players", json={"name": "Ada"}, headers=origin, timeout=10).json()["key"]
    with (
        requests.get(
            f"{live.url}/v1/players/me/stream", headers=origin | {"Authorization": f"Bearer {key}"}, stream=True, timeout=10
        ) as stream,
        requests.get(f"{live.url}/v1/matches/m234567abcdefghij/stream", headers=origin, stream=True, timeout=10) as missing,
        requests.post(f"{live.url}/v1/players", data=b"x" * 70_000, headers=origin, timeout=10) as large,
    ):
        assert [answer.status_code for answer in (stream, missing, large)] == [200, 404, 413]
        for answer in (stream, missing, large):
            assert answer.headers["Access-Control-Allow-Origin"] == "*"
            assert "X-Request-Id" in words(answer.headers["Access-Control-Expose-Headers"])
