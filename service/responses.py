"""Answers: bytes with their media type, made in one place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from flask import Response
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

JSON = "application/json"
NDJSON = "application/x-ndjson"
TEXT = "text/plain"


_IN_JSON = [("Content-Type", JSON)]


def written(value: Any) -> bytes:
    """JSON with its keys in order, so that the same always makes the same bytes, whatever way it came into memory."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def in_json(value: Any, status: int = 200) -> Response:
    """JSON."""
    return Response(written(value), status, _IN_JSON)


def in_markdown(text: str) -> Response:
    """Markdown, in UTF-8."""
    return Response(text, mimetype="text/markdown")


def in_text(lines: Iterable[str]) -> Response:
    """Lines of plain text, in UTF-8."""
    return Response("".join(f"{line}\n" for line in lines), mimetype=TEXT)


def in_no_words(status: int) -> Response:
    """A status alone."""
    answer = Response(status=status)
    del answer.headers["Content-Type"]
    return answer


def prefers(accept: str | None, media_type: str) -> bool:
    """Whether an Accept header would rather have a media type than JSON; what it says of both alike is JSON."""
    if accept is None:
        return False
    asked = parse_accept_header(accept, MIMEAccept)
    return bool(asked) and asked.quality(media_type) > asked.quality(JSON)


def tagged(answer: Response, version: int, vary: str = "Authorization") -> Response:
    """The answer with the version as its ETag. What it says hangs on who asks, so whoever keeps it must ask again, and by key."""
    answer.headers.extend([("ETag", f'"{version}"'), ("Vary", vary), _PRIVATE])
    return answer


_PRIVATE = ("Cache-Control", "private, no-cache")
