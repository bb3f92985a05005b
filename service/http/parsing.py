"""Parse and check the query and the body of a request, before its view is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any

import marshmallow
import orjson
from flask import Request
from werkzeug.http import parse_options_header

from events.timing.flight import Received
from service.http.places import Place
from service.http.problems import Problem
from service.http.schemas import LARGEST, reason_of

RECEIVED = "warledger.received"  # the key in the environ of an action's `Received`

DEEPEST = 24
MOST_ERRORS = 10
LONGEST_PLACE = 100
DRAINED_READS = 16


def parse_query(schema: marshmallow.Schema, environ: dict[str, Any]) -> Mapping[str, Any]:
    """Return the query, checked by its schema. Raise Problem `bad_query`, also if a name is unknown or occurs twice."""
    return _parsed(schema, environ.get("QUERY_STRING", ""))


@lru_cache(maxsize=2048)  # checking a query takes as long as the rest of a small answer
def _parsed(schema: marshmallow.Schema, query: str) -> Mapping[str, Any]:
    given = Request({"QUERY_STRING": query}).args.to_dict(flat=False)
    repeated = next((name for name, values in given.items() if len(values) > 1), None)
    if repeated is not None:
        reason = f"{repeated[:LONGEST_PLACE]} occurs more than once"
        raise Problem("bad_query", errors_of({repeated: ["It may occur only once."]}), reason=reason)
    try:
        loaded: Mapping[str, Any] = schema.load({name: values[0] for name, values in given.items()})
    except marshmallow.ValidationError as error:
        raise Problem("bad_query", errors_of(error.normalized_messages()), reason=reason_of(error)) from None
    return MappingProxyType(loaded)


def parse_body(
    schema: marshmallow.Schema | None, required: bool, environ: Mapping[str, Any], limit: int, take: Callable[[Mapping[str, Any]], Place]
) -> Any:
    """Return the body, checked by its schema. Without a schema, return any JSON value. `take` takes a place while the body is read.

    Raise Problem `encoded`, `not_json`, `too_large`, `bad_request`, `bad_json` or `bad_body`.
    """
    encoding = environ.get("HTTP_CONTENT_ENCODING", "")
    if encoding.strip().lower() not in ("", "identity"):
        raise Problem("encoded", encoding=encoding[:LONGEST_PLACE])
    body = read_body(environ, limit, take)
    if not body and not required:
        value: Any = {}
    elif not is_json(environ.get("CONTENT_TYPE")):
        raise Problem("not_json")
    else:
        try:
            value = normalized(orjson.loads(body), DEEPEST)
        except orjson.JSONDecodeError as error:
            raise Problem("bad_json", reason=error.msg) from None
    if schema is None:
        return value
    try:
        return schema.load(value)
    except marshmallow.ValidationError as error:
        raise Problem("bad_body", errors_of(error.normalized_messages()), reason=reason_of(error)) from None


def read_body(environ: Mapping[str, Any], limit: int, take: Callable[[Mapping[str, Any]], Place]) -> bytes:
    """Return the bytes of the body. Reading occupies a thread until all bytes have come, so it needs a place, unless they have come.

    Raise Problem `bad_request` for a body that breaks off, `busy` if somebody else needed the place more, and `too_large`. If a body is
    only a little too large, the rest is read first. Otherwise a client that still sends would see a broken connection and no answer.
    """
    stream = environ["wsgi.input"]
    length = environ.get("CONTENT_LENGTH")
    if not length and "HTTP_TRANSFER_ENCODING" not in environ:
        return b""
    collected: bytes = getattr(stream, "collected", b"")  # of service/http/gateway.py
    if collected and length == str(len(collected)) and len(collected) <= limit:
        return collected
    with take(environ) as place:
        abandon = getattr(stream, "abandon", None)  # of service/http/gateway.py
        if abandon is not None:
            place.ends_by(abandon)
        size = int(length) if length and length.isdigit() else limit + 1
        received: Received | None = environ.get(RECEIVED)
        with nullcontext() if received is None else received.incomplete():
            body: bytes = stream.read(min(size, limit + 1))
        if len(body) < min(size, limit + 1) and not place.taken:
            raise Problem("busy")
        if length and len(body) < min(size, limit + 1):
            raise Problem("bad_request")
        if len(body) <= limit:
            return body
        for _ in range(DRAINED_READS):
            if not stream.read(limit):
                break
    raise Problem("too_large", limit=limit)


def normalized(value: Any, depth: int) -> Any:
    """Return a JSON value with whole numbers as integers: 7.0 becomes 7.

    Raise Problem `bad_body` for a value that is nested too deeply, or a number too large for exact integers.
    """
    if isinstance(value, float):
        value = int(value) if value.is_integer() else value
    if isinstance(value, (int, float)):
        if not -LARGEST <= value <= LARGEST:
            raise Problem("bad_body", reason=f"a number is beyond {LARGEST}")
        return value
    if not isinstance(value, (dict, list)):
        return value
    if depth == 0:
        raise Problem("bad_body", reason=f"it is nested more than {DEEPEST} levels deep")
    if isinstance(value, dict):
        return {key: normalized(item, depth - 1) for key, item in value.items()}
    return [normalized(item, depth - 1) for item in value]


def is_json(content_type: str | None) -> bool:
    """Return True if a Content-Type is JSON in UTF-8."""
    if content_type == "application/json":
        return True
    if content_type is None:
        return False
    kind, options = parse_options_header(content_type)
    return kind.lower() == "application/json" and options.get("charset", "utf-8").lower() in ("utf-8", "utf8", "us-ascii")


def errors_of(messages: Any) -> dict[str, Any]:
    """Return marshmallow's messages as the member `errors`: a flat list of places and what is wrong there.

    It has only the first few errors, and shortens long places, so that an answer does not repeat a large request.
    """
    return {"errors": list(islice(_flat(messages, ""), MOST_ERRORS))}


def _flat(messages: Any, where: str) -> Iterator[dict[str, str]]:
    if isinstance(messages, dict):
        for name, inner in messages.items():
            yield from _flat(inner, where if name == "_schema" else f"{where}/{name}")
        return
    for message in messages if isinstance(messages, list) else [messages]:
        yield {"where": where[:LONGEST_PLACE], "what": str(message)}
