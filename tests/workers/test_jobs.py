"""Tickets, steps and the sweep, one call at a time: what they do, what they leave alone, and what nobody can make them do."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest
from rq.job import Job
from rq.serializers import JSONSerializer
from structlog.testing import CapturingLogger

from events import play, recall
from events.due import ADVANCE, DEADLINE, KINDS, THINK, Owed, owed, queue_list
from events.errors import NoSeat, StoreUnavailable
from events.platform import Platform
from events.store.queue import TICKET, Done, Jobs
from games.kernel import SYSTEM, Action
from players import LEVELS
from tests.conftest import Servers, tickets, waits
from tests.workers.conftest import ANN
from workers import jobs, queues
from workers.queues import AllowedJob, worker
from workers.run import main
from workers.sweep import overdue, sweep

PATIENCE_MS = KINDS[ADVANCE].patience_ms
LONGEST_STEP = max(kind.seconds for kind in KINDS.values())


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


def test_an_append_lets_what_it_makes_due_wait(platform: Platform, waiting: Callable[..., str], servers: Servers, ann: str) -> None:
    match = waiting("random")
    assert (waits(servers, ADVANCE), waits(servers, THINK)) == ([f"advance|{match}|"], [])
    position = play.play(platform, match, SYSTEM, [{"type": "advance"}]).position
    assert owed(position)[0] == Owed(THINK, match, 2, "one", position.at, ann)
    assert (waits(servers, ADVANCE), waits(servers, THINK)) == ([f"advance|{match}|"], [f"think|{match}|one"])


def test_a_ticket_does_what_is_due_and_what_follows_from_it(platform: Platform, waiting: Callable[..., str]) -> None:
    match = waiting("random", target=40)
    jobs.work(ADVANCE)
    while (position := recall.position(platform, match)).status == "playing":
        if position.to_act == ["two"]:
            play.play(platform, match, "two", [{"type": "add", "by": 1, "stay": False}])
        else:
            jobs.work(owed(position)[0].kind)
    assert position.document["outcome"]["scores"]["one"] > 0


def test_a_ticket_leaves_the_rest_to_the_next_one_after_a_while(
    platform: Platform, waiting: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = waiting("random", "random")
    assert (tickets(servers, ADVANCE), tickets(servers, THINK)) == (1, 0)
    looks = itertools.count()
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: next(looks) * jobs.SECONDS / 200, perf_counter=float))
    jobs.work(ADVANCE)
    position = recall.position(platform, match)
    assert position.version > 20
    work, _ = owed(position)
    assert (work.version, waits(servers, work.kind), tickets(servers, work.kind)) == (position.version, [work.member], 1)


def test_a_ticket_waits_for_more_work_before_it_ends(
    platform: Platform, waiting: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = waiting("random"), ""

    def waited(kinds: Sequence[str], seconds: float) -> Owed | None:
        nonlocal second
        assert (kinds, seconds) == ((ADVANCE, THINK), 0.1)
        if second:
            return None
        second = waiting("random")
        return platform.jobs.take(kinds)

    monkeypatch.setattr(platform.jobs, "wait", waited)
    jobs.bind(platform, [ADVANCE, THINK], quiet=0.1)
    jobs.work(ADVANCE)
    assert second
    assert [recall.position(platform, match).to_act for match in (first, second)] == [["two"]] * 2


def test_a_match_goes_on_by_itself_while_the_queue_is_away(platform: Platform, ann: str, another_platform: Callable[[], Platform]) -> None:
    """The steps of a match are a chain. The queue only says who else waits."""
    match = play.create(platform, ann, "tally", {"one": "ai:random", "two": "ai:random"}, {"target": 1_000_000}).match
    first, _ = owed(recall.position(platform, match))
    other = another_platform()
    cut = dataclasses.replace(other, jobs=Jobs("unix:///nowhere", other.clock))
    jobs.bind(cut)
    jobs.work(ADVANCE)
    assert recall.position(platform, match).version == 1, "nothing came from the queue"
    assert cut.jobs.exchange(Done(first, 1.0, False), (first,), (THINK,)) is None, "nor does work of a kind that the worker does not do"
    done = 0
    step: Owed | None = first
    while step is not None and done < 10:
        following = jobs.carry_out(cut, step)
        done += 1
        step = cut.jobs.exchange(Done(step, 1.0, False), following, list(KINDS))
    assert done == 10
    assert recall.position(platform, match).version > 10


@pytest.mark.parametrize("late", [0, 1, 2, 99])
def test_a_step_for_another_version_does_nothing(platform: Platform, waiting: Callable[..., str], late: int) -> None:
    match = waiting("random")
    jobs.work(ADVANCE)
    before = recall.position(platform, match).version
    assert before > 2
    for work in (
        Owed(ADVANCE, match, late, "", 0, ANN),
        Owed(THINK, match, late, "one", 0, ANN),
        Owed(THINK, "m" + "a" * 16, 1, "one", 0, ANN),
    ):
        assert jobs.carry_out(platform, work) == ()
    assert recall.position(platform, match).version == before


@pytest.mark.parametrize(
    ("kind", "target"), [(ADVANCE, ""), (ADVANCE, "one"), (THINK, "two"), (THINK, "three"), (THINK, SYSTEM), (THINK, "")]
)
def test_a_step_that_is_not_due_does_nothing(platform: Platform, waiting: Callable[..., str], kind: str, target: str) -> None:
    """Others may write to the queue. Seat one is to act; two is a person's."""
    match = waiting("random")
    version = play.play(platform, match, SYSTEM, [{"type": "advance"}]).position.version
    with contextlib.suppress(NoSeat):
        assert jobs.carry_out(platform, Owed(kind, match, version, target, 0, ANN)) == ()
    assert recall.position(platform, match).version == version


