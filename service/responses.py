"""Responses: the bytes of an answer, its media type and its cache headers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from flask import Response
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header, parse_etags

JSON = "application/json"
NDJSON = "application/x-ndjson"
TEXT = "text/plain"
EVENT_STREAM = "text/event-stream"

_JSON_HEADERS = [("Content-Type", JSON)]
_PRIVATE = ("Cache-Control", "private, no-cache")


def sorted_json(value: Any) -> bytes:
    """Return JSON with sorted keys, so that equal values always give the same bytes."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def json_response(value: Any, status: int = 200) -> Response:
    """Return a response in JSON."""
    return Response(sorted_json(value), status, _JSON_HEADERS)


def markdown_response(text: str) -> Response:
    """Return a response in Markdown."""
    return Response(text, mimetype="text/markdown")


def text_response(lines: Iterable[str]) -> Response:
    """Return a response of lines of plain text."""
    return Response("".join(f"{line}\n" for line in lines), mimetype=TEXT)


def empty_response(status: int) -> Response:
    """Return a response without a body."""
    response = Response(status=status)
    del response.headers["Content-Type"]
    return response


def prefers(accept: str | None, media_type: str) -> bool:
    """Return True if an Accept header prefers a media type to JSON."""
    if accept is None:
        return False
    accepted = MIMEAccept([(kind.partition(";")[0].strip(), quality) for kind, quality in parse_accept_header(accept, MIMEAccept)])
    return bool(accepted) and accepted.quality(media_type) > accepted.quality(JSON)


def private(response: Response, vary: str = "Authorization") -> Response:
    """Mark a response as one for its caller alone. Caches must revalidate it, for each key."""
    response.headers.extend([("Vary", vary), _PRIVATE])
    return response


def tagged(response: Response, tag: int | str, vary: str = "Authorization") -> Response:
    """Mark a response as private and set its ETag."""
    response.headers["ETag"] = f'"{tag}"'
    return private(response, vary)


def names_tag(if_none_match: str | None, tag: int | str) -> bool:
    """Return True if an If-None-Match header names the tag, so that the answer is 304."""
    return if_none_match is not None and parse_etags(if_none_match).contains_weak(str(tag))
