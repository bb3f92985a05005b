"""What `serve` looks at beside the processes of the embedded servers. Processes and servers are stubs here."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service.supervisor import servers, supervision
from service.supervisor.servers import WAITS, Door, Echo, Memory, Sockets
from service.supervisor.supervision import HANGS, Child, Guard
from tests.service.test_supervision import Clock, Running
from tests.whole.faults import LINUX

ANSWER = b"*2\r\n$15\r\ntotal.allocated\r\n:%d\r\n"


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the children that were killed."""
    found: list[str] = []
    for module in (servers, supervision):
        monkeypatch.setattr(module, "group", lambda child, number: found.append(child.name) if number == signal.SIGKILL else None)
    return found


def child(name: str = "The store") -> Child:
    return Child(name, lambda: None, process=cast("subprocess.Popen[bytes]", Running()), began=-1000.0)


@LINUX
def test_a_door_leads_other_processes_to_a_folder_and_then_to_another(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "said").write_text(name)
    door = Door.opened(tmp_path / "first")
    assert door is not None
    found = []
    for name in ("first", "second"):
        door.lead_to(tmp_path / name)
        found.append(subprocess.run(["cat", str(door.path / "said")], capture_output=True, text=True, check=True).stdout)
    assert found == ["first", "second"]
    door.close()
    assert not door.path.exists()


def test_a_door_to_a_folder_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert Door.opened(tmp_path / "nowhere") is None


def test_a_server_without_a_socket_in_two_looks_is_killed_unless_it_has_just_begun(tmp_path: Path, killed: list[str]) -> None:
    path, store, queue = tmp_path / "socket", child(), child("The queue")
    sockets = Sockets([(store, lambda: path), (queue, lambda: tmp_path)])
    path.touch()
    sockets.look()
    path.unlink()
    sockets.look()
    assert killed == []
    sockets.look()
    assert killed == ["The store"]
    store.process = None
    sockets.look()
    store.process, store.began = queue.process, supervision.time.monotonic()
    for _ in range(3):
        sockets.look()
    assert killed == ["The store"]


class Server:
    """A server at a socket that answers what a test says, and a process whose time a test sets."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = folder / "socket"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.line: socket.socket | None = None
        self.ticks = 0
        self.pid = Running.pid
        monkeypatch.setattr(servers, "ticks_of", lambda _: self.ticks)
        self.echo = Echo(lambda: self.path, lambda: cast(Any, self))

    def answer(self, text: bytes) -> None:
        if self.line is None:
            self.line, _ = self.listener.accept()
        assert self.line.recv(100)
        self.line.sendall(text)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    made = Server(tmp_path, monkeypatch)
    yield made
    for line in (made.listener, made.line):
        if line is not None:
            line.close()


def beats(server: Server, text: bytes | None = None, ticks: int = 0) -> bool:
    """Tell whether the heart of a server beats at the next look, after an answer, and after it has used so much processor time."""
    before = server.echo._beats
    if text is not None:
        server.answer(text)
    server.ticks += ticks
    return server.echo.beats > before


def test_a_server_beats_with_each_answer_and_says_how_much_memory_it_takes(server: Server) -> None:
    beats(server)
    for used in (7, 1_000_000):
        assert beats(server, ANSWER % used, ticks=100)
        assert server.echo.used == used
    assert beats(server, b"-LOADING it is loading\r\n", ticks=100)
    assert server.echo.used is None


def test_a_server_that_is_busy_with_a_script_does_not_beat(server: Server) -> None:
    beats(server)
    assert not any(beats(server, b"-BUSY a script runs\r\n", ticks=100) for _ in range(WAITS + HANGS))


def test_a_server_that_uses_the_processor_and_does_not_answer_hangs_and_one_that_waits_for_its_disk_may_for_a_while(server: Server) -> None:
    beats(server)
    assert not beats(server, ticks=100)
    assert all(beats(server, ticks=1) for _ in range(WAITS - 2))
    assert not any(beats(server) for _ in range(HANGS))
    assert beats(server, ANSWER % 1)
    assert beats(server)


def test_a_server_that_was_started_again_is_asked_again(server: Server) -> None:
    beats(server)
    assert beats(server, ANSWER % 1)
    assert server.line is not None
    server.line.close()
    server.line = None
    for _ in range(2):
        beats(server, ticks=100)
    assert beats(server, ANSWER % 2, ticks=100)
    assert server.echo.used == 2


def test_a_process_that_is_no_server_beats(tmp_path: Path) -> None:
    echo = Echo(lambda: tmp_path, lambda: None)
    assert [echo.beats for _ in range(3)] == [1, 2, 3]


def test_a_server_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, killed: list[str]) -> None:
    clock, hanging = Clock(), child()
    monkeypatch.setattr(supervision, "time", clock)
    monkeypatch.setattr(supervision, "PROC", tmp_path)
    hanging.heart = SimpleNamespace(beats=7)
    guard = Guard([hanging])
    for _ in range(HANGS):
        assert killed == []
        clock.now += 1
        guard.look()
    clock.now += 1
    guard.look()
    assert "The store" in killed


def memory(may_empty: bool = False) -> Memory:
    return Memory(child("The queue"), cast(Echo, SimpleNamespace(used=None)), 100_000_000, may_empty=may_empty)


def test_how_full_a_memory_is_is_said_once_for_each_level_and_when_there_is_room_again(capfd: pytest.CaptureFixture[str]) -> None:
    looked = memory()
    for used in (None, 10, 79, 81, 85, 79, 91, 100, 95, 81, 74, 74, 82):
        looked.echo.used = None if used is None else used * 1_000_000
        looked.look()
    grows = "it refuses what makes it grow."
    assert capfd.readouterr().err.splitlines() == [
        f"The queue takes 81 of 100 MB of memory (WARLEDGER_MEMORY). When they are full, {grows}",
        f"The queue takes 91 of 100 MB of memory (WARLEDGER_MEMORY). When they are full, {grows}",
        "The queue takes 100 of 100 MB of memory (WARLEDGER_MEMORY). It refuses what makes it grow.",
        "The queue takes 74 of 100 MB of memory (WARLEDGER_MEMORY).",
        f"The queue takes 82 of 100 MB of memory (WARLEDGER_MEMORY). When they are full, {grows}",
    ]


@pytest.mark.parametrize("may_empty", [True, False])
def test_a_queue_that_stays_full_is_emptied_and_a_store_is_not(may_empty: bool, killed: list[str]) -> None:
    looked = memory(may_empty)
    for used in [99_500_000] * 9 + [1] + [99_500_000] * 9:
        looked.echo.used = used
        looked.look()
    assert killed == []
    looked.echo.used = 99_500_000
    looked.look()
    assert killed == (["The queue"] if may_empty else [])


def test_the_processor_time_of_a_process_is_counted() -> None:
    if Path("/proc").exists():
        before = servers.ticks_of(os.getpid())
        while servers.ticks_of(os.getpid()) <= before:
            pass
    assert servers.ticks_of(Running.pid) == 0
