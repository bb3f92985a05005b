"""Operations: one table row for each route, with everything that it takes and may answer.

Flask's routes and openapi.yaml (service/api/openapi.py) come from the same rows, so they cannot differ. A view takes the `Service`, a
`Call` and the ids in the path, and returns a `Response` or a `Reply`. The query and the body are checked before the view is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Literal, NamedTuple

import marshmallow
import structlog
from flask import Flask, Response, request

from events.errors import ArchiveDamaged, ArchiveUnavailable, LogDamaged, PlatformError, StoreRefused, StoreUnavailable
from games import patterns
from games.schema import Schema
from service.api.shapes import Described
from service.context import Service
from service.http import compression
from service.http.keys import NOBODY, Caller
from service.http.languages import language_of
from service.http.middleware import INFO, RequestInfo, info_of
from service.http.parsing import parse_body, parse_query
from service.http.problems import CODES, Problem, platform_problem, problem_response, refusals_of
from service.http.responses import EVENT_STREAM, JSON, Reply, in_language
from table.creating import CREATE
from table.forks import FORK
from table.refusals import codes_in
from table.rules import play_refusal, signature_refusal

log = structlog.get_logger("service")

NONE: Mapping[str, Any] = {}
UNGUESSABLE = 22  # characters of an Idempotency-Key that gives access to a key: 16 random bytes in base64, or a UUID
TEXT_SCHEMA: Schema = {"type": "string"}


class Answer(NamedTuple):
    """A successful answer of an operation: the schema of each media type, and headers by the names of their components.

    `preferred`: textual media types that a caller gets only by preferring them in `Accept`. They are documented apart from the content.
    Otherwise generated clients, which ask for JSON, would return JSON or a string (docs/decisions/0052).
    """

    about: str
    content: Mapping[str, Described] = NONE
    headers: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()


class Body(NamedTuple):
    """The body that an operation takes. `documented` goes into openapi.yaml. `schema` checks the body; without it, any JSON is accepted."""

    documented: Described
    schema: marshmallow.Schema | None = None
    required: bool = True
    examples: Mapping[str, Any] = NONE


class Operation(NamedTuple):
    """One method of one path.

    `by`: the only callers who may ask; this is checked before the view is called. `scope`: the scope that a key needs; None: any valid
    key will do. `needed_headers`: those of `headers` without which it refuses. `deeds`: the actions of the table that it carries out.
    `plays`: `acts` if it carries out actions of a seat in the game, `asks` if it checks whether a seat may act. `problems`: codes that
    follow from nothing else here. `said`: its answers have words, in the language that the caller prefers.
    """

    id: str
    method: str
    path: str
    tag: str
    summary: str
    view: Callable[..., Response | Reply]
    answers: Mapping[int, Answer]
    about: str
    key: Literal["none", "optional", "needed"] = "none"
    by: Literal["anybody", "player", "referee", "admin"] = "anybody"
    scope: str | None = "read"
    query: marshmallow.Schema | None = None
    headers: tuple[str, ...] = ()
    needed_headers: tuple[str, ...] = ()
    body: Body | None = None
    deeds: tuple[str, ...] = ()
    plays: Literal["", "asks", "acts"] = ""
    problems: tuple[str, ...] = ()
    links: Mapping[str, Any] = NONE
    said: bool = False

    @property
    def streams(self) -> bool:
        """True if an answer is a stream of events."""
        return any(EVENT_STREAM in answer.content for answer in self.answers.values())

    def all_problems(self) -> list[str]:
        """Return every code that the operation may fail with, in the order of `CODES`. Nearly all follow from what it takes and does."""
        found = {"bad_query", "address_too_long", "header_too_large", "too_many_requests", "broken", *self.problems}
        for part in self.path.split("/"):
            found.update(_OF_PATHS.get(part, ()))
        for name in self.query.fields if self.query is not None else ():
            found.update(_OF_QUERIES.get(name, ()))
        for name in self.headers:
            found.update(_OF_HEADERS.get(name, ()))
        if self.key != "none":
            found |= {"bad_key", *_STORE}
            if self.scope is not None:
                found.add("scope_needed")
            if self.scope == "account":
                found.add("no_such_player")  # the caller may just have been deleted
        if self.key == "needed":
            found.add("no_key")
        if self.by in ("admin", "referee"):
            found.add("role_needed")
        if self.body is not None:
            found |= {"bad_json", "bad_body", "bad_request", "too_large", "not_json", "encoded"}
        if self.body is not None or any(answer.content or answer.preferred for answer in self.answers.values()):
            found |= {"too_many_at_once", "busy"}  # long bodies and answers need a place
        if self.streams or "wait" in getattr(self.query, "fields", ()):
            found |= {"too_many_streams", "streams_full"}
        if self.by == "player" or self.deeds:
            found.add("no_player")
        return sorted(found | self._refusals(), key=_ORDER.__getitem__)

    def _refusals(self) -> set[str]:
        """Return the codes that follow from the actions that the operation carries out or checks."""
        found = set(refusals_of(*self.deeds)) - {"already_created"}  # a match that an operation creates is a new one
        if self.deeds:
            found |= {"against_the_rules", "busy"}
            if "If-Match" in self.headers:
                found.add("stale")
            if "Warledger-Signature" in self.headers:
                found |= {"signature_invalid", "signing_key_unknown", "history_differs", *codes_in(signature_refusal)}
        for deed in self.deeds:
            found |= _OF_DEEDS.get(deed, frozenset())
        if self.plays:
            found |= {"not_started", "match_closed"} | codes_in(play_refusal)
        if self.plays == "acts":
            found |= {"against_the_rules", "must_be_last", "bad_list"}
        return found


_ORDER = {code: place for place, code in enumerate(CODES)}
_STORE = ("store_away", "store_refused")
_ARCHIVE = ("archive_away", "archive_damaged")
_OF_PATHS: Mapping[str, tuple[str, ...]] = {
    "{match}": ("no_such_match", *_ARCHIVE, "log_damaged", "secret_lost", "rules_missing"),
    "{puzzle}": ("no_such_puzzle", "log_damaged", "rules_missing", *_ARCHIVE),
    "{player}": ("no_such_player",),
    "{key}": ("no_such_key",),
    "{signing_key}": ("no_such_key",),
    "{hook}": ("no_such_hook",),
    "{game}": ("no_such_game",),
    "{rule}": ("no_such_rule",),
    "{version}": ("no_such_version",),
    "{dispute}": ("no_such_dispute",),
    "{tile}": ("not_in_log", "archive_away", *_STORE),
    "{code}": ("no_such_problem",),
}
_OF_QUERIES: Mapping[str, tuple[str, ...]] = {
    "viewer": ("no_such_seat", "hidden_view"),
    "seat": ("no_such_seat", "not_your_seat", "not_seated"),
    "at": ("no_such_version",),
    "after": ("no_such_version",),
    "game": ("no_such_game",),
}
_OF_HEADERS: Mapping[str, tuple[str, ...]] = {
    "If-Match": ("bad_header",),
    "Idempotency-Key": ("bad_header", "request_reused"),
    "Warledger-Signature": ("bad_header",),
    "Last-Event-ID": ("bad_header",),
}
_OF_DEEDS: Mapping[str, frozenset[str]] = {
    CREATE: frozenset({"no_such_game", "no_such_player", "quota_reached"}),
    FORK: frozenset(
        ("no_such_match", "no_such_version", "no_such_player", "quota_reached", *_ARCHIVE, "log_damaged", "secret_lost", "rules_missing")
    ),
    "rematch": frozenset({"no_such_player", "quota_reached"}),
    "dispute": frozenset({"quota_reached"}),
    "hand_over": frozenset({"no_such_player"}),
}


_OF_MATCHES = re.compile("/v1/matches(?:/{match}(?:/[^/]+)?)?")

UNCHANGED = Answer("Nothing has changed since the answer whose ETag is in `If-None-Match`.", headers=("ETag",))


def as_text(*media_types: str) -> Mapping[str, Described]:
    """Return the content of a text answer with several media types: the usual one first, then one that client generators know."""
    return dict.fromkeys(media_types, TEXT_SCHEMA)


def in_json(about: str, shape: Described, headers: tuple[str, ...] = ()) -> Answer:
    """Return an answer in JSON with a shape."""
    return Answer(about, {JSON: shape}, headers)


@cache
def _key_of(header: str) -> str:
    """Return the key of a header in an environ."""
    return f"HTTP_{header.upper().replace('-', '_')}"


class Call(NamedTuple):
    """A request as a view gets it: the caller, and the checked query and body."""

    caller: Caller
    query: Mapping[str, Any]
    body: Any
    environ: dict[str, Any]

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None."""
        return self.environ.get(_key_of(name))

    def request(self, least: int = 1) -> str | None:
        """Return the Idempotency-Key, or None. Raise Problem `bad_header` if it is malformed or has fewer than `least` characters."""
        given = self.header("Idempotency-Key")
        if given is not None and not (patterns.matches(patterns.REQUEST, given) and len(given) >= least):
            raise Problem("bad_header", header="Idempotency-Key", reason=f"it must have {least} to 64 letters, digits or _ . : -")
        return given

    @property
    def language(self) -> str:
        """The language that the caller prefers."""
        return language_of(self.environ)

    @property
    def info(self) -> RequestInfo:
        """The request's data for the log, the metrics and the headers."""
        return self.environ[INFO]


