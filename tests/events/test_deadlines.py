"""Deadlines: when time is up, what the system does then, and what an outage or a request in flight changes about it."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from events import deadlines, deciding, play, recall
from events.audit import audit
from events.due import ADVANCE, DEADLINE, THINK, NotDue, owed
from events.errors import StoreUnavailable
from events.platform import Platform, Settings, open_platform
from events.play import Played
from events.rebuild import rebuild
from events.standings import NEVER, clocks, indexes
from events.timing.pulse import WEB, WORKER
from games.kernel import SYSTEM, Refused
from record.entries import parse
from tests.conftest import ALL_GAMES, Servers
from tests.events.keyspace import projections
from tests.events.test_clock import HOUR, MINUTE, Machine
from workers import jobs
from workers.sweep import call_deadlines, sweep

SECOND = 1000
BANK = {"kind": "bank", "seconds": 10, "increment": 2, "delay": 0}
QUICK = {"kind": "per_action", "seconds": 10}
BEGUN = 2_000_000_000_000  # later than any real clock says


class Timed:
    """A platform whose time passes only when a test says so, with a web process and a worker that give pulses."""

    def __init__(self, servers: Servers) -> None:
        self.machine = Machine(BEGUN)
        self.settings = Settings(store_url=servers.store_url, queue_url=servers.queue_url, keys=servers.data / "keys")
        self.opened: list[Platform] = []
        self.processes: list[subprocess.Popen[bytes]] = []
        self.web, self.worker = self.join(WEB), self.join(WORKER)

    def join(self, role: str) -> Platform:
        platform = open_platform(self.settings, ALL_GAMES, clock=self.machine.clock())
        self.processes.append(subprocess.Popen(["sleep", "1000"]))
        platform.pulse.join(role, self.processes[-1].pid)
        platform.pulse.beat()
        self.opened.append(platform)
        return platform

    def live(self, ms: int, *asleep: Platform) -> None:
        """Let time pass, in which all give pulses and reports but those that are asleep."""
        while ms > 0:
            step = min(ms, 250)
            self.machine.pass_ms(step)
            ms -= step
            for platform in self.opened:
                if platform in asleep:
                    continue
                if platform.pulse._last is None or self.machine.up - platform.pulse._last.uptime >= SECOND:
                    platform.pulse.beat()
                if platform.pulse._role == WEB:
                    platform.pulse._report()

    def now(self) -> int:
        return self.machine.wall

    def begin(self, clock: Any = QUICK, time_out: Any = None, target: int = 1000, **seats: str) -> str:
        """Begin a match in which the first seat is to act, of two seats that Ann and Ann have unless others are named."""
        settings = {"clock": clock} | ({} if time_out is None else {"time_out": time_out})
        match = play.create(self.web, ANN, "tally", seats or {"one": "me", "two": "me"}, {"target": target}, settings=settings).match
        play.play(self.worker, match, SYSTEM, [{"type": "advance"}])
        return match

    def add(self, match: str, seat: str, stay: bool = False, **more: Any) -> Played:
        return play.play(self.web, match, seat, [{"type": "add", "by": 1, "stay": stay}], player=ANN, **more)

    def fire(self) -> list[str]:
        """Look for deadlines as a worker does, and carry out what waits. Return the members."""
        call_deadlines(self.worker, 0)
        done = []
        while work := self.worker.jobs.take([DEADLINE]):
            done.append(work.member)
            jobs.carry_out(self.worker, work)
            self.worker.jobs.exchange(jobs.Done(work, 1.0, False), (), ())
        return done

    def position(self, match: str) -> recall.Position:
        return recall.position(self.worker, match)

    def close(self) -> None:
        """Close the platforms and kill the processes that were opened."""
        for platform in self.opened:
            platform.close()
        for process in self.processes:
            process.kill()
            process.wait()


ANN = "p" + "a" * 16


@pytest.fixture
def timed(quiet_servers: Servers) -> Iterator[Timed]:
    found = Timed(quiet_servers)
    yield found
    found.close()


def entries(timed: Timed, match: str) -> list[tuple[str, str]]:
    """Return the actors and actions of a match since it began."""
    return [(entry.actor, entry.action["type"]) for entry in map(parse, timed.worker.store.log.read_all(match, 2))]


def events(timed: Timed, match: str, kind: str) -> list[dict[str, Any]]:
    found = [event for raw in timed.worker.store.log.read_all(match) for event in parse(raw).events]
    return [event for event in found if event["type"] == kind]


# ---------------------------------------------------------------- time is up


def test_an_action_counts_from_when_it_was_received_however_long_it_took(timed: Timed) -> None:
    match = timed.begin()
    timed.live(10 * SECOND)
    received = timed.now()
    timed.live(HOUR // 60)
    played = timed.add(match, "one", received=received)
    assert played.entries[0].at == received
    assert audit(timed.worker, match).ok


def test_an_action_received_after_its_deadline_is_refused(timed: Timed) -> None:
    match = timed.begin()
    before = timed.position(match)
    timed.live(10 * SECOND + 1)
    with pytest.raises(Refused) as refused:
        timed.add(match, "one")
    assert refused.value.refusal.code == "time_is_up"
    assert refused.value.refusal.facts == {"seat": "one", "deadline": before.at + 10 * SECOND}
    assert timed.position(match) == before


def test_a_deadline_fires_once_after_it_has_passed_and_not_before(timed: Timed) -> None:
    match = timed.begin()
    deadline = timed.now() + 10 * SECOND
    assert [(work.kind, work.due) for work in owed(timed.position(match))] == [(DEADLINE, deadline)]
    timed.live(10 * SECOND)
    assert timed.fire() == []
    timed.live(250)
    assert timed.fire() == [f"deadline|{match}|"]
    assert timed.fire() == []
    assert entries(timed, match) == [(SYSTEM, "time_out")]
    assert events(timed, match, "time_ran_out") == [{"type": "time_ran_out", "seat": "one", "deadline": deadline, "in_a_row": 1}]
    assert audit(timed.worker, match).ok


def test_two_workers_at_the_same_deadline_write_one_time_out(timed: Timed) -> None:
    match = timed.begin()
    other = timed.join(WORKER)
    timed.live(11 * SECOND)
    deadlines.meet(timed.worker, match)
    for platform in (timed.worker, other):
        with pytest.raises(NotDue):
            deadlines.meet(platform, match)
    assert entries(timed, match) == [(SYSTEM, "time_out")]


def test_an_artificial_player_takes_over_and_the_owner_returns(timed: Timed) -> None:
    match = timed.begin(time_out={"policy": "substitute", "level": "random"})
    timed.live(11 * SECOND)
    timed.fire()
    position = timed.position(match)
    assert position.table["substitutes"] == {"one": "random"}
    assert [work.kind for work in owed(position)] == [THINK]
    assert f"acts:{ANN}" not in indexes(position)
    timed.live(HOUR // 60)
    assert timed.fire() == [], "an artificial player never runs out of time"
    with pytest.raises(Refused) as refused:
        timed.add(match, "one")
    assert refused.value.code == "substituted"
    work = owed(position)[0]
    jobs.do_step(timed.worker, work, 0.0)
    assert entries(timed, match)[1][0] == "one"
    play.act_at_table(timed.web, match, "one", {"type": "return"}, player=ANN)
    if "one" in timed.position(match).to_act:
        timed.add(match, "one")
    assert audit(timed.worker, match).ok


@pytest.mark.parametrize("policy", ["forfeit", "substitute", "skip", "wait"])
def test_a_match_that_all_have_left_ends_by_itself(timed: Timed, policy: str) -> None:
    match = timed.begin(time_out={"policy": policy, "in_a_row": 2}, target=6)
    for _ in range(100):
        position = timed.position(match)
        if position.status == "over":
            break
        works = owed(position)
        assert works, "somebody must do something"
        if works[0].kind == DEADLINE:
            timed.machine.pass_ms(max(0, works[0].due + 1 - timed.now()))
            timed.live(2 * SECOND)
            timed.live(500)
            timed.fire()
        else:
            jobs.do_step(timed.worker, works[0], 0.0)
    assert timed.position(match).status == "over"
    assert audit(timed.worker, match).ok


def test_in_a_match_without_a_clock_who_must_act_forfeits_after_sixty_days(timed: Timed) -> None:
    match = timed.begin(clock={"kind": "none"})
    assert timed.position(match).table["clocks"] == {"returned": 0, "seats": {}}
    timed.machine.pass_ms(60 * 24 * HOUR - SECOND)
    timed.live(SECOND)
    assert timed.fire() == []
    timed.live(SECOND)
    timed.fire()
    assert timed.position(match).document["outcome"]["reason"] == "forfeited"
    assert audit(timed.worker, match).ok


def test_a_process_whose_wall_clock_is_wrong_writes_nothing_by_it(timed: Timed) -> None:
    match = timed.begin()
    timed.live(SECOND)
    timed.machine.wall += MINUTE
    wrong = open_platform(timed.settings, ALL_GAMES, clock=timed.machine.clock())
    timed.machine.wall -= MINUTE
    timed.opened.append(wrong)
    wrong.pulse.join(WEB, timed.processes[0].pid)
    received = wrong.clock.now()
    assert received > timed.now() + SECOND
    played = play.play(wrong, match, "one", [{"type": "add", "by": 1, "stay": False}], player=ANN, received=received)
    assert played.entries[0].at == timed.now()
    assert recall.position(wrong, play.create(wrong, ANN, "tally", {"one": "me", "two": "me"}, {}).match).at == timed.now()


# ---------------------------------------------------------------- requests in flight


def test_no_deadline_overtakes_a_request_that_was_received_before_it(timed: Timed) -> None:
    match = timed.begin()
    timed.live(10 * SECOND - 100)
    with timed.web.pulse.flight.receive() as received:
        timed.live(5 * SECOND)
        assert timed.fire() == []
        with pytest.raises(NotDue):
            deadlines.meet(timed.worker, match)
        timed.add(match, "one", received=received.moment)
    timed.live(250)
    assert timed.fire() == []
    assert [actor for actor, _ in entries(timed, match)] == ["one"]
    assert audit(timed.worker, match).ok


def test_a_deadline_waits_until_every_web_process_has_reported(timed: Timed, quiet_servers: Servers) -> None:
    match = timed.begin()
    other = timed.join(WEB)
    timed.live(10 * SECOND, other)
    timed.live(500, other)
    other.pulse.beat()
    quiet_servers.queue.flushall()
    timed.web.pulse._report()
    timed.worker.pulse.beat()
    assert timed.fire() == [], "one process has not said what it has received"
    other.pulse._report()
    timed.live(750)
    timed.fire()
    assert entries(timed, match) == [(SYSTEM, "return_time")], "what it had not reported was an outage"


# ---------------------------------------------------------------- outages


@pytest.mark.parametrize("clock", [QUICK, BANK])
def test_a_freeze_of_everything_gives_its_time_back_in_the_append_of_the_action(timed: Timed, clock: Any) -> None:
    match = timed.begin(clock)
    timed.live(4 * SECOND)
    begin = timed.now()
    timed.machine.pass_ms(MINUTE)
    timed.live(SECOND)
    played = timed.add(match, "one", stay=True, request="r")
    assert (played.first, played.last) == (4, 4)
    assert entries(timed, match) == [(SYSTEM, "return_time"), ("one", "add")]
    (returned,) = events(timed, match, "time_returned")
    assert returned["from"] <= begin
    assert returned["to"] >= begin + MINUTE
    assert timed.add(match, "one", stay=True, request="r")[:2] == (4, 4)
    left = clocks(timed.position(match).table)["one"]
    assert left["deadline"] is not None
    assert left["deadline"] > timed.now()
    assert audit(timed.worker, match).ok
    before = projections(timed.worker.store.client)
    rebuild(timed.worker)
    assert projections(timed.worker.store.client) == before


def test_a_deadline_within_an_outage_gives_its_time_back_instead_of_a_time_out(timed: Timed) -> None:
    match = timed.begin()
    timed.live(9 * SECOND)
    timed.machine.pass_ms(HOUR)
    timed.live(500)
    timed.fire()
    assert entries(timed, match) == [(SYSTEM, "return_time")]
    (moment,) = [work.due for work in owed(timed.position(match))]
    assert moment > timed.now()
    timed.live(moment - timed.now())
    assert timed.fire() == []
    timed.live(250)
    timed.fire()
    assert entries(timed, match) == [(SYSTEM, "return_time"), (SYSTEM, "time_out")]
    assert audit(timed.worker, match).ok


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_while_one_process_is_frozen_no_deadline_fires(timed: Timed, role: str) -> None:
    frozen = timed.join(role)
    match = timed.begin()
    timed.live(8 * SECOND)
    timed.live(60 * SECOND, frozen)
    assert timed.fire() == []
    timed.live(SECOND)
    timed.fire()
    assert entries(timed, match) == [(SYSTEM, "return_time")]
    timed.live(3 * SECOND)
    timed.fire()
    assert entries(timed, match) == [(SYSTEM, "return_time"), (SYSTEM, "time_out")]
    assert audit(timed.worker, match).ok


def test_a_time_that_is_up_is_confirmed_before_it_is_told(timed: Timed) -> None:
    """The web process that decides has not heard of the outage yet: another one has just recorded it."""
    match = timed.begin()
    timed.live(9 * SECOND)
    timed.machine.pass_ms(2500)
    timed.worker.pulse.beat()
    assert timed.web.pulse.outages.last == 0
    timed.web.pulse._last = timed.web.clock.beat()._replace(moment=timed.now() - 1)  # it seems to be fresh
    timed.add(match, "one")
    assert entries(timed, match) == [(SYSTEM, "return_time"), ("one", "add")]


def test_an_action_received_during_an_outage_gets_back_the_time_until_then(timed: Timed) -> None:
    match = timed.begin(BANK)
    begun = timed.position(match).at
    timed.live(4 * SECOND)
    timed.machine.pass_ms(5 * SECOND)
    received = timed.now()
    timed.machine.pass_ms(20 * SECOND)
    timed.live(SECOND)
    timed.add(match, "one", received=received)
    (returned,) = events(timed, match, "time_returned")
    assert returned["to"] == received
    used = returned["from"] - begun
    assert timed.position(match).table["clocks"]["seats"]["one"]["bank"] == 10 * SECOND - used + 2 * SECOND
    assert audit(timed.worker, match).ok


def test_without_running_clocks_no_time_is_given_back(timed: Timed) -> None:
    match = timed.begin(clock={"kind": "none"})
    timed.machine.pass_ms(MINUTE)
    timed.live(SECOND)
    timed.add(match, "one")
    assert entries(timed, match) == [("one", "add")]


def test_an_outage_before_the_clock_ran_is_none_of_its_business(timed: Timed) -> None:
    timed.machine.pass_ms(MINUTE)
    timed.live(SECOND)
    match = timed.begin()
    timed.add(match, "one")
    assert entries(timed, match) == [("one", "add")]


def test_what_cannot_be_learned_of_outages_is_not_decided(timed: Timed, monkeypatch: pytest.MonkeyPatch) -> None:
    match = timed.begin()

    def away() -> None:
        raise StoreUnavailable

    monkeypatch.setattr(timed.web.pulse, "beat", away)
    timed.machine.pass_ms(MINUTE)
    with pytest.raises(StoreUnavailable):
        timed.add(match, "one")
    assert entries(timed, match) == []


# ---------------------------------------------------------------- the index and the sweep


def test_players_find_their_next_deadline_first(timed: Timed) -> None:
    slow, none, quick = timed.begin({"kind": "per_action", "seconds": 60}), timed.begin({"kind": "none"}), timed.begin()
    at = timed.now()
    found = {match: indexes(timed.position(match))[f"acts:{ANN}"] for match in (slow, none, quick)}
    assert found == {slow: at + MINUTE, none: NEVER, quick: at + 10 * SECOND}
    timed.live(SECOND)
    timed.add(quick, "one", stay=True)
    key = timed.web.store.keys.of(quick).indexes + f"acts:{ANN}"
    assert timed.web.store.client.ask("ZSCORE", key, quick) == at + 11 * SECOND
    timed.add(quick, "one")
    timed.add(quick, "two")
    assert timed.web.store.client.ask("ZSCORE", key, quick) is None, "the system is to act"
    for match in (slow, none, quick):
        assert audit(timed.worker, match).ok


def test_the_standing_has_the_clocks_of_the_newest_version(timed: Timed) -> None:
    match = timed.begin()
    at = timed.now()
    standing = timed.web.store.lists.standings([match])[0]
    assert standing is not None
    assert standing["clock"] == QUICK
    assert standing["clocks"] == {
        "one": {"left": 10 * SECOND, "deadline": at + 10 * SECOND, "late": 0},
        "two": {"left": 10 * SECOND, "deadline": None, "late": 0},
    }
    timed.live(3 * SECOND)
    timed.add(match, "one", stay=True)
    standing = timed.web.store.lists.standings([match])[0]
    assert standing is not None
    assert standing["clocks"]["one"] == {"left": 10 * SECOND, "deadline": at + 13 * SECOND, "late": 0}


def test_a_look_at_deadlines_comes_when_the_next_one_passes(timed: Timed) -> None:
    match = timed.begin()
    assert call_deadlines(timed.worker, 0)[0] == 400
    timed.live(10 * SECOND - 250)
    pause, since = call_deadlines(timed.worker, 0)
    assert pause == 251
    timed.live(500)
    with timed.web.pulse.flight.receive():
        pass
    timed.machine.pass_ms(1)
    assert since < timed.now() - 1000
    assert timed.fire() == [f"deadline|{match}|"]


def test_a_lost_queue_and_a_killed_worker_do_not_lose_a_deadline(timed: Timed, quiet_servers: Servers) -> None:
    match = timed.begin()
    timed.live(10 * SECOND + 250)
    call_deadlines(timed.worker, 0)
    quiet_servers.queue.flushall()
    timed.live(250)
    call_deadlines(timed.worker, 0)
    assert timed.worker.jobs.take([DEADLINE]) is not None, "and that worker is killed"
    timed.live(250)
    assert timed.fire() == []
    timed.live(250)
    assert timed.fire() == [f"deadline|{match}|"]
    assert entries(timed, match) == [(SYSTEM, "time_out")]


def test_a_full_sweep_finds_what_looks_have_missed(timed: Timed) -> None:
    match = timed.begin()
    timed.live(11 * SECOND)
    assert sweep(timed.worker) == 1
    assert timed.fire() == [f"deadline|{match}|"]


def test_the_audit_finds_a_time_out_that_came_too_early(timed: Timed) -> None:
    match = timed.begin()
    cached = recall.newest(timed.worker, match)
    forged = dataclasses.replace(timed.worker)
    timed.live(11 * SECOND)
    decided = deciding.decide_at_table(forged, cached, deciding.Attempt(SYSTEM, {"type": "time_out", "seat": "one"}))
    from record.entries import link

    early = decided.entry._replace(at=decided.entry.at - 2 * SECOND)
    raw = link(cached.position.digest, early, cached.blind)[1]
    from events.store.log import Changes

    timed.worker.store.log.append(match, cached.position.version, [raw], Changes())
    report = audit(timed.worker, match)
    assert [finding.code for finding in report.findings][:1] == ["not_legal"]


def test_work_of_the_system_is_due_beside_a_clock(timed: Timed) -> None:
    match = timed.begin()
    timed.add(match, "one")
    timed.add(match, "two")
    assert [work.kind for work in owed(timed.position(match))] == [ADVANCE], "no clock runs while the system is to act"
