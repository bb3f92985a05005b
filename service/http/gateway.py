"""The gateway: serves a WSGI application under granian's RSGI, and hands followers over to the loop (docs/decisions/0086).

A thread of granian's pool carries out each request, as under its WSGI. But RSGI tells when a client has gone, and lets any thread send
bytes at any time. It queues them without a bound. So a `SentLine` looks how many the client has read before it sends many more.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

from granian._granian import CallbackScheduler, RSGIProtocolClosed, RSGIProtocolError

from events.turns import TURNS
from service.http.connections import unread
from service.http.following import FOLLOWER, Follower, Loop
from service.http.places import HeldAnswer

OPENING = 8  # streams that are opened at once
WINDOW = 131_072  # bytes that a client is sent before it is looked at how many of them it has read
SMALL = 4096  # bytes of a body that is waited for without a thread
PIECE = 65_536  # bytes of a large answer of which granian takes one after the other, as they are read
READ = 16_384  # bytes that may be on their way to a client that has read nearly all
SHORTEST_PAUSE, LONGEST_PAUSE = 0.002, 0.1  # seconds between two looks at a client that does not keep up

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_BASE: dict[str, Any] = {
    "SCRIPT_NAME": "",
    "wsgi.errors": sys.stderr,
    "wsgi.input_terminated": True,
    "wsgi.multiprocess": False,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}


class Direct:
    """In place of an event loop: calls everything at once, in the thread in which it comes."""

    def call_soon(self, act: Callable[..., object], *arguments: Any, context: Any = None) -> None:
        """Call a function."""
        act(*arguments)

    call_soon_threadsafe = call_soon


class Gateway(CallbackScheduler):
    """What granian calls for each request, in a thread of its pool: an application, whose followers a loop serves."""

    def __new__(cls, application: Wsgi, loop: Loop) -> Gateway:
        """Return the gateway. Granian wants parts of an event loop, which it does not use here."""
        make: Any = super().__new__
        made: Gateway = make(cls, Direct(), None, None, None, None)
        return made

    def __init__(self, application: Wsgi, loop: Loop) -> None:
        self._schedule_fn = partial(_carry_out, application, loop, Turns(OPENING))


class Turns:
    """Lets threads do at most so many things of a kind at once. A thread that comes with one more leaves it to those."""

    def __init__(self, most: int) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._free = threading.Semaphore(most)

    def take(self, act: Callable[[], None]) -> None:
        """Call a function, and then those that others have left. Or leave the function to another thread."""
        self._waiting.append(act)
        while self._waiting and self._free.acquire(blocking=False):
            try:
                while self._waiting:
                    with contextlib.suppress(IndexError):  # another thread has just taken the last one
                        self._waiting.popleft()()
            finally:
                self._free.release()


def _carry_out(application: Wsgi, loop: Loop, openings: Turns, request: Any) -> None:
    """Answer a request, at once or, if it has a small body, when that has come. Raise nothing: granian could not stand it."""
    scope = request.scope
    body = Input(request.proto, scope.headers.get("content-length"))
    act = partial(_answer, application, loop, request, body)
    if body.is_small:
        body.collect(partial(_in_turn, act) if scope.path.endswith("/actions") else act)
    elif scope.path.endswith("/stream"):
        openings.take(act)  # thousands open in the same moment, after a restart, and the memory of a thread is that of five streams
    else:
        act()


def _in_turn(act: Callable[[], None]) -> None:
    with TURNS:
        act()


def _answer(application: Wsgi, loop: Loop, request: Any, body: Input) -> None:
    try:
        _send(application, loop, request.scope, request.proto, body)
    except BaseException as error:  # noqa: BLE001 - granian logs it, and answers 500 if nothing was answered
        request.err(error)


def _send(application: Wsgi, loop: Loop, scope: Any, proto: Any, body: Input) -> None:
    environ = environ_of(scope)
    environ["wsgi.input"] = body
    status = 500
    headers: list[tuple[str, str]] = []

    def start(line: str, given: list[tuple[str, str]], error: Any = None) -> None:
        nonlocal status, headers
        status, headers = int(line[:3]), given

    answer = application(environ, start)
    follower: Follower | None = environ.get(FOLLOWER)
    if isinstance(answer, HeldAnswer):
        line = SentLine(proto, status, headers, scope.client, answer.close)
        for content in answer:
            for begin in range(0, len(content), PIECE):
                line.send(content[begin : begin + PIECE])
        line.end()
    elif isinstance(answer, list):
        proto.response_bytes(status, headers, b"".join(answer))
    elif follower is None:
        SentLine(proto, status, headers, scope.client).send_all(answer)
    else:
        loop.serve(follower, SentLine(proto, status, headers, scope.client, partial(loop.leave, follower)))


def environ_of(scope: Any) -> dict[str, Any]:
    """Return the WSGI environ of a request, without its body.

    A header whose name has an underscore is left out: it could pass for one with a hyphen.
    """
    environ = _BASE.copy()
    path = scope.path
    environ["SERVER_NAME"], environ["SERVER_PORT"] = _split(scope.server)
    environ["SERVER_PROTOCOL"] = f"HTTP/{scope.http_version}"
    environ["wsgi.url_scheme"] = scope.scheme
    environ["REQUEST_METHOD"] = scope.method
    environ["PATH_INFO"] = path if path.isascii() else path.encode().decode("latin-1")
    environ["QUERY_STRING"] = scope.query_string
    environ["REMOTE_ADDR"] = _split(scope.client)[0]
    headers, others = scope.headers, len(environ)
    for name, value in headers.items():
        key = _key(name)
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    if len(environ) - others < len(headers):  # values that are not in ASCII are left out
        for name in headers.keys():  # noqa: SIM118 - it is no mapping
            environ.setdefault(_key(name), "")
    environ.pop("", None)
    if "HTTP_HOST" not in environ:
        environ["HTTP_HOST"] = scope.authority or ""
    return environ


@lru_cache(maxsize=1024)
def _key(name: str) -> str:
    """Return the key of a header in an environ, or an empty text for one that is left out."""
    if "_" in name:
        return ""
    key = name.upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"


@lru_cache(maxsize=4096)
def _split(address: str) -> tuple[str, str]:
    """Return the host and the port of an address."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), port


