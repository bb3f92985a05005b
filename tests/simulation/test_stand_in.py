"""The simulated servers are as the real ones: schedules that are played on both have the same answers, and the same keys in the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
import redis

from events.store import library
from events.store.client import load_into
from events.store.wire import Wires
from tests.conftest import Servers
from tests.simulation import processes, schedule
from tests.simulation.commands import Data, Stream, ZSet, score_text
from tests.simulation.functions import FUNCTIONS
from tests.simulation.network import RECORDS, Node
from tests.simulation.processes import simulated

Record = list[tuple[Node, list[bytes], Any, float]]
CLOCK = b"{clock}:now"  # the key from which the functions of the real server read the time
TOLD_TIME = f"local function told_time() return redis.call('HMGET', '{CLOCK.decode()}', 's', 'us') end\n"


@pytest.fixture
def lasting() -> Iterator[str]:
    """The script of the queue with a call that does not end after 300 ms, since the two clocks differ. The schedules use it, too."""
    source = processes._exchange_source().replace("'PX', '300'", "'PX', '300000'")
    with mock.patch.object(processes, "_EXCHANGE", FUNCTIONS.register(source)):
        yield source


@pytest.fixture
def servers(quiet_servers: Servers) -> Servers:
    """Empty servers to which no web server of other tests gives pulses."""
    return quiet_servers


@pytest.fixture
def told_time(servers: Servers) -> Iterator[None]:
    """The functions of the store read the time from a key. Other tests find the servers as they were."""
    mark, renamed = servers.keeper.get("{store}:begun"), servers.keeper.renamed
    servers.keeper.flushall()
    servers.queue.flushall()
    first, _, rest = library.code(renamed).partition("\n")
    servers.keeper.function_load(f"{first}\n{TOLD_TIME}" + rest.replace("redis.call('TIME')", "told_time()"), replace=True)
    yield
    load_into(servers.keeper, renamed)
    servers.keeper.flushall()
    servers.queue.flushall()
    if mark is not None:
        servers.keeper.set("{store}:begun", mark)


def recorded(seed: int) -> Record:
    """Return all commands of a schedule and of its preparation, with the answers of the simulated servers."""
    RECORDS.append([])
    try:
        with simulated(), mock.patch.object(schedule, "prepared", schedule.prepared.__wrapped__):
            assert schedule.run(seed).broken == []
        return RECORDS[-1]
    finally:
        RECORDS.pop()


# Both schedules are large, and no server loses data in them. The first has an archive.
@pytest.mark.parametrize("seed", [1567, pytest.param(97, marks=pytest.mark.soak)])
def test_a_schedule_has_the_same_answers_and_the_same_keys_on_real_servers(
    seed: int, servers: Servers, lasting: str, told_time: None
) -> None:
    for source in (lasting, processes.store_queue.server._text("lost")):
        servers.queue.script_load(source)
    record, wires = recorded(seed), Wires(servers.keeper.connection_pool)
    data: dict[str, Data] = {}
    try:
        for node, words, answer, moment in record:
            assert node.name in ("store1", "queue1"), "this schedule has no failover"
            data[node.name] = node.data
            if words[0] in (b"SCAN", b"ZRANDMEMBER", b"WAIT"):
                continue
            assert _plain(words, _asked(wires, servers, node.name, words, moment)) == _plain(words, answer), words
    finally:
        wires.close()
    assert len(record) > 300
    for name, connection in (("store1", servers.keeper), ("queue1", servers.queue)):
        expected = {key: _content(value) for key, value in data[name].keys.items()}
        assert {key: _read(connection, key) for key in connection.keys("*") if key != CLOCK} == expected


def _asked(wires: Wires, servers: Servers, server: str, words: list[bytes], moment: float) -> Any:
    """Return the answer of a real server at a moment in ms, or its error."""
    seconds, microseconds = divmod(int(moment * 1000), 1_000_000)
    try:
        if server == "store1":
            return wires.exchange([(servers.keeper.renamed["HSET"], CLOCK, "s", seconds, "us", microseconds), tuple(words)])[1]
        return servers.queue.execute_command(*words)
    except redis.ResponseError as reason:
        return reason


def _plain(words: list[bytes], answer: Any) -> Any:
    """Return an answer in a form that does not depend on the version of the protocol, or on an order that means nothing."""
    if isinstance(answer, Exception):
        return str(answer)
    if words[0] == b"HGETALL" or b"pulse_" in words[1]:
        answer = answer[0] if b"pulse_" in words[1] else answer
        return dict(answer) if isinstance(answer, dict) else dict(zip(answer[::2], answer[1::2], strict=True))
    if b"WITHSCORES" in words and answer and not isinstance(answer[0], list | tuple):
        return [(member, float(score)) for member, score in zip(answer[::2], answer[1::2], strict=True)]
    if words[0] in (b"ZSCORE", b"ZMSCORE"):
        return [score and float(score) for score in (answer if isinstance(answer, list) else [answer])]
    return _listed(answer)


def _listed(answer: Any) -> Any:
    if isinstance(answer, list | tuple):
        return tuple(map(_listed, answer)) if len(answer) == 2 and isinstance(answer[1], float) else [_listed(each) for each in answer]
    return b"OK" if answer is True else bytes(answer) if isinstance(answer, bytes) else answer


def _content(value: Any) -> Any:
    """Return the value of a simulated key."""
    if isinstance(value, Stream):
        return [(b"%d-%d" % id, fields) for id, fields in zip(value.ids, value.fields, strict=True)]
    if isinstance(value, ZSet):
        return sorted((member, float(score_text(score))) for member, score in value.items())
    return value


def _read(connection: Any, key: bytes) -> Any:
    """Return the value of a real key in the same form."""
    kind = connection.type(key)
    if kind == b"stream":
        return [(id, [part for item in fields.items() for part in item]) for id, fields in connection.xrange(key)]
    if kind == b"zset":
        return sorted((member, float(score)) for member, score in connection.zrange(key, 0, -1, withscores=True))
    if kind == b"hash":
        return connection.hgetall(key)
    return connection.lrange(key, 0, -1) if kind == b"list" else connection.get(key)
