"""A whole service to try things on, and a client that insists."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tools import private


class Client:
    """A player of a service that may be away for a moment."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.key = ""
        self.key = self.insist("POST", "/v1/players", {"name": "somebody"})["key"]

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> requests.Response:
        """One request on a connection of its own."""
        with_key = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return requests.request(method, self.url + path, json=body, headers={**with_key, **(headers or {})}, timeout=15)

    def insist(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, seconds: float = 20.0) -> Any:
        """The same, again and again until it is answered with 2xx; AssertionError when the time is up."""
        told: list[object] = []

        def answered() -> requests.Response | None:
            try:
                answer = self.call(method, path, body, headers)
            except requests.RequestException as reason:
                told.append(reason)
                return None
            told.append(answer.text)
            return answer if answer.ok else None

        return until(answered, seconds, told).json()


def until(ready: Callable[[], Any], seconds: float = 20.0, told: object = "") -> Any:
    """What `ready` gives as soon as it is true; AssertionError with what was told when the time is up."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not (found := ready()):
        assert time.monotonic() < deadline, told
        pause.wait(0.02)
    return found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[private.Place]:
    """A private service of one's own."""
    with private.service(tmp_path / "data") as running:
        yield running
