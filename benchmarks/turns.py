"""Measure the time of an AI turn: from the append that makes it due to the append of the turn, as the store announces both."""

from __future__ import annotations

import queue
import random
import threading
import time

from benchmarks.load import drawn, sorted_share
from benchmarks.pairs import Figure, figure
from benchmarks.place import Place, Run
from tools.client import in_the_game

GAME = "war"
SEATS = {"red": "me", "blue": "ai:greedy"}
WITHIN = 25.0
QUIET = 0.05


def measured(run: Run) -> list[Figure]:
    """Measure the median and the 99th percentile over many turns of a `greedy` seat, one at a time."""
    with run.place("turns") as place:
        waits = [wait * 1000 for wait in waited(place, announced(place), run.turns)]
    return [
        figure("a greedy turn, due to appended", waits, "ms", most=WITHIN),
        figure("a greedy turn, 99th percentile", [sorted_share(waits, 0.99)], "ms"),
    ]


def announced(place: Place) -> queue.SimpleQueue[tuple[str, int, float]]:
    """Return a queue that gets every new version of every match from now on, with the time of its announcement."""
    announcements: queue.SimpleQueue[tuple[str, int, float]] = queue.SimpleQueue()
    ready = threading.Event()

    def listen() -> None:
        for head in place.platform.store.heads():
            ready.set()
            if head is not None:
                announcements.put((head.match, head.version, time.perf_counter()))

    threading.Thread(target=listen, daemon=True).start()
    assert ready.wait(10)
    return announcements


def waited(place: Place, heads: queue.SimpleQueue[tuple[str, int, float]], turns: int) -> list[float]:
    """Return the seconds between the append that made each turn due and the next append of that match."""
    caller = place.caller()
    dice = random.Random(1)
    waits: list[float] = []
    while len(waits) < turns:
        match = caller.call("POST", "/v1/matches", {"game": GAME, "seats": SEATS})["id"]
        while (choices := caller.turn(match)) and len(waits) < turns:
            while choices:
                answer = caller.call("POST", f"/v1/matches/{match}/actions", drawn(choices, dice.randrange))
                choices = in_the_game(answer["choices"])
            if "blue" in answer["to_act"]:
                waits.append(until_next(heads, match, answer["version"]))
            time.sleep(QUIET)
    return waits


def until_next(heads: queue.SimpleQueue[tuple[str, int, float]], match: str, version: int) -> float:
    """Return the seconds between the announcement of a version and the next announcement of its match."""
    due = None
    while True:
        announced_match, announced_version, at = heads.get(timeout=30)
        if announced_match == match and announced_version == version:
            due = at
        elif announced_match == match and announced_version > version and due is not None:
            return at - due
