"""CORS: which answers pages of other origins may read, and what they may send (docs/decisions/0102).

Open is what needs no key, or a key that the page itself sends in `Authorization`: the API, the log, the descriptions, static files.
Browsers send no credentials of their own with such requests, and nothing here allows them to. Pages for people and probes are closed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Headers = list[tuple[str, str]]

ANY = "*"
NONE = "none"
OPEN = ("/v1/", "/log/", "/static/", "/sdk/", "/.well-known/", "/openapi.", "/asyncapi.", "/oembed")
"""What the paths of open answers begin with."""

ON_ANY_ANSWER = ("Allow", "Content-Disposition", "Deprecation", "Preference-Applied", "Sunset", "X-Request-Id")
"""Headers that answers of any kind may have. The description does not repeat them at each operation."""

OF_ANY_REQUEST = ("Authorization", "Content-Type", "X-Request-Id")
SECONDS = 7200  # that a browser may remember a preflight; none remembers it longer than Chrome, for two hours


class Cors:
    """The CORS headers of answers.

    `origins`: those whose pages may read, `ANY` for all, or none. `methods` and `accepted`: the methods and request headers of the
    operations. `exposed`: the response headers that scripts may read.
    """

    def __init__(self, origins: Iterable[str], methods: Iterable[str], accepted: Iterable[str], exposed: Iterable[str]) -> None:
        self._origins = frozenset(origins)
        self._exposed = ("Access-Control-Expose-Headers", ", ".join(sorted({*exposed, *ON_ANY_ANSWER})))
        self._open = [("Access-Control-Allow-Origin", ANY), self._exposed]
        self._preflight = [
            ("Access-Control-Allow-Methods", ", ".join(sorted(methods))),
            ("Access-Control-Allow-Headers", ", ".join(sorted({*accepted, *OF_ANY_REQUEST}))),
            ("Access-Control-Max-Age", str(SECONDS)),
        ]

    def headers(self, environ: dict[str, Any]) -> Headers:
        """Return the headers that an answer needs.

        If all origins may read, an answer to GET has the same headers for everybody, so any cache may keep it. Otherwise answers differ by
        origin, and say so also to a request without one.
        """
        origin = environ.get("HTTP_ORIGIN")
        if not self._origins or not environ["PATH_INFO"].startswith(OPEN) or (origin is None and environ["REQUEST_METHOD"] == "POST"):
            return []
        if ANY in self._origins:
            return self._open
        vary = ("Vary", "Origin")
        return [vary, ("Access-Control-Allow-Origin", origin), self._exposed] if origin in self._origins else [vary]

    def preflight(self, environ: dict[str, Any]) -> Headers | None:
        """Return the further headers of the answer if a browser asks what a page may send. Return None for any other request.

        Pages in the internet may reach a server in a private network only from origins that the operator has named.
        """
        if environ["REQUEST_METHOD"] != "OPTIONS" or "HTTP_ACCESS_CONTROL_REQUEST_METHOD" not in environ:
            return None
        if not environ["PATH_INFO"].startswith(OPEN):
            return []
        origin = environ.get("HTTP_ORIGIN")
        if origin not in self._origins:
            return self._preflight if ANY in self._origins else []
        asked = "HTTP_ACCESS_CONTROL_REQUEST_PRIVATE_NETWORK" in environ
        return [*self._preflight, ("Access-Control-Allow-Private-Network", "true")] if asked else self._preflight
