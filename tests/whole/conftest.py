"""A whole service to try things on, and a client that insists."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests

from tools import private


class Process(NamedTuple):
    """A process of the system: its number, its parent's, and its command line."""

    number: int
    parent: int
    command: str


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


def processes() -> list[Process]:
    """Every process of the system, but those that have ended and wait to be noticed."""
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,command="], capture_output=True, text=True, check=True).stdout
    split = (line.split(None, 3) for line in listed.splitlines())
    return [Process(int(number), int(parent), command) for number, parent, state, command in split if not state.startswith("Z")]


def family(number: int) -> list[Process]:
    """The descendants of a process."""
    every = processes()
    found = [process for process in every if process.parent == number]
    return found + [later for process in found for later in family(process.number)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[private.Place]:
    """A private service of one's own."""
    with private.service(tmp_path / "data") as running:
        yield running
