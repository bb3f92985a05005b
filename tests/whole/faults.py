"""A service with a player, for tests that break it: its parts, and what must be true of all that it has acknowledged."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import requests

from events.keeping import embedded
from games import GAMES
from games.choices import complete
from sdk.python.warledger_client import in_the_game
from tests.whole.conftest import Client, until
from tools import private
from tools.processes import Process, family

PARTS = {
    "the_store": embedded.STORE,
    "the_queue": embedded.QUEUE,
    "the_web": "service.supervisor.web",
    "one_web_process": "service.supervisor.web",
    "a_worker": "workers.run",
}
RECOVERY = 10.0
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")


class Playing(threading.Thread):
    """A player who creates matches and plays without end, and records every action that the service has acknowledged."""

    def __init__(self, url: str, seed: int) -> None:
        super().__init__(daemon=True)
        self.client = Client(url)
        self.dice = random.Random(seed)
        self.acknowledged: dict[tuple[str, int], dict[str, Any]] = {}
        self.enough = threading.Event()
        self.pause = 0.0  # seconds between two actions
        self.failed: str | None = None

    def run(self) -> None:
        """Play until `enough` is set."""
        try:
            while not self.enough.is_set():
                self.play_one()
        except (AssertionError, requests.RequestException) as reason:
            self.failed = repr(reason)

    def play_one(self) -> None:
        """Play up to 40 actions of a match against itself."""
        match = self.client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "me"}})["id"]
        self.acknowledged[(match, 1)] = {"type": "create_match"}
        for number in range(40):
            choices = until(lambda: in_the_game(self.client.insist("GET", f"/v1/matches/{match}/choices")["choices"]), RECOVERY)
            choice = self.dice.choice(choices)
            action = complete(choice["action"], choice.get("choose", {}), self.dice.randrange)
            # The same key for every attempt: an attempt whose answer was lost must not be carried out twice.
            answer = self.client.insist("POST", f"/v1/matches/{match}/actions", action, {"Idempotency-Key": f"{match}-{number}"})
            self.acknowledged[(match, answer["version"])] = action
            if self.enough.wait(self.pause) or answer["outcome"] is not None:
                return


def check(client: Client, acknowledged: dict[tuple[str, int], dict[str, Any]]) -> None:
    """Check that every acknowledged action is in the entries exactly once."""
    assert acknowledged
    for match in {match for match, _ in acknowledged}:
        entries = client.insist("GET", f"/v1/matches/{match}/entries?limit=500")["entries"]
        assert [entry["version"] for entry in entries] == list(range(1, len(entries) + 1))
        stored = {entry["version"]: entry["action"] for entry in entries}
        for (where, version), action in acknowledged.items():
            if where == match:
                assert stored[version]["type"] == action["type"], (match, version)
        own = [entry for entry in entries if entry["actor"] in GAMES["war"].seats.ids]
        assert len(own) <= sum(where == match for where, _ in acknowledged), "an action was carried out twice"


def finish(player: Playing, seconds: float = 30.0) -> None:
    """Let a player stop. Nothing that was acknowledged may be lost or done twice."""
    if not player.enough.is_set():
        player.enough.set()
        player.join(seconds)
        assert player.failed is None
        check(player.client, player.acknowledged)


def goes_on(player: Playing, seconds: float = RECOVERY, without: str = "", more: int = 10) -> None:
    """Wait until play goes on by so many actions, also `without` a part."""
    before = len(player.acknowledged)
    until(lambda: len(player.acknowledged) > before + more or player.failed, seconds, f"nothing goes on {without}")
    assert player.failed is None


def part(place: private.Place, name: str) -> list[Process]:
    """Return the processes of a part."""
    mark = PARTS[name]
    if mark in (embedded.STORE, embedded.QUEUE):
        mark = str(embedded.socket_of(place.data.resolve() / mark))
    return [process for process in family(place.process.pid) if mark in process.command]


def victims_of(place: private.Place, name: str) -> list[int]:
    """Return the numbers of the processes to kill of a part: all of the web, and one of every other part."""
    found = [process.number for process in part(place, name)]
    return found if name == "the_web" else found[:1]


def answer(place: private.Place, path: str) -> requests.Response:
    """Return the answer to a request without a key. A web process that has just been killed gives an empty 503."""
    try:
        return requests.get(place.url + path, timeout=15)
    except requests.RequestException:
        nothing = requests.Response()
        nothing.status_code = 503
        nothing._content = b'{"detail": ""}'
        return nothing


def serve(*options: str, before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a `serve` that is expected to end by itself. `before` is called in its process first."""
    command = [sys.executable, "-m", "service.supervisor.serve", *options]
    return subprocess.run(command, cwd=private.ROOT, capture_output=True, text=True, timeout=60, preexec_fn=before)
