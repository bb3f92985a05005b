"""The middleware for every request: an id, limits, CORS headers, a metric and a line in the log.

This is WSGI middleware around Flask, because Flask's own hooks would cost half the time of an action. For the same reason most requests
about matches go straight to their operations, past Flask.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from events.telemetry import logs
from events.timing.flight import Flight
from games.patterns import MATCH, REQUEST
from service.http import metrics
from service.http.addresses import ADDRESS
from service.http.cors import Cors
from service.http.following import FOLLOWER
from service.http.keys import ADMIN, Keys
from service.http.languages import language_of
from service.http.limits import Used
from service.http.parsing import RECEIVED
from service.http.places import HeldAnswer, Place, Places
from service.http.problems import Problem, problem_response
from service.http.responses import Reply
from service.http.settings import Settings
from service.http.throttle import PROBES, Limited, Payer, Throttle

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

INFO = "warledger.request"
LARGE = 65_536  # bytes of an answer; the server holds a smaller one for a client that does not read it

_ADDRESS = ("PATH_INFO", "QUERY_STRING")
_BARE_HEADERS = ("CONTENT_TYPE", "CONTENT_LENGTH")
_LONGEST_NAME = 64
_NO_SNIFFING = ("X-Content-Type-Options", "nosniff")
_REQUEST_ID = re.compile(REQUEST)
_MATCHES_PATH = re.compile(f"(/v1/matches)(?:/({MATCH})(/.*)?)?")
_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}


class RequestInfo:
    """The data of a request for the log, the metrics and the headers.

    `used`: the limit that the headers report. `open`: whether everybody may see the answer. `payer`: for whom it counts, once it has begun.
    """

    __slots__ = ("code", "id", "match", "open", "operation", "payer", "player", "used")

    def __init__(self, id: str) -> None:
        self.id = id
        self.used: Used | None = None
        self.payer: Payer | None = None
        self.open = False
        self.operation = "none"
        self.match: str | None = None
        self.player: str | None = None
        self.code: str | None = None


class RequestMiddleware:
    """A WSGI application around another one.

    `direct`: the operations of matches that it calls without Flask, by method and path. It refuses a request with an overlong head, or
    beyond a limit, before anything parses it. A large answer takes one of the places in `answers` until its client has read it.
    """

    def __init__(
        self,
        inner: Wsgi,
        direct: Mapping[tuple[str, str], Callable[..., Wsgi | Reply]],
        keys: Keys,
        throttle: Throttle,
        settings: Settings,
        answers: Places,
        flight: Flight,
        cors: Cors,
    ) -> None:
        self._inner = inner
        self._direct = direct
        self._keys = keys
        self._throttle = throttle
        self._answers = answers
        self._flight = flight
        self._cors = cors
        self._header_limit = settings.header_limit
        self._logs = settings.log_requests

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        began, worked = time.perf_counter(), time.thread_time()
        given = environ.get("HTTP_X_REQUEST_ID")
        info = RequestInfo(given if given is not None and _REQUEST_ID.fullmatch(given) else f"{random.getrandbits(64):016x}")
        environ[INFO] = info
        status = 500

        def start(line: str, headers: Headers, *more: Any) -> Any:
            nonlocal status
            status = int(line[:3])
            headers += [("X-Request-Id", info.id), _NO_SNIFFING]
            if info.used is not None:
                headers += info.used.headers()
            headers += self._cors.headers(environ)
            return start_response(line, headers, *more)

        try:
            body = self._answer(environ, info, start)
            took = time.perf_counter() - began
            metrics.count(info.operation, status, info.code, took)
            if self._logs:
                logs.write("request", _log_fields(environ, info, status, took))
        finally:
            if info.payer is not None:
                self._throttle.charge(info.payer, time.thread_time() - worked)
        if info.payer is None or isinstance(body, list):
            return body
        charge = partial(self._throttle.charge_more, info.payer)
        follower = environ.get(FOLLOWER)
        if follower is None:
            return ChargedBody(body, charge)
        follower.charged_by(charge)
        return body

    def _answer(self, environ: Environ, info: RequestInfo, start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer the request. An action counts as received now, and is in flight until its answer is there.

        A preflight counts towards no limit: refusing it would cost as much as answering it, and its page could not read why.
        """
        preflight = self._cors.preflight(environ)
        if preflight is not None:
            info.operation = "preflight"
            start(_LINES[204], [*preflight])
            return []
        found = _MATCHES_PATH.fullmatch(environ["PATH_INFO"])
        if found is None:
            return self._judge(environ, info, start, None)
        path, info.match, part = found.groups()
        if info.match is not None:
            path = f"{path}/{{match}}{part or ''}"
        if part == "/actions" and environ["REQUEST_METHOD"] == "POST":
            with self._flight.receive() as received:
                environ[RECEIVED] = received
                return self._judge(environ, info, start, path)
        return self._judge(environ, info, start, path)

    def _judge(self, environ: Environ, info: RequestInfo, start: Callable[..., Any], path: str | None) -> Iterable[bytes]:
        refused = _too_long(environ, self._header_limit)
        if refused is None:
            try:
                self._count(environ, info, RECEIVED in environ)
            except Problem as limited:
                refused = limited
        if refused is not None:
            response = problem_response(refused, language_of(environ))
            info.code = response.code
            return response(environ, start)
        endpoint = None if path is None else self._direct.get((environ["REQUEST_METHOD"], path))
        if endpoint is None:
            return self._serve(self._inner, environ, info, start)
        answer = endpoint(environ) if info.match is None else endpoint(environ, match=info.match)
        if not isinstance(answer, Reply):
            return self._serve(answer, environ, info, start)
        if len(answer.body) > LARGE:
            return self._serve(answer.as_response(), environ, info, start)
        start(_LINES[answer.status], [*answer.headers, ("Content-Length", str(len(answer.body)))])
        return [answer.body]

    def _count(self, environ: Environ, info: RequestInfo, acts: bool) -> None:
        """Count the request towards the limits. The admin key has none. Raise Problem `too_many_requests`."""
        address = environ[ADDRESS] = self._throttle.address_of(environ)
        caller = self._keys.identify(environ)
        if caller is ADMIN:
            return
        if (path := environ["PATH_INFO"]) in PROBES:
            used = self._throttle.probe(path, address)
        else:
            payer = Payer(caller.payer, address)
            used = self._throttle.admit(payer, acts)
            if used is None or not used.refused:
                info.payer = payer
        if used is not None and used.refused:
            raise Limited("too_many_requests", used)
        info.used = used

    def _serve(self, application: Wsgi, environ: Environ, info: RequestInfo, start: Callable[..., Any]) -> Iterable[bytes]:
        """Return an answer as a whole. A large one keeps a place until it is read. A stream has no length, and has a place already."""
        length: str | None = None
        place: Place | None = None

        def sized(line: str, headers: Headers, *more: Any) -> Any:
            nonlocal length, place
            length = next((value for name, value in headers if name == "Content-Length"), None)
            if length is not None and int(length) > LARGE and environ["REQUEST_METHOD"] != "HEAD":
                place = self._answers.take(info.player, environ)
            return start(line, headers, *more)

        try:
            body = application(environ, sized)
        except Problem as refused:
            response = problem_response(refused, language_of(environ))
            info.code = response.code
            return response(environ, start)
        if length is None or environ["REQUEST_METHOD"] == "HEAD":
            return body
        try:
            content = b"".join(body)
        except BaseException:
            if place is not None:
                place.give_back()
            raise
        finally:
            close = getattr(body, "close", None)
            if close is not None:
                close()
        return [content] if place is None else HeldAnswer(place, content)


