"""The queue on several servers: what holds for one holds for several, no server keeps a worker, and losing one loses no work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from environs import EnvError
from rq import SimpleWorker
from rq.exceptions import StopRequested

from benchmarks.load import until
from benchmarks.place import started
from events import accounts, play, recall
from events.due import ADVANCE, SEARCH, THINK, Owed, owed
from events.keeping import embedded
from events.platform import Platform, Settings, open_platform, settings_from_environment
from events.store.keys import Keys, partition_of
from events.store.queue import Done, Jobs
from events.store.queue import shards as module
from events.store.queue.shards import Shards
from tests.conftest import ALL_GAMES, Servers, servers_in
from workers import jobs as steps
from workers import queues
from workers.listening import Life
from workers.queues import listen
from workers.sweep import sweep

NOW = 1_700_000_000_000
NUMBER = 3
NOWHERE = "unix:///nowhere.sock"


def addresses(servers: Servers) -> list[str]:
    """Return the addresses of three queues: databases of one server."""
    base = servers.queue_url.partition("?")[0]
    return [f"{base}?db={number}" for number in range(1, NUMBER + 1)]


@pytest.fixture
def shards(platform: Platform, servers: Servers) -> Iterator[Shards]:
    opened = Shards(addresses(servers), platform.clock, 16)
    yield opened
    opened.close()


def work(number: int, creator: str = "a", kind: str = THINK, version: int = 2) -> Owed:
    return Owed(kind, f"m{creator}{number}", version, "one", NOW, creator)


def home_of(each: Owed) -> int:
    return partition_of(each.match, 16) % NUMBER


def of_shard(shard: int, creator: str, count: int, kind: str = THINK) -> list[Owed]:
    """Return work of a creator whose matches are all of one server."""
    return [found for number in range(count * 20) if home_of(found := work(number, creator, kind)) == shard][:count]


def take_all(shards: Shards, kinds: Sequence[str] = (THINK,)) -> list[Owed]:
    found = []
    while (each := shards.take(kinds, now=NOW)) is not None:
        found.append(each)
        shards.exchange(Done(each, 5.0, False), (), (), now=NOW)
    return found


def away(shards: Shards, shard: int) -> None:
    """Let a server be away, without anybody knowing."""
    clock = shards._all[shard]._clock
    shards._all[shard].close()
    shards._all[shard] = Jobs(NOWHERE, clock, is_shard=True)


def test_several_addresses_are_several_servers_and_the_rest_stands_on_the_first(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLEDGER_QUEUE_URL", ", ".join(addresses(servers)))
    settings = settings_from_environment()._replace(store_url=servers.store_url, keys=servers.data / "keys")
    platform = open_platform(settings, ALL_GAMES)
    assert isinstance(platform.jobs, Shards)
    assert platform.jobs.url == ",".join(addresses(servers))
    platform.close()
    monkeypatch.setenv("WARLEDGER_QUEUE_URL", f"{servers.queue_url},")
    with pytest.raises(EnvError):
        settings_from_environment()


def test_work_waits_at_the_server_of_its_partition_and_every_worker_finds_it(shards: Shards) -> None:
    works = [work(number) for number in range(60)]
    shards.push(works)
    for shard in range(NUMBER):
        assert shards._all[shard].depth(THINK) == sum(home_of(each) == shard for each in works) > 5
    assert shards.depth() == 60
    assert shards.lost({each.member: NOW for each in works}, NOW) == []
    assert sorted(each.member for each in take_all(shards)) == sorted(each.member for each in works)
    assert len(shards.lost({each.member: NOW for each in works}, NOW)) == 60
    assert (shards.depth(), shards._taken) == (0, {})


def test_what_a_worker_has_taken_elsewhere_is_done_if_its_own_server_is_away_then(shards: Shards, monkeypatch: pytest.MonkeyPatch) -> None:
    shards._home = 0
    shards.push([each := of_shard(1, "a", 1)[0]])
    trade, gone = shards._all[0].trade, ConnectionError()

    def once(*words: object, **asked: Any) -> object:
        if asked["idle"][1] == 0:
            raise gone
        return trade(*words, **asked)

    monkeypatch.setattr(shards._all[0], "trade", once)
    taken = shards.wait((THINK,), 5)
    assert taken is not None
    assert taken.member == each.member


def test_a_partition_is_that_of_the_store() -> None:
    assert Keys(16).tag("maaaaaaaaaaaaaaaa") == f"{{p{partition_of('maaaaaaaaaaaaaaaa', 16)}}}"


def test_a_worker_gives_each_server_with_work_as_much_of_its_time(shards: Shards) -> None:
    """So a creator gets at least a third of the share that one queue would give, wherever its matches are."""
    shards.push([*of_shard(0, "alone", 40), *of_shard(1, "many", 40), *of_shard(2, "many", 40), *of_shard(1, "few", 5)])
    spent: Counter[str] = Counter()
    for _ in range(36):
        step = shards.take([THINK], now=NOW)
        assert step is not None
        ms = 30.0 if home_of(step) == 0 else 10.0
        spent[f"{step.creator} {home_of(step)}"] += int(ms)
        shards.exchange(Done(step, ms, False), (), (), now=NOW)
    of_servers = [sum(ms for name, ms in spent.items() if name.endswith(str(shard))) for shard in range(NUMBER)]
    assert max(of_servers) - min(of_servers) <= 30
    assert spent["few 1"] >= sum(spent.values()) / NUMBER / 3 / 2


def test_a_server_without_work_saves_nothing_up(shards: Shards) -> None:
    shards.push(of_shard(0, "a", 30))
    for _ in range(20):
        step = shards.take([THINK], now=NOW)
        assert step is not None
        shards.exchange(Done(step, 100.0, False), (), (), now=NOW)
    shards.push([*of_shard(1, "b", 30), *of_shard(0, "c", 10)])
    taken = []
    for _ in range(6):
        step = shards.take([THINK], now=NOW)
        assert step is not None
        taken.append(home_of(step))
        shards.exchange(Done(step, 100.0, False), (), (), now=NOW)
    assert 2 <= taken.count(1) <= 4


def test_a_step_is_handed_in_where_it_was_taken_and_a_held_one_twice(shards: Shards) -> None:
    works = [work(number) for number in range(9)]
    shards.push(works)
    step = shards.take([THINK], now=NOW)
    assert step is not None
    shards.exchange(Done(step, 5.0, False, held=True), (), (), now=NOW)
    assert shards.lost({step.member: NOW}, NOW) == [], "it is with the worker"
    following = replace_version(step)
    assert shards.exchange(Done(step, 0.0, False), [following], (), now=NOW) is None
    assert shards._taken == {}
    assert shards._all[home_of(step)].depth(THINK) == sum(home_of(each) == home_of(step) for each in works)


def replace_version(step: Owed) -> Owed:
    return step._replace(version=step.version + 1, kind=THINK)


def test_a_server_that_is_lost_loses_no_work(shards: Shards, monkeypatch: pytest.MonkeyPatch) -> None:
    works = [work(number) for number in range(60)]
    moments = {each.member: NOW for each in works}
    shards.push(works)
    away(shards, 1)
    lost = shards.lost(moments, NOW)
    assert sorted(lost) == sorted(each.member for each in works if home_of(each) == 1)
    assert shards.push_again([each for each in works if each.member in lost], NOW) == len(lost)
    assert shards.lost(moments, NOW) == [], "it waits at the next server"
    assert shards.push_again([each for each in works if each.member in lost], NOW) == 0
    assert sorted(each.member for each in take_all(shards)) == sorted(moments)
    assert shards.trouble() == "away"


def test_work_that_cannot_be_pushed_goes_to_the_next_server(shards: Shards) -> None:
    works = of_shard(1, "a", 5)
    away(shards, 1)
    shards.push(works)
    assert shards._all[2].depth(THINK) == 5
    assert sorted(take_all(shards)) == sorted(each._replace(due=0) for each in works)


def test_a_server_that_comes_back_is_asked_again(shards: Shards, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    whole = shards._all[1]
    shards._all[1] = Jobs(NOWHERE, whole._clock)
    works = of_shard(1, "a", 3)
    shards.push(works[:1])
    shards._all[1].close()
    shards._all[1] = whole
    shards.push(works[1:2])
    assert shards._all[2].depth() == 2
    now += module.PAUSE
    shards.push(works[2:])
    assert (shards._all[1].depth(), shards._all[2].depth()) == (1, 2)


def test_without_any_server_a_match_goes_on(shards: Shards) -> None:
    for shard in range(NUMBER):
        away(shards, shard)
    shards.push([work(1)])
    assert shards.take([THINK]) is None
    assert shards.wait([THINK], 0.1) is None
    assert shards.exchange(Done(work(1), 5.0, False), [work(1, version=3)], [THINK]) == work(1, version=3)
    assert (shards.depth(), shards.workers(THINK)) == (None, None)


# ---------------------------------------------------------------- workers that wait


@pytest.fixture
def meanwhile(shards: Shards, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Owed | None]:
    """Let a worker wait for work, and do something while it waits. Return what the worker gets."""

    def waited(kinds: Sequence[str], then: Callable[[], object]) -> Owed | None:
        for jobs in shards._all:

            def sleep(member: str, seconds: float, jobs: Jobs = jobs) -> str:
                then()
                woken = jobs._connection.lpop(f"fair:wake:{member}")
                return woken.decode() if woken else ""

            monkeypatch.setattr(jobs, "sleep", sleep)
        return shards.wait(kinds, 0.1)

    return waited


def tickets(shards: Shards, kind: str) -> list[int]:
    return [int(jobs._connection.llen(f"rq:queue:{kind}")) for jobs in shards._all]


@pytest.mark.parametrize("shard", range(NUMBER))
def test_work_at_any_server_wakes_a_worker_that_waits_at_one(shards: Shards, meanwhile: Callable[..., Owed | None], shard: int) -> None:
    (new,) = of_shard(shard, "a", 1)
    got = meanwhile([ADVANCE, THINK], lambda: shards.push([new]))
    assert got is not None
    assert (got.match, tickets(shards, THINK)) == (new.match, [0, 0, 0])
    assert [int(jobs._connection.zcard("fair:idle")) for jobs in shards._all] == [0, 0, 0]


def test_a_worker_finds_what_waits_elsewhere_before_it_waits(shards: Shards, meanwhile: Callable[..., Owed | None]) -> None:
    for shard in range(NUMBER):
        (new,) = of_shard(shard, "a", 1)
        shards.push([new])
        got = meanwhile([THINK], lambda: pytest.fail("there is nothing to wait for"))
        assert got is not None
        assert got.match == new.match
        assert [int(jobs._connection.zcard("fair:idle")) for jobs in shards._all] == [0, 0, 0]


def test_work_calls_for_a_worker_at_every_server_and_once(shards: Shards) -> None:
    """Who comes late finds nothing to do. Where nobody listens, a ticket waits for ever, and must stop no other."""
    shards.push(of_shard(1, "a", 1, SEARCH))
    assert tickets(shards, SEARCH) == [1, 1, 1]
    for shard in (0, 2):
        shards._all[shard]._connection.delete(f"rq:queue:{SEARCH}")
    for jobs in shards._all:
        jobs._connection.delete(f"fair:{SEARCH}:called")  # it expires by itself
    shards.push_again([])
    assert tickets(shards, SEARCH) == [1, 1, 1]
    away(shards, 0)
    assert shards.take([THINK]) is None  # now it is known
    shards.push(of_shard(2, "a", 1))
    assert [int(jobs._connection.llen("rq:queue:think")) for jobs in shards._all[1:]] == [1, 1]


def test_a_worker_listens_elsewhere_while_its_server_is_away(shards: Shards, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shards.home()
    assert shards.home() == first
    away(shards, shards._home)
    shards._all[shards._home].url = first
    shards.leave(first)
    assert shards.home() in {jobs.url for jobs in shards._all} - {first}


def test_a_worker_of_rq_ends_where_there_are_other_servers_and_the_next_one_listens_there(
    shards: Shards, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Made:
        worker_ttl = 17
        leaves = False

        def __init__(self, url: str, *given: object) -> None:
            listened.append(url)

        def work(self, **more: object) -> None:
            assert self.leaves
            if len(listened) < 3:
                raise ConnectionError

    listened: list[str] = []
    monkeypatch.setattr(queues, "worker", Made)
    monkeypatch.setattr(queues, "is_ending", lambda: len(listened) == 3)
    monkeypatch.setattr(queues.time, "sleep", lambda seconds: None)
    listen(shards, [THINK], Life())
    assert len(set(listened)) == 3


def test_only_a_worker_with_other_servers_leaves_its_own(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, *given: object) -> None:
        raise ConnectionError

    made = queues.worker(servers.queue_url, [THINK])
    monkeypatch.setattr(SimpleWorker, "heartbeat", fail)
    with pytest.raises(ConnectionError):
        made.heartbeat()
    made.leaves = True
    with pytest.raises(StopRequested):
        made.heartbeat()


# ---------------------------------------------------------------- with the store


def test_what_a_lost_server_had_is_done_by_the_sweep_and_any_worker(platform: Platform, shards: Shards, ann: str) -> None:
    sharded = replace(platform, jobs=shards)
    matches = [play.create(sharded, ann, "tally", {"one": "ai:random", "two": "ai:random"}, {"target": 3}).match for _ in range(8)]
    assert len({partition_of(match, 16) % NUMBER for match in matches}) > 1
    for jobs in shards._all:
        jobs._connection.flushdb()
    away(shards, 1)
    for number in range(200):
        if not any(owed(recall.position(sharded, match)) for match in matches):
            break
        sweep(sharded, platform.clock.now() + 1_000_000 * (number + 1))
        steps.bind(sharded)
        steps.work(ADVANCE)
    assert [recall.position(sharded, match).ended for match in matches] == [True] * 8


@pytest.mark.soak
def test_matches_of_artificial_players_go_on_when_a_server_is_killed_under_them(tmp_path: Path) -> None:
    """Four workers listen at two servers. One ends for good amid matches, the other is emptied; all matches end."""
    with servers_in(tmp_path / "one") as servers:
        other = embedded.start(tmp_path / "other", embedded.QUEUE, "off")
        urls = f"{servers.queue_url},{other.url}"
        settings = Settings(store_url=servers.store_url, queue_url=urls, data=servers.data)
        environment = {"WARLEDGER_REDIS_URL": servers.store_url, "WARLEDGER_QUEUE_URL": urls}
        with started([["-m", "workers.run"]] * 4, environment, servers.data):
            platform = open_platform(settings)
            ann = accounts.register(platform, "Ann")[0].id
            seats = {"red": "ai:greedy", "blue": "ai:greedy"}
            matches = [play.create(platform, ann, "war", seats, {}).match for _ in range(12)]
            until(lambda: sum(platform.store.log.head(match) > 20 for match in matches) > 6, 120.0)
            other.stop()
            servers.queue.flushall()
            until(lambda: all(recall.position(platform, match).ended for match in matches), 300.0, 0.5)
            platform.close()
