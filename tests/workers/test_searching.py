"""Levels that search, by real workers: one decision an append, nothing waits for them, and nothing is lost or done twice."""

from __future__ import annotations

import json
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from events import play, recall
from events.due import KINDS, SEARCH, THINK, owed
from events.platform import Platform
from games.kernel import SYSTEM
from players import LEVELS, question_of
from players.level import Budget
from record.allowances import ALLOWANCES, Allowance
from record.entries import Entry, parse
from record.thinking import decide
from record.thoughts import decision_in
from tests.conftest import Servers, waits, within
from tests.tally import TALLY
from tests.workers.conftest import ANN, LOGGED, PATIENCE, Hire, check, members, version
from workers import brake, jobs
from workers.sweep import overdue, sweep

TOY = "tests.workers.toy"
BEGIN = [{"type": "advance"}]
WHOLE = 60  # iterations of `strong` in a game without plans of its own


def logged(folder: Path, event: str) -> list[dict[str, Any]]:
    """Return the complete lines that workers have logged of an event."""
    lines = [json.loads(line) for line in (folder / "worker.log").read_bytes().rpartition(b"\n")[0].splitlines()]
    return [line for line in lines if line["event"] == event]


@pytest.fixture
def allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float, int, int], None]:
    """Set the allowance of `strong`, here and in the workers that are hired later."""

    def set_it(seconds: float, limit: int, lease_ms: int) -> None:
        (tmp_path / "allowance").write_text(json.dumps([seconds, limit, lease_ms]))
        monkeypatch.setitem(ALLOWANCES, "strong", Allowance(seconds, limit, lease_ms))  # type: ignore[arg-type]

    return set_it


def begun(platform: Platform, game: str = "slow") -> str:
    """Begin a match in which an AI seat that searches is to act before a person."""
    match = play.create(platform, ANN, game, {"one": "ai:strong", "two": "me"}, {"target": 9}).match
    play.play(platform, match, SYSTEM, BEGIN)
    return match


def entry(platform: Platform, match: str, number: int) -> Entry:
    return parse(platform.store.log.read(match, number - 1, 1)[0])


def expected(platform: Platform, match: str, number: int, spent: int | None = None, iterations: int = WHOLE) -> tuple[Any, Any]:
    """Return the action that `strong` decides on for a version, and its decision, after so many iterations of its budget."""
    before = recall.state_at(platform, match, number - 1)
    question = question_of(TALLY, before.document, "one", before.memory)
    budget = Budget(iterations) if spent is None else Budget(iterations, lambda done: done < spent)
    cached = recall.cached(platform, match)
    draft = play.Draft.__new__(play.Draft)
    draft._cached, draft._actor = cached._replace(position=before), "one"
    thought, decision = decide(question, "strong", budget, draft.seed)
    return thought.action, decision


# ---------------------------------------------------------------- real workers


