"""`./run serve` when its parts are killed, when it is stopped, and when it cannot start."""

from __future__ import annotations

import os
import random
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import requests

from events import embedded
from games import GAMES
from games.choices import complete
from service.serve import turn_over
from tests.whole.conftest import Client, until
from tools import private
from tools.processes import Process, family, lives

PARTS = {
    "the_store": embedded.STORE,
    "the_queue": embedded.QUEUE,
    "the_web": "granian",
    "one_web_process": "granian",
    "a_worker": "workers.run",
}
RECOVERY = 10.0


class Playing(threading.Thread):
    """A player who creates matches and plays without end, and records every action that the service has acknowledged."""

    def __init__(self, url: str, seed: int) -> None:
        super().__init__(daemon=True)
        self.client = Client(url)
        self.dice = random.Random(seed)
        self.acknowledged: dict[tuple[str, int], dict[str, Any]] = {}
        self.enough = threading.Event()
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
            choices = until(lambda: self.client.insist("GET", f"/v1/matches/{match}/choices")["choices"], RECOVERY)
            choice = self.dice.choice(choices)
            action = complete(choice["action"], choice.get("choose", {}), self.dice.randrange)
            # The same key for every attempt: an attempt whose answer was lost must not be carried out twice.
            answer = self.client.insist("POST", f"/v1/matches/{match}/actions", action, {"Idempotency-Key": f"{match}-{number}"})
            self.acknowledged[(match, answer["version"])] = action
            if self.enough.is_set() or answer["outcome"] is not None:
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


def part(place: private.Place, name: str) -> list[Process]:
    """Return the processes of a part, with the one to kill first."""
    mark = PARTS[name]
    if mark in (embedded.STORE, embedded.QUEUE):
        mark = str(embedded.socket_of(place.data.resolve() / mark))
    found = [process for process in family(place.process.pid) if mark in process.command]
    return found[::-1] if name == "one_web_process" else found


@pytest.mark.parametrize("name", PARTS)
def test_acknowledged_actions_survive_kill_9_of(name: str, place: private.Place) -> None:
    player = Playing(place.url, 1)
    player.start()
    until(lambda: len(player.acknowledged) > 10)
    for _ in range(2):
        victims = until(lambda: part(place, name), RECOVERY, f"{name} does not come back")
        os.kill(victims[0].number, signal.SIGKILL)
        before = len(player.acknowledged)
        until(lambda before=before: len(player.acknowledged) > before + 10 or player.failed, RECOVERY, f"nothing goes on without {name}")
    player.enough.set()
    player.join(30)
    assert player.failed is None
    check(player.client, player.acknowledged)
    until(lambda: len(part(place, name)) >= len(victims), RECOVERY, f"{name} is not all there again")


def test_acknowledged_actions_survive_kill_9_of_everything_at_once(tmp_path: Path) -> None:
    place = private.started(tmp_path)
    player = Playing(place.url, 2)
    player.start()
    until(lambda: len(player.acknowledged) > 10)
    for process in [*family(place.process.pid), Process(place.process.pid, 0, "")]:
        os.kill(process.number, signal.SIGKILL)
    place.process.wait()
    acknowledged = dict(player.acknowledged)
    player.enough.set()
    with private.service(tmp_path) as again:
        client = Client(again.url)
        for match in {match for match, _ in acknowledged}:
            entries = client.insist("GET", f"/v1/matches/{match}/entries?limit=500")["entries"]
            assert len(entries) >= max(version for where, version in acknowledged if where == match)


def test_a_killed_supervisor_leaves_no_process_and_the_next_one_has_the_data(tmp_path: Path) -> None:
    place = private.started(tmp_path)
    client = Client(place.url)
    match = client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}})["id"]
    children = {process.number for process in family(place.process.pid)}
    place.process.kill()
    place.process.wait()
    with private.service(tmp_path) as again:
        assert Client(again.url).insist("GET", f"/v1/matches/{match}")["id"] == match
    until(lambda: not [number for number in children if lives(number)], 5, "the children of a killed supervisor live on")


def test_on_sigterm_it_ends_within_three_seconds_even_with_open_streams(tmp_path: Path) -> None:
    place = private.started(tmp_path)
    client = Client(place.url)
    match = client.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}})["id"]
    streams = [requests.get(f"{place.url}/v1/matches/{match}/stream", stream=True, timeout=10) for _ in range(5)]
    children = family(place.process.pid)
    assert len(children) >= 6
    began = time.monotonic()
    place.process.terminate()
    assert place.process.wait(10) == 0
    assert time.monotonic() - began < 3.5
    assert [child for child in children if lives(child.number)] == []
    for stream in streams:
        stream.close()


def test_a_second_serve_on_the_same_folder_says_that_it_is_in_use(place: private.Place) -> None:
    ended = serve("--port", "0", "--data", str(place.data))
    assert ended.returncode == 1
    assert f"is in use by another `serve` (process {place.process.pid})" in ended.stderr


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = serve("--port", str(port), "--data", str(tmp_path))
    assert ended.returncode == 1
    assert f"Port {port} of 127.0.0.1 cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_admin_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    keys = set()
    for _ in range(2):
        with private.service(tmp_path, "--workers", "0") as place:
            keys.add(place.admin_key)
            assert place.admin_key.startswith("wl_")  # never with a dash, as an option would
            assert stat.S_IMODE((tmp_path / "admin.key").stat().st_mode) == 0o600
            made = requests.post(
                f"{place.url}/v1/players",
                json={"name": "judge", "role": "referee"},
                headers={"Authorization": f"Bearer {place.admin_key}"},
                timeout=10,
            )
            assert made.status_code == 201, made.text
    assert len(keys) == 1


def test_a_large_log_is_rotated_while_a_process_writes_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.serve.LOG_LIMIT", 10)
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"small\n")
        turn_over(log)
        assert (log.read_bytes(), list(tmp_path.iterdir())) == (b"small\n", [log])
        writer.write(b"much more\n")
        turn_over(log)
        writer.write(b"after\n")
    assert log.read_bytes() == b"after\n"
    assert (tmp_path / "web.log.1").read_bytes() == b"small\nmuch more\n"
    turn_over(None)


def serve(*options: str) -> subprocess.CompletedProcess[str]:
    """Run a `serve` that is expected to end by itself."""
    command = [sys.executable, "-m", "service.serve", *options]
    return subprocess.run(command, cwd=private.ROOT, capture_output=True, text=True, timeout=60)
