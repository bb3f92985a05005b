"""The port of a worker in a container of its own: whether it goes on, and its metrics."""

from __future__ import annotations

import argparse
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
import requests
from rq import SimpleWorker

from events.due import KINDS
from events.keeping.journal import Journal
from events.platform import Platform
from tests.conftest import Servers, within
from workers import journal, listening
from workers.listening import Life, add_option, listen
from workers.queues import worker


class Moments:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Moments:
    moments = Moments()
    monkeypatch.setattr(listening, "time", moments)
    return moments


def test_who_breaks_a_promise_hangs(clock: Moments) -> None:
    life = Life()
    clock.now += listening.START_SECONDS
    assert life.goes_on, "it is starting"
    life.promise(20)
    clock.now += 20 + listening.PATIENCE / 2
    assert life.goes_on
    clock.now += listening.PATIENCE
    assert not life.goes_on
    life.promise(1)
    assert life.goes_on


def test_a_worker_promises_as_long_as_its_job_may_take(clock: Moments, servers: Servers) -> None:
    life = Life()
    one = worker(servers.queue_url, list(KINDS), life)
    one.heartbeat()
    clock.now += one.worker_ttl + 1
    assert life.goes_on
    one.heartbeat(100)
    clock.now += 99
    assert life.goes_on
    clock.now += 100
    assert not life.goes_on


def test_a_worker_goes_on_while_its_queue_is_away(clock: Moments, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life()
    one = worker(servers.queue_url, list(KINDS), life)

    def away(*_: object) -> None:
        raise redis.ConnectionError

    monkeypatch.setattr(SimpleWorker, "heartbeat", away)
    clock.now += 1000
    with pytest.raises(redis.ConnectionError):
        one.heartbeat()
    assert life.goes_on, "it tries again, and starting it anew would not help"


@pytest.fixture
def life() -> Life:
    return Life()


@pytest.fixture
def url(life: Life) -> Iterator[str]:
    yield f"http://127.0.0.1:{listen(('127.0.0.1', 0), life, lambda: measured.append(''))}"
    measured.clear()


measured: list[str] = []


def test_the_port_answers_whether_the_worker_goes_on_and_its_metrics(url: str, life: Life) -> None:
    assert requests.get(f"{url}/healthz", timeout=5).status_code == 200
    counted = requests.get(f"{url}/metrics", timeout=5)
    assert counted.headers["Content-Type"].startswith("text/plain")
    assert "warledger_tickets_total" in counted.text
    assert measured == [""]
    assert requests.get(f"{url}/v1/matches", timeout=5).status_code == 404
    life.promise(-2 * listening.PATIENCE)
    assert requests.get(f"{url}/healthz", timeout=5).status_code == 503


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_the_port_may_be_one_of_ipv6(life: Life) -> None:
    assert requests.get(f"http://[::1]:{listen(('::1', 0), life)}/healthz", timeout=5).ok


def test_whoever_sends_nothing_holds_nobody_up(url: str) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))):
        assert requests.get(f"{url}/healthz", timeout=5).status_code == 200


def test_the_journal_shows_that_it_goes_on(platform: Platform, tmp_path: Path) -> None:
    life, stop = Life(), threading.Event()
    life.promise(-1000)
    kept = threading.Thread(target=journal.keep, args=(platform.store, Journal(tmp_path), stop, life))
    kept.start()
    within(20, lambda: life.goes_on)
    stop.set()
    kept.join(20)


@pytest.mark.parametrize(("text", "where"), [("0.0.0.0:9100", ("0.0.0.0", 9100)), (":9100", ("", 9100)), ("[::1]:80", ("::1", 80))])
def test_the_option(text: str, where: tuple[str, int]) -> None:
    parser = argparse.ArgumentParser()
    add_option(parser)
    assert parser.parse_args(["--listen", text]).listen == where


@pytest.mark.parametrize("text", ["9100", "host", "host:port", "host:99999"])
def test_other_options_are_refused(text: str) -> None:
    parser = argparse.ArgumentParser()
    add_option(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["--listen", text])
