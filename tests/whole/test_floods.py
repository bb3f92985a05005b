"""Floods within every limit, beside a polite player: turns of AI seats and time-outs of all others stay in time."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from games.choices import complete
from sdk.python.warledger_client import in_the_game
from tests.whole.conftest import Client
from tests.whole.test_clocks import time_outs
from tools import private

MATCHES = 450
SECONDS = 60.0
TURN, TIME_OUT = 0.5, 1.0  # seconds at most beside a flood
BUSY = 3.0  # times the slowest turn without a flood, on a machine that is busy anyway
SEATS = dict.fromkeys(("fox", "rhino", "tiger", "ape", "squirrel", "lion"), "me")
WAR = {"game": "war", "seats": {"red": "me", "blue": "me"}}
SHORT: dict[str, Any] = {"clock": {"kind": "bank", "seconds": 5}, "time_out": {"policy": "skip", "in_a_row": 10}}
FLOODS = {
    "skipped": {"game": "war_of_civilizations", "seats": SEATS, **SHORT},  # empty banks: each turn runs out of time as it begins
    "substitutes": {**WAR, "clock": {"kind": "per_action", "seconds": 5}},
}


@pytest.fixture
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[private.Place]:
    """A service with the workers that `serve` has by itself."""
    with private.service(tmp_path_factory.mktemp("floods") / "data") as running:
        yield running


class Polite(Client):
    """A player who plays against an AI seat, a turn after the other."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.match = ""

    def turns(self, seconds: float) -> list[float]:
        """Play for some seconds. Return how many seconds the AI seat took from the end of each turn to its first entry."""
        found, until = list[float](), time.monotonic() + seconds
        while time.monotonic() < until:
            wait = self.turn()
            if wait is not None:
                found.append(wait)
            threading.Event().wait(0.1)
        return found

    def turn(self) -> float | None:
        """Play a turn. Return how long the AI seat took to begin its own, or None if there was none."""
        if not self.match:
            self.match = self.insist("POST", "/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "ai:greedy"}})["id"]
        path, version = f"/v1/matches/{self.match}", 0
        asked = self.insist("GET", f"{path}/choices")
        choices = in_the_game(asked["choices"])
        if not choices:
            self.insist("GET", f"{path}/entries?after={asked['version']}&wait=1")
        while choices:
            choice = next((each for each in choices if each["action"]["type"].startswith("end")), choices[0])
            answer = self.insist("POST", f"{path}/actions", complete(choice["action"], choice.get("choose", {}), lambda below: 0))
            choices, version = in_the_game(answer["choices"]), answer["entries"][-1]["version"]
        began = time.monotonic()
        if version and self.insist("GET", f"{path}/entries?after={version}&wait=9")["entries"]:
            return time.monotonic() - began
        if self.insist("GET", path)["status"] != "playing":
            self.match = ""
        return None


class Clocked(threading.Thread):
    """A player whose matches run out of time, one each second. `late`: the seconds of each time-out after its deadline."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.client, self.late, self.stopped = Client(url), list[float](), threading.Event()

    def run(self) -> None:
        """Create matches, and look at each when its time is over."""
        matches: list[str] = []
        while not self.stopped.wait(1.0):
            body = {**WAR, "clock": {"kind": "per_action", "seconds": 5}, "time_out": {"policy": "forfeit"}}
            matches.append(self.client.insist("POST", "/v1/matches", body)["id"])
            if len(matches) > 8:
                entries = self.client.insist("GET", f"/v1/matches/{matches.pop(0)}/entries?limit=100")["entries"]
                self.late += [(at - deadline) / 1000 for at, deadline in time_outs(entries)] or [SECONDS]


@pytest.mark.soak
@pytest.mark.parametrize("flood", FLOODS)
@pytest.mark.parametrize("players", [1, 15])
def test_beside_a_flood_of_short_clocks_turns_and_time_outs_of_others_are_in_time(whole: private.Place, flood: str, players: int) -> None:
    polite, clocked = Polite(whole.url), Clocked(whole.url)
    polite.turns(2.0)
    alone = polite.turns(10.0)
    flooders = [Client(whole.url) for _ in range(players)]
    for number in range(MATCHES):
        flooders[number % players].insist("POST", "/v1/matches", FLOODS[flood])
    clocked.start()
    beside = polite.turns(SECONDS)
    clocked.stopped.set()
    clocked.join()
    told = f"alone {_told(alone)}, beside {_told(beside)}, time-outs {_told(clocked.late)}"
    assert len(beside) > 20, told
    assert max(beside) <= max(TURN, BUSY * max(alone)), told
    assert max(clocked.late) <= TIME_OUT, told


def _told(seconds: list[float]) -> str:
    return f"{len(seconds)}: median {statistics.median(seconds) * 1000:.0f} ms, most {max(seconds) * 1000:.0f} ms"