class Input:
    """The body of a request, which comes as it is read. The thread that reads waits for it."""

    __slots__ = ("_abandoned", "_arrived", "_chunks", "_kept", "_left", "_proto")

    def __init__(self, proto: Any, length: str | None) -> None:
        self._proto = proto
        self._chunks: Any = None
        self._arrived: threading.Event | None = None
        self._abandoned = False
        self._kept = b""
        self._left = int(length) if length and length.isdigit() else sys.maxsize

    @property
    def is_small(self) -> bool:
        """True if it has so few bytes that they may be kept without a place."""
        return 0 < self._left <= SMALL

    @property
    def collected(self) -> bytes:
        """The bytes that have come and are not read yet. Nobody waits for them."""
        return self._kept

    def collect(self, act: Callable[[], None]) -> None:
        """Call a function once all bytes have come, or the client has gone. No thread waits meanwhile."""

        def collected(future: Any) -> None:
            self._kept = _result(future)
            self._left = 0
            act()

        self._proto().add_done_callback(collected, context=None)

    def read(self, size: int | None = -1) -> bytes:
        """Return that many bytes, or fewer if the body ends before. Without a size, return all that are left."""
        found, total = [self._kept], len(self._kept)
        wanted = min(sys.maxsize if size is None or size < 0 else size, total + self._left)
        while total < wanted and (chunk := self._next()):
            found.append(chunk)
            total += len(chunk)
            self._left -= len(chunk)
        whole = b"".join(found)
        self._kept = whole[wanted:]
        return whole[:wanted]

    def _next(self) -> bytes:
        """Return the next bytes that come, or none at the end."""
        if self._arrived is None:
            self._chunks, self._arrived = self._proto.__aiter__(), threading.Event()
        arrived = self._arrived
        try:
            future = None if self._abandoned else self._chunks.__anext__()
        except StopAsyncIteration:
            return b""
        if future is not None:
            future.add_done_callback(lambda _: arrived.set(), context=None)
            arrived.wait()
            arrived.clear()
        return b"" if self._abandoned else _result(future)

    def abandon(self) -> None:
        """Let the thread that reads wait no longer: nothing more comes. Any thread may call this."""
        self._abandoned = True
        if self._arrived is not None:
            self._arrived.set()


def _result(future: Any) -> bytes:
    """Return the bytes that a future has, or none if the client has gone."""
    with contextlib.suppress(RSGIProtocolClosed, RSGIProtocolError):
        found: bytes = future.result()
        return found
    return b""


class SentLine:
    """What an answer is sent over, bit by bit. Of what a client does not read it keeps a window, and the kernel its buffers.

    `client`: its address and port. `when_gone` is called when it has gone or has been sent everything.
    """

    __slots__ = ("_client", "_credit", "_gone", "_pause", "_transport")

    def __init__(
        self, proto: Any, status: int, headers: list[tuple[str, str]], client: str, when_gone: Callable[[], None] | None = None
    ) -> None:
        self._transport = proto.response_stream(status, headers)
        self._client = client
        self._credit = WINDOW
        self._pause = 0.0
        self._gone = False
        act = when_gone or self._leave
        proto.client_disconnect().add_done_callback(lambda _: act(), context=None)

    def send(self, data: bytes) -> bool:
        """Send bytes without waiting. Return False if the client should first read what it was sent."""
        self._transport.send_bytes(data)
        self._credit -= len(data)
        return self._credit > 0

    def lag(self) -> float:
        """Return 0 if the client has read nearly all that it was sent, or else in how many seconds to look again."""
        if not self._pause or unread(self._client) > READ:  # what was just sent is not with the kernel yet
            self._pause = min(LONGEST_PAUSE, 2 * self._pause or SHORTEST_PAUSE)
            return self._pause
        self._credit, self._pause = WINDOW, 0.0
        return 0.0

    def end(self) -> None:
        """End the answer."""
        self._transport = None

    def send_all(self, chunks: Iterable[bytes]) -> None:
        """Send chunks as fast as the client reads them, until all are sent or it has gone."""
        try:
            for chunk in chunks:
                if chunk and not self.send(chunk):
                    while not self._gone and (lag := self.lag()):
                        time.sleep(lag)
                if self._gone:
                    return
        finally:
            self.end()
            close = getattr(chunks, "close", None)
            if close is not None:
                close()

    def _leave(self) -> None:
        self._gone = True
