"""Measure the time of an action over HTTP: in long matches, among many, with a clock. Also measure sweeps beside 100,000 deadlines."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.load import Caller, drawn
from benchmarks.pairs import Figure, compared, figure, interleaved
from benchmarks.place import Run, own_id
from events import play, recall
from events.due import DEADLINE
from events.platform import Platform
from events.store.log import Appended, Changes
from games import GAMES
from games.kernel import SYSTEM
from record.entries import Entry, link
from sdk.python.warledger_client import in_the_game
from workers.sweep import call_deadlines, sweep

GAME = "war"
GROWTH = 1.2
SHORT, LONG = 60, 4_960
FEW, MANY = 10, 10_000
ACTIONS = 60
FILLING = 200
COST = 1.05
SWEEP_MS = 10
PENDING = 100_000
BATCH = 500
SWEEPS = 20
HOUR_MS = 3_600_000
CLOCK = {"kind": "bank", "seconds": 86_400, "increment": 10, "delay": 5}
ROUNDS = 5  # times as many actions as elsewhere, because the difference is small


def by_length(run: Run) -> Iterator[Figure]:
    """Measure the time of an action at about version 100 and at about version 5,000."""
    with run.place("length") as place:
        caller = place.caller()
        player = own_id(caller)
        short, long = (actions(caller, partial(filled, place.platform, player, filler)) for filler in (SHORT, LONG))
        brief, lengthy = interleaved(lambda: median(short), lambda: median(long), run.pairs)
        yield from compared("an action at version 5,000", lengthy, "at version 100", brief, "ms", most=GROWTH)


def by_matches(run: Run) -> Iterator[Figure]:
    """Measure the time of an action in a service with 10 running matches, and in one with 10,000."""
    with run.place("few") as few, run.place("many") as many:
        sides = []
        for place, count in ((few, FEW), (many, MANY)):
            caller = place.caller()
            player = own_id(caller)
            for _ in range(count):
                begun(place.platform, player)
            sides.append(actions(caller, partial(begun, place.platform, player)))
        quiet, crowded = interleaved(lambda: median(sides[0]), lambda: median(sides[1]), run.pairs)
        yield from compared("an action among 10,000 matches", crowded, "among 10", quiet, "ms", most=GROWTH)


def median(times: Iterator[float], count: int = ACTIONS) -> float:
    """Return the median time of the next actions, in milliseconds."""
    return statistics.median(next(times) for _ in range(count)) * 1000


def actions(caller: Caller, begin: Callable[[], str]) -> Iterator[float]:
    """Play actions one after the other over one connection, match after match. Yield the seconds of each."""
    dice = random.Random(1)
    while True:
        match = begin()
        while choices := caller.turn(match):
            while choices:
                action = drawn(choices, dice.randrange)
                began = time.perf_counter()
                answer = caller.call("POST", f"/v1/matches/{match}/actions", action)
                yield time.perf_counter() - began
                choices = in_the_game(answer["choices"])


def begun(platform: Platform, player: str, game: str = GAME, clock: Mapping[str, Any] | None = None) -> str:
    """Return a new match of a player against the same player. The set-up is carried out here instead of by a worker."""
    settings = None if clock is None else {"clock": dict(clock)}
    match = play.create(platform, player, game, dict.fromkeys(GAMES[game].seats.ids[:2], "me"), {}, settings=settings).match
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    return match


def filled(platform: Platform, player: str, filler: int) -> str:
    """Return a match with a long log. Its filling entries give a player its own seat again, and go straight to the store."""
    match = begun(platform, player)
    cached = recall.cached(platform, match)
    now = cached.position
    version, digest, left = now.version, now.digest, filler
    while left:
        batch = []
        for _ in range(min(FILLING, left)):
            action = {"type": "take_seat", "seat": "red"}
            event = {"type": "seat_taken", "seat": "red", "player": player, "contribution": None}
            version += 1
            plain = Entry(match, version, player, action, [event], now.revision, now.rules, now.at, None, "")
            entry, raw = link(digest, plain, cached.blind)
            digest = entry.digest
            batch.append(raw)
        done = platform.store.log.append(match, version - len(batch), batch, Changes())
        assert isinstance(done, Appended)
        left -= len(batch)
    return match


def by_clock(run: Run) -> Iterator[Figure]:
    """Measure the actions and the sweeps."""
    with run.place("clocks") as place:
        caller = place.caller()
        player = own_id(caller)
        timed, untimed = (actions(caller, partial(begun, place.platform, player, clock=clock)) for clock in (CLOCK, None))
        ours, theirs = [], []
        for _ in range(run.pairs):
            with_clock, without = interleaved(lambda: next(timed) * 1000, lambda: next(untimed) * 1000, ROUNDS * ACTIONS)
            ours.append(statistics.median(with_clock))
            theirs.append(statistics.median(without))
        yield from compared("an action with a clock", ours, "without a clock", theirs, "ms", most=COST)
        yield from sweeps(place.platform)


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
