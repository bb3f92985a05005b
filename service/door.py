"""The door: what holds for every request, whoever answers it. An id, CORS, a count and a line in the log.

It stands outside Flask, since that is where it costs least: Flask's hooks would take as long as half of an action. For the same reason an
action, which is asked for more often than anything else, goes from here straight to its operation; Flask would find the same one.
"""

from __future__ import annotations

import re
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import orjson
import structlog

from service import numbers

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

NOTE = "warledger.note"

_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_ACTION = re.compile(r"/v1/matches/(m[a-z2-7]{16})/actions")
_MATCH = re.compile(r"/v1/matches/(m[a-z2-7]{16})(?:/|$)")
_SHARED = "ETag, Location, Retry-After, X-Request-Id"
_TAKEN = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id"


class Note:
    """What is known of a request by the time it is answered: of the views, none writes more than this into the log."""

    __slots__ = ("code", "id", "operation", "player")

    def __init__(self, id: str) -> None:
        self.id = id
        self.operation = "none"
        self.player: str | None = None
        self.code: str | None = None


class Door:
    """The WSGI application that stands around another."""

    def __init__(self, inner: Wsgi, act: Callable[..., Any], origins: Iterable[str], log_requests: bool) -> None:
        self._inner = inner
        self._act = act
        self._origins = frozenset(origins)
        self._log = structlog.BytesLogger(sys.stdout.buffer) if log_requests else None

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        began = time.perf_counter()
        asked = environ.get("HTTP_X_REQUEST_ID")
        note = Note(asked if asked is not None and _REQUEST_ID.fullmatch(asked) else secrets.token_hex(8))
        environ[NOTE] = note
        status = 500

        def start(line: str, headers: Headers, *more: Any) -> Any:
            nonlocal status
            status = int(line[:3])
            headers.append(("X-Request-Id", note.id))
            if self._origins:
                self._share(environ, headers)
            return start_response(line, headers, *more)

        action = _ACTION.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "POST" else None
        body = self._inner(environ, start) if action is None else self._acted(environ, action[1], start)
        took = time.perf_counter() - began
        numbers.count(note.operation, status, note.code, took)
        if self._log is not None:
            self._log.msg(_line(environ, note, status, took))
        return body

    def _acted(self, environ: Environ, match: str, start: Callable[..., Any]) -> Iterable[bytes]:
        answer = self._act(environ, match=match)
        body = answer.get_data()
        start(answer.status, [*answer.headers, ("Content-Length", str(len(body)))])
        return [body]

    def _share(self, environ: Environ, headers: Headers) -> None:
        """Let pages of the allowed origins read the answer."""
        headers.append(("Vary", "Origin"))
        origin = environ.get("HTTP_ORIGIN")
        if origin is None or not (origin in self._origins or "*" in self._origins):
            return
        headers += [("Access-Control-Allow-Origin", origin), ("Access-Control-Expose-Headers", _SHARED)]
        if environ["REQUEST_METHOD"] == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ:
            allowed = next((value for name, value in headers if name == "Allow"), "GET, HEAD, OPTIONS, POST")
            headers += [("Access-Control-Allow-Methods", allowed), ("Access-Control-Allow-Headers", _TAKEN)]
            headers.append(("Access-Control-Max-Age", "600"))


def note_of(environ: Environ) -> Note:
    """The note of a request; one that nobody will read, for an application without a door."""
    return environ.get(NOTE) or Note("-")


def _line(environ: Environ, note: Note, status: int, took: float) -> bytes:
    """Who asked for what, and how it went; no query, no body, and of the path the match alone."""
    match = _MATCH.match(environ["PATH_INFO"])
    return orjson.dumps(
        {
            "event": "request",
            "at": datetime.now(UTC),
            "level": "info",
            "request": note.id,
            "method": environ["REQUEST_METHOD"],
            "operation": note.operation,
            "status": status,
            "code": note.code,
            "match": match[1] if match else None,
            "player": note.player,
            "ms": round(took * 1000, 2),
        }
    )
