"""The gateway between granian and the application: what a request is turned into, and how its answer is sent."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from granian._granian import RSGIProtocolError

from events import play
from events.platform import Platform
from events.turns import TURNS
from service.http.connections import bound_send_buffer, unread
from service.http.following import Loop
from service.http.gateway import PIECE, READ, WINDOW, Input, SentLine, Turns, _carry_out, environ_of
from tests.conftest import within
from tests.service.conftest import Live

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a client has read")
ADD = {"type": "add", "by": 1, "stay": True}


class Headers(list[tuple[str, str]]):
    """Headers as granian has them: it leaves out values that are not in ASCII."""

    def __init__(self, given: list[tuple[str, str]]) -> None:
        super().__init__(given)

    def items(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in self if value.isascii()]

    def keys(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self))

    def __len__(self) -> int:
        return len(self.keys())

    def get(self, name: str) -> str | None:
        return next((value for key, value in self if key == name), None)


def scope(headers: list[tuple[str, str]] | None = None, **more: Any) -> Any:
    about = {"http_version": "1.1", "scheme": "http", "method": "GET", "path": "/", "query_string": "", "authority": None}
    about |= {"client": "192.0.2.1:50000", "server": "192.0.2.9:8000", "headers": Headers(headers or []), **more}
    return SimpleNamespace(**about)


def environ(headers: list[tuple[str, str]] | None = None, **more: Any) -> dict[str, Any]:
    return environ_of(scope(headers, **more))


def test_a_request_becomes_an_environ() -> None:
    found = environ([("host", "x"), ("accept", "a/b"), ("accept", "c/d"), ("content-type", "text/plain")], path="/é", query_string="a=%20")
    assert found["PATH_INFO"].encode("latin-1").decode() == "/é"
    assert found["HTTP_ACCEPT"] == "a/b,c/d"
    assert (found["HTTP_HOST"], found["CONTENT_TYPE"], found["QUERY_STRING"]) == ("x", "text/plain", "a=%20")
    assert (found["REMOTE_ADDR"], found["SERVER_NAME"], found["SERVER_PORT"]) == ("192.0.2.1", "192.0.2.9", "8000")
    assert environ(client="[2001:db8::1]:50000")["REMOTE_ADDR"] == "2001:db8::1"


def test_a_header_with_an_underscore_does_not_pass_for_one_with_a_hyphen() -> None:
    found = environ([("x-forwarded-for", "192.0.2.7"), ("x_forwarded_for", "192.0.2.8"), ("authorization_", "x")])
    assert found["HTTP_X_FORWARDED_FOR"] == "192.0.2.7"
    assert not [name for name in found if not name or name.endswith("_")]


def test_a_header_that_is_not_in_ascii_is_there_and_empty() -> None:
    found = environ([("authorization", "Bearer é"), ("accept", "a/b"), ("accept", "ü")])
    assert (found["HTTP_AUTHORIZATION"], found["HTTP_ACCEPT"]) == ("", "a/b")


class Exchange:
    """A request with a small body that has come, as granian hands it over, and the statuses that it is answered with."""

    def __init__(self, path: str) -> None:
        self.scope = scope([("content-length", "2")], method="POST", path=path)
        self.proto = self
        self.sent: list[Any] = []
        self.err = self.sent.append

    def __call__(self) -> Exchange:
        return self

    def add_done_callback(self, act: Callable[[Any], None], context: Any) -> None:
        act(self)

    def result(self) -> bytes:
        return b"{}"

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.sent.append(status)


def test_actions_are_carried_out_in_turns_and_nothing_else() -> None:
    had: list[bool] = []

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        had.append(TURNS.leave())
        start("204 No Content", [])
        return []

    for path in ("/v1/matches/m/actions", "/v1/matches"):
        exchange = Exchange(path)
        _carry_out(application, Loop(), Turns(1), exchange)
        assert exchange.sent == [204]
    assert had == [True, False]


class Body:
    """A body that comes in these chunks."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = iter(chunks)

    def __aiter__(self) -> Body:
        return self

    def __anext__(self) -> Any:
        chunk = next(self.chunks, b"")
        return SimpleNamespace(add_done_callback=lambda act, context: act(None), result=lambda: chunk)


def test_a_body_is_read_as_it_is_wanted() -> None:
    body = Input(Body(b"abc", b"def", b"gh"), None)
    assert [body.read(2), body.read(3), body.read(0), body.read(), body.read(1)] == [b"ab", b"cde", b"", b"fgh", b""]
    assert Input(Body(b"abc", b"never read"), "3").read() == b"abc"
    assert Input(Body(b"ab"), "3").read(3) == b"ab", "it breaks off"


def test_nobody_waits_for_a_body_that_was_abandoned() -> None:
    came: list[Any] = []
    body = Input(SlowBody(came), "8")
    with ThreadPoolExecutor() as pool:
        read = pool.submit(body.read)
        within(20, lambda: came)
        came[0](None)  # the first four bytes
        within(20, lambda: len(came) == 2)
        body.abandon()
        assert read.result(20) == b"abcd"
    came[1](None)
    assert body.read() == b""
    early = Input(SlowBody([]), "8")
    early.abandon()
    assert early.read() == b""


class SlowBody:
    """A body of which each four bytes come when what is in the list is called."""

    def __init__(self, came: list[Any]) -> None:
        self.came = came

    def __aiter__(self) -> SlowBody:
        return self

    def __anext__(self) -> Any:
        return SimpleNamespace(add_done_callback=lambda act, context: self.came.append(act), result=lambda: b"abcd")