def test_what_is_quick_never_waits_for_a_search(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    """A worker for what is quick never searches. While the one that searches is thinking, other matches are played to their ends."""

    def play_others() -> None:
        others = [play.create(lonely, ANN, "tally", {"one": "ai:greedy", "two": "ai:random"}, {"target": 30}).match for _ in range(3)]
        for other in others:
            within(PATIENCE, lambda other=other: recall.position(lonely, other).status == "over")
            check(lonely, other)

    match = begun(lonely)
    hire(TOY)
    play_others()
    assert (version(lonely, match), lonely.jobs.depth(SEARCH), (tmp_path / "thinking").exists()) == (2, 1, False)
    assert (lonely.jobs.workers(THINK), lonely.jobs.workers(SEARCH)) == (1, 0)
    hire(TOY, "--queues", "search")
    within(PATIENCE, (tmp_path / "thinking").exists)
    assert (lonely.jobs.workers(THINK), lonely.jobs.workers(SEARCH)) == (1, 1)
    play_others()
    assert version(lonely, match) == 2
    (tmp_path / "go").touch()
    within(PATIENCE, lambda: recall.position(lonely, match).status == "over")

    def done() -> list[dict[str, Any]]:
        return [line for line in logged(tmp_path, "step_done") if line["match"] == match]

    within(PATIENCE, lambda: len(done()) >= version(lonely, match) - 2)  # a step is logged after it is written
    assert {line["kind"] for line in done()} == {SEARCH}
    assert [(line["first"], line["last"]) for line in done()] == [(number, number) for number in range(3, version(lonely, match) + 1)]
    # How many iterations a search did, and how long it took, may depend on what its seat has.
    assert all(set(line) == {"match", "kind", "actor", "first", "last", "event", "level", "at"} for line in done())
    assert all(set(line) <= LOGGED for line in map(json.loads, (tmp_path / "worker.log").read_text().splitlines()))
    check(lonely, match)


def test_a_worker_killed_in_mid_thought_has_written_nothing_and_the_next_comes_to_the_same_action(
    lonely: Platform, hire: Hire, tmp_path: Path, allow: Callable[..., None]
) -> None:
    allow(1, 2, 2500)
    match = begun(lonely)
    first = hire(TOY, "--queues", "search")
    within(PATIENCE, (tmp_path / f"thinking-{first.pid}").exists)
    first.send_signal(signal.SIGKILL)
    first.wait()
    (tmp_path / "go").touch()
    assert (version(lonely, match), list(members(lonely, match))) == (2, [f"search|{match}|one"])
    second = hire(TOY, "--queues", "search")
    within(PATIENCE, (tmp_path / f"thinking-{second.pid}").exists)
    within(PATIENCE, lambda: version(lonely, match) > 2)
    (swept,) = logged(tmp_path, "swept")
    assert swept["waited_ms"] >= 2500, "nobody else takes it before its lease is over"
    action, decision = expected(lonely, match, 3)
    assert (entry(lonely, match, 3).action, decision_in(entry(lonely, match, 3))) == (action, decision)
    assert decision["spent"] == decision["budget"] == WHOLE
    within(PATIENCE, lambda: recall.position(lonely, match).status == "over")
    check(lonely, match)


def test_a_decision_slower_than_the_sweep_is_made_once(lonely: Platform, hire: Hire, tmp_path: Path, allow: Callable[..., None]) -> None:
    """Two workers and their sweeps, and decisions of War of the Worlds that take longer than the pause between two sweeps."""
    allow(1.2, 20, 30_000)
    (tmp_path / "go").write_text("0.05")
    for _ in range(2):
        hire(TOY, "--queues", "search")
    hire(TOY)
    play.create(lonely, ANN, "war_of_the_worlds", {"humans": "ai:strong", "aliens": "ai:strong"}, {})

    def done() -> list[dict[str, Any]]:
        return [line for line in logged(tmp_path, "step_done") if line["kind"] == SEARCH]

    searched = within(PATIENCE, lambda: done()[1:] and done())
    assert [line["last"] for line in searched] == sorted({line["last"] for line in searched})
    assert all(line["first"] == line["last"] for line in searched)
    assert logged(tmp_path, "swept") == logged(tmp_path, "step_past") == logged(tmp_path, "step_failed") == []


def test_a_worker_that_is_asked_to_end_writes_its_best_so_far(
    lonely: Platform, hire: Hire, tmp_path: Path, allow: Callable[..., None]
) -> None:
    allow(20, 25, 30_000)
    (tmp_path / "go").write_text("0.1")
    match = begun(lonely)
    other = begun(lonely)
    worker = hire(TOY, "--queues", "search")
    within(PATIENCE, (tmp_path / "thinking").exists)
    worker.terminate()
    assert worker.wait(PATIENCE) == 0
    written = entry(lonely, match, 3)
    decision = decision_in(written)
    assert decision is not None
    assert 1 <= decision["spent"] < decision["budget"] == WHOLE
    assert (written.action, decision) == expected(lonely, match, 3, decision["spent"])
    assert (version(lonely, match), version(lonely, other)) == (3, 2), "it begins nothing new"
    queue = redis.Redis.from_url(lonely.settings.queue_url)
    assert list(queue.scan_iter("fair:*:taken:*")) == []
    assert lonely.jobs.depth(SEARCH) >= 1


def test_a_worker_that_is_asked_to_end_writes_what_it_holds(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    (tmp_path / "allowance").write_text(json.dumps([20, 25, 60_000, 3600.0]))
    (tmp_path / "go").touch()
    match = begun(lonely)
    worker = hire(TOY, "--queues", "search")
    within(PATIENCE, (tmp_path / "thinking").exists)
    worker.terminate()
    assert worker.wait(PATIENCE) == 0
    assert version(lonely, match) == 3
    assert entry(lonely, match, 3).at <= lonely.clock.now(), "its pace is an hour, and nobody waits for that"
    assert list(redis.Redis.from_url(lonely.settings.queue_url).scan_iter("fair:*:taken:*")) == []


@pytest.mark.soak
def test_workers_that_are_killed_again_and_again_come_to_the_decisions_of_one_that_is_not(
    lonely: Platform, hire: Hire, tmp_path: Path, allow: Callable[..., None]
) -> None:
    allow(5, 6, 2000)
    (tmp_path / "go").write_text("0.005")
    made = [play.create(lonely, ANN, "slow", {"one": "ai:strong", "two": "ai:random"}, {"target": 60}).match for _ in range(3)]
    hire(TOY)
    chance = random.Random(1)
    for number in range(20):
        worker = hire(TOY, "--queues", "search")
        time.sleep(1 + chance.random())
        worker.send_signal(signal.SIGTERM if number % 4 == 3 else signal.SIGKILL)
        worker.wait()
        if number % 7 == 0:
            redis.Redis.from_url(lonely.settings.queue_url).flushall()
    hire(TOY, "--queues", "search")
    for match in made:
        within(2 * PATIENCE, lambda match=match: recall.position(lonely, match).status == "over")
        check(lonely, match)
        found = [parse(raw) for raw in lonely.store.log.read_all(match)]
        searched = [one for one in found if (decision := decision_in(one)) is not None and decision["level"] == "strong"]
        assert len(searched) > 5
        for one in searched:
            kept = decision_in(one)
            assert kept is not None
            assert (one.action, kept) == expected(lonely, match, one.version, kept["spent"], kept["budget"])


# ---------------------------------------------------------------- one step at a time


@pytest.fixture(autouse=True)
def _not_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brake, "_end", None)


@pytest.fixture
def searching(platform: Platform, begin: Callable[..., str]) -> str:
    """A match in which an AI seat that searches is to act."""
    jobs.bind(platform)
    return begin(one="ai:strong", two="me")


def test_a_decision_of_a_level_that_searches_waits_for_its_own_workers(platform: Platform, searching: str, servers: Servers) -> None:
    position = recall.position(platform, searching)
    work, _ = owed(position)
    assert (work.kind, work.target, work.lease_ms) == (SEARCH, "one", ALLOWANCES["strong"].lease_ms)
    assert (waits(servers, THINK), waits(servers, SEARCH)) == ([], [work.member])
    jobs.bind(platform, [THINK])
    jobs.work(THINK)
    assert version(platform, searching) == 2
    jobs.bind(platform, [SEARCH])
    jobs.work(SEARCH)
    assert version(platform, searching) > 2
    assert all(decision_in(parse(raw)) for raw in platform.store.log.read_all(searching, 2))


def test_the_sweep_leaves_a_search_alone_until_its_lease_is_over(platform: Platform, searching: str, servers: Servers) -> None:
    since = recall.position(platform, searching).at
    lease = ALLOWANCES["strong"].lease_ms
    taken = since + 60_000
    assert platform.jobs.take([SEARCH], now=taken) is not None
    assert list(overdue(platform, taken + lease - 1)) == [f"search|{searching}|one"]
    assert [sweep(platform, taken + lease - 1) for _ in range(2)] == [0, 0]
    assert [sweep(platform, taken + lease) for _ in range(2)] == [1, 0]
    servers.queue.flushall()
    assert sweep(platform, since + KINDS[SEARCH].patience_ms - 1) == 0
    assert sweep(platform, since + KINDS[SEARCH].patience_ms) == 1, "of a queue that was emptied nobody knows who has what"


def test_of_two_workers_that_search_for_the_same_decision_one_writes_it(platform: Platform, searching: str) -> None:
    """As after the queue was emptied in mid-thought. They come to the same action, and one of them is late."""
    work, _ = owed(recall.position(platform, searching))
    jobs.carry_out(platform, work)
    written = entry(platform, searching, 3)
    assert jobs.carry_out(platform, work) == ()
    assert version(platform, searching) == 3
    assert written.action == expected(platform, searching, 3)[0]


@pytest.mark.parametrize("lost", ["fair:search:taken:*", "fair:*"])
def test_a_queue_that_comes_back_older_delays_a_search_by_the_patience_of_the_sweep(
    platform: Platform, searching: str, servers: Servers, lost: str
) -> None:
    """It has work and leases of versions that are past."""
    old = {key: servers.queue.dump(key) for key in servers.queue.scan_iter("fair:*")}
    before, _ = owed(recall.position(platform, searching))
    taken = platform.jobs.take([SEARCH])
    assert taken is not None
    old |= {key: servers.queue.dump(key) for key in servers.queue.scan_iter(lost)}
    jobs.carry_out(platform, taken)
    servers.queue.flushall()
    for key, value in old.items():
        servers.queue.restore(key, 0, value)
    now = recall.position(platform, searching).at + KINDS[SEARCH].patience_ms
    for _ in range(3):
        sweep(platform, now)
        jobs.work(SEARCH)
    assert version(platform, searching) > before.version + 1


def test_the_budget_is_that_of_the_plan_halved_by_the_turn_and_the_clock(
    platform: Platform, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    decided = LEVELS["random"]

    def noted(question: Any, budget: Budget, chance: Any) -> Any:
        given.append(budget.iterations)
        return decided(question, budget, chance)._replace(action={"type": "add", "by": 1, "stay": True})

    monkeypatch.setattr("record.thinking.LEVELS", {**LEVELS, "strong": noted})
    jobs.bind(platform)
    for clock, halves in (({"kind": "per_action", "seconds": 5}, 1), ({"kind": "per_action", "seconds": 6}, 0), (None, 0)):
        given.clear()
        settings = {"clock": clock} if clock else {}
        match = play.create(platform, ann, "tally", {"one": "ai:strong", "two": "me"}, {"target": 1000}, settings=settings).match
        play.play(platform, match, SYSTEM, BEGIN)
        for _ in range(18):
            jobs.carry_out(platform, owed(recall.position(platform, match))[0])
        assert given == [WHOLE >> max(halves, number // 8) for number in range(18)]
        assert [decision_in(entry(platform, match, number))["budget"] for number in (3, 20)] == [given[0], given[17]]  # type: ignore[index]


def test_a_search_whose_seconds_are_used_up_plays_its_best_so_far(
    platform: Platform, searching: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.jobs.ALLOWANCES", {"strong": Allowance(0.0, 9, 14_000)})
    jobs.carry_out(platform, owed(recall.position(platform, searching))[0])
    decision = decision_in(entry(platform, searching, 3))
    assert decision is not None
    assert (decision["spent"], decision["budget"]) == (1, WHOLE)
    assert entry(platform, searching, 3).action == expected(platform, searching, 3, 1)[0]


def test_a_brake_stops_when_its_time_is_up_or_soon_after_its_worker_was_asked_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    goes_on = brake.Brake(20)
    assert goes_on(0)
    assert goes_on(5)
    brake.end_soon()
    now += brake.HURRY - 0.001
    brake.end_soon()  # a second signal does not make it longer
    assert goes_on(6)
    assert not goes_on.stopped
    now += 0.001
    assert goes_on(0), "the first iteration is always done"
    assert not goes_on(7)
    assert goes_on.stopped
    monkeypatch.setattr(brake, "_end", None)
    assert goes_on(8)
    now += 20
    assert not goes_on(9)


def test_a_worker_that_is_ending_takes_nothing_and_puts_back_a_search(platform: Platform, searching: str, servers: Servers) -> None:
    (member,) = waits(servers, SEARCH)
    work = platform.jobs.take([SEARCH])
    assert work is not None
    brake.end_soon()
    with pytest.raises(brake.Ending):
        jobs.carry_out(platform, work)
    platform.jobs.push([work])
    jobs.work(SEARCH)
    assert (waits(servers, SEARCH), version(platform, searching)) == ([member], 2)


def test_a_search_that_runs_too_long_is_ended_after_the_time_of_its_level(
    platform: Platform, searching: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[int] = []

    class Noted(jobs.UnixSignalDeathPenalty):
        def __init__(self, seconds: int, *given: Any) -> None:
            limits.append(seconds)
            super().__init__(seconds, *given)

    monkeypatch.setattr("workers.jobs.UnixSignalDeathPenalty", Noted)
    jobs.carry_out(platform, owed(recall.position(platform, searching))[0])
    assert limits == [ALLOWANCES["strong"].limit]
    assert KINDS[SEARCH].seconds == max(allowance.limit for allowance in ALLOWANCES.values())
