"""Measure mixed traffic: of a hundred requests 70 are actions, 20 read states, and 10 read entries or a list of matches.

Many players play, and streams of their matches are read by another process. In the same rounds the bare endpoint bears as many connections.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

from benchmarks.crowd import more_files
from benchmarks.http import Ready, Window, bare_window, rate, window
from benchmarks.load import Caller, Conversation, request, sorted_share
from benchmarks.pairs import Figure, figure, ratios
from benchmarks.peers import side
from benchmarks.place import Place, Run
from games import GAMES
from tools.private import ROOT

CONNECTIONS = (8, 32, 128)
STREAMS = (0, 256, 1000)
PLAYERS = 64
ACTION, STATE, LIST = "an action", "a state", "a list or entries"
MIX = {ACTION: 0.7, STATE: 0.2, LIST: 0.1}
BESIDE = 3.0  # how many times the bare endpoint's p99 that of an action may be over the most connections
ROOM = {f"WARLEDGER_STREAMS{which}": str(2 * STREAMS[-1]) for which in ("", "_PER_KEY", "_PER_ADDRESS", "_PER_PREFIX")}


class Round(NamedTuple):
    """A window of the bare endpoint, one of mixed traffic, and the seconds of its requests by kind."""

    bare: Window
    mixed: Window
    took: dict[str, list[float]]


def measured(run: Run) -> Iterator[Figure]:
    """Measure each number of connections beside each number of streams."""
    more_files()
    with run.place("load", workers=0, environment=ROOM) as place:
        traffic = Traffic(place, max(run.matches, 2 * CONNECTIONS[-1] // len(GAMES)))
        traffic.window(CONNECTIONS[0], run.seconds)
        for streams in STREAMS:
            with watched(place, traffic, streams):
                for connections in CONNECTIONS:
                    rounds = []
                    for number in range(run.pairs):
                        first = traffic.window(connections, run.seconds) if number % 2 else None
                        bare = bare_window(place, connections, run.seconds)
                        rounds.append(Round(bare, *(first or traffic.window(connections, run.seconds))))
                    yield from figures(connections, streams, rounds)


def figures(connections: int, streams: int, rounds: list[Round]) -> Iterator[Figure]:
    """Yield the rates, the latencies of each kind of request, and how they compare with the bare endpoint's."""
    name = f"{connections} connections, {streams:,} streams"
    yield rate(f"bare endpoint, {name}", [each.bare for each in rounds])
    yield rate(f"mixed traffic, {name}", [each.mixed for each in rounds])
    rates = ratios([each.mixed.load.rate for each in rounds], [each.bare.load.rate for each in rounds])
    yield figure(f"mixed traffic / bare endpoint, {name}", rates, "ratio")
    for kind in MIX:
        for share in (0.5, 0.99):
            late = [sorted_share(each.took[kind], share) * 1000 for each in rounds]
            yield figure(
                f"  {kind}: p{share * 100:.0f}, {name}", late, "ms", told=f"{sum(len(each.took[kind]) for each in rounds)} requests"
            )
    late = ratios(
        *(
            [sorted_share(took, 0.99) for took in side]
            for side in ([r.took[ACTION] for r in rounds], [r.bare.load.latencies for r in rounds])
        )
    )
    yield figure(f"p99 of an action / of the bare endpoint, {name}", late, "ratio", most=BESIDE if connections == CONNECTIONS[-1] else None)


class Traffic:
    """Matches of every game between many players, and conversations that act and read in them."""

    def __init__(self, place: Place, count: int) -> None:
        self._place = place
        self._dice = random.Random(count)
        players = [Caller(place.service).call("POST", "/v1/players", {"name": f"player {number}"}) for number in range(PLAYERS)]
        keys = {str(player["id"]): str(player["key"]) for player in players}
        self._games = [Ready(place, game, count, keys) for game in GAMES]
        self._keys = list(keys.values())
        self.matches: list[str] = []

    def refresh(self) -> None:
        """Replace the matches that are over, and carry out the system's steps in the others."""
        for ready in self._games:
            ready.refresh()
        self.matches = [turn.match for ready in self._games for turn in ready.turns]

    def window(self, connections: int, seconds: float) -> tuple[Window, dict[str, list[float]]]:
        """Measure a window of load. Return it with the seconds of the requests by kind."""
        took: dict[str, list[float]] = defaultdict(list)
        self.refresh()
        talks = [self._conversation(self._games[number % len(self._games)], took) for number in range(connections)]
        return window(self._place, talks, seconds, *self._games), took

    def _conversation(self, ready: Ready, took: dict[str, list[float]]) -> Conversation:
        """Act in the turns of a game, one after the other, and read between two actions."""
        acting = ready.conversation(with_key=True)
        asked = None
        try:
            while True:
                (kind,) = self._dice.choices(list(MIX), list(MIX.values()))
                if kind == ACTION:
                    while (asked := asked or next(acting)) is None:
                        yield None
                began = time.perf_counter()
                answer = yield (asked if kind == ACTION else self._read(kind))
                took[kind].append(time.perf_counter() - began)
                assert answer is not None
                if kind == ACTION:
                    asked = acting.send(answer)
                else:
                    assert answer[0] == 200, answer[1]
        finally:
            acting.close()

    def _read(self, kind: str) -> bytes:
        match, key = self._dice.choice(self.matches), self._dice.choice(self._keys)
        if kind == STATE:
            return request("GET", f"/v1/matches/{match}/state", None, key)
        path = (
            f"/v1/matches/{match}/entries?after=5&limit=20"
            if self._dice.random() < 0.5
            else f"/v1/matches?game={self._dice.choice(list(GAMES))}"
        )
        return request("GET", path, None, key)


@contextmanager
def watched(place: Place, traffic: Traffic, count: int) -> Iterator[None]:
    """Let another process read streams for a block: they are spread over the matches that are played."""
    traffic.refresh()
    host, port = place.service
    options = (host, str(port), place.keys[0], str(count), ",".join(traffic.matches))
    with side("benchmarks.readers", [ROOT], *options) if count else nullcontext():
        yield
