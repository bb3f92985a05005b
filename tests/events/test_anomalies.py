"""A store that fails at its n-th call, for every n: before it gets the call, or after it has carried it out."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest

from events import play, recall
from events.audit import audit
from events.due import ADVANCE
from events.errors import StoreUnavailable
from events.platform import Platform, Settings, open_platform
from events.rebuild import rebuild
from events.store.packed import pack
from record.entries import parse
from tests.conftest import ALL_GAMES, Servers, take_seat
from tests.events.keyspace import projections
from tests.events.proxy import Proxy

T = TypeVar("T")
ADD = {"type": "add", "by": 1, "stay": True}
PLAYED = ["create_match", "take_seat", "advance", "add", "add", "roll", "add", "advance", "add"]
LOST = pytest.mark.parametrize("what", [pytest.param("request", marks=pytest.mark.soak), "reply"])


@pytest.fixture
def proxy(servers: Servers) -> Iterator[Proxy]:
    with tempfile.TemporaryDirectory() as folder:
        between = Proxy(Path(folder) / "proxy", servers.store_url)
        yield between
        between.close()


def a_short_match(platform: Platform, ask: Callable[[Callable[[], T]], T]) -> str:
    """Play a match that uses every call to the store. `ask` makes a call until it is answered. Return the id of the match."""
    match: str = ask(
        lambda: play.create(platform, "p" + "a" * 16, "tally", {"one": "me", "two": "open"}, {"target": 50}, request="c")
    ).match
    ask(lambda: take_seat(platform, match, "p" + "b" * 16, "two", "00ff", request="j"))
    ask(lambda: play.play(platform, match, "system", [{"type": "advance"}], request="s1"))
    ask(lambda: play.play(platform, match, "one", [ADD, ADD], request="1"))
    platform.cache.drop(match)
    ask(lambda: play.play(platform, match, "one", [{"type": "roll"}], expected=5, request="2"))
    last = {"type": "add", "by": 2, "stay": False}
    ask(lambda: play.play(platform, match, "two", [last], request="3"))
    ask(lambda: play.play(platform, match, "system", [{"type": "advance"}], request="s2"))
    ask(lambda: play.play(platform, match, "one", [ADD], request="4"))
    assert ask(lambda: recall.state_at(platform, match, 3)).version == 3
    assert ask(lambda: recall.position(platform, match)).version == len(PLAYED)
    return match


def check(platform: Platform, match: str) -> None:
    """Check that each action was carried out once, in order, with everything that follows from it."""
    entries = [parse(raw) for raw in platform.store.log.read_all(match)]
    assert [entry.action["type"] for entry in entries] == PLAYED
    assert audit(platform, match).ok
    kept = projections(platform.store.client)
    rebuild(platform)
    assert projections(platform.store.client) == kept


def breaks(platform: Platform, proxy: Proxy, behind: Platform, ask: Callable[[Callable[[], Any]], Any]) -> bool:
    """Play a match on a platform behind the proxy and check it. Return True if the proxy has broken a call."""
    match = a_short_match(behind, ask)
    broke = proxy.disarm()
    behind.close()
    platform.cache.drop(match)
    check(platform, match)
    return broke


@LOST
def test_one_lost_call_is_repeated_without_an_error(platform: Platform, servers: Servers, proxy: Proxy, what: str) -> None:
    for n in count(1):
        servers.keeper.flushall()
        proxy.arm(what, [n])
        behind = open_platform(Settings(store_url=proxy.url, queue_url=servers.queue_url), ALL_GAMES)
        if not breaks(platform, proxy, behind, _at_once):
            break
    assert n > 15, "there were calls to lose"


@LOST
def test_after_an_outage_the_same_request_gets_its_answer(
    platform: Platform, servers: Servers, proxy: Proxy, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.store.client._PAUSES", (0.0, 0.0, 0.0))
    for n in count(8):
        servers.keeper.flushall()
        proxy.disarm()
        behind = open_platform(Settings(store_url=proxy.url, queue_url=servers.queue_url), ALL_GAMES)
        proxy.arm(what, range(n - 7, n - 1))
        if not breaks(platform, proxy, behind, _until_answered):
            break
    assert n > 15


@pytest.mark.soak
@pytest.mark.parametrize("what", ["request", "reply"])
def test_each_action_is_done_once_whichever_calls_are_lost(
    platform: Platform, servers: Servers, proxy: Proxy, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.store.client._PAUSES", (0.0, 0.0, 0.0))
    for seed in range(500):
        servers.keeper.flushall()
        behind = open_platform(Settings(store_url=proxy.url, queue_url=servers.queue_url), ALL_GAMES)
        lost = random.Random(seed)
        proxy.arm(what, [call for call in range(1, 200) if lost.random() < 0.25])
        breaks(platform, proxy, behind, _until_answered)


def test_a_store_that_does_not_answer_is_unavailable(
    servers: Servers, platform: Platform, begin: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.store.client._PAUSES", (0.0, 0.0, 0.0))
    match = begin()
    with tempfile.TemporaryDirectory() as folder:
        between = Proxy(Path(folder) / "proxy", servers.store_url)
        behind = open_platform(Settings(store_url=between.url, queue_url=servers.queue_url), ALL_GAMES)
        between.arm("request", range(1, 1000))
        asks: list[Callable[[], Any]] = [
            lambda: play.play(behind, match, "one", [ADD]),
            lambda: recall.position(behind, match),
            lambda: behind.store.log.read(match),
        ]
        for ask in asks:
            with pytest.raises(StoreUnavailable):
                ask()
        between.disarm()
        assert play.play(behind, match, "one", [ADD]).last == 3
        behind.close()
        between.close()


def test_the_log_decides_after_the_store_has_lost_its_last_entries(platform: Platform, begin: Callable[..., str], servers: Servers) -> None:
    match = begin()
    play.play(platform, match, "one", [ADD, ADD, ADD])
    keys = platform.store.keys.of(match)
    first = list(platform.store.log.items(match))[:3]
    servers.keeper.delete(keys.stream)
    for id, raw, *_ in first:
        servers.keeper.xadd(keys.stream, {"e": pack(raw, match, int(id.partition("-")[0]))}, id=id)
    assert recall.position(platform, match).version == 3
    assert play.play(platform, match, "one", [ADD]).last == 4


def test_a_queue_that_is_gone_does_not_stop_play(platform: Platform, servers: Servers, ann: str) -> None:
    lonely = open_platform(Settings(store_url=servers.store_url, queue_url="unix:///nowhere.sock"), ALL_GAMES)
    position = play.create(lonely, ann, "tally", {"one": "ai:random", "two": "me"}, {})
    assert lonely.jobs.depth() is lonely.jobs.workers("think") is None
    member = f"{ADVANCE}|{position.match}|"
    assert platform.store.client.ask("ZSCORE", platform.store.keys.of(position.match).due, member) == position.at, "the index still has it"
    lonely.close()


def _at_once(call: Callable[[], T]) -> T:
    return call()


def _until_answered(call: Callable[[], T]) -> T:
    for _ in range(100):
        try:
            return call()
        except StoreUnavailable:
            continue
    raise AssertionError("the store was never up")
