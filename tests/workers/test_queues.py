"""The queues that a worker takes: by priority, and no others."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from events import play, recall
from events.due import ADVANCE, HINT, KINDS, SEARCH, SLOW, THINK, Owed, queue_list
from events.platform import Platform
from games.kernel import SYSTEM
from table.data import DAY_MS
from tests.conftest import Servers, within
from tests.workers.conftest import ANN, PATIENCE, Hire, check, version
from workers import jobs
from workers.queues import worker

TOY = "tests.workers.toy"
BEGIN = [{"type": "advance"}]


def logged(folder: Path, event: str) -> list[dict[str, Any]]:
    """Return the complete lines that workers have logged of an event."""
    lines = [json.loads(line) for line in (folder / "worker.log").read_bytes().rpartition(b"\n")[0].splitlines()]
    return [line for line in lines if line["event"] == event]


def test_a_worker_takes_advance_first_while_think_waits_in_front(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    thinking = [play.create(lonely, ANN, "tally", {"one": "ai:random", "two": "me"}, {}).match for _ in range(10)]
    for match in thinking:
        play.play(lonely, match, SYSTEM, BEGIN)
    advancing = [play.create(lonely, ANN, "tally", {"one": "me", "two": "me"}, {}).match for _ in range(3)]
    assert (lonely.jobs.depth(THINK), lonely.jobs.depth(ADVANCE)) == (10, 13)
    hire(TOY, "--queues", "advance,think")
    within(PATIENCE, lambda: len([line for line in logged(tmp_path, "step_done") if line["kind"] == THINK]) >= 10)
    done = [line["kind"] for line in logged(tmp_path, "step_done")]
    assert done[:4].count(ADVANCE) == 3, "if the first step takes long on a busy machine, one decision claims the share of its kind"
    assert {line["match"] for line in logged(tmp_path, "step_done")[:4] if line["kind"] == ADVANCE} == set(advancing)


@pytest.mark.parametrize("kinds", [(ADVANCE, THINK), (THINK, ADVANCE), (ADVANCE,), (THINK,), (SEARCH,)])
def test_a_worker_has_the_queues_of_its_kinds_in_their_order(servers: Servers, kinds: tuple[str, ...]) -> None:
    assert queue_list(",".join(kinds)) == kinds
    assert [queue.name for queue in worker(servers.queue_url, kinds).queues] == list(kinds)


def test_a_worker_for_advance_alone_never_thinks(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    """It does not go on to think after a step of its own, and lets that wait. A worker for think goes on where it stopped."""
    hire(TOY, "--queues", "advance")
    match = play.create(lonely, ANN, "tally", {"one": "ai:random", "two": "ai:greedy"}, {"target": 60}).match
    within(PATIENCE, lambda: version(lonely, match) == 2)
    within(PATIENCE, lambda: lonely.jobs.depth(THINK))
    assert version(lonely, match) == 2
    time.sleep(3)  # until its sweep has looked at what waits
    assert logged(tmp_path, "swept") == []
    assert [line["kind"] for line in logged(tmp_path, "step_done")] == [ADVANCE]
    hire(TOY, "--queues", "think")
    within(PATIENCE, lambda: recall.position(lonely, match).status == "over")
    check(lonely, match)


@pytest.mark.parametrize("kind", [ADVANCE, THINK])
def test_a_ticket_takes_work_of_the_bound_kinds_only(platform: Platform, ann: str, servers: Servers, kind: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "ai:random", "two": "ai:random"}, {}).match
    jobs.bind(platform, [kind])
    if kind == THINK:
        servers.queue.flushall()
        play.play(platform, match, SYSTEM, BEGIN)
    jobs.work(kind)
    done = recall.position(platform, match)
    assert done.version > (2 if kind == THINK else 1)
    assert done.to_act == ([SYSTEM] if kind == THINK else ["one"])
    other = ADVANCE if kind == THINK else THINK
    assert {each: platform.jobs.depth(each) for each in KINDS} == {**dict.fromkeys(KINDS, 0), other: 1}
    jobs.work(other)
    assert recall.position(platform, match).version == done.version, "a ticket of another kind than the bound ones does nothing"
    assert platform.jobs.depth(other) == 1


def test_a_thinking_worker_lets_waiting_steps_of_the_system_go_first(platform: Platform, ann: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also between two steps of one ticket: the end of a round never stands behind turns that were due before."""
    thinking = [play.create(platform, ann, "tally", {"one": "ai:random", "two": "me"}, {}).match for _ in range(3)]
    late: list[str] = []
    done: list[str] = []

    def noted(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
        done.append(work.kind)
        if not late and work.kind == THINK:
            late.append(play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {}).match)
        return jobs.do_step(platform, work, deadline)

    monkeypatch.setattr("workers.jobs.SECONDS", 5)
    monkeypatch.setattr("workers.jobs.STEPS", dict.fromkeys(KINDS, noted))
    jobs.bind(platform)
    jobs.work(THINK)
    assert done == [ADVANCE] * 3 + [THINK, ADVANCE, THINK, THINK]
    assert [recall.position(platform, match).to_act for match in (*thinking, *late)] == [["two"]] * 3 + [["one"]]


