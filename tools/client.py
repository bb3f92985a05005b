"""A small HTTP client of the service, for tools and tests: JSON in both directions, and the stream of a match."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx
from httpx_sse import EventSource

PROBLEM_TEXT = 200  # characters that are kept of an error page


class Problem(Exception):
    """The service answered with an error. `problem` is the problem+json that came with it (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{status} {problem.get('code', '')}: {problem.get('detail', '')}")
        self.status = status
        self.problem = problem


class Unreachable(Exception):
    """The service did not answer."""


def in_the_game(choices: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the choices of the game, without those of the table, such as resigning."""
    return [choice for choice in choices if "at_table" not in choice]


class Client:
    """Calls to one service, with one API key or none. `timeout`: how many seconds to wait for an answer.

    Each request opens a connection and closes it, so a client need not be closed.
    """

    def __init__(self, url: str, key: str | None = None, timeout: float = 60.0) -> None:
        self.url = url.rstrip("/")
        self.key = key
        self._http = httpx.Client(timeout=timeout, limits=httpx.Limits(max_keepalive_connections=0))

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON at a path. Raises Problem or Unreachable."""
        return json.loads(self.fetch(path, **query))

    def post(self, path: str, body: Any = None) -> Any:
        """Return the JSON that answers a body. Raises Problem or Unreachable."""
        with self._request("POST", path, body=body) as answer:
            return json.loads(answer.read())

    def fetch(self, path: str, accept: str = "application/json", **query: Any) -> bytes:
        """Return the bytes at a path in the media type `accept`. Raises Problem or Unreachable."""
        with self._request("GET", path, accept, query) as answer:
            return answer.read()

    def stream(self, match: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the entries of a match as they come, until the match is over or the server closes. Raises Problem or Unreachable."""
        with self._request("GET", f"/v1/matches/{match}/stream", "text/event-stream", {"after": after}) as answer:
            for event in EventSource(answer).iter_sse():
                if event.event == "over":
                    return
                if event.event == "entry":
                    yield json.loads(event.data)

    @contextmanager
    def _request(
        self, method: str, path: str, accept: str = "application/json", query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Iterator[httpx.Response]:
        headers = {"Accept": accept}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            with self._http.stream(method, self.url + quote(path), params=query, json=body, headers=headers) as answer:
                if not answer.is_success:
                    raise Problem(answer.status_code, _problem(answer.read()))
                yield answer
        except (httpx.TransportError, httpx.InvalidURL) as reason:
            raise Unreachable(f"{self.url} does not answer: {reason}") from None


def _problem(body: bytes) -> dict[str, Any]:
    """Return the problem in the body of an error. If the body is not JSON, its text becomes the `detail`."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    return problem if isinstance(problem, dict) else {"detail": body.decode(errors="replace")[:PROBLEM_TEXT]}