Endpoint = Callable[..., Response | Reply]
NO_QUERY = marshmallow.Schema()


def mount(app: Flask, operations: tuple[Operation, ...], service: Service) -> dict[tuple[str, str], Endpoint]:
    """Add a route to the Flask application for every operation.

    Return the endpoints that the middleware calls without Flask, by method and path: those of matches except streams.
    """
    direct = {}
    for operation in operations:
        rule = operation.path.replace("{tile}", "<path:tile>").replace("{", "<").replace("}", ">")
        endpoint = _endpoint(operation, service)
        app.add_url_rule(rule, operation.id, _through_flask(endpoint), methods=[operation.method])
        if _OF_MATCHES.fullmatch(operation.path) and not operation.streams:
            direct[operation.method, operation.path] = compression.compressing(endpoint)
    return direct


def _through_flask(endpoint: Endpoint) -> Callable[..., Response]:
    def answer(**ids: str) -> Response:
        found = endpoint(request.environ, **ids)
        return found.as_response() if isinstance(found, Reply) else found

    return answer


@cache
def _defaults(query: marshmallow.Schema) -> Mapping[str, Any] | None:
    """Return the parameters of a request without a query, or None if it needs one."""
    return None if any(field.required for field in query.fields.values()) else query.load({})


def _endpoint(operation: Operation, service: Service) -> Endpoint:
    """Return the operation as a function from environ to response.

    It checks the key, the query and the body, calls the view, and turns every error into a problem.
    """
    view, body, key, by, scope, said = operation.view, operation.body, operation.key, operation.by, operation.scope, operation.said
    keys, bodies, limit = service.keys, service.bodies, service.settings.body_limit
    query = operation.query or NO_QUERY
    defaults = _defaults(query)

    def endpoint(environ: dict[str, Any], **ids: str) -> Response | Reply:
        info = info_of(environ)
        info.operation = operation.id
        try:
            caller = keys.caller(environ, key, scope) if key != "none" else NOBODY
            info.player = caller.id
            caller.check(by)
            parameters = parse_query(query, environ) if defaults is None or environ.get("QUERY_STRING") else defaults
            given = parse_body(body.schema, body.required, environ, limit, partial(bodies.take, caller.id)) if body is not None else None
            answer = view(service, Call(caller, parameters, given, environ), **ids)
            return in_language(answer, language_of(environ)) if said else answer
        except Exception as error:  # noqa: BLE001 - no error is swallowed: the answer names it, and the log has it
            response = problem_response(problem_of(error, info.id), language_of(environ))
        info.code = response.code
        return response

    return endpoint


def problem_of(error: Exception, request_id: str) -> Problem:
    """Return an error as a problem. Log an unexpected error by its kind and place only: its text may contain hidden information."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, PlatformError):
        if isinstance(error, StoreUnavailable):
            log.warning("store_away", request=request_id)
        if isinstance(error, ArchiveUnavailable):
            log.warning("archive_away", request=request_id, reason=error.reason)
        if isinstance(error, ArchiveDamaged):
            log.error("archive_damaged", request=request_id, name=error.name, reason=error.reason)
        if isinstance(error, LogDamaged):
            log.error("log_damaged", request=request_id, match=error.facts["match"])
        if isinstance(error, StoreRefused):
            log.error("store_refused", request=request_id, where=_where(error))
        return platform_problem(error)
    log.error("broken", request=request_id, error=type(error).__name__, where=_where(error))
    return Problem("broken")


def _where(error: BaseException) -> str:
    """Return the file and line where an error was raised."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
