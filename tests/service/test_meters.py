"""Meters count in memory, settle with other processes, and cannot be filled or emptied by strangers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import structlog

from events.store.queue.counters import Addition, Counters
from events.telemetry import logs
from service.http import meters
from service.http.limits import Limit
from service.http.meters import MOST, Meter
from tests.conftest import Servers, within

LIMIT = Limit("tries", "player", 40, 10, "requests", "Tries.")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def counters(servers: Servers) -> Iterator[Counters]:
    servers.queue.flushall()
    opened = Counters(servers.queue_url)
    yield opened
    opened.close()


def meter(clock: Clock, counters: Counters, amount: int = 40) -> Meter:
    return Meter(LIMIT, amount, counters, lambda: None, clock)


def allowed(meter: Meter, subject: str, tries: int) -> int:
    return sum(meter.spend(subject) >= 0 for _ in range(tries))


def test_a_limit_may_be_used_at_once_and_comes_back_evenly(clock: Clock, counters: Counters) -> None:
    tries = meter(clock, counters)
    assert allowed(tries, "ada", 100) == 40
    assert allowed(tries, "ben", 100) == 40
    clock.now += 1
    assert allowed(tries, "ada", 100) == 4
    clock.now += 100
    assert allowed(tries, "ada", 100) == 40


def test_who_waits_as_told_is_allowed_and_no_sooner(clock: Clock, counters: Counters) -> None:
    tries = meter(clock, counters)
    allowed(tries, "ada", 40)
    refused = tries.spend("ada")
    assert refused < 0
    clock.now -= refused * 0.9
    assert tries.spend("ada") < 0
    clock.now -= refused * 0.1 - 1e-6
    assert tries.spend("ada") >= 0
    assert tries.used(tries.spend("ada"))[1:] == (40, 0, 1, True)


def test_nobody_fills_the_memory_or_gets_rid_of_a_full_account(clock: Clock, counters: Counters) -> None:
    tries = meter(clock, counters)
    allowed(tries, "hostile", 40)
    for number in range(3 * MOST):
        tries.spend(f"2001:db8:0:{number:x}::/64")
        assert len(tries._back) <= MOST
        assert len(tries._unsettled) <= MOST
    assert tries.spend("hostile") < 0
    clock.now += 60
    for number in range(MOST):
        tries.spend(f"another {number}")
    assert len(tries._back) <= MOST
    assert tries.spend("hostile") >= 0


def test_processes_learn_what_others_have_counted(clock: Clock, counters: Counters) -> None:
    here, there = meter(clock, counters), meter(clock, counters)
    assert allowed(here, "ada", 30) == allowed(there, "ada", 30) == 30
    for each in (here, there, here):
        assert each.settle()
    assert allowed(here, "ada", 5) == allowed(there, "ada", 5) == 0
    clock.now += 6  # 60 were counted in all, of which 24 have come back; the counters run on a clock of their own
    assert allowed(here, "ada", 100) == 4


def test_a_wall_clock_that_is_set_back_keeps_nobody_out(counters: Counters, servers: Servers) -> None:
    hour = 3_600_000
    counters.add([Addition("tries:ada", 5.0)])
    wall, behind = servers.queue.get("{limits}:clock").split()  # what is stored becomes what had been stored an hour later
    servers.queue.set("{limits}:clock", f"{float(wall) + hour} {float(behind)}")
    servers.queue.set("{limits}:tries:ada", float(servers.queue.get("{limits}:tries:ada")) + hour)
    for _ in range(2):
        ((held),) = counters.add([Addition("tries:ada", 0.0)]) or []
        assert held[1] == pytest.approx(5.0, abs=0.5)


def test_what_was_counted_during_a_settlement_is_not_lost(clock: Clock, counters: Counters, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = meter(clock, counters)
    allowed(tries, "ada", 10)
    added = Counters.add

    def slow(self: Counters, additions: list[Addition]) -> object:
        allowed(tries, "ada", 10)
        return added(self, additions)

    monkeypatch.setattr(Counters, "add", slow)
    tries.settle()
    monkeypatch.undo()
    assert allowed(tries, "ada", 100) == 20
    tries.settle()
    ((held),) = counters.add([Addition("tries:ada", 0.0)]) or []
    assert held[1] == pytest.approx(10.0, abs=0.5)


def test_who_uses_little_is_not_settled(clock: Clock, counters: Counters, servers: Servers) -> None:
    tries = meter(clock, counters, 1000)
    for number in range(500):
        tries.spend(f"10.0.0.{number}")
    assert not tries.settle()
    assert servers.queue.keys("{limits}*") == []


def test_without_the_server_each_process_counts_alone_and_tells_later(clock: Clock, counters: Counters, servers: Servers) -> None:
    away = Counters("unix:///nowhere.sock")
    tries = meter(clock, away)
    assert allowed(tries, "ada", 100) == 40
    assert tries.settle()
    assert tries.spend("ada") < 0
    tries._counters = counters
    tries.settle()
    assert servers.queue.keys("{limits}:tries*") == [b"{limits}:tries:ada"]
    assert 0 < servers.queue.pttl("{limits}:tries:ada") <= 10_001


def test_settlement_starts_by_itself_and_ends(counters: Counters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meters, "SETTLE_SECONDS", 0.05)
    settlement = meters.Settlement()
    here, there = (Meter(LIMIT, 40, counters, settlement.notify) for _ in range(2))
    settlement.over([here, there])
    allowed(here, "ada", 40)
    deadline = threading.Event()
    while there.peek("ada") >= 0 and not deadline.wait(0.02):
        there.spend("ada")
    assert there.spend("ada") < 0
    here._unsettled.clear()
    there._unsettled.clear()
    thread = settlement._thread
    assert thread is not None
    thread.join(10)
    assert settlement._thread is None


def test_settlement_goes_on_after_an_error_that_nobody_expected(
    counters: Counters, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(meters, "SETTLE_SECONDS", 0.02)
    monkeypatch.setattr(meters, "log", structlog.get_logger("service"))  # an earlier test may have bound the module's to another stream
    logs.configure("stdout")
    settlement = meters.Settlement()
    here, there = (Meter(LIMIT, 40, counters, settlement.notify) for _ in range(2))
    add, failed = counters.add, threading.Event()

    def failing(additions: list[Addition]) -> object:
        if failed.is_set():
            return add(additions)
        failed.set()
        raise KeyError("ada")

    monkeypatch.setattr(counters, "add", failing)
    settlement.over([here, there])
    allowed(here, "ada", 40)
    assert failed.wait(20)
    there.spend("ada")
    within(20, lambda: there.peek("ada") < 0 or there.spend("ada") < 0)
    lines = b""

    def said() -> bool:
        nonlocal lines
        lines += capfdbinary.readouterr().out
        return b"limits_not_settled" in lines

    within(20, said)
    assert lines.count(b"limits_not_settled") == 1
    assert b"KeyError" in lines
    assert b"ada" not in lines
    here._unsettled.clear()
    there._unsettled.clear()


def test_a_counter_never_holds_more_than_it_may(counters: Counters) -> None:
    def tried(_: int) -> int:
        answers = [counters.add([Addition("players:10.0.0.1", 18.0, 3600.0)]) for _ in range(50)]
        return sum(answer is not None and answer[0][0] for answer in answers)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(tried, range(8))) == 200
    answer = counters.add([Addition("players:10.0.0.1", 18.0, 3600.0), Addition("players:10.0.0.2", 18.0, 3600.0)])
    assert answer is not None
    assert [added for added, _ in answer] == [False, True]
    assert answer[0][1] == pytest.approx(3600, abs=30)