def test_slow_kinds_take_turns(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each decision of a match between levels that search, the next one waits. Whoever asks for a hint is served all the same."""
    done: list[str] = []

    def noted(platform: Platform, work: Owed) -> tuple[Owed, ...]:
        done.append(work.kind)
        return (work._replace(version=work.version + 1),) if work.kind == SEARCH and work.version < 9 else ()

    monkeypatch.setattr("workers.jobs.SECONDS", 5)
    monkeypatch.setattr("workers.jobs.carry_out", noted)
    jobs.bind(platform, SLOW)
    platform.jobs.push([Owed(SEARCH, "m1", 2, "one", 1, ANN), *[Owed(HINT, f"m{number}", 2, "one", 1, ANN) for number in range(3)]])
    jobs.work(SEARCH)
    assert sorted(done) == [HINT] * 3 + [SEARCH] * 8
    assert [done[:5].count(kind) for kind in (SEARCH, HINT)] == [3, 2]


def test_a_worker_removes_a_match_that_has_not_started_in_time(lonely: Platform, hire: Hire, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker is a process of its own, as `serve` starts it. Others stay."""
    with monkeypatch.context() as earlier:
        earlier.setattr(lonely.clock, "now", lambda: time.time_ns() // 1_000_000 - 15 * DAY_MS)
        old = [play.create(lonely, ANN, "tally", {"one": "me", "two": "open"}, {}).match for _ in range(20)]
        begun = play.create(lonely, ANN, "tally", {"one": "me", "two": "me"}, {}).match
    young = play.create(lonely, ANN, "tally", {"one": "me", "two": "open"}, {}).match
    hire(TOY)
    within(PATIENCE, lambda: not any(map(lonely.store.log.head, old)))
    within(PATIENCE, lambda: version(lonely, begun) == 2)
    assert version(lonely, young) == 1
    assert set(lonely.store.log.secrets()) == {begun, young}


@pytest.mark.parametrize("key", ["rq:queue:think", "rq:workers"])
def test_a_worker_that_ends_at_a_key_that_rq_cannot_read_leaves_it_readable(lonely: Platform, hire: Hire, key: str) -> None:
    match = play.create(lonely, ANN, "tally", {"one": "ai:random", "two": "me"}, {}).match
    lonely.jobs._connection.set(key, "nonsense")
    workers = [hire(TOY, "--queues", "advance,think")]

    def has_played() -> bool:
        if workers[-1].poll() is not None:  # as the supervisor does
            workers.append(hire(TOY, "--queues", "advance,think"))
        return recall.position(lonely, match).to_act == ["two"]

    within(PATIENCE, has_played)
    assert len(workers) <= 3
