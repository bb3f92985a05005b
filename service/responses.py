"""Answers: bytes with their media type, made in one place."""

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
    asked = MIMEAccept([(kind.partition(";")[0].strip(), quality) for kind, quality in parse_accept_header(accept, MIMEAccept)])
    return bool(asked) and asked.quality(media_type) > asked.quality(JSON)


def private(answer: Response, vary: str = "Authorization") -> Response:
    """The answer for whoever asked alone: what it says hangs on who asks, so whoever keeps it must ask again, and by key."""
    answer.headers.extend([("Vary", vary), _PRIVATE])
    return answer


def tagged(answer: Response, tag: int | str, vary: str = "Authorization") -> Response:
    """The answer, private, with the version as its ETag."""
    answer.headers["ETag"] = f'"{tag}"'
    return private(answer, vary)


def has(if_none_match: str | None, tag: int | str) -> bool:
    """Whether an If-None-Match header names the tag, so that a 304 will do."""
    return if_none_match is not None and parse_etags(if_none_match).contains_weak(str(tag))


_PRIVATE = ("Cache-Control", "private, no-cache")
