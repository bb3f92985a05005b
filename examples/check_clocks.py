"""Compute the clocks of a match from its entries: `python examples/check_clocks.py URL MATCH`.

Anybody may do this. The program uses only the standard library and no code of the service: it is written from docs/api.md and the contract
of the table. It compares its clocks with those that the service shows at each version. Set WARLEDGER_KEY if the match is hidden from
spectators.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.request
from collections.abc import Iterable, Iterator
from typing import Any

SECOND, HOUR, DAY = 1000, 3_600_000, 86_400_000
OF_DISPUTES = ("dispute", "withdraw_dispute", "state_side", "accept_ruling", "appeal")
AT_TABLE = ("resign", "return", "hand_over", "offer", "accept", "decline", "vote", "claim", *OF_DISPUTES)
"""The actions of seats that do not belong to the game."""

Clocks = dict[str, dict[str, int | None]]


class Match:
    """The parts of a match that matter to its clocks, after the entries read so far."""

    def __init__(self, created: dict[str, Any]) -> None:
        clock = created.get("clock", {"kind": "none"})
        self.kind: str = clock["kind"]
        self.free: int = {
            "per_action": SECOND * clock.get("seconds", 0),
            "bank": SECOND * clock.get("delay", 0),
            "days": HOUR * clock.get("hours", 0),
        }.get(self.kind, 0)
        self.start: int = {"bank": SECOND * clock.get("seconds", 0), "days": DAY * clock.get("vacation_days", 0)}.get(self.kind, 0)
        self.gain: int = SECOND * clock.get("increment", 0)
        self.players = {seat for seat, who in created["roster"].items() if "player" in who}
        self.runs, self.paused, self.frozen = False, False, False
        self.raised: dict[int, str] = {}  # by the number of a dispute, the seat that raised it
        self.freezing: set[int] = set()  # the disputes that freeze the match
        self.disputing: dict[int, str] = {}  # by the number of a dispute, the seat whose clock it does not stop
        self.substituted: set[str] = set()  # seats that an artificial player plays until their owners return
        self.voted: set[str] = set()  # seats about which the others vote
        self.to_act: list[str] = []
        self.now = 0
        self.bank: dict[str, int] = {}
        self.used: dict[str, int] = {}
        self.since: dict[str, int] = {}
        self.late: dict[str, int] = {}

    def awaited(self, seat: str) -> bool:
        """Return True if the player of a seat must decide."""
        return self.runs and seat in self.to_act and seat not in self.substituted | self.voted

    def read(self, entry: dict[str, Any], to_act: list[str]) -> None:
        """Read an entry. `to_act`: who must act in the game after it."""
        awaited = {seat for seat in self.bank if self.awaited(seat)}
        for event in entry["events"]:
            self._fold(event)
        self.to_act = to_act
        self.now = max(self.now, entry["at"])
        for seat in self.bank:
            own = entry["actor"] == seat and entry["action"]["type"] not in AT_TABLE and seat not in self.substituted
            end = entry["at"] if own else self.now
            anew = any(event["type"] == "time_ran_out" and event["seat"] == seat for event in entry["events"])
            ends = seat in awaited and (not self.awaited(seat) or anew or (own and self.kind == "per_action"))
            goes_on = self.awaited(seat) and not self.paused and (not self.frozen or seat in self.disputing.values())
            if seat in self.since and (ends or not goes_on):
                self.used[seat] += end - self.since.pop(seat)
            if ends:
                self.bank[seat] = max(0, self.bank[seat] - max(0, self.used[seat] - self.free)) + self.gain
                self.used[seat] = 0
            if own:
                self.late[seat] = 0
            if goes_on:
                self.since.setdefault(seat, end)

    def clocks(self) -> Clocks:
        """Return the clocks as the service shows them: the time left when each began to run, its deadline, and its time-outs in a row."""
        left = {seat: max(0, self.free + self.bank[seat] - self.used[seat]) for seat in self.bank}
        return {
            seat: {"left": left[seat], "deadline": self.since[seat] + left[seat] if seat in self.since else None, "late": self.late[seat]}
            for seat in self.bank
        }

    def _fold(self, event: dict[str, Any]) -> None:
        """Read an event of the table."""
        kind, seat = event["type"], event.get("seat", "")
        if kind in ("seat_taken", "seat_left"):
            (self.players.add if kind == "seat_taken" else self.players.discard)(seat)
        elif kind == "seats_filled":
            self.runs = True
            if self.kind != "none":
                self.bank = dict.fromkeys(self.players, self.start)
                self.used, self.late = dict.fromkeys(self.players, 0), dict.fromkeys(self.players, 0)
        elif kind in ("match_paused", "match_resumed"):
            self.paused = kind == "match_paused"
        elif kind in ("match_frozen", "match_unfrozen"):
            self.frozen = kind == "match_frozen"
        elif "dispute" in event and kind != "match_created":
            self._fold_dispute(event, kind)
        else:
            self._fold_time(event, kind, seat)

    def _fold_dispute(self, event: dict[str, Any], kind: str) -> None:
        """Read an event of a dispute: who disputes keeps its clock running until a referee takes the case, and may get its time back."""
        number = event["dispute"]
        if kind == "dispute_opened":
            self.raised[number] = event["seat"]
            if "freezes" in event:
                self.disputing[number] = event["seat"]
                self.freezing.add(number)
        elif kind in ("dispute_taken", "dispute_withdrawn", "freeze_ended"):
            self.disputing.pop(number, None)
        if kind == "freeze_ended":
            self.freezing.discard(number)
        if kind == "dispute_ruled" and "left" in event:
            seat = self.raised[number]
            self.bank[seat], self.used[seat] = event["left"]["bank"], self.free - event["left"]["free"]
            if number in self.freezing:
                self.since.pop(seat, None)

    def _fold_time(self, event: dict[str, Any], kind: str, seat: str) -> None:
        """Read an event about the time of a seat, or about who plays it."""
        if kind == "time_returned":
            for one, since in self.since.items():
                self.since[one] = since + max(0, event["to"] - max(event["from"], since))
        elif kind == "time_ran_out":
            self.late[seat] = event["in_a_row"]
        elif kind == "seat_substituted":
            self.substituted.add(seat)
        elif kind == "vote_opened":
            self.voted.add(seat)
        elif kind == "vote_closed":
            self.voted.discard(event["about"])
        elif kind in ("seat_returned", "seat_handed_over"):
            self.substituted.discard(seat)
            self.voted.discard(seat)
            if "refill" in event:
                self.bank[seat] = event["refill"]["bank"] + max(0, self.used[seat] - self.free)
        elif kind in ("seat_resigned", "seat_forfeited"):
            self.substituted.discard(seat)
            self.voted.discard(seat)


def computed(entries: Iterable[dict[str, Any]], to_act: Iterable[list[str]]) -> Iterator[Clocks]:
    """Yield the clocks after each entry of a match. `to_act`: who must act in the game after each."""
    match: Match | None = None
    for entry, actors in zip(entries, to_act, strict=True):
        if match is None:
            match = Match(entry["events"][0])
        match.read(entry, actors)
        yield match.clocks()


def get(url: str, path: str) -> Any:
    """Return the JSON at a path of the service."""
    key = os.environ.get("WARLEDGER_KEY")
    request = urllib.request.Request(f"{url}/v1/matches/{path}", headers={"Authorization": f"Bearer {key}"} if key else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def main(arguments: list[str] | None = None) -> int:
    """Check the clocks after every entry. Return 0 if all agree, else 1."""
    parser = argparse.ArgumentParser(description="Compute the clocks of a match from its entries.")
    parser.add_argument("url", help="such as http://127.0.0.1:8000")
    parser.add_argument("match")
    options = parser.parse_args(arguments)
    entries: list[dict[str, Any]] = []
    while page := get(options.url, f"{options.match}/entries?limit=500&after={len(entries)}")["entries"]:
        entries += page
    states = [get(options.url, f"{options.match}/state?at={entry['version']}") for entry in entries]
    for state, clocks in zip(states, computed(entries, (state["view"]["to_act"] for state in states)), strict=True):
        if state["clocks"] != clocks:
            print(f"version {state['version']}: by the entries the clocks are {clocks}, but the service shows {state['clocks']}")
            return 1
    print(f"the clocks after each of {len(entries)} entries follow from the entries, to the millisecond")
    return 0


if __name__ == "__main__":
    sys.exit(main())
