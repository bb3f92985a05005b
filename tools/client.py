"""A client of the service, as short as one can be: JSON both ways, and the stream line by line."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any


class Problem(Exception):
    """The service said no: the status, and the problem it told."""

    def __init__(self, status: int, told: Mapping[str, Any]) -> None:
        super().__init__(f"{status} {told.get('code', '')}: {told.get('detail', '')}")
        self.status = status
        self.told = told


class Client:
    """Calls to one service with one key, or none."""

    def __init__(self, url: str, key: str | None = None, patience: float = 60.0) -> None:
        self.url = url.rstrip("/")
        self.key = key
        self.patience = patience

    def get(self, path: str, **query: Any) -> Any:
        """The JSON at a path. Raises Problem."""
        return json.loads(self.fetched(path, **query))

    def post(self, path: str, body: Any = None) -> Any:
        """The JSON that comes back for a body. Raises Problem."""
        with self._opened("POST", path, json.dumps(body).encode() if body is not None else None) as answer:
            return json.loads(answer.read())

    def fetched(self, path: str, accept: str = "application/json", **query: Any) -> bytes:
        """What stands at a path, as it is. Raises Problem."""
        asked = "?" + urllib.parse.urlencode(query) if query else ""
        with self._opened("GET", path + asked, accept=accept) as answer:
            whole: bytes = answer.read()
            return whole

    def stream(self, match: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """The entries of a match as they come, until it is over or the server lets go. Raises Problem."""
        with self._opened("GET", f"/v1/matches/{match}/stream?after={after}", accept="text/event-stream") as answer:
            name = ""
            for line in answer:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data" and name == "entry":
                    yield json.loads(value)
                elif field == "data" and name == "over":
                    return

    def _opened(self, method: str, path: str, body: bytes | None = None, accept: str = "application/json") -> Any:
        request = urllib.request.Request(self.url + urllib.parse.quote(path, safe="/?&=%"), body, {"Accept": accept}, method=method)
        if body is not None:
            request.add_header("Content-Type", "application/json")
        if self.key is not None:
            request.add_header("Authorization", f"Bearer {self.key}")
        try:
            return urllib.request.urlopen(request, timeout=self.patience)
        except urllib.error.HTTPError as failed:
            raise Problem(failed.code, _told(failed.read())) from None


def _told(body: bytes) -> dict[str, Any]:
    """The problem in an answer; of one that is no problem+json, its text."""
    try:
        told: dict[str, Any] = json.loads(body)
    except ValueError:
        return {"detail": body.decode(errors="replace")[:200]}
    return told
