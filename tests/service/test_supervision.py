"""The supervisor of `./run serve` goes on, whatever the things that it checks do. They are stubs here."""

from __future__ import annotations

import errno
import http.client
import io
import os
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service.supervisor import serve, supervision
from service.supervisor.forking import FORKS
from service.supervisor.supervision import Child, Guard, Look

FAILURES = [
    ProcessLookupError(errno.ESRCH, "No such process"),
    PermissionError(errno.EACCES, "Permission denied"),
    LookupError("something unforeseen"),
]
EACH = pytest.mark.parametrize("failure", FAILURES, ids=("ESRCH", "EACCES", "unforeseen"))


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Running:
    """A process that runs until it is given a status. `failure`: what asking for the status raises."""

    pid = 99_999_999  # no system has so many

    def __init__(self) -> None:
        self.status: int | None = None
        self.failure: Exception | None = None

    def poll(self) -> int | None:
        if self.failure is not None:
            raise self.failure
        return self.status


class Children:
    """Two children. `begun` are the names of those that were started, in order."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.first, self.second = Running(), Running()
        self.all = [self._child("first", self.first), self._child("second", self.second)]

    def _child(self, name: str, running: Running) -> Child:
        def begin() -> subprocess.Popen[bytes]:
            self.begun.append(name)
            return cast("subprocess.Popen[bytes]", Running())

        return Child(name, begin, process=cast("subprocess.Popen[bytes]", running))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(supervision, "time", clock)
    return clock


@pytest.fixture
def proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder that stands for /proc."""
    monkeypatch.setattr(supervision, "PROC", tmp_path)
    (tmp_path / str(Running.pid) / "task" / str(Running.pid)).mkdir(parents=True)
    return tmp_path


def process(proc: Path, number: int, state: str, name: bytes = b"python") -> None:
    """Add a process to /proc. The stubs have started it."""
    (proc / str(number)).mkdir()
    (proc / str(number) / "stat").write_bytes(b"%d (%b) %b %d %d 0" % (number, name, state.encode(), Running.pid, Running.pid))
    with (proc / str(Running.pid) / "task" / str(Running.pid) / "children").open("a") as children:
        children.write(f"{number} ")


