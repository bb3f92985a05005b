"""The application: everything put together, and what holds for every request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from events.levels import LEVELS
from events.platform import Platform, open_platform
from events.players import find
from games import GAMES
from games.kernel import Game
from service import catalogue, docs, health, history, matches, openapi, players, playing
from service import log as log_lines
from service.door import Door, note_of
from service.hub import Hub
from service.keys import Keys
from service.operations import Operation, mount, problem_of
from service.problems import Problem, Told, told
from service.settings import Settings, settings_from


def create_app(platform: Platform | None = None, settings: Settings | None = None) -> Flask:
    """The WSGI application; without `platform`, over the one that the environment describes."""
    log_lines.configure()
    settings = settings or settings_from(os.environ)
    platform = platform or open_platform()
    app = Flask("service", static_folder=None)
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.url_map.redirect_defaults = False
    app.config["MAX_CONTENT_LENGTH"] = settings.body_limit
    keys = Keys(partial(find, platform), settings.admin_key, settings.key_seconds)
    offered = operations(platform, settings)
    served = mount(app, offered, keys, settings.body_limit)
    docs.mount(app, lambda: openapi.spec(offered, platform.games, list(LEVELS)), openapi.written)
    _mind_errors(app, settings)
    app.wsgi_app = Door(app.wsgi_app, served["act"], settings.cors_origins, settings.log_requests)  # type: ignore[method-assign]
    return app


def operations(platform: Platform, settings: Settings) -> list[Operation]:
    """Everything that can be asked of the service."""
    hub = Hub(platform, settings.streams)
    return [
        *players.operations(platform),
        *catalogue.operations(platform.games, LEVELS),
        *matches.operations(platform),
        *playing.operations(platform),
        *history.operations(platform, hub, settings),
        *catalogue.problem_operations(),
        *health.operations(platform),
    ]


def described(games: Mapping[str, Game] = GAMES) -> dict[str, Any]:
    """What openapi.yaml says; for this no store is needed."""
    platform = cast(Platform, SimpleNamespace(games=games))
    return openapi.spec(operations(platform, Settings()), games, list(LEVELS))


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

    @app.errorhandler(Exception)
    def otherwise(error: Exception) -> Response:
        return noted(told(problem_of(error, note_of(request.environ).id)))
