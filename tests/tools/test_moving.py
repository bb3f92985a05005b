"""`./run move`: a store moves to another server or to a cluster while players write, and a kill anywhere loses nothing."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis

from events import play
from events.errors import StoreUnavailable
from events.keeping import embedded, moving
from events.keeping.moving import Unfit
from events.lifeline import end_with
from events.platform import Platform, Settings, open_platform
from events.store import WrongStore, library
from events.store.client import answers
from events.store.copying import Address, Side
from games import GAMES
from tests.conftest import within
from tests.tools.test_backup import ANN, Writers
from tests.whole.test_commands import run
from tools import functions, move

PASSWORD = "p" * 40


class Own:
    """A server of an operator's own, with the files that `./run functions --configure` writes."""

    def __init__(self, folder: Path) -> None:
        self.files, path = folder / "files", folder / "s"
        folder.mkdir()
        functions.configure(self.files, PASSWORD)
        command = [embedded.binary(), str(self.files / functions.COMMANDS), "--aclfile", str(self.files / functions.USERS), "--port", "0"]
        command += ["--unixsocket", str(path), "--dir", str(folder), "--save", "", "--logfile", str(folder / "log")]
        self.process = subprocess.Popen(command, preexec_fn=partial(end_with, os.getpid()))
        self.url, self.service = f"unix://{path}", f"unix://default:{PASSWORD}@{path}"
        self.address = move.address(self.url, False, self.files)
        within(20, lambda: answers(self.address.url))
        self.keeper: Any = redis.Redis.from_url(self.address.url)

    def end(self) -> None:
        self.keeper.close()
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Own]:
    server = Own(tmp_path_factory.mktemp("own") / "server")
    yield server
    server.end()


def opened(url: str, data: Path, cluster: bool = False) -> Platform:
    return open_platform(Settings(store_url=url, queue_url="unix:///nowhere", data=data, cluster=cluster), GAMES)


class Players(Writers):
    """Players who write until the store refuses. `refused`: what it said."""

    def __init__(self, data: Path, threads: int) -> None:
        super().__init__(data, threads)
        self.refused: list[str] = []

    def _write(self) -> None:
        try:
            super()._write()
        except StoreUnavailable as reason:
            self.refused.append(reason.reason)


def test_a_store_moves_to_a_server_and_on_to_a_cluster_while_players_write(own: Own, cluster_url: str, tmp_path: Path) -> None:
    own.keeper.flushall()
    data = tmp_path / "data"
    assert run("move", "--help").returncode == 0  # what it imports is there from now on, so fewer matches are played meanwhile
    with Players(data, 1) as players:
        within(20, lambda: len(players.acknowledged) > 5)
        ended = run("move", "--to", own.url, "--with", str(own.files), "--data", str(data))
        assert ended.returncode == 0, ended.stderr
        assert f"Start the service with WARLEDGER_REDIS_URL={own.url} (and the password)." in ended.stdout
        within(20, lambda: len(players.refused) == 1)
        assert all(text.startswith(library.HALTED) and own.url in text for text in players.refused)
        with pytest.raises(StoreUnavailable) as told:
            play.create(players.platform, ANN, "war", {"red": "me", "blue": "me"}, {})
        assert f"have moved to {own.url}" in told.value.reason
        with pytest.raises(WrongStore, match="have moved to"):
            opened(players.server.url, data)
        before = everything(players.platform)
        ended = run("move", "--to", own.url, "--with", str(own.files), "--data", str(data))
        assert (ended.returncode, "have moved to" in ended.stderr) == (1, True)
    with pytest.raises(embedded.NoServer, match="have moved to"):
        embedded.start(data, embedded.STORE)
    (data / embedded.STORE / embedded.MOVED).unlink()  # as after a kill before it was written
    again = embedded.start(data, embedded.STORE)
    with pytest.raises(WrongStore, match="have moved to"):
        opened(again.url, data)
    again.stop()
    platform = opened(own.service, data)
    assert all(platform.store.log.head(match) >= version for match, version in players.acknowledged.items())
    assert everything(platform) == before
    match = max(players.acknowledged)
    play.play(platform, play.create(platform, ANN, "war", {"red": "me", "blue": "me"}, {}).match, "system", [{"type": "advance"}])
    for node in redis.RedisCluster.from_url(cluster_url).get_primaries():
        redis.Redis(node.host, node.port).flushall()
    before = everything(platform)
    moving.move(own.address, Address(cluster_url, {}, True), "the cluster")
    platform.close()
    platform = opened(cluster_url, data, cluster=True)
    assert everything(platform) == before
    assert platform.store.log.head(match) == len(before[match])
    platform.close()
    for node in redis.RedisCluster.from_url(cluster_url).get_primaries():
        redis.Redis(node.host, node.port).flushall()


def everything(platform: Platform) -> dict[str, Any]:
    """Return every entry by its match, and all players."""
    matches = sorted(platform.store.log.matches())
    found: dict[str, Any] = dict(zip(matches, platform.store.log.spans([(match, 1, 100) for match in matches]), strict=True))
    players = sorted(platform.store.client.keys("{players}:p:*"))
    return {**found, "players": {player: sorted(platform.store.client.ask("HGETALL", player).items()) for player in players}}


