"""The pulse: what counts as an outage when processes are frozen, killed or restarted, and when the store is away."""

from __future__ import annotations

import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from events.errors import StoreRefused, StoreUnavailable
from events.store import Store
from events.store.client import RedisClient
from events.store.pulses import Pulses
from events.store.queue.floors import Floors
from events.timing.clock import Beat, Clock
from events.timing.outages import KEPT_MS, Outage, Outages
from events.timing.pulse import GONE_MS, WEB, WORKER, Pulse
from tests.conftest import Servers, within
from tests.events.test_clock import HOUR, MINUTE, Machine

Process = subprocess.Popen[bytes]
BEGUN = 1_000_000_000


class Town:
    """Processes on one machine, each with a pulse and a process of the system behind it. Time passes only when a test says so."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.machine = Machine(BEGUN)
        self.pulses: list[Pulse] = []
        self.processes: list[Process] = []

    def begin(self, role: str, machine: Machine | None = None, client: RedisClient | None = None) -> Pulse:
        process = subprocess.Popen(["sleep", "1000"])
        clock = (machine or self.machine).clock()
        pulse = Pulse(Pulses(client or RedisClient(self.servers.store_url)), Floors(self.servers.queue_url), clock)
        pulse.join(role, process.pid)
        pulse.beat()
        self.pulses.append(pulse)
        self.processes.append(process)
        return pulse

    def kill(self, pulse: Pulse) -> None:
        place = self.pulses.index(pulse)
        self.processes[place].kill()
        self.processes[place].wait()

    def live(self, ms: int, *alive: Pulse) -> None:
        """Let time pass, with a pulse of each of these every second."""
        for _ in range(ms // 1000):
            self.machine.pass_ms(1000)
            for pulse in alive:
                pulse.beat()


@pytest.fixture
def town(quiet_servers: Servers) -> Iterator[Town]:
    found = Town(quiet_servers)
    yield found
    for process in found.processes:
        process.kill()
        process.wait()


def outages(pulse: Pulse) -> list[tuple[int, int]]:
    """Return the outages that a process knows, in seconds since the beginning."""
    return [((begin - BEGUN) // 1000, (end - BEGUN) // 1000) for begin, end in pulse.outages.between(0, 1 << 52)]


# ---------------------------------------------------------------- outages


def test_there_is_no_outage_while_all_give_pulses(town: Town) -> None:
    all_of_them = [town.begin(WEB), town.begin(WEB), town.begin(WORKER)]
    town.live(20_000, *all_of_them)
    assert [outages(pulse) for pulse in all_of_them] == [[], [], []]
    assert not any(pulse.is_disturbed for pulse in all_of_them)


@pytest.mark.parametrize("role", [WEB, WORKER])
def test_a_frozen_process_is_an_outage_until_it_goes_on(town: Town, role: str) -> None:
    frozen, web, worker = town.begin(role), town.begin(WEB), town.begin(WORKER)
    town.live(5000, frozen, web, worker)
    town.live(2000, web, worker)
    assert outages(worker) == []
    town.live(1000, web, worker)
    assert outages(worker) == [(5, 8)]
    assert worker.is_disturbed
    town.live(30_000, web, worker)
    assert outages(worker) == [(5, 38)]
    frozen.beat()
    town.live(1000, frozen, web, worker)
    assert outages(worker) == outages(frozen) == outages(web) == [(5, 38)]
    assert not worker.is_disturbed
    town.live(10_000, frozen, web, worker)
    assert outages(worker) == [(5, 38)]


def test_a_killed_process_is_no_outage_while_others_do_its_work(town: Town) -> None:
    killed, web, worker, other = town.begin(WORKER), town.begin(WEB), town.begin(WORKER), town.begin(WEB)
    town.live(3000, killed, web, worker, other)
    town.kill(killed)
    town.kill(other)
    town.live(10_000, web, worker)
    assert outages(worker) == []
    assert not worker.is_disturbed


def test_a_process_of_which_nobody_can_ask_the_kernel_is_gone_after_a_while(town: Town) -> None:
    elsewhere, web, worker = town.begin(WORKER), town.begin(WEB), town.begin(WORKER)
    for pulse in (web, worker):
        pulse._here = "another"
        pulse.join(pulse._role, 1 if pulse is web else 2)
        pulse.beat()
    town.kill(elsewhere)
    town.live(GONE_MS + 5000, web, worker)
    assert outages(worker) == [(0, GONE_MS // 1000)]
    assert not worker.is_disturbed


def test_all_processes_of_a_role_down_is_an_outage(town: Town) -> None:
    web, worker = town.begin(WEB), town.begin(WORKER)
    town.live(5000, web, worker)
    town.kill(web)
    town.live(10_000, worker)
    assert outages(worker) == [(5, 15)]
    assert worker.is_disturbed
    again = town.begin(WEB)
    town.live(2000, again, worker)
    assert outages(worker) == outages(again) == [(5, 15)]
    assert not worker.is_disturbed


def test_everything_down_is_an_outage_that_the_first_pulse_records(town: Town) -> None:
    for pulse in (town.begin(WEB), town.begin(WORKER)):
        town.live(1000, pulse)
        town.kill(pulse)
    town.machine.pass_ms(HOUR)
    first = town.begin(WORKER)
    assert outages(first) == [(2, 3602)], "of the worker, and of the web, of which nothing is heard either"
    first.beat()
    assert first.is_disturbed, "there is no web process yet"
    web = town.begin(WEB)
    town.live(1000, web, first)
    assert not first.is_disturbed
    assert outages(first) == [(1, 3602)]


def test_a_freeze_of_everything_at_once_is_an_outage(town: Town) -> None:
    web, worker = town.begin(WEB), town.begin(WORKER)
    town.live(4000, web, worker)
    town.machine.pass_ms(5000)
    worker.beat()
    assert outages(worker) == [(4, 9)]
    web.beat()
    assert outages(web) == [(4, 9)]
    town.live(5000, web, worker)
    assert outages(worker) == outages(web) == [(4, 9)]


@pytest.mark.parametrize("jump", [MINUTE, -MINUTE, HOUR, -HOUR])
def test_a_jump_of_the_wall_clock_is_no_outage(town: Town, jump: int) -> None:
    web, worker = town.begin(WEB), town.begin(WORKER)
    town.live(3000, web, worker)
    town.machine.wall += jump
    town.live(5000, web, worker)
    again = town.begin(WEB)
    town.live(5000, web, worker, again)
    town.machine.wall -= jump
    town.live(5000, web, worker, again)
    assert outages(worker) == outages(again) == []


@pytest.mark.parametrize("off", [MINUTE, -MINUTE, 600, -600])
def test_machines_with_different_walls_see_no_outage(town: Town, off: int, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = town.begin(WORKER)
    town.live(3000, worker)
    elsewhere = Machine(town.machine.wall + off, "b2")

    def a_pulse_later(ms: float) -> None:
        town.live(1000, worker)
        elsewhere.pass_ms(1000)

    monkeypatch.setattr("events.timing.pulse.time", SimpleNamespace(sleep=a_pulse_later))  # other threads sleep as ever
    web = town.begin(WEB, elsewhere)
    for _ in range(20):
        elsewhere.pass_ms(1000)
        town.live(1000, worker)
        web.beat()
    assert outages(worker) == outages(web) == []
    assert not worker.is_disturbed
    assert not web.is_disturbed


def test_a_store_that_was_away_is_an_outage_for_all(town: Town) -> None:
    client = RedisClient(town.servers.store_url)
    web, worker = town.begin(WEB, client=client), town.begin(WORKER, client=client)
    town.live(3000, web, worker)
    run, away = client.run, True

    def fails(*_: object, **__: object) -> object:
        raise StoreUnavailable("away")

    client.run = fails  # type: ignore[method-assign,assignment]
    for _ in range(10):
        town.machine.pass_ms(1000)
        for pulse in (web, worker):
            with pytest.raises(StoreUnavailable):
                pulse.beat()
    assert away
    assert not web.is_fresh
    client.run = run  # type: ignore[method-assign]
    town.live(1000, web, worker)
    assert outages(web) == outages(worker) == [(3, 14)]
    assert web.is_fresh
    assert not web.is_disturbed
    assert not worker.is_disturbed


def test_a_process_without_a_role_looks_and_leaves_no_trace(town: Town) -> None:
    web = town.begin(WEB)
    town.live(1000, web)
    before = town.servers.keeper.hgetall("{pulse}:now")
    looker = Pulse(Pulses(RedisClient(town.servers.store_url)), Floors(town.servers.queue_url), town.machine.clock())
    looker.beat()
    town.machine.pass_ms(MINUTE)
    web.beat()
    looker.refresh(town.machine.wall - 1)
    assert outages(looker) == [(1, 61)]
    assert town.servers.keeper.hgetall("{pulse}:now").keys() == before.keys()  # type: ignore[union-attr]


def test_only_news_costs_a_round_trip(town: Town) -> None:
    web = town.begin(WEB)
    sent = []
    beat = web._pulses.beat
    web._pulses.beat = lambda *given: sent.append(given) or beat(*given)  # type: ignore[method-assign,func-returns-value,assignment]
    web.refresh(BEGUN - 1)
    assert sent == []
    web.refresh(BEGUN)
    assert len(sent) == 1


# ---------------------------------------------------------------- what a process remembers


def test_outages_are_merged_and_cut_to_what_is_asked_for() -> None:
    found = Outages()
    assert (found.between(0, 100), found.last) == ([], 0)
    found.add([(50, 60), (10, 20), (15, 30)])
    found.add([(30, 35), (10, 12)])
    assert found.between(0, 100) == [(10, 35), (50, 60)]
    assert found.between(12, 55) == [Outage(12, 35), Outage(50, 55)]
    assert found.between(35, 50) == found.between(60, 100) == found.between(40, 40) == found.between(55, 12) == []
    assert found.last == 60
    found.add([(70, 80 + KEPT_MS)])
    assert found.between(0, 100) == [(70, 100)]


def test_the_store_keeps_outages_for_as_long_as_a_clock_may_run(town: Town) -> None:
    web = town.begin(WEB)
    town.machine.pass_ms(5000)
    web.beat()
    town.machine.pass_ms(KEPT_MS)
    web.beat()
    web.beat()
    assert [name for name, _ in town.servers.keeper.zrange("{pulse}:outages", 0, -1, withscores=True)] == [b"%d" % (BEGUN + 5000)]  # type: ignore[str-unpack]
    town.servers.keeper.zadd("{pulse}:outages", {str(number): BEGUN + KEPT_MS for number in range(10_500)})
    web.beat()
    assert town.servers.keeper.zcard("{pulse}:outages") == 10_000


# ---------------------------------------------------------------- the floor


def test_the_floor_is_the_least_of_all_web_processes(town: Town) -> None:
    first, second, worker = town.begin(WEB), town.begin(WEB), town.begin(WORKER)
    town.live(1000, first, second, worker)
    assert worker.floor(town.machine.wall) is None, "nobody has reported"
    first._report()
    assert worker.floor(town.machine.wall) is None
    second._report()
    assert worker.floor(town.machine.wall) == town.machine.wall
    with first.flight.receive() as received:
        town.machine.pass_ms(300)
        first._report()
        second._report()
        assert worker.floor(town.machine.wall) == received.moment == town.machine.wall - 300
    first._report()
    assert worker.floor(town.machine.wall) == town.machine.wall
    town.servers.queue.flushall()
    assert worker.floor(town.machine.wall) is None
    town.kill(second)
    town.live(3000, first, worker)
    first._report()
    assert worker.floor(town.machine.wall) < town.machine.wall, "a report that comes late shows a freeze"  # type: ignore[operator]
    for _ in range(5):
        town.machine.pass_ms(250)
        first._report()
    assert worker.floor(town.machine.wall) == town.machine.wall, "who has ended has nothing in flight"


def test_a_floor_expires_and_the_loss_of_the_queue_is_no_error(town: Town) -> None:
    web = town.begin(WEB)
    web._report()
    (key,) = town.servers.queue.scan_iter("flight:*")
    assert 0 < town.servers.queue.pttl(key) <= 5000  # type: ignore[operator]
    cut = Floors("unix:///nowhere")
    cut.report("web:1:2:3", 1)
    assert cut.read(["web:1:2:3"]) is None
    assert cut.read([]) == []


# ---------------------------------------------------------------- the function


@pytest.mark.parametrize(
    "changed",
    [
        {0: "admin"},
        {1: "worker:1:2:3"},
        {1: "web"},
        {1: "web:1:2:3" + "4" * 120},
        {1: "web:a b:2:3"},
        {2: "-1"},
        {2: "nan"},
        {3: ""},
        {3: "5"},
        {3: "5 b\r\n"},
        {4: "x"},
        {5: "soon"},
        {6: "3"},
        {6: "-1"},
        {8: "soon"},
    ],
    ids=str,
)
def test_a_pulse_with_hostile_arguments_is_refused_and_changes_nothing(town: Town, changed: dict[int, str]) -> None:
    from events.store import library

    client = RedisClient(town.servers.store_url)
    words = ["web", "web:1:2:3", "9", "5 boot", "0", "", "1", "web", "9"]
    keys = ["{pulse}:processes", "{pulse}:outages", "{pulse}:now"]
    with pytest.raises(StoreRefused):
        client.run(library.script("pulse"), keys, [changed.get(place, word) for place, word in enumerate(words)])
    assert town.servers.keeper.keys("{pulse}*") == []
    client.run(library.script("pulse"), keys, words)
    assert set(town.servers.keeper.keys("{pulse}*")) == {b"{pulse}:processes", b"{pulse}:now"}


def test_there_are_never_more_than_a_thousand_processes(town: Town) -> None:
    town.servers.keeper.hset("{pulse}:now", mapping={f"web:1:{number}:1": "1 1 b" for number in range(1001)})
    with pytest.raises(StoreRefused):
        town.begin(WEB)


def test_one_server_and_a_cluster_keep_pulses_alike(store: Store) -> None:
    role, name = WEB, f"{WEB}:1:{random.randrange(1, 1 << 40)}:1"
    moment = 5_000_000_000_000 + random.randrange(1 << 40)
    store.pulses.beat(role, name, Beat(moment, 1, "b"), 0, {}, [], None)
    heard = store.pulses.beat(role, name, Beat(moment + 5000, 2, "b"), moment, {}, [], None)
    assert heard.pulses[name] == heard.pulses[role] == (moment + 5000, 2, "b")
    assert (moment, moment + 5000) in heard.outages
    other = f"{WORKER}:1:1:1"
    assert name not in store.pulses.beat(WORKER, other, Beat(moment + 5000, 2, "b"), moment, {}, [name], None).pulses
    assert store.pulses.look(moment).outages == heard.outages


def test_a_pulse_of_a_role_is_written_to_the_file_every_two_seconds_and_one_of_a_process_never(town: Town) -> None:
    web, worker = town.begin(WEB), town.begin(WORKER)
    written = set()
    for _ in range(12):
        town.live(1000, web, worker)
        written.add(tuple(sorted(town.servers.keeper.hgetall("{pulse}:processes").items())))  # type: ignore[union-attr]
    assert {name for found in written for name, _ in found} == {b"web", b"worker"}
    assert 6 <= len(written) <= 7


def test_a_store_that_is_started_anew_knows_since_when_nothing_ran_and_no_older_pulse_of_a_process(town: Town) -> None:
    """What is in memory alone comes back as it was when the file was last rewritten."""
    web, worker = town.begin(WEB), town.begin(WORKER)
    town.live(1000, web, worker)
    old = town.servers.keeper.hgetall("{pulse}:now")
    town.live(60_000, web, worker)
    town.servers.keeper.delete("{pulse}:now")
    town.servers.keeper.hset("{pulse}:now", mapping=old)  # type: ignore[arg-type]
    town.machine.pass_ms(10_000)
    for pulse in (web, worker):
        pulse.beat()
    assert outages(web) == [(60, 71)], "since the last pulse of a role that was written, and not since the older ones of processes"


def test_a_process_that_was_frozen_while_the_store_was_started_anew_is_still_frozen(town: Town) -> None:
    web, worker = town.begin(WEB), town.begin(WORKER)
    town.live(1000, web, worker)
    town.live(3000, worker)
    assert worker.is_disturbed
    town.servers.keeper.delete("{pulse}:now")
    town.live(1000, worker)
    assert worker.is_disturbed
    town.live(1000, web, worker)
    assert not worker.is_disturbed
    assert len(outages(worker)) == 1


# ---------------------------------------------------------------- threads


def test_a_process_gives_pulses_by_itself_until_it_ends(town: Town, begin_process: Callable[[], Process]) -> None:
    process = begin_process()
    looker = Pulse(Pulses(RedisClient(town.servers.store_url)), Floors(town.servers.queue_url), Clock())

    def seen() -> dict[str, int]:
        looker.beat()
        return {name: seen.moment for name, seen in looker._seen.items() if f":{process.pid}:" in name}

    first = within(20, seen)
    within(10, lambda: seen() != first)
    within(10, lambda: looker.floor(Clock().now()) is not None)
    process.send_signal(signal.SIGSTOP)
    before = looker.outages.last
    within(20, lambda: seen() and looker.is_disturbed)
    process.send_signal(signal.SIGCONT)
    within(20, lambda: seen() and looker.outages.last > before and not looker.is_disturbed)
    process.kill()
    process.wait()


@pytest.fixture
def begin_process(town: Town) -> Iterator[Callable[[], Process]]:
    import sys

    begun: list[Process] = []
    code = f"""
import threading
from events.platform import Settings, open_platform
platform = open_platform(Settings(store_url={town.servers.store_url!r}, queue_url={town.servers.queue_url!r}))
platform.pulse.start("web")
threading.Event().wait()
"""

    def begin() -> Process:
        begun.append(subprocess.Popen([sys.executable, "-c", code]))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.wait()