@EACH
def test_a_child_that_cannot_be_looked_at_is_tried_again_and_the_others_are_looked_after(
    failure: Exception, clock: Clock, proc: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    children = Children()
    guard = Guard(children.all)
    children.first.failure, children.second.status = failure, 1
    guard.look()
    assert children.begun == ["second"]
    assert "first: the check failed; trying again.\nTraceback" in (said := capfd.readouterr().err)
    assert str(failure) in said
    clock.now += 1
    guard.look()
    assert "failed" not in capfd.readouterr().err, "the same failure is logged once"
    children.first.failure, children.first.status = None, -9
    clock.now += 1
    guard.look()
    assert children.begun == ["second", "first"]
    assert capfd.readouterr().err.splitlines() == ["first ended (SIGKILL); starting it again.", "first: the check works again."]


@EACH
def test_what_is_beside_the_children_can_fail_without_keeping_anything_from_its_turn(
    failure: Exception, clock: Clock, proc: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    children, taken = Children(), []

    def fail() -> None:
        taken.append("disk")
        raise failure

    guard = Guard(children.all, [Look("The disk", fail), Look("The losses", lambda: taken.append("losses"))])
    children.first.status = 0
    guard.look()
    assert (taken, children.begun) == (["disk", "losses"], ["first"])
    assert "The disk: the check failed" in capfd.readouterr().err
    clock.now += 0.5
    guard.look()
    assert taken == ["disk", "losses", "losses"], "what has failed waits for a second"
    clock.now += 0.5
    guard.look()
    assert taken[3:] == ["disk", "losses"]


@EACH
def test_processes_that_cannot_be_listed_are_listed_again(
    failure: Exception, clock: Clock, proc: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    children, killed = Children(), []
    monkeypatch.setattr(os, "kill", lambda *signalled: killed.append(signalled))
    process(proc, 11, "T")
    guard = Guard(children.all)
    with monkeypatch.context() as broken:
        broken.setattr(supervision, "stopped_processes", lambda _: (_ for _ in ()).throw(failure))
        children.first.status = 0
        guard.look()
        assert children.begun == ["first"]
        assert "Stopped processes: the check failed" in capfd.readouterr().err
    children.all[0].process = cast("subprocess.Popen[bytes]", Running())
    for _ in range(2):
        clock.now += 1
        guard.look()
    assert killed == [(11, signal.SIGKILL)]


@pytest.mark.parametrize("failure", FAILURES[:2], ids=("ESRCH", "EACCES"))
def test_a_stopped_process_is_killed_whatever_becomes_of_those_beside_it(
    failure: Exception, clock: Clock, proc: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """One has ended since the children were listed, one has a name that is not UTF-8, one runs, and one is stopped but cannot be killed."""
    killed: list[int] = []
    process(proc, 11, "T", b"na\xefve) T")
    process(proc, 12, "T")
    process(proc, 13, "S")
    process(proc, 14, "T")
    opened, looked_at = Path.open, Path.stat

    def gone(path: Path, act: Any, *given: Any, **more: Any) -> Any:
        if path.parent.name == "12":
            raise failure
        return act(path, *given, **more)

    def kill(number: int, _: int) -> None:
        killed.append(number)
        if number == 14:
            raise failure

    monkeypatch.setattr(Path, "open", lambda path, *given, **more: gone(path, opened, *given, **more))
    monkeypatch.setattr(Path, "stat", lambda path, **more: gone(path, looked_at, **more))
    monkeypatch.setattr(os, "kill", kill)
    guard = Guard(Children().all)
    guard.look()
    assert killed == [], "a process may be stopped for a moment"
    for times in (1, 2):
        clock.now += 1
        guard.look()
        assert sorted(killed) == sorted([11, 14] * times)
    assert "failed" not in capfd.readouterr().err


@pytest.mark.parametrize("failure", [*FAILURES[:2], http.client.BadStatusLine("?")], ids=("ESRCH", "EACCES", "no HTTP"))
def test_a_web_that_gives_no_answer_is_waited_for(failure: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(urllib.request, "urlopen", fail)
    assert serve.what_is_missing("http://nowhere") == "Waiting for the web."


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b"\xff", b'{"detail": "Waiting for the store."}'])
def test_a_refusal_says_what_is_missing_if_it_can_be_read(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise urllib.error.HTTPError("http://nowhere/readyz", 503, "Service Unavailable", Message(), io.BytesIO(body))

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    assert serve.what_is_missing("http://nowhere") == f"Waiting for the {'store' if b'detail' in body else 'web'}."


def test_a_web_process_that_is_killed_before_it_has_answered_is_waited_for_and_one_that_ends_by_itself_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    children, missing = Children(), ["Waiting for the web."] * 2 + [""]
    monkeypatch.setattr(serve, "what_is_missing", lambda _: missing.pop(0))
    children.first.status = -signal.SIGKILL
    serve.wait_for(children.all, "http://nowhere", Guard(children.all), threading.Event())
    assert (missing, children.begun) == ([], ["first"])
    missing[:] = ["Waiting for the web."]
    children.second.status = 1
    with pytest.raises(serve.Unable, match=r"The second does not start \(status 1\)\."):
        serve.wait_for(children.all, "http://nowhere", Guard(children.all), threading.Event())


def test_every_child_is_told_to_end_though_one_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    def tell(number: int, what: int) -> None:
        told.append((number, what))
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "killpg", tell)
    ended = SimpleNamespace(pid=Running.pid, wait=lambda *_: 0)
    children = [Child(name, lambda: None, process=cast("subprocess.Popen[bytes]", ended)) for name in ("first", "second")]
    supervision.end(children, 0.0)
    assert told.count((Running.pid, signal.SIGTERM)) == 2


@pytest.mark.skipif(not FORKS, reason="elsewhere one file listens for all web processes")
def test_a_port_is_kept_for_the_web_processes_until_they_listen_and_gets_no_connection_itself() -> None:
    port = serve.free_port("127.0.0.1", 0)
    with serve.reserved("127.0.0.1", port), socket.socket() as stranger, socket.socket() as web, socket.socket() as client:
        with pytest.raises(OSError, match="in use"):
            stranger.bind(("127.0.0.1", port))
        web.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        web.bind(("127.0.0.1", port))
        web.listen()
        with pytest.raises(serve.Unable):
            serve.free_port("127.0.0.1", port)
        client.connect(("127.0.0.1", port))
        accepted, _ = web.accept()
        accepted.close()