def test_an_error_in_a_step_is_logged_and_delays_nobody_else(
    platform: Platform, waiting: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> Action:
        raise KeyError("the deck")

    logger = CapturingLogger()
    monkeypatch.setattr("workers.jobs.log", logger)
    monkeypatch.setattr("record.thinking.LEVELS", {**LEVELS, "greedy": fail})
    broken, sound = waiting("greedy"), waiting("random")
    jobs.work(ADVANCE)
    assert recall.position(platform, broken).version == 2
    assert recall.position(platform, sound).to_act == ["two"]
    (failed,) = [call for call in logger.calls if call.args == ("step_failed",)]
    assert (failed.kwargs["match"], failed.kwargs["error"]) == (broken, "KeyError")
    assert "deck" not in repr(logger.calls)
    assert waits(servers, THINK) == [], "it rests"
    assert sweep(platform, recall.position(platform, broken).at + 2 * PATIENCE_MS) == 1


def test_a_step_waits_again_while_the_store_is_away(
    platform: Platform, waiting: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is drained from the queue meanwhile, and nothing rests when the store is back."""

    def cannot(*given: object) -> tuple[Owed, ...]:
        raise StoreUnavailable("gone")

    matches = {waiting("random") for _ in range(5)}
    with monkeypatch.context() as patch:
        patch.setattr("workers.jobs.STEPS", dict.fromkeys(KINDS, cannot))
        for _ in range(10):
            jobs.work(ADVANCE)
    assert len(waits(servers, ADVANCE)) == 5
    assert list(servers.queue.scan_iter("fair:*:taken:*")) == []
    jobs.work(ADVANCE)
    assert {recall.position(platform, match).to_act[0] for match in matches} == {"two"}


@pytest.mark.parametrize(
    "name", ["os.getcwd", "workers.jobs.bind", "workers.jobs.do_step", "events.play.play", "workers.jobs.works", "builtins.eval"]
)
def test_only_tickets_can_be_called(servers: Servers, name: str) -> None:
    job = AllowedJob.create(name, connection=servers.queue, serializer=JSONSerializer)
    with pytest.raises(PermissionError):
        _ = job.func
    assert AllowedJob.create(TICKET, connection=servers.queue, serializer=JSONSerializer).func is jobs.work


def test_a_worker_notices_within_seconds_that_another_has_died(servers: Servers) -> None:
    one = worker(servers.queue_url, list(KINDS))
    job = AllowedJob.create(TICKET, connection=servers.queue, serializer=JSONSerializer, timeout=5)
    assert one.get_heartbeat_ttl(job) == 5 + 3
    timeless = AllowedJob.create(TICKET, connection=servers.queue, serializer=JSONSerializer)
    assert one.get_heartbeat_ttl(timeless) == LONGEST_STEP + 3
    assert 2 * one.dequeue_timeout < one.worker_ttl == 17
    assert one.serializer is JSONSerializer


def test_only_the_type_of_an_error_in_a_ticket_is_logged(
    servers: Servers, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CapturingLogger()  # the one of the module may write where an earlier test has sent it
    monkeypatch.setattr(queues, "log", log)
    one = worker(servers.queue_url, [ADVANCE])
    job = one.queues[0].enqueue(TICKET, ADVANCE)
    one.handle_exception(job, ValueError, ValueError("the deck"), None)
    logged = "".join([*map(repr, log.calls), *capsys.readouterr()])
    assert "ValueError" in logged
    assert "deck" not in logged


@pytest.mark.parametrize("text", ["", "advance,", "think;advance", "advance,hook", " advance", "advance,search", "search,think"])
def test_a_worker_takes_known_queues_only_and_no_slow_one_beside_a_quick_one(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"the queues are advance, deadline, think|workers for search, hint, analysis, puzzle do"):
        queue_list(text)
    with pytest.raises(SystemExit) as ended:
        main([f"--queues={text}"])
    assert ended.value.code == 2
    assert "--queues" in capsys.readouterr().err


# ---------------------------------------------------------------- the sweep


def test_the_sweep_finds_only_what_has_waited_too_long(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random")
    since = recall.position(platform, match).at
    servers.queue.flushall()
    assert sweep(platform, since + PATIENCE_MS - 1) == 0
    assert overdue(platform, since + PATIENCE_MS) == {f"advance|{match}|": since}
    assert sweep(platform, since + PATIENCE_MS) == 1
    assert (waits(servers, ADVANCE), tickets(servers, ADVANCE)) == ([f"advance|{match}|"], 1)


def test_what_waits_is_never_asked_for_again(
    platform: Platform, waiting: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it waits. The sweep does not even look at its match."""
    matches = [waiting("random") for _ in range(20)]
    since = recall.position(platform, matches[0]).at
    expected = sorted(f"advance|{match}|" for match in matches)
    monkeypatch.setattr("workers.sweep.position", None)
    for seconds in range(0, 200, 7):
        assert sweep(platform, since + seconds * 1000) == 0
    assert sorted(waits(servers, ADVANCE)) == expected
    assert (platform.jobs.depth(ADVANCE), tickets(servers, ADVANCE)) == (20, 1)


def test_what_a_worker_has_is_asked_for_again_after_its_patience(platform: Platform, waiting: Callable[..., str]) -> None:
    """Counted from the moment at which it was taken, not from that at which it was due."""
    match = waiting("random")
    since = recall.position(platform, match).at
    taken = since + 60_000
    assert platform.jobs.take([ADVANCE], now=taken) is not None
    assert [sweep(platform, taken + ms) for ms in (0, 1000, PATIENCE_MS - 1)] == [0, 0, 0]
    assert [sweep(platform, taken + PATIENCE_MS) for _ in range(3)] == [1, 0, 0]


def test_what_fails_waits_ever_longer(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random")
    since = recall.position(platform, match).at
    servers.queue.flushall()
    enqueued = []
    for seconds in range(40):
        now = since + seconds * 1000
        if sweep(platform, now) + sweep(platform, now):
            enqueued.append(seconds)
            work = platform.jobs.take([ADVANCE], now=now)
            assert work is not None
            platform.jobs.exchange(Done(work, 1.0, True), (), (), now=now)
    assert enqueued == [2, 4, 8, 16, 32]
    servers.queue.flushall()
    assert sweep(platform, since + 40_000) == 1, "but at once if the queue was emptied"


def test_nothing_is_due_when_people_must_act_or_the_match_is_over(platform: Platform, waiting: Callable[..., str]) -> None:
    match = waiting("random", target=3)
    for _ in range(5):
        jobs.work(ADVANCE)
    position = recall.position(platform, match)
    assert [each.kind for each in owed(position)] == ([] if position.ended else [DEADLINE]), "the day on which nobody has acted for long"
    assert overdue(platform, position.at + 60_000) == {}


def test_a_match_that_cannot_be_read_does_not_delay_others(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    broken, sound = waiting("random"), waiting("random")
    servers.keeper.xadd(platform.store.keys.of(broken).stream, {"e": b"nonsense"}, id="2-0")
    servers.keeper.zadd(platform.store.keys.of(broken).due, {f"advance|{broken}|": 1})
    servers.queue.flushall()
    assert sweep(platform, recall.position(platform, sound).at + PATIENCE_MS) == 1
    assert waits(servers, ADVANCE) == [f"advance|{sound}|"]


def test_work_that_always_fails_does_not_delay_other_work_for_ever(
    platform: Platform, waiting: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.sweep.AT_ONCE", 2)
    sound = waiting("random")
    due = platform.store.keys.of(sound).due
    servers.keeper.zadd(due, {f"advance|m{'a' * 15}{letter}|": 1 for letter in "abcdef"})
    since = recall.position(platform, sound).at
    assert any(overdue(platform, since + PATIENCE_MS).get(f"advance|{sound}|") == since for _ in range(100))


def test_what_was_written_by_a_clock_that_was_ahead_is_found_too(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    match = waiting("random")
    servers.queue.flushall()
    assert sweep(platform, recall.position(platform, match).at - 3_600_000) == 1


def test_a_ticket_has_its_kind_only(platform: Platform, waiting: Callable[..., str], servers: Servers) -> None:
    waiting("random")
    (name,) = servers.queue.lrange(f"rq:queue:{ADVANCE}", 0, -1)  # type: ignore[misc]
    job = Job.fetch(name.decode(), connection=servers.queue, serializer=JSONSerializer)
    assert (job.func_name, list(job.args), job.kwargs, job.timeout) == (TICKET, [ADVANCE], {}, LONGEST_STEP + 1)