class Killed(BaseException):
    """The process is gone."""


CHANGES = ("put", "put_text", "remove", "halt", "go_on")


def test_a_move_that_is_killed_anywhere_is_done_again_and_two_stores_are_never_in_use(own: Own, tmp_path: Path) -> None:
    data = tmp_path / "data"
    server = embedded.start(data, embedded.STORE, "no")
    source = Address(embedded.keeper_url(data), embedded.renamed(data), False)
    keeper: Any = redis.Redis.from_url(source.url)
    calls, last, dead = 0, 1 << 30, False

    def dying(name: str) -> Any:
        real = getattr(Side, name)

        def called(self: Side, *given: Any) -> Any:
            nonlocal calls, dead
            if dead:
                raise Killed
            calls += name in CHANGES
            if calls == last:
                dead = True
                raise Killed
            return real(self, *given)

        return called

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moving, "HALT", -10.0)  # a killed move has let the service go on
        for name in (*CHANGES, "get"):
            patch.setattr(Side, name, dying(name))
        count = 0
        for last in (1 << 30, *range(1, 100)):
            dead, calls = False, 0
            own.keeper.flushall()
            keeper.flushall()
            Side(source).go_on()
            calls = 0
            platform = opened(server.url, data)
            match = play.create(platform, ANN, "war", {"red": "me", "blue": "me"}, {}).match
            try:
                moving.move(source, own.address, "there")
            except Killed:
                pass
            else:
                count = count or calls
                if last > count:
                    break
                assert last == 1 << 30
            dead, killed_at, last = False, last, 1 << 30
            in_use = [
                bool(each) and not each.startswith(library.MOVED) for each in (keeper.get("{store}:begun"), own.keeper.get("{store}:begun"))
            ]
            assert in_use != [True, True]
            try:
                play.play(platform, match, "system", [{"type": "advance"}])
                written = 2
                assert in_use == [True, False]
            except StoreUnavailable:
                written = 1
            if not in_use[1]:
                moving.move(source, own.address, "there")
            platform.close()
            there = opened(own.service, data)
            assert there.store.log.head(match) == written, killed_at
            there.close()
    assert count > 8
    keeper.close()
    server.stop()


def test_what_does_not_fit_is_refused_and_the_source_goes_on(own: Own, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    data = tmp_path / "data"
    server = embedded.start(data, embedded.STORE, "no")
    source = Address(embedded.keeper_url(data), embedded.renamed(data), False)
    keeper: Any = redis.Redis.from_url(source.url)
    with pytest.raises(Unfit, match="no store of Warledger"):
        moving.move(source, own.address, "there")
    platform = opened(server.url, data)
    match = play.create(platform, ANN, "war", {"red": "me", "blue": "me"}, {}).match
    own.keeper.flushall()
    own.keeper.execute_command("RESTORE", "{store}:begun", 0, keeper.dump("{store}:begun"))
    with pytest.raises(Unfit, match="has data already"):
        moving.move(source, own.address, "there")
    own.keeper.flushall()
    own.keeper.execute_command("RESTORE", "{store}:copied-from", 0, keeper.dump("{store}:begun"))
    with pytest.raises(Unfit, match="the copy of another store"):
        moving.move(source, own.address, "there")
    own.keeper.flushall()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Side, "lengths", lambda side, keys: [len(keys) + id(side)] * len(keys))
        patch.setattr(moving, "PASSES", 2)
        with pytest.raises(Unfit, match="is not what the source has"):
            moving.move(source, own.address, "there")
    play.play(platform, match, "system", [{"type": "advance"}])
    keeper.execute_command(
        "FUNCTION", "LOAD", library.code({}).replace(library.NAME, f"{library.FAMILY}older").replace(library.VERSION, "older")
    )
    with pytest.raises(Unfit, match="another version"):
        moving.move(source, own.address, "there")
    assert move.main(["--to", "redis://127.0.0.1:1", "--data", str(data)]) == 1
    assert move.main(["--to", own.url, "--data", str(tmp_path / "none")]) == 1
    assert move.main(["--to", own.url, "--with", str(tmp_path), "--data", str(data)]) == 1
    assert capsys.readouterr().err.count("Nothing was moved.") == 3
    assert move.shown("redis://default:secret@a:7000,b:7000") == "redis://a:7000,b:7000"
    platform.close()
    keeper.close()
    server.stop()


def test_readiness_says_where_the_matches_went(own: Own, tmp_path: Path) -> None:
    from service.api import health
    from service.http.problems import Problem

    data = tmp_path / "data"
    server = embedded.start(data, embedded.STORE, "no")
    platform = opened(server.url, data)
    own.keeper.flushall()
    moving.move(Address(embedded.keeper_url(data), embedded.renamed(data), False), own.address, "redis://elsewhere:6379")

    class Service:
        opened = platform

    with pytest.raises(Problem) as told:
        health.get_readiness(Service(), None)  # type: ignore[arg-type]
    assert "have moved to redis://elsewhere:6379" in str(told.value.__dict__)
    platform.close()
    server.stop()


def test_threads_end(own: Own) -> None:
    listens = "Changes._listen"  # other tests have threads that listen, too
    assert not [thread for thread in threading.enumerate() if listens in repr(thread._target)]  # type: ignore[attr-defined]
