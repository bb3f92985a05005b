"""The application: everything put together, and what holds for every request."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import structlog
from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from events.connect import House, open_house
from events.levels import LEVELS
from events.players import find
from events.wire import StoreDown
from games import GAMES
from games.kernel import Game
from service import catalogue, docs, health, history, matches, numbers, openapi, playing, players
from service.hub import Hub
from service.keys import Keys
from service.operations import Operation, mount
from service.problems import Problem, told
from service.settings import Settings, settings_from

_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")

log = structlog.get_logger("service")


def create_app(house: House | None = None, settings: Settings | None = None) -> Flask:
    """The WSGI application; without `house`, over the one that the environment describes."""
    settings = settings or settings_from(os.environ)
    house = house or open_house()
    app = Flask("service", static_folder=None)
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.url_map.redirect_defaults = False
    app.config["MAX_CONTENT_LENGTH"] = settings.body_limit
    keys = Keys(partial(find, house), settings.admin_key, settings.key_seconds)
    offered = operations(house, settings)
    mount(app, offered, keys, settings.body_limit)
    description = openapi.spec(offered, house.games, list(LEVELS))
    docs.mount(app, description, openapi.written(description))
    _in_every_request(app, settings)
    return app


def operations(house: House, settings: Settings) -> list[Operation]:
    """Everything that can be asked of the service."""
    hub = Hub(house, settings.streams)
    return [
        *players.operations(house),
        *catalogue.operations(house.games, LEVELS),
        *matches.operations(house),
        *playing.operations(house),
        *history.operations(house, hub, settings),
        *catalogue.problem_operations(),
        *health.operations(house),
    ]


def described(games: Mapping[str, Game] = GAMES) -> dict[str, Any]:
    """What openapi.yaml says; for this no store is needed."""
    house = cast(House, SimpleNamespace(games=games))
    return openapi.spec(operations(house, Settings()), games, list(LEVELS))


def _in_every_request(app: Flask, settings: Settings) -> None:
    """Ids and times before; problems for what fails outside the views; headers, numbers and a line in the log after."""
    allowed = set(settings.cors_origins)

    @app.before_request
    def begin() -> None:
        g.began = time.perf_counter()
        asked = request.headers.get("X-Request-Id", "")
        g.request_id = asked if _REQUEST_ID.fullmatch(asked) else secrets.token_hex(8)

    @app.errorhandler(HTTPException)
    def by_flask(error: HTTPException) -> Response:
        if isinstance(error, MethodNotAllowed):
            methods = sorted(error.valid_methods or ())
            answer = told(Problem("wrong_method", allowed=", ".join(methods)))
            answer.headers["Allow"] = ", ".join(methods)
            return answer
        if isinstance(error, RequestEntityTooLarge):
            return told(Problem("too_large", limit=settings.body_limit))
        return told(Problem("no_such_path" if error.code == 404 else "bad_request"))

    @app.errorhandler(StoreDown)
    def away(error: StoreDown) -> Response:
        log.warning("store_away", request=g.request_id)
        return told(Problem("store_away"))

    @app.errorhandler(Exception)
    def broken(error: Exception) -> Response:
        # The error's text may hold what is hidden: its kind and place are enough to find it.
        log.error("broken", request=g.request_id, error=type(error).__name__, where=_where(error))
        return told(Problem("broken"))

    @app.after_request
    def end(answer: Response) -> Response:
        answer.headers["X-Request-Id"] = g.request_id
        if allowed:
            _share(answer, allowed)
        operation = request.endpoint or "none"
        status = answer.status_code
        numbers.requests.labels(operation, status).inc()
        numbers.seconds.labels(operation).observe(time.perf_counter() - g.began)
        code = g.get("problem")
        if code is not None:
            numbers.problems.labels(code).inc()
        if settings.log_requests:
            _note(operation, status, code)
        return answer


def _note(operation: str, status: int, code: str | None) -> None:
    """A line in the log: who asked for what, and how it went; never what was in it."""
    caller = g.get("caller")
    log.info(
        "request",
        request=g.request_id,
        operation=operation,
        method=request.method,
        status=status,
        code=code,
        match=(request.view_args or {}).get("match"),
        player=caller.id if caller else None,
        ms=round((time.perf_counter() - g.began) * 1000, 2),
    )


def _share(answer: Response, allowed: set[str]) -> None:
    """Let pages of the allowed origins read the answer (CORS)."""
    origin = request.headers.get("Origin")
    answer.headers.add("Vary", "Origin")
    if origin is None or not (origin in allowed or "*" in allowed):
        return
    answer.headers["Access-Control-Allow-Origin"] = origin
    answer.headers["Access-Control-Expose-Headers"] = "ETag, Location, Retry-After, X-Request-Id"
    if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
        answer.headers["Access-Control-Allow-Methods"] = answer.headers.get("Allow", "GET, HEAD, OPTIONS, POST")
        answer.headers["Access-Control-Allow-Headers"] = (
            "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id"
        )
        answer.headers["Access-Control-Max-Age"] = "600"


def _where(error: Exception) -> str:
    """The innermost place in our own code that an error came from."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
