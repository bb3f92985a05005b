"""A whole service, and a client that retries."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tools import private


class Client:
    """A player of a service that may be unavailable for a moment."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.key = ""
        self.key = self.insist("POST", "/v1/players", {"name": "somebody"})["key"]

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> requests.Response:
        """Send one request on a connection of its own."""
        with_key = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return requests.request(method, self.url + path, json=body, headers={**with_key, **(headers or {})}, timeout=15)

    def insist(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, seconds: float = 20.0) -> Any:
        """Send a request until its answer is 2xx, and return the body. AssertionError with all failures when the time is up."""
        failures: list[object] = []

        def answered() -> requests.Response | None:
            try:
                answer = self.call(method, path, body, headers)
            except requests.RequestException as reason:
                failures.append(reason)
                return None
            failures.append(answer.text)
            return answer if answer.ok else None

        return until(answered, seconds, failures).json()


def until(ready: Callable[[], Any], seconds: float = 60.0, message: object = "") -> Any:
    """Call `ready` until its result is true, and return that. AssertionError with a message when the time is up."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not (found := ready()):
        assert time.monotonic() < deadline, message
        pause.wait(0.02)
    return found


def kill(numbers: Iterable[int]) -> None:
    """Kill processes one after the other, as by `kill -9`. Some may have ended with their parents by then."""
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[private.Place]:
    """A private service for one test."""
    with private.service(tmp_path / "data", "--workers", "1") as running:
        yield running
