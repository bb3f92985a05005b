"""The application: Flask with all operations, the pages, and the middleware."""

from __future__ import annotations

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from events.platform import Platform, open_platform
from events.telemetry import exposition, logs
from service.api import docs
from service.api.openapi import REQUEST_HEADERS, RESPONSE_HEADERS, described
from service.api.operations import mount, problem_of
from service.api.routes import OPERATIONS
from service.context import open_service
from service.http import compression
from service.http.cors import Cors
from service.http.languages import language_of
from service.http.middleware import RequestMiddleware, info_of
from service.http.problems import Problem, ProblemResponse, problem_response
from service.http.settings import Settings, settings_from_environment
from service.pages import routes


class Application(Flask):
    """Flask with 204 as the answer to OPTIONS."""

    def make_default_options_response(self) -> Response:
        """Return 204 with the methods of the path."""
        response = super().make_default_options_response()
        response.status_code = 204
        response.headers["Allow"] = ", ".join(sorted(response.allow))
        del response.headers["Content-Type"]
        return response


def create_app(platform: Platform | None = None, settings: Settings | None = None) -> Flask:
    """Return the WSGI application. By default, `platform` and `settings` come from the environment. Raise KeysUnfit."""
    exposition.publish_always()
    logs.configure("stdout")
    settings = settings or settings_from_environment()
    platform = platform or open_platform(patient=True)
    platform.signer.load()  # accepted actions are answered with a receipt, so there must be keys first
    app = Application(__package__, static_folder=None)
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.url_map.redirect_defaults = False
    app.config["MAX_CONTENT_LENGTH"] = settings.body_limit
    service = open_service(platform, settings)
    direct = mount(app, OPERATIONS, service)
    docs.mount(app, platform.games, described)
    routes.mount(app, service)
    compression.mount(app)
    _handle_errors(app, settings)
    methods = {operation.method for operation in OPERATIONS}
    cors = Cors(settings.cors_origins, methods, REQUEST_HEADERS, [name for name, _ in RESPONSE_HEADERS.values()])
    app.wsgi_app = RequestMiddleware(  # type: ignore[method-assign]
        app.wsgi_app, direct, service.keys, service.throttle, settings, service.answers, platform.pulse.flight, cors
    )
    return app


def _handle_errors(app: Flask, settings: Settings) -> None:
    """Answer errors outside the views with a problem, too."""

    def noted(response: ProblemResponse) -> Response:
        info_of(request.environ).code = response.code
        return response

    @app.errorhandler(HTTPException)
    def handle_http(error: HTTPException) -> Response:
        if isinstance(error, MethodNotAllowed):
            methods = ", ".join(sorted(error.valid_methods or ()))
            response = problem_response(Problem("wrong_method", allowed=methods), language_of(request.environ))
            response.headers["Allow"] = methods
            return noted(response)
        if isinstance(error, RequestEntityTooLarge):
            return noted(problem_response(Problem("too_large", limit=settings.body_limit), language_of(request.environ)))
        return noted(problem_response(Problem("no_such_path" if error.code == 404 else "bad_request"), language_of(request.environ)))

    @app.errorhandler(Exception)
    def handle_other(error: Exception) -> Response:
        return noted(problem_response(problem_of(error, info_of(request.environ).id), language_of(request.environ)))
