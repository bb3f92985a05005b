"""Held: nobody is told what replicas do not have, whatever fails (ADR 120, 121). Real servers with replicas, and faults of the client."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from events import accounts, lists, play, recall
from events.errors import StoreUnavailable
from events.platform import Platform, Settings, check_store, open_platform
from events.store import WrongStore, holding, library
from events.store.client import RedisClient
from events.store.guarantees import Primary, judged
from events.store.heads import MISSED
from events.store.pulses import Beat
from events.store.wire import Wire
from evidence import notes
from evidence.statements import parse_receipt
from service.app import create_app
from service.http.settings import Settings as ServiceSettings
from tests.conftest import ALL_GAMES, Servers, within
from tests.failing import FAILURES, World
from tests.nodes import Node, Nodes

ADD = {"type": "add", "by": 1, "stay": True}
ASKED = "r" * 22


@pytest.fixture(scope="module")
def _pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    pair = Nodes(tmp_path_factory.mktemp("pair"), clustered=False)
    yield pair
    pair.end()


@pytest.fixture
def pair(_pair: Nodes) -> Iterator[Nodes]:
    """A primary and its replica, without data."""
    yield _pair
    _pair.mend()
    _pair.empty()


@pytest.fixture
def stop(monkeypatch: pytest.MonkeyPatch) -> Callable[[Node], None]:
    """Stop a replica, and wait for none for long from then on."""

    def stopped(replica: Node) -> None:
        replica.stop()
        monkeypatch.setattr(holding, "PATIENCE_MS", 30)

    return stopped


@pytest.fixture
def join(pair: Nodes, servers: Servers, tmp_path: Path) -> Iterator[Callable[..., Platform]]:
    """Open platforms on the pair, each with a memory of its own."""
    opened = []

    def joined(replicas: int = 1) -> Platform:
        settings = Settings(store_url=pair.url, queue_url=servers.queue_url, keys=tmp_path / "keys", replicas=replicas)
        opened.append(open_platform(settings, ALL_GAMES))
        return opened[-1]

    yield joined
    for platform in opened:
        platform.close()


def begun(platform: Platform, target: int = 1_000_000) -> tuple[str, str]:
    """Begin a match, and return its creator and its id."""
    ann = accounts.register(platform, "Ann")[0].id
    match = play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {"target": target}).match
    play.play(platform, match, "system", [{"type": "advance"}])
    return ann, match


def test_what_replicas_do_not_have_is_told_to_nobody_and_the_retry_is_answered_when_they_have_it(
    join: Callable[..., Platform], pair: Nodes, stop: Callable[[Node], None]
) -> None:
    writer, reader, fresh, careless = join(), join(), join(), join(replicas=0)
    ann, match = begun(writer)
    recall.position(reader, match)
    heads = reader.store.heads(0.05)
    assert next(heads) is MISSED
    stop(pair.nodes[1])
    with pytest.raises(StoreUnavailable, match="reached") as away:
        play.play(writer, match, "one", [ADD], request=ASKED)
    assert away.value.reason == f"{holding.MARK}0 of 1 have what was written last"
    assert careless.store.log.head(match) == 3, "it is there all the same"
    log = reader.store.log
    asked = (
        lambda: play.play(writer, match, "one", [ADD], request=ASKED),
        lambda: play.play(reader, match, "one", [ADD]),
        lambda: play.play(reader, match, "one", [{"type": "nonsense"}]),
        lambda: recall.position(reader, match),
        lambda: recall.position(fresh, match),
        lambda: recall.state_at(fresh, match, 3),
        lambda: log.read(match),
        lambda: log.head(match),
        lambda: log.last([match]),
        lambda: log.newest([match]),
        lambda: log.spans([(match, 1, 3)]),
        lambda: list(log.items(match)),
        lambda: log.since(match, 2),
        lambda: lists.matches(reader, {"player": ann}),
        lambda: reader.store.lists.standings([match]),
        lambda: reader.store.server_logs.state("x"),
        lambda: reader.store.what_is_full(),
        lambda: reader.store.pulses.beat("web", "web:a:1:1", Beat(1, 1, "b"), 0, {}, (), None),
    )
    with ThreadPoolExecutor(len(asked)) as pool:
        assert [type(answer.exception()) for answer in [pool.submit(ask) for ask in asked]] == [StoreUnavailable] * len(asked)
    assert next(heads) is None, "the head that was published is not passed on"
    pair.nodes[1].go_on()
    played = within(10, lambda: _answered(lambda: play.play(writer, match, "one", [ADD], request=ASKED)))
    assert (played.repeated, played.first, played.last) == (True, 3, 3)
    assert recall.position(reader, match).version == recall.position(fresh, match).version == 3
    assert within(10, lambda: next(heads) is MISSED), "whoever listens looks again"


def _answered(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except StoreUnavailable:
        return None


def test_what_is_known_to_be_held_is_read_while_replicas_are_away(
    join: Callable[..., Platform], pair: Nodes, stop: Callable[[Node], None]
) -> None:
    platform = join()
    _, match = begun(platform)
    stop(pair.nodes[1])
    assert recall.position(platform, match).version == 2
    with pytest.raises(play.RefusedAt):
        play.play(platform, match, "one", [{"type": "add", "by": -1}])


@pytest.mark.parametrize("stopped", [False, True])
def test_a_connection_that_dies_between_the_function_and_wait_hides_no_write_that_is_not_held(
    join: Callable[..., Platform], pair: Nodes, stop: Callable[[Node], None], monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    """The function is sent again and finds its own entry, but a WAIT on the new connection alone would cover nothing."""
    platform = join()
    _, match = begun(platform)
    exchange, died = Wire.exchange, []

    def dying(wire: Wire, commands: Any) -> Any:
        if not died and commands[0][1].startswith("append"):
            died.append(exchange(wire, commands[:1]))
            if stopped:
                stop(pair.nodes[1])
            raise ConnectionError("died")
        return exchange(wire, commands)

    monkeypatch.setattr(Wire, "exchange", dying)
    if stopped:
        with pytest.raises(StoreUnavailable):
            play.play(platform, match, "one", [ADD])
        pair.nodes[1].go_on()
    else:
        assert play.play(platform, match, "one", [ADD]).last == 3
    assert died[0][0][0] == 1, "the function had written"
    assert within(10, lambda: _answered(lambda: recall.position(platform, match))).version == 3


def test_the_service_answers_503_until_replicas_have_an_action_and_its_receipt_says_how_many(
    join: Callable[..., Platform], pair: Nodes, stop: Callable[[Node], None]
) -> None:
    platform = join()
    client = create_app(platform, ServiceSettings(admin_key="a" * 32, log_requests=False)).test_client()
    key = client.post("/v1/players", json={"name": "Ada"}).json["key"]
    owner = {"Authorization": f"Bearer {key}"}
    match = client.post("/v1/matches", json={"game": "tally", "seats": {"one": "me", "two": "me"}}, headers=owner).json["id"]
    play.play(platform, match, "system", [{"type": "advance"}])
    assert client.get("/readyz").json == {"status": "ok", "replicas": {"held": 1, "connected": 1}}
    stop(pair.nodes[1])
    asking = {**owner, "If-Match": '"2"', "Idempotency-Key": ASKED}
    ask = partial(client.post, f"/v1/matches/{match}/actions", json=ADD, headers=asking)
    refused = ask()
    assert (refused.status_code, refused.json["code"]) == (503, "store_away")
    assert client.get("/readyz").json["detail"] == "Waiting for the store: its replicas do not answer."
    pair.nodes[1].go_on()
    done = within(10, lambda: answer if (answer := ask()).status_code == 200 else None)
    text = notes.parse(done.json["receipt"]).text
    assert parse_receipt(text).held == 1
    assert text.splitlines()[2::3] == ["3", "held 1"]


def test_a_receipt_says_how_many_replicas_have_its_version(join: Callable[..., Platform]) -> None:
    said = []
    for replicas in (0, 1):
        platform = join(replicas)
        _, match = begun(platform)
        receipt = platform.signer.receipt(match, 2, "0f" * 32, 5)
        said.append(parse_receipt(notes.parse(receipt).text).held)
    assert said == [0, 1]


@pytest.mark.parametrize(("count", "replicas", "held"), [(0, 1, False), (1, 1, True), (1, 2, False), (3, 2, True)])
def test_commands_are_held_by_as_many_as_were_asked_for(count: int, replicas: int, held: bool) -> None:
    waits = holding.Waits(replicas)
    sent = waits.added([("GET", "{p3}:x:m"), ("GET", "{p4}:x:m")])
    assert [command[0] for command in sent] == ["GET", "GET", "FCALL", "WAIT"]
    assert sent[2][2:] == (1, "{p3}:barrier")
    assert sent[3] == ("WAIT", replicas, holding.PATIENCE_MS)
    assert waits.added([("GET", "{p3}:x:m")], barrier=False) == [("GET", "{p3}:x:m"), sent[3]]
    if held:
        assert waits.taken([b"a", b"b", 1, count], 2) == [b"a", b"b"]
    else:
        with pytest.raises(StoreUnavailable):
            waits.taken([b"a", b"b", 1, count], 2)


def test_replicas_that_fail_to_answer_are_not_waited_for_as_long_for_a_second() -> None:
    now = [0.0]
    waits = holding.Waits(1, lambda: now[0])

    def patience(server: str) -> Any:
        return waits.added([("GET", "{p3}:x:m")], server)[-1][2]

    with pytest.raises(StoreUnavailable):
        waits.taken([b"a", 1, 0], 1, "one")
    assert (patience("one"), patience("other")) == (holding.SHORT_MS, holding.PATIENCE_MS)
    now[0] = holding.AGAIN + 0.1
    assert patience("one") == holding.PATIENCE_MS
    with pytest.raises(StoreUnavailable):
        waits.taken([b"a", 1, 0], 1, "one")
    assert waits.taken([b"a", 1, 1], 1, "one") == [b"a"]
    assert patience("one") == holding.PATIENCE_MS


def test_servers_that_cannot_keep_the_promise_are_refused_and_others_are_told_what_to_change(
    pair: Nodes, join: Callable[..., Platform], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pair.nodes[0]
    address = first.url.removeprefix("redis://")
    assert join().store.connected() == 1
    settings = Settings(store_url=pair.url, queue_url=servers.queue_url)
    assert check_store(settings) == [
        f"{address} has 1 replicas, and the service waits for 0 (WARLEDGER_REPLICAS). A failover may lose what was acknowledged"
    ]
    monkeypatch.setattr(holding, "PATIENCE_MS", 30)
    said = check_store(settings._replace(replicas=2))
    monkeypatch.undo()
    assert [sentence.partition(f" {address}")[0] for sentence in check_store(settings._replace(replicas=1))] == [
        "Set `appendfsync always` on",
        "Set `min-replicas-to-write 1` on",
    ]
    assert said[0] == f"{address} has 1 of 2 replicas (WARLEDGER_REPLICAS). Until they are there, actions are 503"
    first.client.config_set("appendonly", "no")
    try:
        with pytest.raises(WrongStore, match="appendonly yes"):
            join()
    finally:
        first.client.config_set("appendonly", "yes")
    with pytest.raises(WrongStore, match="comes along"):
        open_platform(Settings(replicas=1))


def test_every_setting_that_matters_has_its_sentence() -> None:
    good = {"appendonly": "yes", "appendfsync": "always", "min-replicas-to-write": "2", "maxmemory-policy": "noeviction"}
    one, other = (Primary(name, 2, {**good, "cluster-require-full-coverage": "no"}) for name in ("a:1", "b:1"))
    assert judged([one, other], 2) == ("", [])
    for changed in (
        {"appendfsync": "everysec"},
        {"min-replicas-to-write": "1"},
        {"maxmemory-policy": "allkeys-lru"},
        {"cluster-require-full-coverage": "yes"},
    ):
        refusal, advice = judged([one, other._replace(settings={**other.settings, **changed})], 2)
        assert refusal == ""
        (sentence,) = advice
        assert next(iter(changed)) in sentence
        assert "b:1" in sentence
    assert judged([one._replace(replicas=1)], 2).advice == [
        "a:1 has 1 of 2 replicas (WARLEDGER_REPLICAS). Until they are there, actions are 503"
    ]
    assert judged([one._replace(replicas=-1, settings={})], 2) == judged([one._replace(replicas=0, settings={})], 0) == ("", [])


def test_without_replicas_nothing_more_is_sent(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    exchange = Wire.exchange
    monkeypatch.setattr(Wire, "exchange", lambda wire, commands: (sent.extend(commands), exchange(wire, commands))[1])
    monkeypatch.setattr(holding.Waits, "added", lambda *_: pytest.fail("a barrier"))
    _, match = begun(platform)
    sent.clear()
    play.play(platform, match, "one", [ADD])
    assert len(sent) == 1


def test_a_cluster_holds_what_is_read_from_all_its_nodes(cluster_url: str, nodes: Nodes, stop: Callable[[Node], None]) -> None:
    client = RedisClient(cluster_url, cluster=True, replicas=1)
    asked = [("EXISTS", f"{{p{number}}}:x:m") for number in range(16)]
    assert client.ask_all(asked) == [0] * 16
    leader = nodes.leader_of("{p3}")
    replica = nodes.replica_of(leader)
    stop(replica)
    with pytest.raises(StoreUnavailable):
        client.ask_all(asked)
    elsewhere = [command for command in asked if nodes.leader_of(command[1][:-4]) is not leader]
    assert client.ask_all(elsewhere) == [0] * len(elsewhere)
    replica.go_on()
    assert within(10, lambda: _answered(lambda: client.ask_all(asked))) == [0] * 16
    client.close()


def test_a_slot_that_has_moved_is_followed(cluster_url: str, nodes: Nodes) -> None:
    client = RedisClient(cluster_url, cluster=True, replicas=1)
    asked = [("EXISTS", f"{{p{number}}}:x:m") for number in range(16)]
    assert client.ask_all(asked) == [0] * 16
    source = nodes.leader_of("{p3}")
    target = next(node for node in nodes.nodes if node.leads and node is not source)
    for there, other in ((target, source), (source, target)):
        nodes.empty()
        slot, id = there.client.cluster("KEYSLOT", "{p3}"), there.client.execute_command("CLUSTER", "MYID")
        there.client.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", other.client.execute_command("CLUSTER", "MYID"))
        for node in (there, other, *[node for node in nodes.nodes if node.leads and node not in (there, other)]):
            node.client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", id)
        assert within(10, lambda: _answered(lambda: client.run(library.script("barrier"), ["{p3}:barrier"], []))) == 1
        assert within(10, lambda: _answered(lambda: client.ask_all(asked))) == [0] * 16
        assert nodes.leader_of("{p3}") is there
    client.close()


def fail_over(nodes: Nodes, servers: Servers, folder: Path, replicas: int, failures: list[str], seed: int = 1) -> World:
    """Play while servers fail, one failure after the other. Return what came of it."""
    world = World(nodes, servers.queue_url, folder, replicas)
    rng = random.Random(seed)
    try:
        for what in failures:
            if world.wrong:
                break
            world.fail(what, rng)
        world.finish()
    finally:
        world.close()
        nodes.mend()
    return world


def test_a_failover_and_a_cut_link_lose_nothing_that_anybody_was_told(nodes: Nodes, servers: Servers, tmp_path: Path) -> None:
    world = fail_over(nodes, servers, tmp_path, 1, ["cut and kill"])
    assert world.wrong == []
    assert world.acknowledged > 20
    assert len(world.signed) > 1


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("failovers", [3, 100])
def test_a_hundred_failovers_lose_nothing_and_fork_no_log(nodes: Nodes, servers: Servers, tmp_path: Path, failovers: int) -> None:
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    world = fail_over(nodes, servers, tmp_path, 1, [rng.choice(FAILURES) for _ in range(failovers)], seed)
    assert world.wrong == [], seed


@pytest.mark.soak
def test_a_primary_that_comes_back_loses_nothing(pair: Nodes, servers: Servers, tmp_path: Path) -> None:
    assert fail_over(pair, servers, tmp_path, 1, [*FAILURES] * 5).wrong == []


@pytest.mark.soak
def test_who_does_not_wait_is_found_out(nodes: Nodes, servers: Servers, tmp_path: Path) -> None:
    """The planted fault: without waiting for replicas, the same play tells somebody what is lost."""
    wrong = fail_over(nodes, servers, tmp_path, 0, ["cut and kill"] * 10).wrong
    lies = ("is lost", "given out twice", "two digests", "two roots", "NoMatch")
    assert any(lie in one for one in wrong for lie in lies), wrong
