"""Compression: open answers are sent as gzip to clients that accept it (docs/decisions/0066).

The length of a compressed answer reveals something about its content. So an answer is compressed only if everybody may see it: its view
marks it as open. All other answers are sent as they are.
"""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from cachetools import LRUCache
from flask import Flask, Response, request

from service.http.middleware import info_of
from service.http.responses import GZIPPED, Reply, takes

LEAST = 1000  # bytes; a smaller answer fits into one packet anyway
LEVEL = 9
KEPT = 16 * 2**20  # bytes of compressed answers that a process remembers
KINDS = frozenset(("application/json", "application/x-ndjson", "image/svg+xml", "text/javascript", "application/yaml"))

_remembered: LRUCache[bytes, bytes] = LRUCache(KEPT, getsizeof=len)
_lock = threading.Lock()


def mount(app: Flask) -> None:
    """Compress the open answers of an application."""

    @app.after_request
    def compress(response: Response) -> Response:
        return compressed(response, request.headers.get("Accept-Encoding")) if info_of(request.environ).open else response


def compressing(endpoint: Callable[..., Response | Reply]) -> Callable[..., Response | Reply]:
    """Return the endpoint with its open answers compressed. Its first argument is the environ of a request."""

    def compress(environ: dict[str, Any], **ids: str) -> Response | Reply:
        answer = endpoint(environ, **ids)
        if not info_of(environ).open:
            return answer
        response = answer.as_response() if isinstance(answer, Reply) else answer
        return compressed(response, environ.get("HTTP_ACCEPT_ENCODING"))

    return compress


def compressed(response: Response, accept_encoding: str | None) -> Response:
    """Return an open answer as gzip if it is text, long enough, and the caller accepts gzip. Its ETag is then marked: the bytes differ.

    A 304 gets the ETag of the compressed answer.
    """
    if response.status_code not in (200, 304) or "Content-Encoding" in response.headers:
        return response
    response.headers["Vary"] = ", ".join(filter(None, (response.headers.get("Vary"), "Accept-Encoding")))
    if not takes(accept_encoding, "gzip"):
        return response
    if response.status_code == 200:
        streamed, kind = response.is_streamed and not response.direct_passthrough, str(response.mimetype)
        if streamed or not (kind in KINDS or kind.startswith("text/")):
            return response
        response.direct_passthrough = False
        content = response.get_data()
        if len(content) < LEAST:
            return response
        response.set_data(_zipped(content))
        response.headers["Content-Encoding"] = "gzip"
    tag, weak = response.get_etag()
    if tag is not None and not weak:
        response.set_etag(tag.removesuffix(GZIPPED) + GZIPPED)
    return response


def _zipped(content: bytes) -> bytes:
    key = sha256(content).digest()
    with _lock:
        found = _remembered.get(key)
    if found is None:
        found = gzip.compress(content, LEVEL, mtime=0)
        if len(found) <= KEPT // 8:
            with _lock:
                _remembered[key] = found
    return found
