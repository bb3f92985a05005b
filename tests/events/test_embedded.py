"""The embedded servers: one owner, many guests, nothing left behind, nothing forgotten, and no right to change an entry."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from events import embedded, play
from events.platform import Platform, Settings, open_platform
from events.wire import answers
from tests.conftest import ALL_GAMES, Servers, within

ROOT = Path(__file__).parents[2]
OWNER = """
import sys, time
from pathlib import Path
from events import embedded
print(embedded.start(Path(sys.argv[1]), embedded.STORE).url, flush=True)
time.sleep(60)
"""


@pytest.fixture
def owner(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A process that owns a store."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    url = process.stdout.readline().decode().strip()
    yield process, url
    process.kill()
    process.wait()


def test_a_second_process_finds_the_server_of_the_first(owner, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    server = embedded.start(tmp_path, embedded.STORE)
    assert (server.url, server.process) == (owner[1], None)
    assert server.alive()
    server.stop()
    assert server.alive(), "a guest ends nothing"


def test_no_server_outlives_an_owner_that_is_killed_and_nothing_is_forgotten(owner, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    process, url = owner
    platform = open_platform(Settings(data=tmp_path, store_url=url, queue_url="unix:///nowhere"), ALL_GAMES)
    match = play.create(platform, "p" + "a" * 16, "tally", {"one": "me", "two": "me"}, {}).match
    process.send_signal(signal.SIGKILL)
    within(10, lambda: not answers(url))
    server = embedded.start(tmp_path, embedded.STORE)
    assert server.url == url
    assert platform.store.head(match) == 1
    server.stop()
    assert not answers(url)
    platform.close()


def test_a_server_that_a_killed_owner_has_left_behind_is_waited_for(owner, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Two on the same files would each acknowledge what the other does not know."""
    process, url = owner
    left = int((tmp_path / embedded.STORE / ".server").read_text())
    platform = open_platform(Settings(data=tmp_path, store_url=url, queue_url="unix:///nowhere"), ALL_GAMES)
    match = play.create(platform, "p" + "a" * 16, "tally", {"one": "me", "two": "me"}, {}).match
    os.kill(left, signal.SIGSTOP)
    process.send_signal(signal.SIGKILL)
    process.wait()
    threading.Timer(0.7, os.kill, (left, signal.SIGCONT)).start()
    began = time.monotonic()
    server = embedded.start(tmp_path, embedded.STORE)
    assert time.monotonic() - began > 0.5
    assert server.process is not None
    assert server.process.pid != left
    assert platform.store.head(match) == 1
    server.stop()
    platform.close()


def test_a_folder_with_a_long_path_still_gets_a_socket(tmp_path: Path) -> None:
    path = embedded.socket_of(tmp_path / ("long" * 40))
    assert len(str(path)) < 100


def test_a_server_that_cannot_start_is_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLEDGER_REDIS_SERVER", "/bin/false")
    with pytest.raises(embedded.NoServer):
        embedded.start(tmp_path, embedded.STORE)


FORBIDDEN = """
XDEL S 1-0 / XTRIM S MAXLEN 0 / XSETID S 9-0 / DEL S / UNLINK S / SET S x / EXPIRE S 1 / RENAME S {p1}:m:x / RENAME {p1}:m:x S
COPY S {p1}:m:x REPLACE / RESTORE S 0 x REPLACE / SORT {p1}:due STORE S / XGROUP CREATE S g 0 / MOVE S 1 / FLUSHALL / FLUSHDB
CONFIG SET appendonly no / ACL SETUSER default ~* +@all / DEBUG RELOAD / SHUTDOWN NOSAVE / SWAPDB 0 1 / DEL X / EXPIRE X 1
"""


@pytest.mark.parametrize("command", [command.strip() for line in FORBIDDEN.strip().splitlines() for command in line.split("/")])
def test_the_service_may_add_to_a_stream_and_do_nothing_else_to_it(
    platform: Platform, begin: Callable[..., str], servers: Servers, command: str
) -> None:
    keys = platform.store.keys(begin())
    before = servers.keeper.dump(keys.stream)
    words = [{"S": keys.stream, "X": keys.secret}.get(word, word) for word in command.split()]
    for sent in (words, ["EVAL", f"return redis.call({', '.join(repr(word) for word in words)})", "1", keys.stream]):
        with pytest.raises(redis.ResponseError, match=r"permission|not allowed|ACL"):
            platform.store.wire.ask(*sent)
    assert servers.keeper.dump(keys.stream) == before
    assert platform.store.wire.ask("GET", keys.secret) is not None


def test_no_line_of_the_memory_changes_or_removes_an_entry() -> None:
    for file in [*(ROOT / "events").glob("*.py"), *(ROOT / "events").glob("*.lua")]:
        told = [line for line in file.read_text().splitlines() if not line.lstrip().startswith(("#", "--"))]
        found = re.findall(r"['\"](XDEL|XTRIM|XSETID|FLUSH\w+|RENAME\w*|MAXLEN|MINID|UNLINK|RESTORE)['\"]", "\n".join(told), re.IGNORECASE)
        assert not found, f"{file.name}: {found}"


def test_redis_is_spoken_to_in_one_place_only() -> None:
    for file in [*(ROOT / "events").glob("*.py"), *(ROOT / "workers").glob("*.py"), *(ROOT / "service").glob("*.py")]:
        if file.name != "wire.py":
            assert not re.search(r"^\s*(import|from) redis\b", file.read_text(), re.MULTILINE), file
