"""How long an AI's turn takes: from the append that makes it due to the append of the turn, as the store tells of both."""

from __future__ import annotations

import contextlib
import queue
import random
import threading
import time

from benchmarks.load import drawn, sorted_share
from benchmarks.pairs import Figure, figure
from benchmarks.place import Place
from events.wire import StoreUnavailable

GAME = "war"
SEATS = {"red": "me", "blue": "ai:greedy"}
WITHIN = 25.0
QUIET = 0.05


def measured(place: Place, turns: int) -> list[Figure]:
    """The median and the 99th percentile over many turns of a `greedy` seat, one at a time."""
    heads = heard(place)
    waits = [wait * 1000 for wait in waited(place, heads, turns)]
    return [
        figure("a greedy turn, due to appended", waits, "ms", most=WITHIN),
        figure("a greedy turn, 99th percentile", [sorted_share(waits, 0.99)], "ms"),
    ]


def heard(place: Place) -> queue.SimpleQueue[tuple[str, int, float]]:
    """Every new version of every match with the time at which the store told of it, from now on."""
    heads: queue.SimpleQueue[tuple[str, int, float]] = queue.SimpleQueue()
    ready = threading.Event()
    channels = [f"{tag}:heads" for tag in place.platform.store.tags()]

    def listen() -> None:
        with contextlib.suppress(StoreUnavailable):  # the end of the measurement
            for said in place.platform.store.wire.hear(channels, 1.0):
                ready.set()
                if said is not None:
                    match, version = said[1].decode().split()
                    heads.put((match, int(version), time.perf_counter()))

    threading.Thread(target=listen, daemon=True).start()
    assert ready.wait(10)
    return heads


def waited(place: Place, heads: queue.SimpleQueue[tuple[str, int, float]], turns: int) -> list[float]:
    """The seconds between the append that made each turn due and the next append of that match."""
    caller = place.caller()
    dice = random.Random(1)
    waits: list[float] = []
    while len(waits) < turns:
        match = caller.call("POST", "/v1/matches", {"game": GAME, "seats": SEATS})["id"]
        while (choices := caller.turn(match)) and len(waits) < turns:
            while choices:
                answer = caller.call("POST", f"/v1/matches/{match}/actions", drawn(choices, dice.randrange))
                choices = answer["choices"]
            if "blue" in answer["to_act"]:
                waits.append(until_next(heads, match, answer["version"]))
            time.sleep(QUIET)
    return waits


def until_next(heads: queue.SimpleQueue[tuple[str, int, float]], match: str, version: int) -> float:
    """The seconds between what the store told of a version and of the first one after it."""
    due = None
    while True:
        said, told, at = heads.get(timeout=30)
        if said == match and told == version:
            due = at
        elif said == match and told > version and due is not None:
            return at - due
