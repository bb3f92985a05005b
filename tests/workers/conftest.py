"""A platform on servers of its own, and workers for it that may be killed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from events import embedded, recall
from events.audit import audit
from events.entries import parse
from events.platform import Platform, Settings, open_platform
from events.wire import StoreUnavailable
from games import GAMES
from tests.workers.toy import TOYS

ROOT = Path(__file__).parents[2]
TEN_SECONDS = 10.0
ANN = "p" + "a" * 16

Worker = subprocess.Popen[bytes]
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
    """Start a worker process: the module that is run, and the words that it is told."""
    hired: list[Worker] = []
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TOY_FOLDER": str(tmp_path),
        "WARLEDGER_REDIS_URL": lonely.settings.store_url,
        "WARLEDGER_QUEUE_URL": lonely.settings.queue_url,
    }

    def one(module: str = "tests.workers.toy", *words: str) -> Worker:
        hired.append(subprocess.Popen([sys.executable, "-m", module, *words], cwd=ROOT, env=environment, stderr=log))
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
    """The match was played by the rules, each version once, and nothing is owed to it."""
    report = audit(platform, match)
    assert report.ok, report.findings
    assert [parse(wire).version for wire in platform.store.read_all(match)] == list(range(1, report.versions + 1))
    assert platform.store.wire.ask("ZSCORE", platform.store.keys(match).due, match) is None
