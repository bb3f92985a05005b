"""Measure the workers: their speed, and how long a polite player waits for them, alone and beside 500 AI matches of another player.

"Due" and "appended" are the times at which the store announces the two appends.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from benchmarks.load import drawn, sorted_share
from benchmarks.pairs import Figure, figure
from benchmarks.place import Place, Run, own_id
from events import play
from games.kernel import SYSTEM
from record.entries import parse
from sdk.python.warledger_client import in_the_game

GREEDY = "ai:greedy"
CROWD = 500
CROWDED = ("war_of_civilizations", dict.fromkeys(("fox", "rhino", "tiger", "ape", "squirrel", "lion"), GREEDY))
POLITE = ("war", {"red": "me", "blue": GREEDY})
WARS = ("war", {"red": GREEDY, "blue": GREEDY})
WAR_MATCHES = 300

ALONE = 5.0, 15.0  # milliseconds of an AI turn without a crowd, median and 99th percentile
THINK_WITHIN, ROUND_WITHIN = 250.0, 100.0  # milliseconds beside the crowd
STEPS_LEAST = 800.0

Heads = queue.SimpleQueue[tuple[str, int, float]]


class Waits(NamedTuple):
    """The milliseconds from due to appended: for the turns of AI seats, and for steps of the system, such as the end of a round.

    `others`: the number of appends to other matches meanwhile.
    """

    think: list[float]
    advance: list[float]
    others: int = 0


def measured(run: Run) -> Iterator[Figure]:
    """Measure the waits of a polite player, alone and beside a crowd, and the steps per second in the matches of the crowd."""
    with run.place("fair") as place:
        heads = announced(place)
        alone = waits(place, heads, run.turns)
        yield from _figures("alone", alone, ALONE[0])
        yield figure("an AI turn alone, 99th percentile", [sorted_share(alone.think, 0.99)], "ms", most=ALONE[1])
        fill(place, heads, CROWDED, run.crowd)
        began = time.perf_counter()
        beside = waits(place, heads, run.turns // 4)
        rate = beside.others / (time.perf_counter() - began)
        yield from _figures(f"beside {run.crowd} matches", beside, THINK_WITHIN, ROUND_WITHIN)
        yield figure(f"steps of these {run.crowd} matches meanwhile", [rate], "steps/s")


def steps(run: Run) -> Iterator[Figure]:
    """Measure the steps per second of greedy seats in War!, with the workers of the place and no other work."""
    with run.place("steps") as place:
        heads = announced(place)
        fill(place, heads, WARS, WAR_MATCHES)
        rates = [rate(heads, run.seconds / 2) for _ in range(run.pairs)]
        yield figure("steps of greedy seats and the system in War!", rates, "steps/s", least=STEPS_LEAST)


def announced(place: Place) -> Heads:
    """Return a queue that gets every new version of every match from now on, with the time of its announcement."""
    announcements: Heads = queue.SimpleQueue()
    ready = threading.Event()

    def listen() -> None:
        for head in place.platform.store.heads():
            ready.set()
            if head is not None:
                announcements.put((head.match, head.version, time.perf_counter()))

    threading.Thread(target=listen, daemon=True).start()
    assert ready.wait(10)
    return announcements


def rate(heads: Heads, seconds: float) -> float:
    """Return the appends per second that are announced in the next seconds."""
    while not heads.empty():
        heads.get()
    began = time.perf_counter()
    time.sleep(seconds)
    return heads.qsize() / (time.perf_counter() - began)


def fill(place: Place, heads: Heads, what: tuple[str, Mapping[str, str]], matches: int) -> None:
    """Create matches of the first player directly in the store. Wait until sweeps have found them and workers have begun them."""
    creator = own_id(place.caller())
    for _ in range(matches):
        play.create(place.platform, creator, what[0], what[1], {})
    begun: set[str] = set()
    while len(begun) < matches:
        match, version, _ = heads.get(timeout=30)
        if version > 1:
            begun.add(match)


def waits(place: Place, heads: Heads, turns: int) -> Waits:
    """Let the second player play against an AI seat until that has had some turns. Return the waits of the player."""
    caller = place.other_caller()
    dice = random.Random(1)
    found = Waits([], [])
    while len(found.think) < turns:
        match = caller.call("POST", "/v1/matches", {"game": POLITE[0], "seats": POLITE[1]})["id"]
        left = turns - len(found.think)
        while left and (choices := caller.turn(match)):
            while choices:
                answer = caller.call("POST", f"/v1/matches/{match}/actions", drawn(choices, dice.randrange))
                choices = in_the_game(answer["choices"])
            left -= 1
        caller.turn(match)
        found = found._replace(others=found.others + collect(place, heads, match, found))
    return found


def collect(place: Place, heads: Heads, match: str, found: Waits) -> int:
    """Add the waits in a match to `found`: the time between the announcements of two appends, if a worker made the second.

    Return the number of appends to other matches.
    """
    others = 0
    actors = [parse(raw).actor for raw in place.platform.store.log.read_all(match)]
    before: tuple[int, float] | None = None
    while before is None or before[0] < len(actors):
        name, version, at = heads.get(timeout=30)
        if name != match:
            others += 1
            continue
        if before is not None and (actor := actors[before[0]]) in (SYSTEM, "blue"):
            (found.advance if actor == SYSTEM else found.think).append((at - before[1]) * 1000)
        before = version, at
    return others


def _figures(where: str, waits: Waits, think: float | None = None, advance: float | None = None) -> Iterator[Figure]:
    for name, values, most in (("an AI turn", waits.think, think), ("a system's step", waits.advance, advance)):
        told = f"p95 {sorted_share(values, 0.95):.3g} ms, p99 {sorted_share(values, 0.99):.3g} ms"
        yield figure(f"{name} {where}, due to appended", values, "ms", most=most, told=told)
