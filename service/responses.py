"""Answers: bytes with their media type, made in one place."""

from __future__ import annotations

from typing import Any

import orjson
from flask import Response

JSON = "application/json"
NDJSON = "application/x-ndjson"


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


def tagged(answer: Response, version: int) -> Response:
    """The answer with the version as its ETag. What it says hangs on who asks, so whoever keeps it must ask again, and by key."""
    answer.headers.extend([("ETag", f'"{version}"'), *_PRIVATE])
    return answer


_PRIVATE = (("Vary", "Authorization"), ("Cache-Control", "private, no-cache"))
