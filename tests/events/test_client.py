"""The client in trouble: connections that end, servers that cannot write, a cluster, and subscriptions that break."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from environs import EnvError

from events import accounts, lists, play, recall
from events.audit import audit
from events.errors import StoreRefused, StoreUnavailable
from events.keeping import embedded
from events.platform import Platform, Settings, open_platform, settings_from_environment
from events.rebuild import rebuild
from events.store import Store, library
from events.store.client import DISK, MEMORY, RedisClient, answers, load_library
from events.store.heads import MISSED, Lost
from games.kernel import SYSTEM
from tests.conftest import ALL_GAMES, Servers, free_port, within
from tests.events.keyspace import projections

Begin = Callable[..., str]
ADD = {"type": "add", "by": 1, "stay": True}


@pytest.fixture
def spread(cluster_url: str, servers: Servers) -> Iterator[Platform]:
    """A platform whose store is a cluster of three."""
    with redis.RedisCluster.from_url(cluster_url) as keeper:
        keeper.flushall(target_nodes=redis.RedisCluster.PRIMARIES)
    platform = open_platform(Settings(store_url=cluster_url, queue_url=servers.queue_url, cluster=True), ALL_GAMES)
    yield platform
    platform.close()


def test_a_connection_may_end_any_number_of_times(platform: Platform, begin: Begin, servers: Servers) -> None:
    match = begin()
    for number in range(130):
        servers.keeper.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        assert play.play(platform, match, "one", [ADD]).last == 3 + number
        assert recall.position(platform, match).version == 3 + number
    assert audit(platform, match).ok


def test_functions_that_the_server_has_lost_are_loaded_again_if_the_user_may(platform: Platform, begin: Begin, servers: Servers) -> None:
    match = begin()
    servers.keeper.function_flush()
    with pytest.raises(StoreUnavailable) as refused:
        play.play(platform, match, "one", [ADD])
    assert library.NAME in refused.value.reason
    with pytest.raises(StoreUnavailable):
        platform.store.what_is_full()
    load_library(embedded.keeper_url(servers.data), embedded.renamed(servers.data))
    assert play.play(platform, match, "one", [ADD]).last == 3


def test_functions_that_a_cluster_has_lost_are_loaded_again_since_the_user_may(spread: Platform, cluster_url: str) -> None:
    match = play.create(spread, "p" + "a" * 16, "tally", {"one": "me", "two": "me"}, {}).match
    with redis.RedisCluster.from_url(cluster_url) as keeper:
        keeper.execute_command("FUNCTION", "FLUSH", target_nodes=redis.RedisCluster.PRIMARIES)
    assert play.play(spread, match, SYSTEM, [{"type": "advance"}]).last == 2
    with redis.RedisCluster.from_url(cluster_url) as keeper:
        keeper.execute_command("FUNCTION", "FLUSH", target_nodes=redis.RedisCluster.PRIMARIES)
    assert spread.store.what_is_full() == ""


def test_a_store_that_cannot_write_is_unavailable_and_writes_nothing(platform: Platform, begin: Begin, servers: Servers) -> None:
    match = begin()
    kept = projections(platform.store.client)
    servers.keeper.config_set("maxmemory", "1")
    try:
        with pytest.raises(StoreUnavailable):
            play.play(platform, match, "one", [ADD])
        with pytest.raises(StoreUnavailable):
            accounts.register(platform, "Ann")
    finally:
        servers.keeper.config_set("maxmemory", "0")
    assert recall.position(platform, match).version == 2
    assert projections(platform.store.client) == kept
    assert play.play(platform, match, "one", [ADD]).last == 3


@pytest.mark.parametrize(("setting", "full"), [("min-replicas-to-write", DISK), ("maxmemory", MEMORY)])
def test_a_store_that_cannot_write_still_answers_every_read(
    platform: Platform, begin: Begin, servers: Servers, setting: str, full: str
) -> None:
    match = begin()
    log = platform.store.log
    expected = (log.load(match), log.since(match, 1), list(log.items(match)), log.read(match), log.head(match))
    servers.keeper.config_set(setting, "1")
    try:
        assert platform.store.what_is_full() == full
        assert (log.load(match), log.since(match, 1), list(log.items(match)), log.read(match), log.head(match)) == expected
        assert audit(platform, match).ok
    finally:
        servers.keeper.config_set(setting, "0")
    assert platform.store.what_is_full() == ""


def test_a_store_that_is_busy_with_a_script_is_away_until_that_ends(servers: Servers, platform: Platform) -> None:
    """Also for who opens the platform meanwhile, as a web process that starts."""
    servers.keeper.config_set("busy-reply-threshold", "1")
    with redis.Redis.from_url(embedded.keeper_url(servers.data), socket_timeout=None) as other:

        def spin() -> None:
            with contextlib.suppress(redis.ResponseError):  # it is killed
                other.eval("while true do end", 0)

        spinning = threading.Thread(target=spin)
        spinning.start()
        within(30, lambda: not answers(servers.store_url))
        another = open_platform(platform.settings, ALL_GAMES, patient=True)
        for send in (another.store.check, another.store.what_is_full, lambda: another.store.client.ask("GET", "x")):
            with pytest.raises(StoreUnavailable, match=r"^The store cannot be reached"):
                send()
        servers.keeper.execute_command("SCRIPT", "KILL")
        spinning.join(30)
    servers.keeper.config_set("busy-reply-threshold", "5000")
    another.store.check()
    assert another.store.what_is_full() == ""
    another.close()


def test_a_cluster_is_found_by_any_of_the_nodes_that_its_url_names_and_by_none_later(cluster_url: str) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    for url in (f"redis://{nowhere},{cluster_url.partition('//')[2]}", f"{cluster_url},{nowhere}"):
        client = RedisClient(url, cluster=True)
        assert client.ask("GET", "x") is None
        client.close()
    absent = open_platform(Settings(store_url=f"redis://{nowhere}", queue_url=f"redis://{nowhere}", cluster=True), ALL_GAMES, patient=True)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            absent.store.check()
    absent.close()


def test_only_a_cluster_has_several_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLEDGER_REDIS_URL", "redis://a:1,b:2")
    with pytest.raises(EnvError, match="only a cluster"):
        settings_from_environment()
    monkeypatch.setenv("WARLEDGER_CLUSTER", "1")
    assert settings_from_environment().store_url == "redis://a:1,b:2"


def test_an_error_in_a_script_is_not_taken_for_an_unavailable_store(platform: Platform) -> None:
    for send in (
        lambda: platform.store.client.run(library.script("append"), [], []),
        lambda: platform.store.client.ask("NONSENSE"),
        lambda: platform.store.client.ask_all([("PING",), ("NONSENSE",)]),
    ):
        with pytest.raises(StoreRefused) as refused:
            send()
        assert refused.value.reason


def test_many_matches_are_played_listed_rebuilt_and_audited_on_a_cluster(spread: Platform) -> None:
    ann = "p" + "a" * 16
    made = []
    for number in range(20):
        match = play.create(spread, ann, "tally", {"one": "me", "two": "me"}, {"target": 200}, request=f"r{number}").match
        play.play(spread, match, SYSTEM, [{"type": "advance"}])
        for _ in range(7):
            play.play(spread, match, "one", [ADD] * 10, request=None)
        made.append(match)
    assert len({spread.store.keys.tag(match) for match in made}) > 5
    for match in made:
        spread.cache.drop(match)
        assert recall.position(spread, match).version == 72
        assert recall.state_at(spread, match, 70).document["counts"]["one"] == 68
        assert audit(spread, match).ok
    assert {standing["id"] for standing in lists.matches(spread, {"to_act": ann}).standings} >= set(made)
    kept = projections(spread.store.client)
    rebuild(spread)
    assert projections(spread.store.client) == kept


def test_heads_gives_every_version_and_none_whenever_something_may_have_been_missed(
    platform: Platform, begin: Begin, servers: Servers
) -> None:
    heads = platform.store.heads(patience=0.05)
    assert next(heads) is MISSED
    match = begin()
    assert [next(head for head in heads if head)[:2] for _ in range(2)] == [(match, 1), (match, 2)]
    servers.keeper.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    assert next(heads) is None, "the subscription was lost"
    assert next(heads) is MISSED, "and begun again"
    play.play(platform, match, "one", [ADD])
    assert next(head for head in heads if head)[:2] == (match, 3)


def test_who_listens_to_a_store_hears_no_more_once_it_is_closed(another_platform: Callable[[], Platform]) -> None:
    store = another_platform().store
    listeners: list[Iterator[Any]] = [store.heads(0.05), store.accounts.changed(0.05)]
    assert [next(listener) for listener in listeners] == [MISSED, Lost.BACK]
    store.close()
    assert [list(listener) for listener in listeners] == [[], []]


def test_only_a_store_that_answers_can_be_pinged(platform: Platform) -> None:
    assert platform.store.what_is_full() == ""
    absent = Store(RedisClient("unix:///nowhere.sock"))
    with pytest.raises(StoreUnavailable) as error:
        absent.what_is_full()
    assert (error.value.code, bool(error.value.reason)) == ("store_away", True)
    absent.close()
