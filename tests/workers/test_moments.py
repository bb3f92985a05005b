"""The moment of an artificial player's entry says nothing of the hand that it decided on: it follows from what everybody knows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from events import play, recall
from events.due import owed
from events.platform import Platform
from games.kernel import SYSTEM
from players import LEVELS
from players.level import Budget, Question, Thought
from record.allowances import ALLOWANCES, LEAST_PACE, QUICK_MS
from record.entries import parse
from tests.conftest import waits
from workers import brake, jobs
from workers.holding import Holding, Write
from workers.sweep import sweep

HELD = list[tuple[float, Write]]


@pytest.fixture(autouse=True)
def _not_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brake, "_end", None)


@pytest.fixture
def clock(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that have passed: time stands still, but for what a decision costs."""
    passed, began, started = [0.0], platform.clock.now(), time.monotonic()
    monkeypatch.setattr(platform.clock, "now", lambda: began + round(passed[0] * 1000))
    monkeypatch.setattr(time, "monotonic", lambda: started + passed[0])
    return passed


@pytest.fixture
def held(platform: Platform) -> HELD:
    """The writes that are held, each with its moment."""
    found: HELD = []
    jobs.bind(platform, hold=lambda moment, write: found.append((moment, write)))
    return found


def costing(monkeypatch: pytest.MonkeyPatch, clock: list[float], level: str, seconds: float) -> None:
    """Let each decision of a level take some seconds."""

    def slowly(question: Question, budget: Budget, chance: Any) -> Thought:
        clock[0] += seconds
        return LEVELS["random"](question, budget, chance)

    monkeypatch.setattr("record.thinking.LEVELS", {**LEVELS, level: slowly})


def moments(platform: Platform, clock: list[float], held: HELD, match: str) -> list[int]:
    """Let the AI seat of a match decide until a player is to act. Return the moments of its entries, in ms after the decision was due."""
    before = recall.position(platform, match)
    while (works := owed(recall.position(platform, match))) and works[0].kind in ("think", "search"):
        jobs.carry_out(platform, works[0])
        for moment, write in held:
            clock[0] += max(0.0, moment - time.monotonic())
            write()
        held.clear()
    return [entry.at - before.at for entry in map(parse, platform.store.log.read_all(match, before.version))]


COSTS = (0.0, 0.013, 0.2)
"""Seconds of a forced decision, and of decisions that have something to compare."""


@pytest.mark.parametrize("level", ["greedy", "strong", "expert"])
def test_the_moment_of_a_decision_is_the_same_whatever_it_cost(
    platform: Platform, begin: Callable[..., str], clock: list[float], held: HELD, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    found = []
    for cost in COSTS:
        costing(monkeypatch, clock, level, cost)
        match = begin(one=f"ai:{level}", two="me")
        found.append(moments(platform, clock, held, match)[0])
    pace = ALLOWANCES[level].pace if level in ALLOWANCES else 0.0
    assert found == [round(pace * 1000)] * len(COSTS)


def test_a_search_where_a_player_watches_is_stopped_when_its_pace_is_over(
    platform: Platform, begin: Callable[..., str], held: HELD, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []
    monkeypatch.setattr(jobs, "Brake", lambda seconds: given.append(seconds) or brake.Brake(seconds))
    for seats in ({"one": "ai:strong", "two": "me"}, {"one": "ai:strong", "two": "ai:random"}):
        jobs.carry_out(platform, owed(recall.position(platform, begin(**seats)))[0])
    assert given == [ALLOWANCES["strong"].pace, ALLOWANCES["strong"].seconds]
    assert len(held) == 1, "nobody gains by watching a match without players, so it goes on at once"


def test_late_in_a_long_turn_the_pace_is_halved_as_the_iterations_are(
    platform: Platform, ann: str, clock: list[float], held: HELD, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stays(question: Question, budget: Budget, chance: Any) -> Thought:
        return Thought({"type": "add", "by": 1, "stay": True})

    monkeypatch.setattr("record.thinking.LEVELS", {**LEVELS, "strong": stays})
    match = play.create(platform, ann, "tally", {"one": "ai:strong", "two": "me"}, {"target": 1000}).match
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    for number in range(25):
        before = recall.position(platform, match)
        jobs.carry_out(platform, owed(before)[0])
        ((moment, write),) = held
        assert moment - time.monotonic() == pytest.approx(max(LEAST_PACE, ALLOWANCES["strong"].pace / 2 ** (number // 8)))
        clock[0] += moment - time.monotonic()
        write()
        held.clear()


@pytest.mark.parametrize(("late", "moment"), [(0.1, 0), (0.26, QUICK_MS), (3.1, 12 * QUICK_MS)])
def test_a_service_that_is_late_costs_the_clock_of_no_player_more_than_a_step(
    platform: Platform, begin: Callable[..., str], clock: list[float], held: HELD, late: float, moment: int
) -> None:
    match = begin(one="ai:greedy", two="me")
    clock[0] += late
    assert moments(platform, clock, held, match)[0] == moment


def test_a_decision_that_is_held_is_with_its_worker_and_lost_with_it(
    platform: Platform, begin: Callable[..., str], held: HELD, servers: Any
) -> None:
    jobs.bind(platform, ["search"], hold=lambda moment, write: held.append((moment, write)))
    match = begin(one="ai:strong", two="me")
    due = recall.position(platform, match).at
    jobs.work("search")
    assert (len(held), waits(servers, "search"), recall.position(platform, match).version) == (1, [], 2)
    lease = ALLOWANCES["strong"].lease_ms
    assert sweep(platform, due + lease - 1) == 0, "nobody decides it a second time"
    assert sweep(platform, due + lease + 60_000) == 1, "unless the worker is gone"
    held[0][1]()
    assert recall.position(platform, match).version == 3
    held[0][1]()
    assert recall.position(platform, match).version == 3, "what has become stale is not written"


def test_what_is_held_is_written_in_the_order_of_moments_and_at_the_end() -> None:
    done: list[str] = []
    first = threading.Event()
    holding = Holding()
    holding.start()
    holding.hold(time.monotonic() + 3600, lambda: done.append("last"))
    holding.hold(time.monotonic() - 1, lambda: done.append("first"))
    holding.hold(time.monotonic(), first.set)
    assert first.wait(60)
    assert done == ["first"]
    holding.stop()
    holding.join(60)
    assert done == ["first", "last"]
