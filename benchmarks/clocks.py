"""Measure the cost of clocks: an action with a clock against one without, and a sweep with 100,000 pending deadlines."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.growth import ACTIONS, actions, begun
from benchmarks.pairs import Figure, figure, interleaved, ratios
from benchmarks.place import Place, Run, own_id
from events.due import DEADLINE
from events.platform import Platform
from events.store.log import Changes
from workers.sweep import call_deadlines, sweep

COST = 1.05
SWEEP_MS = 10
PENDING = 100_000
BATCH = 500
SWEEPS = 20
HOUR_MS = 3_600_000
CLOCK = {"kind": "bank", "seconds": 86_400, "increment": 10, "delay": 5}
ROUNDS = 5  # times as many actions as elsewhere, because the difference is small


def measured(run: Run) -> Iterator[Figure]:
    """Measure the actions and the sweeps."""
    with run.place("clocks") as place:
        yield from by_clock(place, run.pairs)
        yield from sweeps(place.platform)


def by_clock(place: Place, pairs: int) -> list[Figure]:
    """Measure the time of an action in a match with a clock, and in one without."""
    caller = place.caller()
    player = own_id(caller)
    timed, untimed = (actions(caller, partial(begun, place.platform, player, clock=clock)) for clock in (CLOCK, None))
    ours, theirs = [], []
    for _ in range(pairs):
        with_clock, without = interleaved(lambda: next(timed) * 1000, lambda: next(untimed) * 1000, ROUNDS * ACTIONS)
        ours.append(statistics.median(with_clock))
        theirs.append(statistics.median(without))
    return [
        figure("an action in a match with a clock", ours, "ms"),
        figure("an action in a match without a clock", theirs, "ms"),
        figure("with a clock / without", ratios(ours, theirs), "ratio", most=COST),
    ]


def sweeps(platform: Platform) -> list[Figure]:
    """Measure a sweep and a look at deadlines, with pending deadlines over ten hours."""
    now = platform.clock.now()
    tags = [platform.store.keys.tag(f"m{number:016}") for number in range(16 * platform.store.keys.partitions)]
    for number in range(PENDING // BATCH):
        match = f"m{tags.index(f'{{p{number % platform.store.keys.partitions}}}'):016}"
        head = platform.store.log.head(match)
        due = {f"{DEADLINE}|m{number:08}{place:08}|": now + HOUR_MS + place * 10 * HOUR_MS // BATCH for place in range(BATCH)}
        platform.store.log.append(match, head, [b"{}"], Changes(due=due))
    assert platform.store.due.counts(0).all >= PENDING
    return [
        figure(f"a sweep beside {PENDING:,} pending deadlines", _times(partial(sweep, platform)), "ms", most=SWEEP_MS),
        figure(f"a look at {PENDING:,} pending deadlines", _times(partial(call_deadlines, platform, now)), "ms", most=SWEEP_MS),
    ]


def _times(act: Callable[[], object]) -> list[float]:
    """Return the medians of some runs, in milliseconds."""
    found = []
    for _ in range(SWEEPS):
        times = []
        for _ in range(SWEEPS):
            began = time.perf_counter()
            act()
            times.append((time.perf_counter() - began) * 1000)
        found.append(statistics.median(times))
    return found
