"""Operations: each route said once, with all that it takes and all that it may answer.

From the same list Flask gets its routes and openapi.yaml its text (service/openapi.py), so that they cannot differ. A view gets an
`Asked` and the ids of its path, and gives a `Response`; what it takes is read and checked here, before it is called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import marshmallow
import orjson
import structlog
from flask import Flask, Request, Response, request
from werkzeug.http import parse_options_header

from events.errors import PlatformError
from events.wire import StoreUnavailable
from service.door import note_of
from service.keys import NOBODY, Caller, Keys
from service.problems import CODES, Problem, declined, told
from service.schemas import LARGEST, reason_of

Schema = dict[str, Any]
DEEPEST = 24
PATIENCE = 16
# How many bodies are taken in at the same time: whoever sends slowly holds up other senders, never those who only ask.
_READING = threading.BoundedSemaphore(16)

log = structlog.get_logger("service")

NOTHING: Mapping[str, Any] = {}


class Answer(NamedTuple):
    """What an operation answers when all is well: media types with their schemas, and headers by the name of their component."""

    about: str
    content: Mapping[str, Schema] = NOTHING
    headers: tuple[str, ...] = ()


class Body(NamedTuple):
    """What an operation takes: `schema` goes into openapi.yaml, `shape` checks what comes; without it any JSON value may come."""

    schema: Schema
    shape: marshmallow.Schema | None = None
    needed: bool = True
    examples: Mapping[str, Any] = NOTHING


class Operation(NamedTuple):
    """One method of one address."""

    id: str
    method: str
    path: str
    tag: str
    summary: str
    view: Callable[..., Response]
    answers: Mapping[int, Answer]
    about: str = ""
    key: str = "none"  # none, optional, needed
    query: marshmallow.Schema | None = None
    headers: tuple[str, ...] = ()
    body: Body | None = None
    problems: tuple[str, ...] = ()
    ids: Mapping[str, Schema] = NOTHING
    links: Mapping[str, Any] = NOTHING
    drafted: bool = False

    def all_problems(self) -> list[str]:
        """Every code with which the operation may fail, those that follow from what it takes included, in the order of `CODES`."""
        found = {"bad_request", "bad_query", "broken", *self.problems}
        if self.key != "none":
            found |= {"bad_key", "store_away"}
        if self.key == "needed":
            found.add("no_key")
        if self.body is not None:
            found |= {"bad_json", "bad_body", "too_large", "not_json", "busy"}
        if self.headers:
            found.add("bad_header")
        return [code for code in CODES if code in found]


UNCHANGED = Answer("Nothing has changed since the version in `If-None-Match`.", headers=("ETag",))


class Asked(NamedTuple):
    """A request as a view sees it: who asks, and what came, already checked."""

    caller: Caller
    query: Mapping[str, Any]
    body: Any
    environ: Mapping[str, Any]

    def header(self, name: str) -> str | None:
        """A header, if it came."""
        return self.environ.get(f"HTTP_{name.upper().replace('-', '_')}")


Served = Callable[..., Response]


def mount(app: Flask, operations: list[Operation], keys: Keys, body_limit: int) -> dict[str, Served]:
    """Give Flask a route for every operation; and every operation as it is served, by id, for whoever has routed by himself."""
    mounted = {}
    for operation in operations:
        rule = operation.path.replace("{", "<").replace("}", ">")
        served = mounted[operation.id] = _served(operation, keys, body_limit)
        app.add_url_rule(rule, operation.id, _by_flask(served), methods=[operation.method])
    return mounted


def _by_flask(served: Served) -> Callable[..., Response]:
    return lambda **ids: served(request.environ, **ids)


def _served(operation: Operation, keys: Keys, body_limit: int) -> Served:
    """The operation from environ to answer: key, query and body first, then the view; whatever goes wrong becomes a problem."""
    view, body, key = operation.view, operation.body, operation.key
    query = operation.query or marshmallow.Schema()
    unasked: Mapping[str, Any] = query.load({})

    def served(environ: dict[str, Any], **ids: str) -> Response:
        note = note_of(environ)
        note.operation = operation.id
        try:
            caller = keys.caller(environ.get("HTTP_AUTHORIZATION"), key) if key != "none" else NOBODY
            note.player = caller.id
            asked = query_of(query, environ) if environ.get("QUERY_STRING") else unasked
            return view(Asked(caller, asked, body_of(body, environ, body_limit) if body is not None else None, environ), **ids)
        except Exception as error:  # noqa: BLE001 - nothing is swallowed: it is told, and noted
            answer = told(problem_of(error, note.id))
        note.code = answer.code
        return answer

    return served


def problem_of(error: Exception, request_id: str) -> Problem:
    """What went wrong, as a problem; what nobody has foreseen is noted by its kind and place, since its text may hold what is hidden."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, PlatformError):
        return declined(error)
    if isinstance(error, StoreUnavailable):
        log.warning("store_away", request=request_id)
        return Problem("store_away")
    log.error("broken", request=request_id, error=type(error).__name__, where=_where(error))
    return Problem("broken")


