"""The head of a request: its parts are bounded, and no parser of them takes more than linear time."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from urllib.parse import urlsplit

import pytest
from flask import Flask

from events.platform import Platform
from service.app import create_app
from service.http.responses import prefers
from service.http.settings import Settings
from tests.service.conftest import ADMIN, Caller, Live

SHORT, LONG = 8_000, 32_000
STEEPEST = 8.0  # four times the size takes four times as long if the time is linear, sixteen times if it is quadratic
FRAGMENTS = [
    " ",
    "\t ",
    "a",
    "a ",
    ",",
    ";",
    "; ",
    '"',
    "\\",
    '\\"',
    "a=",
    "=",
    "*1",
    "*",
    "/",
    "W/",
    '"a",',
    "%22",
    "a/b,",
    "&",
    "a&",
    "%",
    "+",
    "1",
]
STARTS = {
    "Accept": "a/b",
    "If-None-Match": '"1"',
    "Content-Type": "application/json;",
    "Content-Encoding": "gzip",
    "Authorization": "Bearer x",
    "Idempotency-Key": "x",
    "If-Match": '"1',
    "Last-Event-ID": "1",
    "X-Request-Id": "x",
    "Origin": "https://x",
    "Range": "bytes=0-",
    "If-Modified-Since": "Sun, 06 Nov 1994 08:49:37",
    "Cookie": "a=b",
    "Host": "x",
}
TARGETS = {"Accept": "state", "If-None-Match": "state", "Last-Event-ID": "stream?seconds=0", "Content-Type": "actions"}


@pytest.fixture
def boundless(platform: Platform) -> Caller:
    """The service without a bound on the parts of a head."""
    app = create_app(platform, Settings(admin_key=ADMIN, header_limit=10**9, log_requests=False))
    return Caller(app.test_client(use_cookies=False), ADMIN)


def seconds(caller: Caller, method: str, path: str, headers: dict[str, str]) -> float:
    """Return the time that the processor spends on a request."""
    began = time.process_time()
    caller.client.open(path, method=method, headers=headers, data=b"{}" if method == "POST" else None)
    return time.process_time() - began


def steep(short: Callable[[], float], long: Callable[[], float]) -> tuple[float, float] | None:
    """Return the shortest times of both requests if the long one is too slow each of three times, or None."""
    times = []
    for _ in range(3):
        times.append((short(), long()))
        if min(one for _, one in times) < STEEPEST * min(one for one, _ in times):
            return None
    return min(one for one, _ in times), min(one for _, one in times)


@pytest.mark.parametrize("header", STARTS)
def test_four_times_the_header_takes_no_sixteen_times_as_long(boundless: Caller, tally: str, header: str) -> None:
    """Without the bound, so that the parsers themselves are measured. Two paths serve most headers: a match, and a page's asset."""
    target = TARGETS.get(header)
    paths = [f"/v1/matches/{tally}/{target}"] if target else [f"/v1/matches/{tally}/actions", "/docs/assets/swagger-ui.css"]
    for path in paths:
        method = "POST" if path.endswith("actions") else "GET"
        for fragment in FRAGMENTS:
            fixed = {"Authorization": f"Bearer {ADMIN}", "Content-Type": "application/json"}
            sent = [fixed | {header: STARTS[header] + fragment * (size // len(fragment)) + "x"} for size in (SHORT, LONG)]
            asks = [partial(seconds, boundless, method, path, headers) for headers in sent]
            assert (path, fragment, steep(*asks)) == (path, fragment, None)


def test_four_times_the_query_takes_no_sixteen_times_as_long(boundless: Caller, tally: str) -> None:
    for start, fragment in product(("", "at="), FRAGMENTS):
        sent = [f"/v1/matches/{tally}/state?{start}{fragment * (size // len(fragment))}x" for size in (SHORT, LONG)]
        asks = [partial(seconds, boundless, "GET", path, {}) for path in sent]
        assert (start, fragment, steep(*asks)) == (start, fragment, None)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/games"), ("HEAD", "/healthz"), ("GET", "/nothing"), ("POST", "/v1/matches/{}/actions")]
)
def test_a_header_over_the_limit_is_431(app: Flask, tally: str, settings: Settings, method: str, path: str) -> None:
    client = app.test_client(use_cookies=False)
    for header in STARTS:
        refused = client.open(path.format(tally), method=method, headers={header: "x" * (settings.header_limit + 1)})
        assert (header, refused.status_code) == (header, 431)
        assert refused.mimetype == "application/problem+json"
        assert "X-Request-Id" in refused.headers
        if method == "HEAD":
            assert refused.data == b""
        else:
            assert refused.json["code"] == "header_too_large"
            assert f"The header {header.title()} is longer than {settings.header_limit} bytes." == refused.json["detail"]
            assert len(refused.data) < 400


def test_a_header_at_the_limit_is_read(ada: Caller, settings: Settings) -> None:
    assert ada.get("/v1/games", User_Agent="x" * settings.header_limit).status_code == 200
    assert ada.get("/v1/games", Accept="x" * settings.header_limit).status_code == 200


def test_a_long_name_of_a_header_is_not_repeated(ada: Caller, settings: Settings) -> None:
    refused = ada.client.get("/v1/games", headers={"X-" + "y" * 9000: "z" * (settings.header_limit + 1)})
    assert (refused.status_code, refused.json["code"]) == (431, "header_too_large")
    assert len(refused.data) < 400


def test_a_path_or_query_over_the_limit_is_414(ada: Caller, tally: str, settings: Settings) -> None:
    long = "x" * (settings.header_limit + 1)
    for path in (f"/v1/games/{long}", f"/v1/matches/{tally}/state?{long}", f"/v1/matches?{'a&' * settings.header_limit}"):
        refused = ada.get(path)
        assert (refused.status_code, refused.json["code"]) == (414, "address_too_long")
        assert len(refused.data) < 400


@pytest.mark.parametrize(
    ("accept", "text"),
    [
        (None, False),
        ("", False),
        ("*/*", False),
        ("text/plain", True),
        ("TEXT/Plain", True),
        ("text/*", True),
        ("text/plain, application/json", False),
        ("text/plain;q=0.9, application/json;q=0.8", True),
        ("text/plain; charset=utf-8; q=0.9, application/json; q=0.8", True),
        ("text/plain;Q=0.9 , application/*;q=0.91", False),
        ("application/json;q=0, */*", True),
        ("text/plain;q=0, */*;q=0.1", False),
        ("text/*;q=0.1, text/plain;q=0.9, */*;q=0.5", True),
        ("text/plain;q=2", False),
        ("text/plain;q=nan, */*", False),
        ("text/plain;q=-1", False),
        ("text/plain;q", False),
        ("text/plain;q=0.1234, application/json;q=0.1", False),
        ("text/html, */*;q=0.1", False),
    ],
)
def test_accept_prefers_the_more_specific_range_and_then_json(accept: str | None, text: bool) -> None:
    assert prefers(accept, "text/plain") is text


@pytest.mark.parametrize(("lines", "size", "status"), [(50, 1000, b"200"), (50, 4000, b"431"), (400, 1000, b"431")])
def test_the_server_bounds_the_whole_head(live: Live, platform: Platform, lines: int, size: int, status: bytes) -> None:
    """Granian answers a head that is far too long by itself and closes the connection, perhaps before the client has sent the rest."""
    parts = urlsplit(live.url)
    answer = b""
    with socket.create_connection((parts.hostname, parts.port), 5) as line, suppress(ConnectionError):
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        for number in range(lines):
            line.sendall(b"X-%d: %b\r\n" % (number, b"y" * size))
        line.sendall(b"\r\n")
        answer = line.recv(65_536)
    assert answer.split(b" ", 2)[1:2] == [status] or (status == b"431" and not answer)