class ChargedBody:
    """The body of an answer that is made while it is sent. `charge` counts the CPU time of each part in seconds."""

    def __init__(self, body: Iterable[bytes], charge: Callable[[float], float]) -> None:
        self._body = body
        self._chunks = iter(body)
        self._charge = charge

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        began = time.thread_time()
        try:
            return next(self._chunks)
        finally:
            self._charge(time.thread_time() - began)

    def close(self) -> None:
        """Close the body."""
        close = getattr(self._body, "close", None)
        if close is not None:
            close()


def info_of(environ: Environ) -> RequestInfo:
    """Return the info of a request. Without the middleware, return one that nobody reads."""
    return environ.get(INFO) or RequestInfo("-")


def _too_long(environ: Environ, limit: int) -> Problem | None:
    """Return a problem if the path, the query or a header is longer than the limit, or None."""
    for name, value in environ.items():
        if isinstance(value, str) and len(value) > limit:
            if name in _ADDRESS:
                return Problem("address_too_long", limit=limit)
            if name in _BARE_HEADERS or name.startswith("HTTP_"):
                return Problem("header_too_large", header=name.removeprefix("HTTP_").replace("_", "-").title()[:_LONGEST_NAME], limit=limit)
    return None


def _log_fields(environ: Environ, info: RequestInfo, status: int, took: float) -> dict[str, Any]:
    """Return the fields of a request for the log: no query, no body, and only the match of the path."""
    return {
        "request": info.id,
        "method": environ["REQUEST_METHOD"],
        "operation": info.operation,
        "status": status,
        "code": info.code,
        "match": info.match,
        "player": info.player,
        "ms": round(took * 1000, 2),
    }
