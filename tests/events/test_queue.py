"""The queue of due work: fair among creators, nothing in it twice, few tickets, and nothing in it that cannot be lost."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush

import pytest

from events import play, recall
from events.due import ADVANCE, DEADLINE, EXPIRE, KINDS, QUICK, REPORT, REPORT_MS, SEARCH, THINK, Owed
from events.platform import Platform
from events.store.queue import Done
from events.store.queue.counters import Addition, Counters
from events.store.queue.studies import hint_for
from events.telemetry import metrics
from record.allowances import ALLOWANCES
from tests.conftest import Servers, tickets, waits
from workers import jobs
from workers.sweep import sweep

NOW = 1_700_000_000_000
PATIENCE = KINDS[THINK].patience_ms


def turn(creator: str, number: int, due: int = NOW, version: int = 2, kind: str = THINK) -> Owed:
    """Return work of the match with that number of a creator."""
    return Owed(kind, f"m{creator}{number}", version, "one", due, creator)


def turns(creator: str, count: int, kind: str = THINK) -> list[Owed]:
    return [turn(creator, number, NOW + number, kind=kind) for number in range(count)]


def take(platform: Platform, kinds: Iterable[str] = (THINK,), now: int = NOW) -> Owed:
    work = platform.jobs.take(list(kinds), now=now)
    assert work is not None
    return work


def hand_in(platform: Platform, work: Owed, ms: float = 5.0, failed: bool = False, now: int = NOW) -> None:
    assert platform.jobs.exchange(Done(work, ms, failed), (), (), now=now) is None


def served(platform: Platform, number: int) -> list[str]:
    """Return the creators of the next steps, each of which takes a tenth of a second."""
    taken = []
    for _ in range(number):
        work = take(platform)
        taken.append(work.creator)
        hand_in(platform, work, 100.0)
    return taken


def all_keys(servers: Servers) -> set[str]:
    return {key.decode() for key in servers.queue.scan_iter("fair:*")}


# ---------------------------------------------------------------- fairness


@pytest.mark.parametrize("kind", [THINK, SEARCH])
def test_one_match_beside_two_hundred_of_another_creator_is_among_the_next_two(platform: Platform, kind: str) -> None:
    platform.jobs.push(turns("crowd", 200, kind))
    for _ in range(20):
        hand_in(platform, take(platform, [kind]), ms=15_000 if kind == SEARCH else 5)
    platform.jobs.push([turn("polite", 1, NOW + 1_000_000, kind=kind)])
    assert "polite" in [take(platform, [kind]).creator for _ in range(2)]


@pytest.mark.parametrize("kind", KINDS)
def test_creators_take_turns_whatever_their_number_of_matches(platform: Platform, kind: str) -> None:
    for creator, count in (("a", 100), ("b", 10), ("c", 50)):
        platform.jobs.push_again(turns(creator, count, kind), NOW)  # unlike `push`, it takes work of all kinds
    taken: list[str] = []
    for _ in range(30):
        work = take(platform, [kind])
        taken.append(work.creator)
        hand_in(platform, work)
    assert Counter(taken) == {"a": 10, "b": 10, "c": 10}
    assert all(set(taken[place : place + 3]) == {"a", "b", "c"} for place in range(0, 30, 3))


def test_workers_side_by_side_take_from_different_creators(platform: Platform) -> None:
    for creator in "abc":
        platform.jobs.push(turns(creator, 9))
    assert sorted(take(platform).creator for _ in range(3)) == ["a", "b", "c"]


def test_the_time_of_workers_is_shared_and_not_the_number_of_steps(platform: Platform) -> None:
    """A creator of slow steps gets as much time as one of quick steps: here one step for fifty."""
    platform.jobs.push([*turns("slow", 300), *turns("quick", 300)])
    had: Counter[str] = Counter()
    for _ in range(300):
        work = take(platform)
        ms = {"slow": 500.0, "quick": 9.0}[work.creator]
        had[work.creator] += int(ms)
        hand_in(platform, work, ms)
    assert abs(had["slow"] - had["quick"]) <= 520, had


def test_nobody_saves_up_time_and_nobody_pays_for_time_that_nobody_else_wanted(platform: Platform) -> None:
    platform.jobs.push(turns("early", 100))
    for _ in range(50):
        hand_in(platform, take(platform), 1000.0)  # alone, for 50 seconds
    platform.jobs.push(turns("late", 100))
    taken = served(platform, 40)
    assert taken[:10] == ["late"] * 10, "as long as the step that the early one had when late came"
    assert 14 <= taken[10:].count("early") <= 16, "and then both alike"


def test_the_work_of_a_creator_is_taken_in_the_order_in_which_it_was_due(platform: Platform) -> None:
    works = turns("a", 50)
    random.Random(1).shuffle(works)
    for work in works:
        platform.jobs.push([work])
    assert [take(platform).match for _ in works] == [f"ma{number}" for number in range(50)]


def test_what_follows_a_step_stands_behind_the_other_work_of_its_creator(platform: Platform) -> None:
    platform.jobs.push(turns("a", 3))
    first = take(platform)
    following = first._replace(version=3, due=NOW + 50)
    taken = [platform.jobs.exchange(Done(first, 5.0, False), [following], [THINK], now=NOW), take(platform), take(platform)]
    assert [(work.match, work.version) for work in taken if work] == [("ma1", 2), ("ma2", 2), ("ma0", 3)]


def test_what_follows_a_step_is_next_if_nothing_else_waits(platform: Platform) -> None:
    platform.jobs.push(turns("a", 1))
    first = take(platform)
    following = first._replace(version=3)
    assert platform.jobs.exchange(Done(first, 5.0, False), [following], [THINK], now=NOW) == following._replace(due=0)


def test_the_work_of_a_creator_is_taken_by_the_order_of_kinds_of_the_worker(platform: Platform) -> None:
    for first, then in ((ADVANCE, THINK), (THINK, ADVANCE)):
        platform.jobs.push([*turns("a", 2, THINK), *turns("a", 2, ADVANCE)])
        assert [take(platform, [first, then]).kind for _ in range(4)] == [first, first, then, then]
    platform.jobs.push(turns("a", 1))
    assert platform.jobs.take([ADVANCE], now=NOW) is None


def test_a_creator_has_one_account_for_all_kinds(platform: Platform) -> None:
    platform.jobs.push([*turns("a", 9, ADVANCE), *turns("a", 9), *turns("b", 9), *turns("c", 9, REPORT)])
    taken = []
    for _ in range(9):
        work = take(platform, QUICK)
        taken.append((work.creator, work.kind))
        hand_in(platform, work)
    assert Counter(creator for creator, _ in taken) == {"a": 3, "b": 3, "c": 3}
    assert {kind for creator, kind in taken if creator == "a"} == {ADVANCE}


# ---------------------------------------------------------------- floods, played through in virtual time


class Crew:
    """Workers as `serve` starts them, in virtual time. A step takes the milliseconds of its kind, and then the same work is due again."""

    def __init__(
        self, platform: Platform, ms: dict[str, float], kinds: Sequence[tuple[str, ...]] = ((ADVANCE, DEADLINE), QUICK, QUICK)
    ) -> None:
        self.jobs, self.ms = platform.jobs, ms
        self.hands: list[tuple[float, int, tuple[str, ...], Owed | None]] = [(0.0, number, each, None) for number, each in enumerate(kinds)]
        self.used: Counter[tuple[str, str]] = Counter()
        self.waits: list[float] = []
        self.asked = 0.0

    def work(self, until: float, polite: Owed | None = None, every: float = 100.0) -> None:
        """Work until a moment. A polite player makes some work due again and again, each time `every` ms after it was taken."""
        number, waits = 0, False
        while self.hands[0][0] < until:
            now, hand, kinds, had = heappop(self.hands)
            if polite is not None and not waits and now >= self.asked:
                number, waits, self.asked = number + 1, True, now
                self.jobs.push_again([polite._replace(version=number)], NOW + int(now))
            more = [had._replace(version=had.version + 1)] if had is not None and had.creator != "polite" else []
            done = None if had is None else Done(had, self.ms[had.kind], False)
            self.jobs.push_again(more, NOW + int(now))
            work = self.jobs.exchange(done, (), kinds, now=NOW + int(now))
            if work is not None:
                self.used[work.creator, work.kind] += int(self.ms[work.kind])
            if work is not None and work.creator == "polite":
                self.waits.append(now - self.asked)
                waits, self.asked = False, now + every
            heappush(self.hands, (now + (5.0 if work is None else self.ms[work.kind]), hand, kinds, work))

    def share(self, *, creator: str | None = None, kind: str | None = None) -> float:
        """Return the share of the time that a creator or a kind has had."""
        had = sum(ms for (one, each), ms in self.used.items() if creator in (None, one) and kind in (None, each))
        return had / self.used.total()


SPENT = {ADVANCE: 20.0, DEADLINE: 30.0, THINK: 20.0, EXPIRE: 20.0, REPORT: 400.0}
"""Milliseconds of a step of each kind."""


def test_short_clocks_of_one_player_delay_nobodys_turn(platform: Platform) -> None:
    """450 matches whose clocks run out again at once kept the AI turns of all others waiting for minutes."""
    platform.jobs.push_again(turns("flood", 450, DEADLINE), NOW)
    crew = Crew(platform, SPENT)
    crew.work(10_000, turn("polite", 1))
    assert len(crew.waits) > 60
    assert max(crew.waits) <= SPENT[DEADLINE], "one step of one of the two workers that think"


@pytest.mark.parametrize("kind", [DEADLINE, THINK, ADVANCE])
def test_a_kind_keeps_its_share_beside_a_crowd_of_players_with_work_of_another_kind(platform: Platform, kind: str) -> None:
    """As many players as may register: each creator has a small share, and the kind of the polite one has its own."""
    other = THINK if kind != THINK else DEADLINE
    for number in range(150):
        platform.jobs.push_again(turns(f"one{number:03}", 2, kind), NOW)
    crew = Crew(platform, SPENT, [QUICK, QUICK])
    crew.work(1_000)
    crew.work(5_000, turn("polite", 1, kind=other))
    assert max(crew.waits) <= 300
    assert len(crew.waits) >= 10


def test_all_kinds_of_work_of_one_player_together_leave_half_to_another(platform: Platform) -> None:
    for kind in (ADVANCE, DEADLINE, THINK, EXPIRE, REPORT):
        platform.jobs.push_again(turns("greedy", 100, kind), NOW)
    platform.jobs.push_again(turns("modest", 100), NOW)
    crew = Crew(platform, SPENT, [QUICK, QUICK])
    crew.work(15_000)
    assert 0.45 <= crew.share(creator="modest") <= 0.65


def test_every_kind_gets_a_tenth_of_the_time_if_its_work_waits(platform: Platform) -> None:
    for number in range(40):
        platform.jobs.push_again(turns(f"one{number:03}", 5, DEADLINE), NOW)
    for kind in (ADVANCE, THINK, EXPIRE, REPORT):
        platform.jobs.push_again(turns("few", 200, kind), NOW)
    crew = Crew(platform, SPENT, [QUICK])
    crew.work(15_000)
    assert {kind: crew.share(kind=kind) > 0.09 for kind in QUICK} == dict.fromkeys(QUICK, True)


def test_a_kind_without_workers_gives_nobody_a_claim_to_the_past(platform: Platform) -> None:
    platform.jobs.push_again(turns("stuck", 1, REPORT), NOW)
    platform.jobs.push(turns("early", 100))
    for _ in range(50):
        hand_in(platform, take(platform), 1000.0)
    platform.jobs.push(turns("late", 100))
    taken = served(platform, 40)
    assert taken[:20].count("late") >= 15
    assert 9 <= taken[20:].count("early") <= 11


def test_one_report_is_made_at_a_time_and_the_others_wait_for_it(platform: Platform, servers: Servers) -> None:
    platform.jobs.push(turns("a", 2, REPORT) + turns("b", 2, REPORT))
    first = take(platform, QUICK)
    assert platform.jobs.take(QUICK, now=NOW) is None
    servers.queue.delete("fair:report:called", "rq:queue:report")
    platform.jobs.push([turn("a", 5)])
    assert tickets(servers, REPORT) == 0, "nobody is called for what cannot be done now"
    assert take(platform, QUICK).kind == THINK
    second = platform.jobs.exchange(Done(first, 100.0, False), (), QUICK, now=NOW)
    assert second is not None
    assert (second.kind, second.creator) == (REPORT, "b")
    assert platform.jobs.take(QUICK, now=NOW) is None
    servers.queue.delete("fair:report:alone")  # as after the lease of a worker that was killed
    assert take(platform, QUICK).kind == REPORT


def test_the_lease_of_a_report_is_as_long_as_the_audit_of_its_match_may_take(platform: Platform) -> None:
    work = turn("a", 1, kind=REPORT)._replace(lease_ms=REPORT_MS * 10_000)
    platform.jobs.push([work])
    take(platform, [REPORT])
    assert [platform.jobs.lost({work.member: NOW}, NOW + ms) for ms in (29_999, 30_000)] == [[], [work.member]]


# ---------------------------------------------------------------- nothing twice


def test_nothing_waits_twice_and_the_newest_version_counts(platform: Platform, servers: Servers) -> None:
    for version in (2, 5, 3):
        platform.jobs.push([turn("a", 1, version=version)])
    assert waits(servers, THINK) == ["think|ma1|one"]
    assert platform.jobs.depth(THINK) == 1
    assert take(platform).version == 5
    assert platform.jobs.take([THINK], now=NOW) is None


def test_what_waits_or_is_in_hand_is_not_lost(platform: Platform) -> None:
    waiting, held, gone = [turn("a", number) for number in range(3)]
    platform.jobs.push([held])
    assert take(platform).match == held.match
    platform.jobs.push([waiting])
    moments = {work.member: work.due for work in (waiting, held, gone)}
    assert platform.jobs.lost(moments, NOW + PATIENCE - 1) == [gone.member]
    assert platform.jobs.lost(moments, NOW + PATIENCE) == [held.member, gone.member]
    assert platform.jobs.push_again([waiting, held, gone], NOW + PATIENCE - 1) == 1
    assert platform.jobs.push_again([waiting, held, gone], NOW + PATIENCE - 1) == 0


@pytest.mark.parametrize("lease", [allowance.lease_ms for allowance in ALLOWANCES.values()])
def test_a_search_has_the_lease_of_its_level(platform: Platform, lease: int) -> None:
    """Whoever asks for it again within that time, however often and from wherever: nobody else takes it."""
    work = turn("a", 1, kind=SEARCH)._replace(lease_ms=lease)
    platform.jobs.push([work])
    assert take(platform, [SEARCH]).member == work.member
    for after in (0, KINDS[SEARCH].patience_ms, lease - 1):
        assert platform.jobs.lost({work.member: work.due}, NOW + after) == []
        assert [platform.jobs.push_again([work], NOW + after) for _ in range(2)] == [0, 0]
    assert platform.jobs.lost({work.member: work.due}, NOW + lease) == [work.member]
    assert [platform.jobs.push_again([work], NOW + lease) for _ in range(2)] == [1, 0]


def test_a_search_that_is_put_back_keeps_its_lease(platform: Platform) -> None:
    """A worker that is to end puts it back, and another one takes it."""
    work = turn("a", 1, kind=SEARCH)._replace(lease_ms=25_000)
    platform.jobs.push([work])
    taken = take(platform, [SEARCH])
    platform.jobs.exchange(Done(taken, 1.0, False), (taken,), ())
    assert take(platform, [SEARCH]).member == work.member
    assert platform.jobs.lost({work.member: work.due}, NOW + 24_999) == []
    assert platform.jobs.lost({work.member: work.due}, NOW + 25_000) == [work.member]


def test_a_lease_ends_with_the_version_that_it_was_for(platform: Platform, servers: Servers) -> None:
    """A queue that comes back older has leases of versions that are past. They hold up nothing that came later."""
    old = turn("a", 1, kind=SEARCH)._replace(lease_ms=30_000)
    platform.jobs.push([old])
    take(platform, [SEARCH])
    new = old._replace(version=old.version + 1, due=NOW + 5)
    assert platform.jobs.lost({new.member: new.due}, NOW + 10) == [new.member]
    assert platform.jobs.push_again([new], NOW + 10) == 1
    assert take(platform, [SEARCH], NOW + 10).version == new.version
    assert platform.jobs.lost({new.member: new.due}, NOW + 30_000) == []
    assert platform.jobs.lost({new.member: new.due}, NOW + 30_010) == [new.member]


def test_a_search_that_keeps_failing_rests_for_an_hour_at_most(platform: Platform) -> None:
    work = turn("a", 1, kind=SEARCH)._replace(lease_ms=30_000)
    for attempt in range(12):
        platform.jobs.push([work])
        platform.jobs.exchange(Done(take(platform, [SEARCH]), 1.0, True), (), (), now=NOW)
        rest = min(30_000 * 2**attempt, 3_600_000)
        assert [platform.jobs.lost({work.member: NOW}, NOW + ms) for ms in (rest - 1, rest)] == [[], [work.member]]


def test_work_that_is_done_is_forgotten(platform: Platform, servers: Servers) -> None:
    platform.jobs.push([*turns("a", 20), *turns("b", 20, ADVANCE)])
    while work := platform.jobs.take([ADVANCE, THINK], now=NOW):
        hand_in(platform, work)
    assert platform.jobs.take([ADVANCE, THINK], now=NOW) is None
    assert all_keys(servers) <= {"fair:think:called", "fair:advance:called"}, "nothing is left of what strangers made"


def test_work_that_failed_leaves_a_mark_that_expires(platform: Platform, servers: Servers) -> None:
    platform.jobs.push([turn("a", 1)])
    hand_in(platform, take(platform), failed=True)
    (mark,) = [key for key in all_keys(servers) if "taken" in key]
    assert 0 < servers.queue.pttl(mark) <= 2 * PATIENCE  # type: ignore[operator]


# ---------------------------------------------------------------- tickets


def test_a_backlog_needs_one_ticket_until_a_worker_begins_it(platform: Platform, servers: Servers) -> None:
    before = metrics.tickets.labels(THINK)._value.get()
    first, *rest = turns("a", 200)
    platform.jobs.push([first])
    assert servers.queue.persist("fair:think:called"), "for a slow machine: after 0.3 s without a worker another one is called"
    for work in rest:
        platform.jobs.push([work])
    assert tickets(servers, THINK) == 1
    servers.queue.lpop("rq:queue:think")  # a worker takes it
    platform.jobs.push(turns("b", 50))
    assert tickets(servers, THINK) == 0, "it is on its way"
    assert platform.jobs.take([THINK], ticket=THINK, now=NOW) is not None
    assert tickets(servers, THINK) == 1, "more waits than one worker can do at once, so that it calls for another"
    servers.queue.persist("fair:think:called")
    for _ in range(30):
        take(platform)
    assert tickets(servers, THINK) == 1
    assert metrics.tickets.labels(THINK)._value.get() == before + 2


def test_no_ticket_is_called_for_nothing(platform: Platform, servers: Servers) -> None:
    platform.jobs.push([turn("a", 1)])
    servers.queue.delete("rq:queue:think")
    work = platform.jobs.take([THINK], ticket=THINK, now=NOW)
    assert work is not None
    hand_in(platform, work)
    assert platform.jobs.push_again([], NOW) == 0
    assert (tickets(servers, THINK), tickets(servers, ADVANCE)) == (0, 0)


def test_a_lost_ticket_is_called_again_by_the_next_sweep(platform: Platform, servers: Servers) -> None:
    platform.jobs.push([turn("a", 1)])
    servers.queue.delete("rq:queue:think", "fair:think:called")
    sweep(platform)
    assert tickets(servers, THINK) == 1


# ---------------------------------------------------------------- workers that wait between two steps


@pytest.fixture
def meanwhile(platform: Platform, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Owed | None]:
    """Let a worker wait for work of some kinds, and do something while it waits. Return what the worker gets, and note who wakes it."""

    def waited(kinds: Sequence[str], then: Callable[[], object]) -> Owed | None:
        def blpop(keys: list[str], seconds: float) -> object:
            then()
            popped = servers.queue.lpop(keys[0])
            return (keys[0], popped) if popped else None

        monkeypatch.setattr(platform.jobs._connection, "blpop", blpop)
        return platform.jobs.wait(kinds, 0.1)

    return waited


def test_work_wakes_a_worker_that_waits_for_it_and_needs_no_ticket(
    platform: Platform, servers: Servers, meanwhile: Callable[..., Owed | None]
) -> None:
    work = turn("a", 1)
    got = meanwhile([ADVANCE, THINK], lambda: platform.jobs.push([work]))
    assert got is not None
    assert (got.member, tickets(servers, THINK)) == (work.member, 0)
    assert all_keys(servers) & {"fair:idle", "fair:think:called"} == set()


def test_one_call_wakes_one_worker_and_the_next_work_calls_a_ticket(
    platform: Platform, servers: Servers, meanwhile: Callable[..., Owed | None]
) -> None:
    def twice() -> None:
        platform.jobs.push([turn("a", 1)])
        assert tickets(servers, THINK) == 0
        platform.jobs.push([turn("b", 1)])
        assert tickets(servers, THINK) == 1

    assert meanwhile([THINK], twice) is not None


def test_a_worker_that_waits_is_not_woken_for_kinds_that_it_does_not_do(
    platform: Platform, servers: Servers, meanwhile: Callable[..., Owed | None]
) -> None:
    assert meanwhile([ADVANCE], lambda: platform.jobs.push([turn("a", 1)])) is None
    assert tickets(servers, THINK) == 1


def test_a_worker_that_was_killed_while_it_waited_delays_work_for_no_longer_than_it_would_have_waited(
    platform: Platform, servers: Servers
) -> None:
    platform.jobs.trade(take=[THINK], idle=("killed think", 250), now=NOW)
    assert servers.queue.zcard("fair:idle") == 1
    platform.jobs.push_again([turn("a", 1)], NOW + 250)
    assert tickets(servers, THINK) == 1


def test_a_worker_that_waits_takes_at_once_what_waits_already(
    platform: Platform, servers: Servers, meanwhile: Callable[..., Owed | None]
) -> None:
    work = turn("a", 1)
    platform.jobs.push([work])
    got = meanwhile([THINK], lambda: pytest.fail("there is nothing to wait for"))
    assert got is not None
    assert got.member == work.member
    assert meanwhile([THINK], lambda: None) is None
    assert servers.queue.zcard("fair:idle") == 0


# ---------------------------------------------------------------- a queue that loses and lies


@pytest.mark.parametrize("lost", ["fair:*", "fair:think:of:*", "fair:think:spent", "fair:think:versions", "fair:think:clock"])
def test_what_the_queue_has_lost_is_found_in_the_store(platform: Platform, servers: Servers, ann: str, lost: str) -> None:
    """A server may evict any key. The sweep lets what is due wait again as soon as workers have emptied the rest."""
    matches = [play.create(platform, ann, "tally", {"one": "ai:random", "two": "me"}, {}).match for _ in range(5)]
    for match in matches:
        play.play(platform, match, "system", [{"type": "advance"}])
    at = recall.position(platform, matches[-1]).at
    for key in servers.queue.scan_iter(lost):
        servers.queue.delete(key)
    found: set[str] = set()
    for minute in range(1, 4):
        now = at + minute * 60_000
        sweep(platform, now)
        while work := platform.jobs.take([ADVANCE, THINK], now=now):
            found |= {work.match} if work.kind == THINK else set()
    assert found == set(matches)


@pytest.mark.parametrize(
    ("member", "version"),
    [("nonsense", "2"), ("think|m", "2"), ("think||", "2"), ("\xff|\xff|\xff", "2"), ("think|m|one", "two"), ("think|m|one", "9" * 40)],
)
def test_foreign_content_of_the_queue_does_nothing(platform: Platform, servers: Servers, member: str, version: str) -> None:
    raw = member.encode("latin-1")
    servers.queue.zadd("fair:think:of:a", {raw: 1})
    servers.queue.zadd("fair:think:spent", {"a": 0})
    servers.queue.hset("fair:think:versions", raw, version)  # type: ignore[arg-type]
    jobs.bind(platform)
    jobs.work(THINK)
    platform.jobs.push([turn("b", 1)])
    assert take(platform, [THINK]).creator == "b"


WRONG = [
    *("fair:quick:spent", "fair:quick:clock", "fair:think:creators", "fair:think:of:a", "fair:think:versions", "fair:advance:versions"),
    *("fair:think:taken:think|ma1|one", "fair:idle", "rq:queue:think"),
]


@pytest.mark.parametrize("key", WRONG)
def test_a_key_of_a_wrong_type_is_dropped_and_counted_and_the_rest_stays(platform: Platform, servers: Servers, key: str) -> None:
    before = metrics.queue_dropped._value.get()
    platform.jobs.push([turn("b", 1)])
    servers.queue.delete(key)
    if "taken" in key or key.startswith(("fair:quick", "fair:idle")):
        servers.queue.lpush(key, "nonsense")
    else:
        servers.queue.set(key, "nonsense")
    work = turn("a", 1)
    platform.jobs.push_again([work], NOW)
    assert platform.jobs.push_again([work], NOW) == 0
    taken = [platform.jobs.take([THINK], now=NOW), platform.jobs.take([THINK], now=NOW)]
    assert work.member in [one.member for one in taken if one]
    platform.jobs.wait([THINK], 0.01)
    assert platform.jobs.lost({"think|m|": NOW}) == ["think|m|"]
    assert metrics.queue_dropped._value.get() - before == 1


def test_content_without_a_meaning_counts_as_none(platform: Platform, servers: Servers) -> None:
    platform.jobs.push(turns("a", 3))
    servers.queue.hset("fair:quick:clock", mapping=dict.fromkeys(("used", "creators", THINK), "nonsense"))
    servers.queue.set("fair:think:taken:think|ma1|one", "nonsense")
    assert platform.jobs.lost({"think|mb1|one": NOW}) == ["think|mb1|one"]
    assert [take(platform).match for _ in range(3)] == ["ma0", "ma1", "ma2"]


def test_counters_and_studies_go_on_after_a_key_of_a_wrong_type(platform: Platform, servers: Servers) -> None:
    counters = Counters(servers.queue_url)
    for key in ("{limits}:held:streams", "{limits}:actions:b", "study:of:hint:a", "study:done:hint"):
        servers.queue.set(key, "nonsense")
    servers.queue.hset("{limits}:actions:a", "not", "this")
    assert counters.add([Addition("actions:b", 1.0)]) is not None
    assert counters.add([Addition("actions:a", 1.0)]) is not None
    assert counters.hold("streams", "one", {"ada": 1}) is not None
    work = hint_for("m1", 2, "one", "greedy", "a", NOW)
    assert platform.studies.begin(work, 4) is not None
    assert platform.studies.answer(work, b"{}")
    counters.close()


# ---------------------------------------------------------------- the path of an action


def test_letting_work_wait_is_one_round_trip_and_with_a_ticket_two(platform: Platform, servers: Servers) -> None:
    """As many as RQ's own enqueueing at most. Commands within a script or a transaction go together."""
    platform.jobs.push([turn("warm", 1)])
    sent: list[int] = []
    for works in ([turn("a", 1, kind=ADVANCE)], [turn("a", 2, kind=ADVANCE)]):
        with servers.queue.monitor() as monitor:  # type: ignore[no-untyped-call]
            platform.jobs.push(works)
            servers.queue.echo("end")
            commands = []
            while (line := monitor.next_command())["command"].split()[0] != "ECHO":
                if line["client_type"] != "lua":
                    commands.append(line["command"].split()[0].upper())
        sent.append(commands.count("EVALSHA") + commands.count("EXEC"))
    assert sent == [2, 1]
