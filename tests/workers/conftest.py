"""A platform on servers of its own, and workers for it that may be killed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from events import recall
from events.audit import audit
from events.due import KINDS
from events.errors import StoreUnavailable
from events.keeping import embedded
from events.platform import Platform, Settings, open_platform
from games import GAMES
from record.entries import parse
from tests import forks
from tests.workers.toy import TOYS
from tools.private import Running

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds for what must happen, on a machine as busy as may be. No claim of a test is about it."""
TEN_SECONDS = 10.0
ANN = "p" + "a" * 16
LOGGED = {"match", "version", "kind", "target", "actor", "first", "last", "ms", "event", "level", "at", "code", "waited_ms", "steps"}
"""The names that a worker may log."""

Worker = Running
Hire = Callable[..., Worker]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Platform, dict[str, embedded.Server]]]:
    """A platform on servers of its own, which may be killed."""
    servers = {
        embedded.STORE: embedded.start(tmp_path, embedded.STORE, "no"),
        embedded.QUEUE: embedded.start(tmp_path, embedded.QUEUE, "off"),
    }
    platform = open_platform(Settings(store_url=servers["store"].url, queue_url=servers["queue"].url, data=tmp_path), {**GAMES, **TOYS})
    yield platform, servers
    platform.close()
    for server in servers.values():
        server.stop()


@pytest.fixture
def lonely(place: tuple[Platform, dict[str, embedded.Server]]) -> Platform:
    return place[0]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[IO[bytes]]:
    with (tmp_path / "worker.log").open("wb") as file:
        yield file


@pytest.fixture
def hire(lonely: Platform, tmp_path: Path, log: IO[bytes]) -> Iterator[Hire]:
    """Start a worker process: a module, and its arguments."""
    hired: list[Worker] = []
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TOY_FOLDER": str(tmp_path),
        "WARLEDGER_REDIS_URL": lonely.settings.store_url,
        "WARLEDGER_QUEUE_URL": lonely.settings.queue_url,
        "WARLEDGER_KEYS": str(lonely.settings.keys_folder),
    }

    def one(module: str = "tests.workers.toy", *arguments: str) -> Worker:
        hired.append(forks.start(module, arguments, environment, err=log.fileno()))
        return hired[-1]

    yield one
    for worker in hired:
        worker.kill()
        worker.wait()


def version(platform: Platform, match: str) -> int:
    with contextlib.suppress(StoreUnavailable):
        return recall.position(platform, match).version
    return 0


def check(platform: Platform, match: str) -> None:
    """Check that the match was played by the rules, each version once, and that nothing is due."""
    report = audit(platform, match)
    assert report.ok, report.findings
    assert [parse(raw).version for raw in platform.store.log.read_all(match)] == list(range(1, report.versions + 1))
    assert members(platform, match) == {}


def members(platform: Platform, match: str) -> dict[str, int]:
    """Return the members of the index of what is due at once that name the match, with their moments."""
    found = platform.store.client.ask("ZRANGE", platform.store.keys.of(match).due, 0, -1, "WITHSCORES")
    return {
        member.decode(): int(moment)
        for member, moment in found
        if member.decode().split("|")[1] == match and KINDS[member.decode().split("|")[0]].at_once
    }
