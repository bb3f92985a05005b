"""Decisions that take too long: nothing is lost, nothing is done twice, and what comes too late writes nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rq.timeouts import JobTimeoutException

from events import play, recall
from events.audit import audit
from events.due import KINDS, THINK, Owed, owed
from events.errors import Stale
from events.platform import Platform, open_platform
from games.kernel import SYSTEM, Action
from players import LEVELS
from players.level import Thought
from record.entries import parse
from tests.conftest import Servers, within
from tests.events.journaling import SEALING
from tests.workers.conftest import ANN, PATIENCE, Hire, check, members, version
from workers import jobs
from workers.sweep import sweep

BEGIN = [{"type": "advance"}]


def logged(folder: Path, event: str) -> list[dict[str, Any]]:
    """Return the complete lines that workers have logged of an event."""
    lines = [json.loads(line) for line in (folder / "worker.log").read_bytes().rpartition(b"\n")[0].splitlines()]
    return [line for line in lines if line["event"] == event]


def thought(match: str) -> Owed:
    """Return the turn of seat one that is due at version 2."""
    return Owed(THINK, match, 2, "one", 0, ANN)


def add(by: int, stay: bool) -> Action:
    return {"type": "add", "by": by, "stay": stay}


# ---------------------------------------------------------------- real workers


def test_a_decision_slower_than_the_patience_of_the_sweep_is_written_once(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    """The sweep takes the worker for lost. So two workers think about the same turn."""
    hire()
    hire()
    match = play.create(lonely, ANN, "slow", {"one": "ai:greedy", "two": "me"}, {"target": 60}).match
    within(PATIENCE, lambda: logged(tmp_path, "swept"))
    within(PATIENCE, lambda: len(list(tmp_path.glob("thinking-*"))) == 2)
    assert version(lonely, match) == 2
    (tmp_path / "go").touch()
    within(PATIENCE, lambda: recall.position(lonely, match).to_act == ["two"])
    past = within(PATIENCE, lambda: [line for line in logged(tmp_path, "step_past") if line["kind"] == THINK])[0]
    assert (past["match"], past["version"], past["code"]) == (match, 2, "stale")

    def done() -> list[int]:
        return [number for line in logged(tmp_path, "step_done") for number in range(line["first"], line["last"] + 1)]

    within(PATIENCE, lambda: len(done()) >= version(lonely, match) - 1)  # a line comes after its append
    assert done() == list(range(2, version(lonely, match) + 1))
    check(lonely, match)


def test_a_decision_that_exceeds_the_time_of_its_step_is_made_again(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    match = play.create(lonely, ANN, "slow", {"one": "ai:greedy", "two": "me"}, {"target": 60}).match
    (tmp_path / "seconds").write_text("1")
    play.play(lonely, match, SYSTEM, BEGIN)
    hire()
    (failed,) = within(PATIENCE, lambda: logged(tmp_path, "step_failed"))
    assert (failed["match"], failed["kind"], failed["version"], failed["error"]) == (match, THINK, 2, "JobTimeoutException")
    assert logged(tmp_path, "job_failed") == [], "the worker goes on with other work"
    assert (version(lonely, match), list(members(lonely, match))) == (2, [f"think|{match}|one"])
    (tmp_path / "go").touch()
    within(PATIENCE, lambda: recall.position(lonely, match).to_act == ["two"])
    assert within(PATIENCE, lambda: logged(tmp_path, "step_done"))[0]["first"] == 3
    check(lonely, match)


# ---------------------------------------------------------------- one job at a time


@pytest.fixture
def thinking(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Action]], None]:
    """Let the level `random` decide by a function."""

    def decide_by(decide: Callable[[], Action]) -> None:
        monkeypatch.setattr("record.thinking.LEVELS", {**LEVELS, "random": lambda *given: Thought(decide())})

    return decide_by


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_job_whose_time_is_up_while_deciding_has_written_nothing(
    platform: Platform, begin: Callable[..., str], servers: Servers, thinking: Any, place: int
) -> None:
    """A turn is one append, so a turn of which some actions are decided is not in the log."""
    match = begin(one="ai:random", two="me")
    servers.queue.flushall()
    decided: list[int] = []

    def decide() -> Action:
        decided.append(1)
        if len(decided) > place:
            raise JobTimeoutException
        return add(1, True)

    thinking(decide)
    with pytest.raises(JobTimeoutException):
        jobs.carry_out(platform, thought(match))
    assert len(decided) == place + 1
    position = recall.position(platform, match)
    assert (position.version, position.document["counts"]["one"]) == (2, 0)
    assert sweep(platform, position.at + KINDS[THINK].patience_ms) == 1, "the index still has the turn"
    thinking(lambda: add(2, False))
    jobs.carry_out(platform, thought(match))
    position = recall.position(platform, match)
    assert (position.version, position.document["counts"]["one"], position.to_act) == (3, 2, ["two"])
    assert audit(platform, match).ok


def test_a_job_whose_time_is_up_after_its_append_is_not_done_again(
    platform: Platform, begin: Callable[..., str], thinking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = begin(one="ai:random", two="ai:greedy")
    thinking(lambda: add(2, False))

    def too_late(cached: Any) -> None:
        raise JobTimeoutException

    with monkeypatch.context() as patch:
        patch.setattr(platform.cache, "put", too_late)
        with pytest.raises(JobTimeoutException):
            jobs.carry_out(platform, thought(match))
    assert version(platform, match) == 3
    assert list(members(platform, match)) == [f"think|{match}|two"], "what follows is due"
    jobs.carry_out(platform, thought(match))
    assert version(platform, match) == 3
    assert audit(platform, match).ok


@pytest.fixture
def sealing(platform: Platform) -> Iterator[Platform]:
    with_sealing = open_platform(platform.settings, {**platform.games, SEALING.id: SEALING})
    yield with_sealing
    with_sealing.close()


@pytest.mark.parametrize("others", [["two"], ["two", "three"]])
def test_a_match_that_moves_on_while_a_seat_thinks_does_not_take_its_decision(
    sealing: Platform, servers: Servers, thinking: Any, others: list[str]
) -> None:
    """All seats act at the same time. The others choose while the AI seat thinks about the version before."""
    match = play.create(sealing, ANN, "sealing", {"one": "ai:random", "two": "me", "three": "me"}, {}).match
    play.play(sealing, match, SYSTEM, BEGIN)
    servers.queue.flushall()
    left = list(others)

    def decide() -> Action:
        while left:
            play.play(sealing, match, left.pop(0), [{"type": "seal", "by": 1}])
        return {"type": "seal", "by": 2}

    thinking(decide)
    jobs.bind(sealing)
    jobs.carry_out(sealing, thought(match))  # quietly: the choice comes too late
    last = 2 + len(others)
    position = recall.position(sealing, match)
    assert (position.version, "one" in position.to_act) == (last, True)
    actors = [parse(raw).actor for raw in sealing.store.log.read_all(match, 2)]
    assert actors == others, "the stale choice is not in the log"
    # Nothing is lost: with the choices of the others the turn waits again, once, and the index has it.
    assert sealing.jobs.depth(THINK) == 1
    assert members(sealing, match) == {f"think|{match}|one": position.at}
    work, _ = owed(position)
    with pytest.raises(Stale):
        jobs.do_step(sealing, work._replace(version=2), time.monotonic() + 1)
    jobs.work(THINK)
    jobs.carry_out(sealing, work)
    entries = [parse(raw) for raw in sealing.store.log.read_all(match, 2)]
    assert [entry.actor for entry in entries] == [*others, "one"]
    assert entries[-1].action == {"type": "seal", "by": 2}
    assert members(sealing, match) == {}
    assert audit(sealing, match).ok


def test_a_match_that_moves_on_between_two_actions_of_a_run_takes_none_of_them(sealing: Platform, thinking: Any) -> None:
    """The run is open calls and then a choice; an open call of another seat comes between."""
    match = play.create(sealing, ANN, "sealing", {"one": "ai:random", "two": "me"}, {}).match
    play.play(sealing, match, SYSTEM, BEGIN)
    decided: list[int] = []

    def decide() -> Action:
        decided.append(1)
        if len(decided) == 2:
            play.play(sealing, match, "two", [{"type": "call"}])
        return {"type": "call"} if len(decided) < 3 else {"type": "seal", "by": 1}

    thinking(decide)
    work, _ = owed(recall.position(sealing, match))
    with pytest.raises(Stale) as stale:
        jobs.do_step(sealing, work, time.monotonic() + PATIENCE)
    assert (len(decided), stale.value.version) == (3, 3)
    assert [parse(raw).actor for raw in sealing.store.log.read_all(match, 2)] == ["two"]
    jobs.do_step(sealing, owed(recall.position(sealing, match))[0], time.monotonic() + PATIENCE)
    assert [parse(raw).actor for raw in sealing.store.log.read_all(match, 2)] == ["two", "one"]
    assert audit(sealing, match).ok
