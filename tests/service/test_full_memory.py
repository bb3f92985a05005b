"""A store or a queue whose memory is full: what it refuses, what still works, and what is said about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from events.audit import audit
from events.keeping import memory
from events.platform import Platform
from events.store.client import RedisClient
from events.store.queue import Jobs
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import Servers
from tests.service.conftest import ADMIN, Caller

PAIR = {"game": "war", "seats": {"red": "me", "blue": "open"}}


@contextmanager
def full(server: redis.Redis) -> Iterator[None]:
    """Let the memory of a server be full until the end of the block."""
    server.config_set("maxmemory", "1")
    try:
        yield
    finally:
        server.config_set("maxmemory", "0")


def test_while_the_memory_of_the_store_is_full_people_read_resign_and_leave_and_nothing_else_is_written(
    servers: Servers, platform: Platform, ada: Caller, ben: Caller
) -> None:
    begun, opened = (ada.post("/v1/matches", PAIR).json["id"] for _ in range(2))
    assert ben.act(begun, {"type": "take_seat", "seat": "blue"}).status_code == 200
    key = ada.post("/v1/players/me/keys", {"name": "other", "scopes": ["read"]}).json["id"]
    before = ada.get(f"/v1/matches/{begun}/entries").data
    with full(servers.keeper):
        ready = ada.get("/readyz")
        assert (ready.status_code, ready.json["code"]) == (503, "not_ready")
        assert ready.json["detail"] == "Waiting for memory of the store. It is full. Reads are answered, and players can resign and leave."
        refused = [
            ada.post("/v1/matches", PAIR),
            ben.act(opened, {"type": "take_seat", "seat": "blue"}),
            ben.act(begun, {"type": "offer", "what": "draw"}),
        ]
        assert {(answer.status_code, answer.json["code"]) for answer in refused} == {(503, "store_away")}
        assert ada.get(f"/v1/matches/{begun}/entries").data == before
        resigned = ada.act(begun, {"type": "resign"}, **{"Idempotency-Key": "once"})
        assert (resigned.status_code, resigned.json["outcome"] is None) == (200, False)
        assert ada.act(begun, {"type": "resign"}, **{"Idempotency-Key": "once"}).json["version"] == resigned.json["version"]
        assert ada.act(opened, {"type": "close_match"}).status_code == 200
        assert ada.ask("DELETE", f"/v1/players/me/keys/{key}").status_code == 204
        assert ben.ask("DELETE", f"/v1/players/me?confirm={ben.id}").status_code == 204
        assert ada.get("/metrics").status_code == 200
    assert ada.get("/readyz").json == {"status": "ok"}
    assert ada.post("/v1/matches", PAIR).status_code == 201
    assert audit(platform, begun).ok


def test_from_four_fifths_of_its_limit_on_it_is_said_how_full_the_memory_of_the_store_is(platform: Platform, settings: Settings) -> None:
    used = platform.store.memory()
    assert used > 1_000_000

    def asked(limit: int) -> Caller:
        limited = dataclasses.replace(platform, settings=platform.settings._replace(memory=limit))
        return Caller(create_app(limited, settings).test_client())

    said = asked(int(used / 0.9)).get("/readyz").json["memory"]
    assert said["limit"] == int(used / 0.9)
    assert said["used"] >= memory.WARNING * said["limit"]
    free = asked(2 * used)
    assert free.get("/readyz").json == {"status": "ok"}
    assert "warledger_store_memory" not in free.get("/metrics").text
    shown = Caller(free.client, ADMIN).get("/metrics").text
    metrics = dict(line.split() for line in shown.splitlines() if line.startswith("warledger_store_"))
    assert float(metrics["warledger_store_memory_limit_bytes"]) == 2 * used
    assert float(metrics["warledger_store_memory_bytes"]) > 1_000_000


def test_a_user_who_may_not_ask_for_the_memory_of_the_store_sees_no_number(servers: Servers) -> None:
    servers.keeper.acl_setuser("stranger", enabled=True, nopass=True, commands=["+ping", "+hello", "+client"])
    client = RedisClient(servers.store_url.replace("unix://", "unix://stranger@"))
    assert client.memory() == -1
    client.close()
    servers.keeper.acl_deluser("stranger")


def test_a_cluster_takes_as_much_memory_as_its_fullest_node(cluster_url: str) -> None:
    client = RedisClient(cluster_url, cluster=True)
    assert client.memory() > 1_000_000
    client.close()


def test_a_queue_that_is_full_or_away_is_said_and_people_play_on(
    servers: Servers, platform: Platform, settings: Settings, ada: Caller
) -> None:
    with redis.Redis.from_url(servers.queue_url) as queue, full(queue):
        assert ada.get("/readyz").json == {"status": "ok", "queue": "memory"}
        match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}}).json["id"]
        assert ada.act(match, {"type": "resign"}).status_code == 200
    assert ada.get("/readyz").json == {"status": "ok"}
    away = dataclasses.replace(platform, jobs=Jobs("unix:///nowhere.sock", platform.clock))
    assert Caller(create_app(away, settings).test_client()).get("/readyz").json == {"status": "ok", "queue": "away"}
    away.jobs.close()
