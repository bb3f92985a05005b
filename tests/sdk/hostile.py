"""A proxy that does to requests and answers what networks, proxies and servers do at their worst."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

import httpx

PIECE = 4096


class Fault(NamedTuple):
    """What happens to a request.

    `status`: it is answered with this, and does not reach the server. `lost`: the server carries it out, and its answer is lost.
    `dropped`: neither. `cut`: the answer ends after so many bytes. `clean`: a cut looks like an ordinary end.
    `changed`: what becomes of the body of the answer.
    """

    status: int | None = None
    headers: Mapping[str, str] = {}
    problem: Mapping[str, Any] = {}
    lost: bool = False
    dropped: bool = False
    cut: int | None = None
    clean: bool = False
    changed: Callable[[bytes], bytes] | None = None


class Hostile:
    """The proxy. `fault(method, path)` decides what happens to each request; None: nothing."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.fault: Callable[[str, str], Fault | None] = lambda method, path: None
        self.seen: list[tuple[str, str, Mapping[str, str]]] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                proxy.handle(self)

            def do_POST(self) -> None:
                proxy.handle(self)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._client = httpx.Client(timeout=60)

    def __enter__(self) -> Hostile:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._client.close()

    def sent(self, method: str, ending: str) -> list[Mapping[str, str]]:
        """Return the headers of the requests of a method to paths with an ending, without their queries."""
        return [headers for done, path, headers in self.seen if done == method and path.partition("?")[0].endswith(ending)]

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request, or do not."""
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        self.seen.append((request.command, request.path, dict(request.headers)))
        fault = self.fault(request.command, request.path) or Fault()
        if fault.status is not None:
            problem = {"status": fault.status, "code": "hostile", "detail": "The proxy says so.", **fault.problem}
            self._answer(request, fault.status, fault.headers, json.dumps(problem).encode())
            return
        if fault.dropped:
            request.close_connection = True
            return
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", "connection")}
        with self._client.stream(request.command, self.upstream + request.path, content=body, headers=headers) as answer:
            if fault.lost:
                answer.read()
                request.close_connection = True
            elif answer.headers.get("Content-Type", "").startswith("text/event-stream"):
                self._stream(request, answer, fault)
            else:
                content = answer.read()
                kept = {name: value for name, value in answer.headers.items() if name.lower() not in ("content-length", "content-encoding")}
                self._answer(request, answer.status_code, kept, fault.changed(content) if fault.changed else content)

    def _answer(self, request: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str], body: bytes) -> None:
        request.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("transfer-encoding", "connection", "date", "server"):
                request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def _stream(self, request: BaseHTTPRequestHandler, answer: httpx.Response, fault: Fault) -> None:
        request.send_response(answer.status_code)
        request.send_header("Content-Type", answer.headers["Content-Type"])
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        left = fault.cut if fault.cut is not None else 1 << 60
        for piece in answer.iter_raw(PIECE):
            piece = (fault.changed(piece) if fault.changed else piece)[:left]
            left -= len(piece)
            if piece:
                request.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                request.wfile.flush()
            if left <= 0:
                break
        if left <= 0 and not fault.clean:
            request.close_connection = True
            return
        request.wfile.write(b"0\r\n\r\n")
