"""Real failures of workers, queues and stores: the match goes on within ten seconds, and no turn is played twice."""

from __future__ import annotations

import contextlib
import json
import random
import signal
from pathlib import Path

import pytest
import redis

from events import play, recall
from events.audit import audit
from events.due import owed
from events.errors import StoreUnavailable
from events.keeping import embedded
from events.platform import Platform, open_platform
from tests.conftest import within
from tests.workers.conftest import ANN, LOGGED, PATIENCE, Hire, check, version
from tests.workers.toy import TOYS


def alone(platform: Platform, game: str = "tally", target: int = 60, level: str = "greedy") -> str:
    """Create a match of AI seats only, and return its id."""
    return play.create(platform, ANN, game, {"one": f"ai:{level}", "two": "ai:random"}, {"target": target}).match


def is_over(platform: Platform, match: str) -> bool:
    with contextlib.suppress(StoreUnavailable):
        return recall.position(platform, match).status == "over"
    return False


def test_a_match_of_ai_seats_plays_itself_to_the_end(lonely: Platform, hire: Hire) -> None:
    hire()
    hire()
    made = [alone(lonely) for _ in range(5)]
    for match in made:  # they share the workers, and end at about the same time
        within(PATIENCE, lambda match=match: is_over(lonely, match))
        check(lonely, match)


def test_after_a_worker_is_killed_in_a_turn_another_plays_it(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    doomed = hire()
    match = alone(lonely, "slow")
    within(PATIENCE, (tmp_path / "thinking").exists)
    stuck = version(lonely, match)
    doomed.send_signal(signal.SIGKILL)
    doomed.wait()
    (tmp_path / "go").touch()
    hire()
    within(PATIENCE, lambda: version(lonely, match) > stuck)
    within(PATIENCE, lambda: is_over(lonely, match))
    check(lonely, match)


@pytest.mark.soak
def test_a_worker_killed_again_and_again_loses_no_turn(lonely: Platform, hire: Hire) -> None:
    match = alone(lonely, target=5000)
    seen = 0
    for _ in range(3):
        worker = hire()
        seen = within(PATIENCE, lambda seen=seen: version(lonely, match) > seen + 50 and version(lonely, match))
        worker.kill()
        worker.wait()
    report = audit(lonely, match)
    assert report.ok, report.findings


@pytest.mark.soak
def test_workers_killed_for_minutes_lose_no_turn(lonely: Platform, hire: Hire) -> None:
    made = [alone(lonely, target=20_000) for _ in range(4)]
    chance = random.Random(1)
    for number in range(40):
        before = [version(lonely, match) for match in made]
        worker = hire()
        within(PATIENCE, lambda before=before: any(version(lonely, match) > seen for match, seen in zip(made, before, strict=True)))
        enough = sum(before) + chance.randrange(100)
        within(PATIENCE, lambda enough=enough: sum(version(lonely, match) for match in made) > enough)
        worker.kill()
        worker.wait()
        if number % 10 == 0:
            redis.Redis.from_url(lonely.settings.queue_url).flushall()
    for match in made:
        report = audit(lonely, match)
        assert report.ok, report.findings


def test_work_taken_twice_is_done_once(lonely: Platform, hire: Hire) -> None:
    match = alone(lonely, target=600)
    hire()
    hire()
    while not is_over(lonely, match):
        lonely.jobs.push(owed(recall.position(lonely, match)))  # a worker may have it already
    check(lonely, match)


def test_work_that_never_came_to_the_queue_is_found(
    lonely: Platform, hire: Hire, place: tuple[Platform, dict[str, embedded.Server]]
) -> None:
    hire()
    within(PATIENCE, lambda: redis.Redis.from_url(lonely.settings.queue_url).scard("rq:workers"))
    nowhere = open_platform(lonely.settings._replace(queue_url="unix:///nowhere"), TOYS)
    match = alone(nowhere)
    within(PATIENCE, lambda: is_over(lonely, match))
    check(lonely, match)
    nowhere.close()


def test_a_queue_that_is_flushed_is_filled_again(lonely: Platform, hire: Hire) -> None:
    made = [alone(lonely, target=300) for _ in range(3)]
    redis.Redis.from_url(lonely.settings.queue_url).flushall()
    hire()
    within(PATIENCE, lambda: version(lonely, made[0]) > 1)
    redis.Redis.from_url(lonely.settings.queue_url).flushall()
    for match in made:
        within(PATIENCE, lambda match=match: is_over(lonely, match))
        check(lonely, match)


@pytest.mark.parametrize("name", [embedded.QUEUE, embedded.STORE])
def test_a_worker_finds_a_server_that_was_killed_and_started_again(
    lonely: Platform, hire: Hire, place: tuple[Platform, dict[str, embedded.Server]], tmp_path: Path, name: str
) -> None:
    _, servers = place
    hire()
    match = alone(lonely, target=100_000)
    within(PATIENCE, lambda: version(lonely, match) > 20)
    process = servers[name].process
    assert process is not None
    process.kill()
    process.wait()
    servers[name] = embedded.start(tmp_path, name, "no" if name == embedded.STORE else "off")
    within(PATIENCE, lambda: version(lonely, match))
    after = version(lonely, match)
    within(PATIENCE, lambda: version(lonely, match) > after)
    within(PATIENCE, lambda: version(lonely, match) > after + 200)  # more than a worker does without a queue
    assert audit(lonely, match).ok


def test_a_worker_ends_on_sigterm(lonely: Platform, hire: Hire) -> None:
    worker = hire()
    queue = redis.Redis.from_url(lonely.settings.queue_url)
    within(PATIENCE, lambda: [queue.hget(name, "state") for name in queue.smembers("rq:workers")] == [b"idle"])
    worker.terminate()
    assert worker.wait(PATIENCE) == 0


def test_a_worker_that_is_asked_to_end_hands_in_its_step_and_leaves_a_ticket(lonely: Platform, hire: Hire) -> None:
    """So nobody waits for the patience of the sweep when workers are replaced."""
    made = [alone(lonely, target=1_000_000) for _ in range(10)]
    worker = hire("tests.workers.toy", "--queues", "advance,think")
    within(PATIENCE, lambda: version(lonely, made[0]) > 20)
    worker.terminate()
    assert worker.wait(PATIENCE) == 0
    queue = redis.Redis.from_url(lonely.settings.queue_url)
    assert list(queue.scan_iter("fair:*:taken:*")) == []
    assert lonely.jobs.depth() == len(made)
    assert queue.llen("rq:queue:think") == 1


@pytest.mark.soak
def test_after_a_worker_is_killed_with_a_backlog_every_match_goes_on(lonely: Platform, hire: Hire) -> None:
    made = [alone(lonely, target=1_000_000) for _ in range(40)]
    doomed = hire()
    within(PATIENCE, lambda: all(version(lonely, match) > 2 for match in made))
    doomed.kill()
    doomed.wait()
    before = {match: version(lonely, match) for match in made}
    hire()
    within(PATIENCE, lambda: all(version(lonely, match) > before[match] for match in made))
    assert all(audit(lonely, match).ok for match in made[:5])


def test_a_worker_logs_ids_versions_and_times_only(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    hire()
    match = alone(lonely)
    within(PATIENCE, lambda: is_over(lonely, match))
    lines = [json.loads(line) for line in (tmp_path / "worker.log").read_text().splitlines()]
    assert any(line["event"] == "step_done" for line in lines)
    assert all(set(line) <= LOGGED for line in lines)
