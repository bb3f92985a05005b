"""A whole match of War of Civilizations with six players and both expansions, over HTTP, from its creation to its audit."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest
import requests

from games.choices import complete
from games.war_of_civilizations import GAME
from sdk.python.warledger_client import in_the_game
from tests.whole.conftest import Client, until
from tools import private

SEATS = GAME.seats.ids
OPTIONS = {"pirates": True, "disasters": True, "round_limit": 5}
DULL = {"end_action", "end_turn"}
LIVELY = 0.6  # the share of decisions that leave these out if there are others
PATIENCE = 60.0


class Seat(threading.Thread):
    """A player who takes a random choice whenever the seat must act, and records every state it has seen."""

    def __init__(self, url: str, seat: str) -> None:
        super().__init__(daemon=True)
        self.client = Client(url)
        self.seat = seat
        self.match = ""
        self.will = random.Random(seat)
        self.seen: dict[int, bytes] = {}
        self.refused: list[Any] = []
        self.changed: list[int] = []

    def run(self) -> None:
        """Play to the end of the match."""
        base = f"/v1/matches/{self.match}"
        while (asked := self.call("GET", f"{base}/choices").json())["to_act"]:
            if choices := in_the_game(asked["choices"]):
                version, action = asked["version"], self.choose(choices)
                answer = self.call("POST", f"{base}/actions", action, {"If-Match": f'"{version}"'})
                if not answer.ok:
                    self.refused.append(answer.json())
                self.look_back(base)
            else:
                self.call("GET", f"{base}/entries?after={asked['version']}&wait=5")

    def look_back(self, base: str) -> None:
        """Get the newest state, and compare the state at an earlier version with the one seen then."""
        state = self.call("GET", f"{base}/state")
        self.seen[state.json()["version"]] = state.content
        version = self.will.choice(list(self.seen))
        if self.call("GET", f"{base}/state?at={version}").content != self.seen[version]:
            self.changed.append(version)

    def choose(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        """Draw a kind of action, then an action of that kind, so that rare kinds are as frequent as common ones."""
        kinds = list(dict.fromkeys(choice["action"]["type"] for choice in choices))
        lively = [kind for kind in kinds if kind not in DULL]
        kind = self.will.choice(lively if lively and self.will.random() < LIVELY else kinds)
        choice = self.will.choice([choice for choice in choices if choice["action"]["type"] == kind])
        return complete(choice["action"], choice.get("choose", {}), self.will.randrange)

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> requests.Response:
        return self.client.call(method, path, body, headers)


@pytest.mark.soak
def test_six_players_play_a_match_to_its_end_and_the_audit_passes(place: private.Place) -> None:
    seats = [Seat(place.url, seat) for seat in SEATS]
    asked = {"game": GAME.id, "seats": dict.fromkeys(SEATS, "open") | {SEATS[0]: "me"}, "options": OPTIONS}
    match = seats[0].client.insist("POST", "/v1/matches", asked)["id"]
    for seat in seats[1:]:
        seat.client.insist("POST", f"/v1/matches/{match}/seats/{seat.seat}", {})
    until(lambda: seats[0].client.insist("GET", f"/v1/matches/{match}")["phase"] == "deploy")
    for seat in seats:
        seat.match = match
        seat.start()
    for seat in seats:
        seat.join(PATIENCE)
    standing = seats[0].client.insist("GET", f"/v1/matches/{match}")
    assert (standing["status"], standing["phase"], standing["to_act"]) == ("over", "over", [])
    assert set(standing["outcome"]["scores"]) == set(SEATS)
    refused = [problem for seat in seats for problem in seat.refused]
    assert [problem for problem in refused if problem["code"] != "stale"] == [], "what is listed is legal"
    assert [seat.changed for seat in seats] == [[]] * len(SEATS)
    for seat in seats:
        assert len(seat.seen) > OPTIONS["round_limit"]
        for version, content in seat.seen.items():
            then = seat.client.call("GET", f"/v1/matches/{match}/state?at={version}&viewer={seat.seat}")
            assert then.content == content
    rex = Client(place.url)
    rex.key = place.admin_key
    rex.key = rex.insist("POST", "/v1/players", {"name": "Rex", "role": "referee"})["key"]
    report = rex.insist("GET", f"/v1/matches/{match}/audit")
    assert (report["ok"], report["findings"], report["versions"]) == (True, [], standing["version"])
    assert (report["commitment"], report["dice"], report["replayed_only"]) == ("kept", "verified", 0)
