"""The application: everything put together, and what holds for every request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import structlog
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from events.connect import House, open_house
from events.levels import LEVELS
from events.players import find
from events.wire import StoreDown
from games import GAMES
from games.kernel import Game
from service import catalogue, docs, health, history, matches, openapi, players, playing
from service import log as log_lines
from service.door import Door, note_of
from service.hub import Hub
from service.keys import Keys
from service.operations import Operation, mount
from service.problems import Problem, Told, told
from service.settings import Settings, settings_from

log = structlog.get_logger("service")


def create_app(house: House | None = None, settings: Settings | None = None) -> Flask:
    """The WSGI application; without `house`, over the one that the environment describes."""
    log_lines.configure()
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
    docs.mount(app, lambda: openapi.spec(offered, house.games, list(LEVELS)), openapi.written)
    _mind_errors(app, settings)
    app.wsgi_app = Door(app.wsgi_app, settings.cors_origins, settings.log_requests)  # type: ignore[method-assign]
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


def _mind_errors(app: Flask, settings: Settings) -> None:
    """Problems, too, for what fails outside the views."""

    def noted(answer: Told) -> Response:
        note_of(request.environ).code = answer.code
        return answer

    @app.errorhandler(HTTPException)
    def by_flask(error: HTTPException) -> Response:
        if isinstance(error, MethodNotAllowed):
            methods = ", ".join(sorted(error.valid_methods or ()))
            answer = told(Problem("wrong_method", allowed=methods))
            answer.headers["Allow"] = methods
            return noted(answer)
        if isinstance(error, RequestEntityTooLarge):
            return noted(told(Problem("too_large", limit=settings.body_limit)))
        return noted(told(Problem("no_such_path" if error.code == 404 else "bad_request")))

    @app.errorhandler(StoreDown)
    def away(error: StoreDown) -> Response:
        log.warning("store_away", request=note_of(request.environ).id)
        return noted(told(Problem("store_away")))

    @app.errorhandler(Exception)
    def broken(error: Exception) -> Response:
        # The error's text may hold what is hidden: its kind and place are enough to find it.
        log.error("broken", request=note_of(request.environ).id, error=type(error).__name__, where=_where(error))
        return noted(told(Problem("broken")))


def _where(error: Exception) -> str:
    """The innermost place in our own code that an error came from."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
