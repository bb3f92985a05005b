"""The service over a real store: in this process for most tests, in a server of its own where sockets matter."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from events import play, recall
from events.platform import Platform
from games.kernel import Game, any_action
from service.api import docs, openapi
from service.app import create_app
from service.http.limits import AMOUNTS
from service.http.metrics import streams
from service.http.settings import Settings
from tests import forks
from tests.conftest import Servers, within
from tests.service import conformance
from tools.private import Running

ADMIN = "the-admin-key-of-the-tests-of-the-service"
ROOT = Path(__file__).parents[2]


def streams_open() -> float:
    """Return the number of streams and long polls that are open in this process, in every application of it."""
    gc.collect()  # ends those that earlier tests have dropped
    return float(next(iter(streams.collect())).samples[0].value)


class Caller:
    """A client of the service, with a key or without."""

    def __init__(self, client: FlaskClient, key: str | None = None, id: str = "") -> None:
        self.client = client
        self.key = key
        self.id = id

    def ask(self, method: str, path: str, body: Any = None, /, data: bytes | None = None, **headers: str) -> TestResponse:
        """Send a request, and check the answer against openapi.yaml. Names of headers have underscores here."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.key is not None:
            given.setdefault("Authorization", f"Bearer {self.key}")
        if body is not None:
            data = orjson.dumps(body)
        if data is not None:
            given.setdefault("Content-Type", "application/json")
        answer = self.client.open(path, method=method, data=data, headers=given)
        conformance.check(method, path, answer)
        return answer

    def get(self, path: str, **headers: str) -> TestResponse:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> TestResponse:
        return self.ask("POST", path, {} if body is None else body, **headers)

    def act(self, match: str, action: Any, query: str = "", **headers: str) -> TestResponse:
        return self.ask("POST", f"/v1/matches/{match}/actions{query}", action, **headers)


@pytest.fixture(scope="session", autouse=True)
def _the_api_is_described_once() -> Iterator[None]:
    """Each application builds its description at the first request for it, which takes a second, and many have the same games."""
    described, in_yaml = openapi.described, docs.in_yaml
    descriptions: dict[tuple[int, ...], Any] = {}
    texts: dict[int, str] = {}

    def described_once(games: Mapping[str, Game]) -> Any:
        key = tuple(map(id, games.values()))
        if key not in descriptions:
            descriptions[key] = described(games), games  # which keeps the ids
        return descriptions[key][0]

    def in_yaml_once(description: Any) -> str:
        if id(description) not in texts:
            texts[id(description)] = in_yaml(description)
        return texts[id(description)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.app.described", described_once)
        patch.setattr(docs, "in_yaml", in_yaml_once)
        yield


@pytest.fixture(autouse=True)
def _soak_asks_for_every_drawing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("soak"):
        monkeypatch.setattr("tests.service.secrecy.DRAWN", 1)
        monkeypatch.setattr("tests.service.secrecy.ACTED", 1_000_000)


@pytest.fixture
def settings() -> Settings:
    """Settings without limits on what a test does more often than people: those of CPU time and of disputes."""
    limits = {**AMOUNTS, "cpu": 0, "anonymous_cpu": 0, "address_cpu": 0, "disputes": 0}
    return Settings(admin_key=ADMIN, log_requests=False, comment_seconds=0.2, wait_limit=5.0, streams=8, limits=limits)


@pytest.fixture
def app(platform: Platform, settings: Settings) -> Flask:
    return create_app(platform, settings)


@pytest.fixture
def anybody(app: Flask) -> Caller:
    return Caller(app.test_client())


@pytest.fixture
def admin(app: Flask) -> Caller:
    return Caller(app.test_client(), ADMIN)


@pytest.fixture
def join(app: Flask, admin: Caller) -> Callable[..., Caller]:
    """Create a player, or a referee."""

    def joined(name: str = "Ada", role: str = "player") -> Caller:
        made = admin.post("/v1/players", {"name": name, "role": role})
        assert made.status_code == 201
        return Caller(app.test_client(), made.json["key"], made.json["id"])

    return joined


@pytest.fixture
def ada(join: Callable[..., Caller]) -> Caller:
    return join("Ada")


@pytest.fixture
def ben(join: Callable[..., Caller]) -> Caller:
    return join("Ben")


@pytest.fixture
def cleo(join: Callable[..., Caller]) -> Caller:
    return join("Cleo")


@pytest.fixture
def referee(join: Callable[..., Caller]) -> Caller:
    return join("Rex", "referee")


@pytest.fixture
def tally(platform: Platform, ada: Caller, ben: Caller) -> str:
    """A match of the test game between Ada (one) and Ben (two), without a clock. Ada is to act."""
    body = {"game": "tally", "seats": {"one": "me", "two": "open"}, "options": {"target": 30}, "clock": {"kind": "none"}}
    match = ada.post("/v1/matches", body).json["id"]
    assert ben.post(f"/v1/matches/{match}/seats/two").status_code == 200
    play.play(platform, match, "system", [{"type": "advance"}])
    return match


def played_on(platform: Platform, match: str, dice: random.Random, steps: int) -> None:
    """Play random legal actions, including those of the system."""
    for _ in range(steps):
        position = recall.position(platform, match)
        if not position.to_act:
            return
        actor = position.to_act[0]
        action = any_action(platform.games[position.game], position.document, actor, dice.randrange)
        play.play(platform, match, actor, [action])


def worlds(platform: Platform, ada: Caller, ben: Caller, steps: int = 12, **more: Any) -> str:
    """Begin a match of War of the Worlds, Ada with the aliens and Ben with the humans, and play some actions of it.

    `more`: further members of the request, such as `clock`.
    """
    made = ada.post("/v1/matches", {"game": "war_of_the_worlds", "seats": {"aliens": "me", "humans": "open"}, **more})
    match = str(made.json["id"])
    assert ben.post(f"/v1/matches/{match}/seats/humans").status_code == 200
    played_on(platform, match, random.Random(4), steps)
    return match


class Live(NamedTuple):
    """A server in a process of its own."""

    url: str
    process: Running


@pytest.fixture(scope="module")
def serve(servers: Servers) -> Iterator[Callable[..., Live]]:
    """Start the service under granian, on the same store and queue, until the file's last test has ended."""
    with serving(servers) as served:
        yield served


@pytest.fixture(scope="session")
def live(servers: Servers) -> Iterator[Live]:
    servers.empty()  # an earlier test may have emptied it, also of its mark, and written more
    with serving(servers) as served:
        yield served()


@contextlib.contextmanager
def serving(servers: Servers) -> Iterator[Callable[..., Live]]:
    """Return a function that starts a server. All end with the block."""
    started: list[Running] = []

    def served(app: str = "tests.service.serving:create", **environment: str) -> Live:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        settings = {
            "WARLEDGER_REDIS_URL": servers.store_url,
            "WARLEDGER_QUEUE_URL": servers.queue_url,
            "WARLEDGER_ADMIN_KEY": ADMIN,
            "WARLEDGER_LOG_REQUESTS": "0",
            "WARLEDGER_COMMENT_SECONDS": "0.5",
            "WARLEDGER_KEYS": str(servers.data / "keys"),
            **environment,
        }
        process = forks.start("service.supervisor.web", ["--port", str(port), "--application", app], {**os.environ, **settings})
        started.append(process)
        url = f"http://127.0.0.1:{port}"
        within(60, lambda: _up(url))
        return Live(url, process)

    try:
        yield served
    finally:
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            process.wait(20)


def _up(url: str) -> bool:
    try:
        return requests.get(url + "/readyz", timeout=2).ok
    except requests.RequestException:
        return False
