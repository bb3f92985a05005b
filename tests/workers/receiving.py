"""A receiver of webhooks that does what a test wants, and a sender beside it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from standardwebhooks import Webhook

from events.platform import Platform
from tests.workers.conftest import PATIENCE
from workers.hooks.posting import Poster
from workers.hooks.sender import MOST, Sender


class Received(NamedTuple):
    """A request that the receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def checked(self, secret: str) -> Any:
        """Return the content, after the reference library has checked the signature."""
        return Webhook(secret).verify(self.body, self.headers)


Answer = Callable[[BaseHTTPRequestHandler], int]


class Receiver:
    """Listens on a port of this machine. `answers`: by path, what answers; it returns a status, or -1 if it has answered by itself."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.received: list[Received] = []
        self._changed = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got = Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                receiver.note(got)
                status = receiver.answers.get(self.path, lambda _: 204)(self)
                if status > 0:
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Log nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def note(self, got: Received) -> None:
        with self._changed:
            self.received.append(got)
            self._changed.notify_all()

    def wait(self, number: int, path: str | None = None) -> list[Received]:
        """Wait for so many requests, and return them."""

        def found() -> list[Received]:
            return [got for got in self.received if path in (None, got.path)]

        with self._changed:
            assert self._changed.wait_for(lambda: len(found()) >= number, PATIENCE), [
                (got.path, json.loads(got.body)["type"]) for got in self.received
            ]
            return found()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextlib.contextmanager
def receiving() -> Iterator[Receiver]:
    """Listen until the end of the block."""
    receiver = Receiver()
    try:
        yield receiver
    finally:
        receiver.close()


def permitting(platform: Platform, *origins: str, name_servers: tuple[str, ...] = ()) -> Platform:
    """Return the platform with origins that the operator permits."""
    return replace(platform, settings=platform.settings._replace(hook_origins=frozenset(origins), name_servers=name_servers))


@contextlib.contextmanager
def sending(platform: Platform) -> Iterator[Sender]:
    """Send webhooks in a thread until the end of the block."""
    begun = threading.Event()
    made: list[Any] = []

    async def run() -> None:
        poster = Poster(platform.settings, MOST)
        made.extend((Sender(platform, poster), asyncio.get_running_loop()))
        begun.set()
        await made[0].run()
        await poster.close()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert begun.wait(PATIENCE)
    try:
        yield made[0]
    finally:
        made[1].call_soon_threadsafe(made[0].stop)
        thread.join(PATIENCE)
        assert not thread.is_alive()
