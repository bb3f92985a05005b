"""Jobs and the sweep, one call at a time: what they do, what they leave alone, and what nobody can make them do."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from rq.job import Job
from rq.serializers import JSONSerializer

from events import play, recall
from events.due import ADVANCE, KINDS, THINK, Owed, owed, queue_list
from events.platform import Platform
from games.kernel import SYSTEM
from tests.conftest import Servers
from workers import jobs
from workers.queues import AllowedJob, worker
from workers.run import main
from workers.sweep import overdue, sweep

PATIENCE_MS = KINDS[ADVANCE].patience_ms
LONGEST_JOB = max(kind.seconds for kind in KINDS.values())


@pytest.fixture(autouse=True)
def _bound(platform: Platform) -> None:
    jobs.bind(platform)


@pytest.fixture
def waiting(platform: Platform, ann: str) -> Callable[..., str]:
    """Create a match in which the system must act, and return its id."""

    def made(*levels: str, target: int = 1_000_000) -> str:
        seats = dict(zip(("one", "two"), [f"ai:{level}" for level in levels] + ["me", "me"], strict=False))
        return play.create(platform, ann, "tally", seats, {"target": target}).match

    return made


def queued(servers: Servers, kind: str = ADVANCE) -> list[str]:
    """Return the names of the jobs in a queue, the next one first."""
    return [name.decode() for name in servers.queue.lrange(f"rq:queue:{kind}", 0, -1)]  # type: ignore[union-attr]


def test_an_append_enqueues_what_it_makes_due(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random")
    assert (queued(servers), queued(servers, THINK)) == ([f"advance-{match}-1"], [])
    position = play.play(platform, match, SYSTEM, [{"type": "advance"}]).position
    assert owed(position) == (Owed(THINK, match, 2, "one", position.at),)
    assert (queued(servers), queued(servers, THINK)) == ([f"advance-{match}-1"], [f"think-{match}-2-one"])


def test_a_job_does_what_is_due_and_what_follows_from_it(platform: Platform, waiting: Callable[..., str]) -> None:
    match = waiting("random", target=40)
    jobs.advance(match, 1)
    while (position := recall.position(platform, match)).status == "playing":
        if position.to_act == ["two"]:
            play.play(platform, match, "two", [{"type": "add", "by": 1, "stay": False}])
        else:
            (work,) = owed(position)
            jobs.think(match, work.version, work.target) if work.kind == THINK else jobs.advance(match, work.version)
    assert position.document["outcome"]["scores"]["one"] > 0


def test_a_job_leaves_the_rest_to_the_next_one_after_a_while(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random", "random")
    began = time.monotonic()
    jobs.advance(match, 1)
    assert time.monotonic() - began < 5
    position = recall.position(platform, match)
    assert position.version > 20
    (work,) = owed(position)
    assert work.version == position.version
    assert queued(servers, work.kind)[-1] == f"{work.kind}-{match}-{work.version}" + (f"-{work.target}" if work.target else "")


@pytest.mark.parametrize("late", [0, 1, 2, 99])
def test_a_job_for_another_version_does_nothing(platform: Platform, waiting: Callable[..., str], late: int) -> None:
    match = waiting("random")
    jobs.advance(match, 1)
    before = recall.position(platform, match).version
    assert before > 2
    jobs.advance(match, late)
    jobs.think(match, late, "one")
    jobs.think("m" + "a" * 16, 1, "one")
    assert recall.position(platform, match).version == before


def test_an_error_in_a_job_is_an_error(platform: Platform, ann: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "ai:random"}, {}).match
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    with pytest.raises(KeyError):
        jobs.think(match, 2, "one")
    assert recall.position(platform, match).version == 2


@pytest.mark.parametrize(
    "name", ["os.getcwd", "workers.jobs.bind", "workers.jobs.do_step", "events.play.play", "workers.jobs.advances", "builtins.eval"]
)
def test_only_the_allowed_jobs_can_be_called(servers: Servers, name: str) -> None:
    job = AllowedJob.create(name, connection=servers.queue, serializer=JSONSerializer)
    with pytest.raises(PermissionError):
        _ = job.func
    for kind in KINDS.values():
        assert callable(AllowedJob.create(kind.function, connection=servers.queue, serializer=JSONSerializer).func)


def test_a_worker_notices_within_seconds_that_another_has_died(servers: Servers) -> None:
    one = worker(servers.queue_url, list(KINDS))
    for kind in KINDS.values():
        job = AllowedJob.create(kind.function, connection=servers.queue, serializer=JSONSerializer, timeout=kind.seconds)
        assert one.get_heartbeat_ttl(job) == kind.seconds + 3
    timeless = AllowedJob.create(KINDS[THINK].function, connection=servers.queue, serializer=JSONSerializer)
    assert one.get_heartbeat_ttl(timeless) == LONGEST_JOB + 3
    assert (one.maintenance_interval, one.worker_ttl) == (2, 17)
    assert one.serializer is JSONSerializer


def test_only_the_type_of_an_error_in_a_job_is_logged(servers: Servers, capsys: pytest.CaptureFixture[str]) -> None:
    one = worker(servers.queue_url, [ADVANCE])
    job = one.queues[0].enqueue("workers.jobs.advance", "m", 1)
    one.handle_exception(job, ValueError, ValueError("the deck"), None)
    logged = "".join(capsys.readouterr())
    assert "ValueError" in logged
    assert "deck" not in logged


@pytest.mark.parametrize("text", ["", "advance,", "think;advance", "advance,hook", " advance"])
def test_a_worker_takes_known_queues_only(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="the queues are advance, think"):
        queue_list(text)
    with pytest.raises(SystemExit) as ended:
        main([f"--queues={text}"])
    assert ended.value.code == 2
    assert "--queues" in capsys.readouterr().err


# ---------------------------------------------------------------- the sweep


def test_the_sweep_enqueues_only_what_has_waited_too_long(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random")
    since = recall.position(platform, match).at
    servers.queue.flushall()
    assert sweep(platform, since + PATIENCE_MS - 1) == 0
    assert overdue(platform, since + PATIENCE_MS) == {f"advance|{match}|": since}
    assert sweep(platform, since + PATIENCE_MS) == 1
    assert queued(servers) == [f"advance-{match}-1-1"]


def test_sweeps_side_by_side_enqueue_once_and_what_fails_waits_ever_longer(
    platform: Platform, waiting: Callable[..., str], servers: Servers
) -> None:
    match = waiting("random")
    since = recall.position(platform, match).at
    servers.queue.flushall()
    enqueued = [seconds for seconds in range(40) if sweep(platform, since + seconds * 1000)]
    assert enqueued == [2, 4, 8, 16, 32]
    servers.queue.flushall()
    assert sweep(platform, since + 40_000) == 1, "but at once if the queue was emptied"


def test_nothing_is_due_when_people_must_act_or_the_match_is_over(platform: Platform, waiting: Callable[..., str]) -> None:
    match = waiting("random", target=3)
    jobs.advance(match, 1)
    for _ in range(5):
        position = recall.position(platform, match)
        if position.to_act != ["one"]:
            break
        jobs.think(match, position.version, "one")
    assert owed(recall.position(platform, match)) == ()
    assert overdue(platform, 2**52) == {}


def test_a_match_that_cannot_be_read_does_not_delay_others(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    broken, sound = waiting("random"), waiting("random")
    servers.keeper.xadd(platform.store.keys.of(broken).stream, {"e": b"nonsense"}, id="2-0")
    servers.keeper.zadd(platform.store.keys.of(broken).due, {f"advance|{broken}|": 1})
    servers.queue.flushall()
    assert sweep(platform, recall.position(platform, sound).at + PATIENCE_MS) == 1
    assert queued(servers) == [f"advance-{sound}-1-1"]


def test_work_that_always_fails_does_not_delay_other_work_for_ever(
    platform: Platform, waiting: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.sweep.AT_ONCE", 2)
    sound = waiting("random")
    due = platform.store.keys.of(sound).due
    servers.keeper.zadd(due, {f"advance|m{'a' * 15}{letter}|": 1 for letter in "abcdef"})
    since = recall.position(platform, sound).at
    assert any(overdue(platform, since + PATIENCE_MS).get(f"advance|{sound}|") == since for _ in range(100))


def test_what_was_written_by_a_clock_that_was_ahead_is_enqueued_too(
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


def test_a_job_has_ids_only(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random")
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    for name, function, args in (
        (f"advance-{match}-1", "workers.jobs.advance", [match, 1]),
        (f"think-{match}-2-one", "workers.jobs.think", [match, 2, "one"]),
    ):
        job = Job.fetch(name, connection=servers.queue, serializer=JSONSerializer)
        assert (job.func_name, list(job.args), job.kwargs, job.description) == (function, args, {}, name)