def test_a_small_body_is_collected_before_it_is_read() -> None:
    read: list[bytes] = []

    def arrives(future: Any) -> bytes:
        body = Input(lambda: SimpleNamespace(add_done_callback=lambda act, context: act(future)), "4")
        assert body.is_small
        body.collect(lambda: read.append(body.read(3)))
        return body.read()

    assert (arrives(SimpleNamespace(result=lambda: b"abcd")), read) == (b"d", [b"abc"])
    assert (arrives(SimpleNamespace(result=gone)), read) == (b"", [b"abc", b""])
    for length in ("0", "4097", None):
        assert not Input(None, length).is_small


def gone() -> bytes:
    raise RSGIProtocolError


class Wire:
    """What granian does with an answer: it sends it over a connection, and tells when the client has gone."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.queued = b""
        self.gone: Callable[[Any], None] | None = None

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> Wire:
        return self

    def client_disconnect(self) -> Any:
        return SimpleNamespace(add_done_callback=lambda act, context: setattr(self, "gone", act))

    def send_bytes(self, data: bytes) -> None:
        self.queued += data
        self.flush()

    def flush(self) -> None:
        try:
            while self.queued:
                self.queued = self.queued[self.line.send(self.queued) :]
        except BlockingIOError:
            pass


@pytest.fixture
def connection() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A client's end of a connection, and the server's."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        bound_send_buffer(server.fileno())
        client = stack.enter_context(socket.create_connection(server.getsockname(), 5))
        accepted = stack.enter_context(server.accept()[0])
        accepted.setblocking(False)
        yield client, accepted


def address(client: socket.socket) -> str:
    host, port = client.getsockname()
    return f"{host}:{port}"


@LINUX
def test_the_kernel_tells_what_a_client_has_not_acknowledged(connection: tuple[socket.socket, socket.socket]) -> None:
    client, server = connection
    assert unread(address(client)) == 0
    wire = Wire(server)
    wire.send_bytes(b"x" * 10_000_000)
    assert unread(address(client)) > READ
    while wire.queued:
        client.recv(1_000_000)
        wire.flush()
    within(20, lambda: client.recv(1_000_000) and unread(address(client)) == 0)
    assert unread("192.0.2.1:1") == sys.maxsize


@LINUX
def test_a_connection_that_has_the_file_of_another_one_is_not_taken_for_it(connection: tuple[socket.socket, socket.socket]) -> None:
    client, server = connection
    assert unread(address(client)) == 0
    file = server.detach()
    os.close(file)
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert other.fileno() == file
        assert unread(address(client)) == sys.maxsize


@LINUX
def test_a_client_that_reads_nothing_is_sent_a_window_and_then_waited_for(connection: tuple[socket.socket, socket.socket]) -> None:
    client, server = connection
    wire = Wire(server)
    line = SentLine(wire, 200, [], address(client))
    sent = 0
    while not (pauses := [] if line.send(b"x" * PIECE) else [line.lag() for _ in range(20)]) or not all(pauses):
        sent += PIECE
        assert sent < 100 * WINDOW, "it is sent without an end"
    assert pauses == sorted(pauses)
    while line.lag():
        client.recv(1_000_000)
        wire.flush()
    assert line.send(b"x")


@LINUX
def test_a_client_that_goes_away_ends_what_it_is_sent(connection: tuple[socket.socket, socket.socket]) -> None:
    client, server = connection
    wire = Wire(server)
    line = SentLine(wire, 200, [], address(client))

    def chunks() -> Iterator[bytes]:
        try:
            for number in range(1_000_000):
                if number == 1:  # it fills the window, and then the client is waited for
                    assert wire.gone is not None
                    wire.gone(None)
                yield b"x" * PIECE
        finally:
            ended.append(number)

    ended: list[int] = []
    line.send_all(chunks())
    assert ended == [1]


def test_a_connection_serves_the_next_request_after_a_stream_and_a_long_poll(
    live: Live, platform: Platform, begin: Callable[..., str]
) -> None:
    match = begin()
    with requests.Session() as session:
        for number in range(3):
            path = f"{live.url}/v1/matches/{match}"
            assert session.get(f"{path}/stream?seconds=0", timeout=10).text.count("event: entry") == 2 + number
            play.play(platform, match, "one", [ADD])
            assert session.get(f"{path}/entries?after={3 + number}&wait=1", timeout=10).json()["entries"] == []
            assert session.get(f"{path}/entries?after={2 + number}&wait=9", timeout=10).json()["version"] == 3 + number


@LINUX
def test_hundreds_of_streams_of_one_process_keep_no_thread(
    serve: Callable[..., Live], platform: Platform, begin: Callable[..., str]
) -> None:
    live, match, count = serve(), begin(), 400
    host = urlsplit(live.url)
    tasks = Path("/proc", str(live.process.pid), "task")
    with ExitStack() as stack:
        lines = []
        for number in range(count):
            line = socket.create_connection((str(host.hostname), int(host.port or 0)), 10, (f"127.0.2.{1 + number % 50}", 0))
            lines.append(stack.enter_context(line))
            line.sendall(f"GET /v1/matches/{match}/stream?after=2 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert b" 200 " in line.recv(4096)
        assert len(list(tasks.iterdir())) < count / 4
        play.play(platform, match, "one", [ADD])
        for line in lines:
            heard = b""
            while b"id: 3\n" not in heard:
                heard += line.recv(4096)
