"""Operations: each route in one table row, with everything that it takes and everything that it may answer.

Flask's routes and openapi.yaml (service/api/openapi.py) come from the same rows, so they cannot differ. A view is a function of the
`Service`, a `Call` and the ids of its path. It returns a `Response`. The query and the body are checked before the view is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import marshmallow
import structlog
from flask import Flask, Response, request

from events.errors import PlatformError, StoreRefused, StoreUnavailable
from games.schema import Schema
from service.api.game_components import reference
from service.context import Service
from service.http.addresses import address_of
from service.http.keys import NOBODY, Caller
from service.http.middleware import INFO, RequestInfo, info_of
from service.http.parsing import parse_body, parse_query
from service.http.problems import CODES, Problem, platform_problem, problem_response
from service.http.responses import JSON

log = structlog.get_logger("service")

NONE: Mapping[str, Any] = {}
TEXT_SCHEMA: Schema = {"type": "string"}


class Answer(NamedTuple):
    """An answer of an operation that succeeds: the schema of each media type, and headers by the names of their components.

    `preferred` names media types in text that a caller gets only by preferring them in `Accept`, and pictures. They are documented beside
    the content: the types of generated clients, which ask for JSON, would else be those of JSON or a string, and some generators know no
    pictures (docs/decisions/0052).
    """

    about: str
    content: Mapping[str, Schema] = NONE
    headers: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()


class Body(NamedTuple):
    """The body that an operation takes. `documented` goes into openapi.yaml, `schema` checks it; without it any JSON value may come."""

    documented: Schema
    schema: marshmallow.Schema | None = None
    required: bool = True
    examples: Mapping[str, Any] = NONE


class Operation(NamedTuple):
    """One method of one path. `scope`: what the key must be allowed, if there is a key; None: any valid key will do."""

    id: str
    method: str
    path: str
    tag: str
    summary: str
    view: Callable[..., Response]
    answers: Mapping[int, Answer]
    about: str
    key: Literal["none", "optional", "needed"] = "none"
    scope: str | None = "read"
    query: marshmallow.Schema | None = None
    headers: tuple[str, ...] = ()
    body: Body | None = None
    problems: tuple[str, ...] = ()
    links: Mapping[str, Any] = NONE

    def all_problems(self) -> list[str]:
        """Return every code with which the operation may fail, in the order of `CODES`. Some follow from what it takes."""
        found = {
            "bad_request",
            "bad_query",
            "address_too_long",
            "header_too_large",
            "too_many_requests",
            "too_many_at_once",
            "busy",
            "broken",
            *self.problems,
        }
        if self.key != "none":
            found |= {"bad_key", "store_away", "store_refused"}
            if self.scope is not None:
                found.add("scope_needed")
        if self.key == "needed":
            found.add("no_key")
        if self.body is not None:
            found |= {"bad_json", "bad_body", "too_large", "not_json", "encoded"}
        if self.headers:
            found.add("bad_header")
        if "{match}" in self.path:
            found |= {"secret_lost", "rules_missing"}
        return [code for code in CODES if code in found]


UNCHANGED = Answer("Nothing has changed since the version in `If-None-Match`.", headers=("ETag",))


def in_json(about: str, component: str, headers: tuple[str, ...] = ()) -> Answer:
    """Return an answer in JSON that a component describes."""
    return Answer(about, {JSON: reference(component)}, headers)


class Call(NamedTuple):
    """A request as a view sees it: the caller, and the query and the body, already checked."""

    caller: Caller
    query: Mapping[str, Any]
    body: Any
    environ: Mapping[str, Any]

    def header(self, name: str) -> str | None:
        """Return a header, or None if the request has none of that name."""
        return self.environ.get(f"HTTP_{name.upper().replace('-', '_')}")

    @property
    def info(self) -> RequestInfo:
        """The data of the request beside its content."""
        return self.environ[INFO]


Endpoint = Callable[..., Response]


def mount(app: Flask, operations: tuple[Operation, ...], service: Service) -> dict[str, Endpoint]:
    """Give Flask a route for every operation. Return the endpoint of each operation, by id, for callers that route by themselves."""
    endpoints = {}
    for operation in operations:
        rule = operation.path.replace("{tile}", "<path:tile>").replace("{", "<").replace("}", ">")
        endpoint = endpoints[operation.id] = _endpoint(operation, service)
        app.add_url_rule(rule, operation.id, _through_flask(endpoint), methods=[operation.method])
    return endpoints


def _through_flask(endpoint: Endpoint) -> Endpoint:
    return lambda **ids: endpoint(request.environ, **ids)


def _endpoint(operation: Operation, service: Service) -> Endpoint:
    """Return the operation as a function from environ to response. It checks key, query and body, calls the view, and turns every error
    into a problem."""
    view, body, key, scope = operation.view, operation.body, operation.key, operation.scope
    keys, bodies, limit = service.keys, service.bodies, service.settings.body_limit
    query = operation.query or marshmallow.Schema()
    required = any(field.required for field in query.fields.values())
    defaults: Mapping[str, Any] = NONE if required else query.load({})

    def endpoint(environ: dict[str, Any], **ids: str) -> Response:
        info = info_of(environ)
        info.operation = operation.id
        try:
            caller = keys.caller(environ.get("HTTP_AUTHORIZATION"), key, address_of(environ), scope) if key != "none" else NOBODY
            info.player = caller.id
            parameters = parse_query(query, environ) if required or environ.get("QUERY_STRING") else defaults
            given = parse_body(body.schema, body.required, environ, limit, partial(bodies.take, caller.id)) if body is not None else None
            return view(service, Call(caller, parameters, given, environ), **ids)
        except Exception as error:  # noqa: BLE001 - no error is swallowed: the answer names it, and the log has it
            response = problem_response(problem_of(error, info.id))
        info.code = response.code
        return response

    return endpoint


def problem_of(error: Exception, request_id: str) -> Problem:
    """Return an error as a problem. An unexpected error is logged by its kind and place, since its text may contain hidden information."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, PlatformError):
        if isinstance(error, StoreUnavailable):
            log.warning("store_away", request=request_id)
        if isinstance(error, StoreRefused):
            log.error("store_refused", request=request_id, where=_where(error))
        return platform_problem(error)
    log.error("broken", request=request_id, error=type(error).__name__, where=_where(error))
    return Problem("broken")


def _where(error: BaseException) -> str:
    """Return the innermost place of an error, as file and line."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
