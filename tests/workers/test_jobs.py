"""Jobs and the sweep, one call at a time: what they do, what they leave alone, and what nobody can make them do."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from rq.job import Job
from rq.serializers import JSONSerializer

from events import play, recall
from events.levels import LEVELS
from events.platform import Platform
from events.reactions import JOB_SECONDS, QUEUE, THINK, Owed, owed
from games.kernel import SYSTEM, Refused
from tests.conftest import Servers
from workers import jobs
from workers.queues import AllowedJob, worker
from workers.search import PLAY
from workers.sweep import PATIENCE_MS, overdue, sweep


@pytest.fixture(autouse=True)
def _at_home(platform: Platform) -> None:
    jobs.at(platform)


@pytest.fixture
def waiting(platform: Platform, ann: str) -> Callable[..., str]:
    """A match that owes something, with nobody told."""

    def made(*levels: str, target: int = 1_000_000) -> str:
        seats = dict(zip(("one", "two"), [f"ai:{level}" for level in levels] + ["me", "me"], strict=False))
        return play.create(platform, ann, "tally", seats, {"target": target}).match

    return made


def queued(servers: Servers) -> list[str]:
    return [name.decode() for name in servers.queue.lrange(f"rq:queue:{QUEUE}", 0, -1)]  # type: ignore[union-attr]


def test_what_is_owed_is_queued_by_the_append_that_made_it_due(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random")
    assert queued(servers) == [f"system-{match}-1"]
    position = play.play(platform, match, SYSTEM, [{"type": "advance"}]).position
    assert owed(position) == Owed(match, 2, "one")
    assert queued(servers)[1:] == [f"one-{match}-2"]


def test_a_job_does_what_is_owed_and_what_follows_from_it(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random", target=40)
    jobs.advance(match, 1)
    while (position := recall.position(platform, match)).status == "playing":
        if position.to_act == ["two"]:
            play.play(platform, match, "two", [{"type": "add", "by": 1, "stay": False}])
        else:
            step = owed(position)
            assert step is not None
            jobs.think(match, position.version, "one") if step.job == THINK else jobs.advance(match, position.version)
    assert position.document["outcome"]["scores"]["one"] > 0


def test_a_job_leaves_the_rest_to_the_next_one_after_a_while(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random", "random")
    began = time.monotonic()
    jobs.advance(match, 1)
    assert time.monotonic() - began < 5
    position = recall.position(platform, match)
    assert position.version > 20
    step = owed(position)
    assert step is not None
    assert queued(servers)[-1] == f"{step.actor}-{match}-{position.version}"


@pytest.mark.parametrize("late", [1, 2, 99])
def test_a_job_for_a_version_that_is_past_ends_quietly(platform: Platform, waiting: Callable[..., str], late: int) -> None:
    match = waiting("random")
    jobs.advance(match, 1)
    before = recall.position(platform, match).version
    jobs.advance(match, late)
    jobs.think(match, late, "one")
    jobs.think("m" + "a" * 16, 1, "one")
    assert recall.position(platform, match).version == before


def test_an_error_in_a_job_is_an_error(platform: Platform, ann: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "ai:random"}, {}).match
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    with pytest.raises(KeyError):
        jobs.think(match, 2, "one")
    with pytest.raises(Refused):
        play.play_on(platform, match, "two", lambda view, choices: {"type": "roll"})
    assert recall.position(platform, match).version == 2


@pytest.mark.parametrize("name", ["os.getcwd", "workers.jobs.at", "events.play.play", "workers.jobs.one", "builtins.eval"])
def test_only_the_jobs_of_the_house_can_be_called(servers: Servers, name: str) -> None:
    job = AllowedJob.create(name, connection=servers.queue, serializer=JSONSerializer)
    with pytest.raises(PermissionError):
        _ = job.func
    assert callable(AllowedJob.create(THINK, connection=servers.queue, serializer=JSONSerializer).func)


def test_a_worker_notices_within_seconds_that_another_has_died(servers: Servers) -> None:
    one = worker(servers.queue_url)
    job = AllowedJob.create(THINK, connection=servers.queue, serializer=JSONSerializer, timeout=JOB_SECONDS)
    assert one.get_heartbeat_ttl(job) <= JOB_SECONDS + 3
    assert (one.maintenance_interval, one.worker_ttl) == (2, 17)
    assert one.serializer is JSONSerializer


def test_every_level_that_is_listed_is_played_and_no_other() -> None:
    assert set(PLAY) == set(LEVELS)


def test_a_job_that_fails_is_told_by_its_kind_of_error_alone(servers: Servers, capsys: pytest.CaptureFixture[str]) -> None:
    hand = worker(servers.queue_url)
    job = hand.queues[0].enqueue("workers.jobs.advance", "m", 1)
    hand.handle_exception(job, ValueError, ValueError("the deck"), None)
    told = "".join(capsys.readouterr())
    assert "ValueError" in told
    assert "deck" not in told


# The sweep


def test_the_sweep_asks_only_for_what_has_waited_too_long(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random")
    since = recall.position(platform, match).at
    servers.queue.flushall()
    assert sweep(platform, since + PATIENCE_MS - 1) == 0
    assert overdue(platform, since + PATIENCE_MS) == [(match, since)]
    assert sweep(platform, since + PATIENCE_MS) == 1
    assert queued(servers) == [f"system-{match}-1-1"]


def test_sweeps_side_by_side_ask_once_and_what_fails_is_left_ever_longer(
    platform: Platform, waiting: Callable[..., str], servers: Servers
) -> None:
    match = waiting("random")
    since = recall.position(platform, match).at
    servers.queue.flushall()
    asked = [sweep(platform, since + seconds * 1000) for seconds in range(40)]
    assert sum(asked) == 5, "after 2, 4, 8, 16 and 32 seconds"
    servers.queue.flushall()
    assert sweep(platform, since + 40_000) == 1, "but at once if the queue has forgotten"


def test_nothing_is_due_any_more_when_people_are_to_act_or_the_match_is_over(platform: Platform, waiting: Callable[..., str]) -> None:
    match = waiting("random", target=3)
    jobs.advance(match, 1)
    for _ in range(5):
        position = recall.position(platform, match)
        if position.to_act != ["one"]:
            break
        jobs.think(match, position.version, "one")
    assert owed(recall.position(platform, match)) is None
    assert overdue(platform, 2**52) == []


def test_a_match_that_cannot_be_read_does_not_keep_others_waiting(
    platform: Platform, waiting: Callable[..., str], servers: Servers
) -> None:
    spoilt, sound = waiting("random"), waiting("random")
    servers.keeper.xadd(platform.store.keys(spoilt).stream, {"e": b"nonsense"}, id="2-0")
    servers.keeper.zadd(platform.store.keys(spoilt).due, {spoilt: 1})
    servers.queue.flushall()
    assert sweep(platform, recall.position(platform, sound).at + PATIENCE_MS) == 1
    assert queued(servers) == [f"system-{sound}-1-1"]


def test_what_no_attempt_helps_does_not_keep_others_waiting_for_ever(
    platform: Platform, waiting: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.sweep.AT_ONCE", 2)
    sound = waiting("random")
    due = platform.store.keys(sound).due
    servers.keeper.zadd(due, {f"m{'a' * 15}{letter}": 1 for letter in "abcdef"})
    now = recall.position(platform, sound).at + PATIENCE_MS
    assert any((sound, now - PATIENCE_MS) in overdue(platform, now) for _ in range(100))


def test_what_was_written_by_a_clock_that_was_ahead_is_asked_for_too(
    platform: Platform, waiting: Callable[..., str], servers: Servers
) -> None:
    match = waiting("random")
    servers.queue.flushall()
    assert sweep(platform, recall.position(platform, match).at - 3_600_000) == 1


def test_a_long_queue_is_not_made_longer(
    platform: Platform, waiting: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = recall.position(platform, waiting("random")).at
    monkeypatch.setattr("workers.sweep.DEEP", 0)
    assert sweep(platform, since + 10_000) == 0


def test_a_job_says_no_more_than_ids(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random")
    job = Job.fetch(f"system-{match}-1", connection=servers.queue, serializer=JSONSerializer)
    assert (job.func_name, list(job.args), job.description) == ("workers.jobs.advance", [match, 1], f"system-{match}-1")
