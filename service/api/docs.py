"""Serve the description of the API as OpenAPI files, that of its streams in AsyncAPI, and a page to read and try the API.

The page loads nothing from other servers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import flask_swagger_ui
import orjson
from flask import Flask, Response, abort, request, send_from_directory

from games.kernel import Game
from service.api import asyncapi
from service.api.openapi import in_yaml
from service.http.middleware import info_of
from service.http.responses import JSON, public

T = TypeVar("T")

ASSETS = Path(flask_swagger_ui.__file__).parent / "dist"
SERVED = ("swagger-ui.css", "swagger-ui-bundle.js")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Warledger: the API</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<noscript>This page needs JavaScript. The same description is in <a href="/openapi.yaml">openapi.yaml</a>.</noscript>
<div id="api"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>
</body>
</html>
"""

START = """SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
});
"""


def mount(app: Flask, games: Mapping[str, Game], describe: Callable[[Mapping[str, Game]], dict[str, Any]]) -> None:
    """Add the routes to Flask. The descriptions are built on first use, because that takes longer than the rest of a start."""
    description = _made_once(partial(describe, games))
    of_streams = _made_once(lambda: orjson.dumps(asyncapi.described(description(), games)))
    as_json = _made_once(lambda: orjson.dumps(description()))
    as_yaml = _made_once(lambda: in_yaml(description()).encode())

    def page() -> Response:
        info_of(request.environ).open = True
        return _with_policy(Response(PAGE, mimetype="text/html"))

    def asset(name: str) -> Response:
        info_of(request.environ).open = True
        if name == "start.js":
            return Response(START, mimetype="text/javascript")
        if name not in SERVED:
            abort(404)
        request.environ.pop("HTTP_RANGE", None)  # nobody needs a part of an asset; HTTP lets a server send the whole
        return send_from_directory(ASSETS, name, max_age=86_400)

    app.add_url_rule("/docs", "docs", page)
    app.add_url_rule("/docs/assets/<name>", "docs_asset", asset)

    def served(text: Callable[[], bytes], media_type: str) -> Callable[[], Response]:
        def answer() -> Response:
            info_of(request.environ).open = True
            return public(Response(text(), mimetype=media_type), request.headers.get("If-None-Match"))

        return answer

    app.add_url_rule("/openapi.json", "openapi_json", served(as_json, JSON))
    app.add_url_rule("/openapi.yaml", "openapi_yaml", served(as_yaml, "application/yaml"))
    app.add_url_rule("/asyncapi.json", "asyncapi_json", served(of_streams, JSON))


def _made_once(make: Callable[[], T]) -> Callable[[], T]:
    """Return a function that calls `make` once and then returns its result. Threads that call it meanwhile wait for the result."""
    made, lock = cache(make), threading.Lock()

    def get() -> T:
        with lock:
            return made()

    return get


def _with_policy(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