def _where(error: BaseException) -> str:
    """The innermost place that an error came from."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def query_of(shape: marshmallow.Schema, environ: dict[str, Any]) -> Mapping[str, Any]:
    """The query as its shape wants it. Raises Problem `bad_query`, also for a name that is unknown or comes twice."""
    given = Request(environ).args.to_dict(flat=False)
    twice = [name for name, values in given.items() if len(values) > 1]
    if twice:
        raise Problem("bad_query", errors_of({twice[0]: ["It may come once only."]}), reason=f"{twice[0]} comes more than once")
    try:
        loaded: Mapping[str, Any] = shape.load({name: values[0] for name, values in given.items()})
    except marshmallow.ValidationError as wrong:
        raise Problem("bad_query", errors_of(wrong.normalized_messages()), reason=reason_of(wrong)) from None
    return loaded


def body_of(body: Body, environ: Mapping[str, Any], limit: int) -> Any:
    """The body as its shape wants it. Raises Problem `not_json`, `too_large`, `bad_json` or `bad_body`."""
    written = read(environ, limit)
    kind = environ.get("CONTENT_TYPE")
    if not written and not body.needed:
        value: Any = {}
    elif not is_json(kind):
        raise Problem("not_json")
    else:
        try:
            value = plain(orjson.loads(written), DEEPEST)
        except orjson.JSONDecodeError as wrong:
            raise Problem("bad_json", reason=wrong.msg) from None
    if body.shape is None:
        return value
    try:
        return body.shape.load(value)
    except marshmallow.ValidationError as wrong:
        raise Problem("bad_body", errors_of(wrong.normalized_messages()), reason=reason_of(wrong)) from None


def read(environ: Mapping[str, Any], limit: int) -> bytes:
    """The body's bytes.

    Raises Problem `bad_request` for a body that breaks off, `busy` where others send theirs too slowly, and `too_large`, after taking in
    what is left of a body that is not far too large: whoever is still sending would else see a broken connection and no answer.
    """
    stream = environ["wsgi.input"]
    length = environ.get("CONTENT_LENGTH")
    if not length and "HTTP_TRANSFER_ENCODING" not in environ:
        return b""
    if not _READING.acquire(timeout=1.0):
        raise Problem("busy")
    try:
        size = int(length) if length and length.isdigit() else limit + 1
        written: bytes = stream.read(min(size, limit + 1))
        if length and len(written) < min(size, limit + 1):
            raise Problem("bad_request")
        if len(written) <= limit:
            return written
        for _ in range(PATIENCE):
            if not stream.read(limit):
                break
    finally:
        _READING.release()
    raise Problem("too_large", limit=limit)


def plain(value: Any, depth: int) -> Any:
    """JSON as the rules count: whole numbers without a point are the same as with one. Raises Problem `bad_body` for what is nested too
    deeply or too large to be counted exactly."""
    if isinstance(value, float):
        value = int(value) if value.is_integer() else value
    if isinstance(value, (int, float)):
        if not -LARGEST <= value <= LARGEST:
            raise Problem("bad_body", reason=f"a number lies beyond {LARGEST}")
        return value
    if not isinstance(value, (dict, list)):
        return value
    if depth == 0:
        raise Problem("bad_body", reason=f"it is nested more than {DEEPEST} deep")
    if isinstance(value, dict):
        return {key: plain(item, depth - 1) for key, item in value.items()}
    return [plain(item, depth - 1) for item in value]


def is_json(content_type: str | None) -> bool:
    """Whether a Content-Type is JSON in UTF-8."""
    if content_type == "application/json":
        return True
    if content_type is None:
        return False
    kind, options = parse_options_header(content_type)
    return kind.lower() == "application/json" and options.get("charset", "utf-8").lower() in ("utf-8", "utf8", "us-ascii")


def errors_of(messages: Any, where: str = "") -> dict[str, Any]:
    """Marshmallow's messages as the member `errors`: a flat list of places and what is wrong there."""
    return {"errors": list(_flat(messages, where))}


def _flat(messages: Any, where: str) -> Any:
    if isinstance(messages, dict):
        for name, inner in messages.items():
            yield from _flat(inner, where if name == "_schema" else f"{where}/{name}")
        return
    for message in messages if isinstance(messages, list) else [messages]:
        yield {"where": where, "what": str(message)}
