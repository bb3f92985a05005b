"""Answer `/healthz` and `/metrics` of a worker on a port, for whoever looks after its container. Strangers must not reach the port."""

from __future__ import annotations

import argparse
import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Thread
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest

START_SECONDS = 60.0  # until the first promise
PATIENCE = 10.0  # seconds that a promise may be late, on a busy machine
SLOWEST = 5.0  # seconds in which a client sends its request


class Life:
    """Whether a process goes on. It promises again and again that it shows itself within some seconds; a process that hangs does not."""

    def __init__(self) -> None:
        self._until = time.monotonic() + START_SECONDS

    def promise(self, seconds: float) -> None:
        """Promise the next sign of life."""
        self._until = time.monotonic() + seconds

    @property
    def goes_on(self) -> bool:
        """False if the last promise is broken."""
        return time.monotonic() < self._until + PATIENCE


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add `--listen`."""
    parser.add_argument("--listen", type=address, metavar="HOST:PORT", help="answer /healthz and /metrics there, for operators alone")


def address(text: str) -> tuple[str, int]:
    """Return a host and a port. Raise ValueError."""
    host, colon, port = text.rpartition(":")
    if not colon or not 0 < int(port) < 65_536:
        raise ValueError(text)
    return host.strip("[]"), int(port)


def listen(where: tuple[str, int], life: Life, measure: Callable[[], None] | None = None) -> int:
    """Answer in a thread from now on. Return the port. `measure` is called before metrics are collected. Raise OSError."""

    class Handler(BaseHTTPRequestHandler):
        timeout = SLOWEST

        def do_GET(self) -> None:
            if self.path == "/healthz":
                self._answer(200 if life.goes_on else 503, "text/plain", b"ok\n" if life.goes_on else b"it hangs\n")
            elif self.path == "/metrics":
                if measure is not None:
                    measure()
                self._answer(200, CONTENT_TYPE_LATEST, generate_latest(REGISTRY))
            else:
                self._answer(404, "text/plain", b"There are /healthz and /metrics.\n")

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in where[0] else socket.AF_INET

        def server_bind(self) -> None:
            TCPServer.server_bind(self)  # http.server would ask for the name of the host, which may take long

    server = Server(where, Handler)
    Thread(target=server.serve_forever, name="listening", daemon=True).start()
    return int(server.server_address[1])
