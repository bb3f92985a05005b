"""A house on servers of its own, and workers for it that may be killed."""

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
from events.connect import House, Settings, open_house
from events.entries import parse
from events.wire import StoreDown
from games import GAMES
from tests.workers.toy import TOYS

ROOT = Path(__file__).parents[2]
TEN_SECONDS = 10.0
ANN = "p" + "a" * 16

Worker = subprocess.Popen[bytes]
Hire = Callable[..., Worker]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[House, dict[str, embedded.Server]]]:
    """A house on servers of its own, which may be killed."""
    servers = {
        embedded.STORE: embedded.start(tmp_path, embedded.STORE, "no"),
        embedded.QUEUE: embedded.start(tmp_path, embedded.QUEUE, "off"),
    }
    house = open_house(Settings(store_url=servers["store"].url, queue_url=servers["queue"].url, data=tmp_path), {**GAMES, **TOYS})
    yield house, servers
    house.close()
    for server in servers.values():
        server.stop()


@pytest.fixture
def lonely(place: tuple[House, dict[str, embedded.Server]]) -> House:
    return place[0]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[IO[bytes]]:
    with (tmp_path / "worker.log").open("wb") as file:
        yield file


@pytest.fixture
def hire(lonely: House, tmp_path: Path, log: IO[bytes]) -> Iterator[Hire]:
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


def version(house: House, match: str) -> int:
    with contextlib.suppress(StoreDown):
        return recall.position(house, match).version
    return 0


def check(house: House, match: str) -> None:
    """The match was played by the rules, each version once, and nothing is owed to it."""
    report = audit(house, match)
    assert report.ok, report.findings
    assert [parse(wire).version for wire in house.store.read_all(match)] == list(range(1, report.versions + 1))
    assert house.store.wire.ask("ZSCORE", house.store.keys(match).due, match) is None
