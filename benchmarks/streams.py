"""Measure streams: the memory of each, the processor time of a delivery, how late the last of 1,000 readers is served, and actions beside.

A reader reads what has come, and nothing else. Each match is appended to by this process, one entry at a time.
"""

from __future__ import annotations

import random
import select
import socket
import time
from collections.abc import Iterator

from benchmarks.crowd import more_files
from benchmarks.http import CONNECTIONS, Ready, opening, window
from benchmarks.load import request, sorted_share
from benchmarks.pairs import Figure, figure
from benchmarks.place import Place, Run, memory, own_id
from events import play, recall
from events.platform import Platform
from games import GAMES
from games.kernel import any_action

GAME = "war_of_civilizations"  # its matches are the longest
READERS = 1000
MATCHES = {1: 20, 100: 100}  # in how many matches the readers are, and how many entries are delivered in a round
ROOM = {f"WARLEDGER_STREAMS{which}": str(2 * READERS) for which in ("", "_PER_KEY", "_PER_ADDRESS")}
IDLE = 2.0  # seconds
SIZE, COST, LAST, BESIDE = 30.0, 60.0, 100.0, 0.85


def measured(run: Run) -> Iterator[Figure]:
    """Measure readers of one match, and of a hundred."""
    more_files()
    for count, entries in MATCHES.items():
        with run.place(f"streams-{count}", workers=0, environment=ROOM) as place:
            ready, dice = Ready(place, "war", run.matches), random.Random(1)
            players = [own_id(place.caller()), own_id(place.other_caller())]
            name = f"{READERS:,} streams of {'one match' if count == 1 else f'{count} matches'}"
            matches = [opening(place.platform, GAME, players, dice) for _ in range(count)]
            sizes, idle, costs, waits, last, beside = [], [], [], [], [], []
            for _ in range(run.pairs):
                alone = acting(place, ready, run.seconds)
                before = memory(place.processes()["web"])
                with Readers(place, matches) as readers:
                    sizes.append((memory(place.processes()["web"]) - before) / READERS / 1000)
                    began = _used(place)
                    time.sleep(IDLE)
                    idle.append((_used(place) - began) / IDLE)
                    began = _used(place)
                    found = [readers.wait_for(match, place.platform, dice) for match in (matches * entries)[:entries]]
                    costs.append((_used(place) - began) / sum(map(len, found)) * 1e6)
                    last += [max(late) for late in found]
                    waits += [wait for late in found for wait in late]
                    beside.append(acting(place, ready, run.seconds) / alone)
            yield figure(f"{name}: memory of the web for each", sizes[:1], "kB", most=SIZE)
            yield figure(f"{name}: CPU of the web while nothing happens", idle, "cores")
            yield figure(f"{name}: CPU of the web for a delivery", costs, "µs", most=COST)
            yield figure(f"{name}: a reader is served", waits, "ms", told=f"p99 {sorted_share(waits, 0.99):.3g} ms")
            yield figure(f"{name}: the last reader is served", last, "ms", most=LAST, told=f"p99 {sorted_share(last, 0.99):.3g} ms")
            yield figure(f"{name}: rate of actions beside them / alone", beside, "ratio", least=BESIDE)


def acting(place: Place, ready: Ready, seconds: float) -> float:
    """Return the actions of War! per second."""
    return window(place, [ready.conversation(with_key=False) for _ in range(CONNECTIONS[0])], seconds, ready).load.rate


def _used(place: Place) -> float:
    return place.cpu()["web"]


class Readers:
    """Open streams for a block, each of one of some matches, from its newest version on."""

    def __init__(self, place: Place, matches: list[str]) -> None:
        self._poll = select.epoll()
        self._lines: dict[int, socket.socket] = {}
        self._of: dict[str, list[int]] = {match: [] for match in matches}
        asked = {match: recall.position(place.platform, match).version for match in matches}
        for number in range(READERS):
            match = matches[number % len(matches)]
            line = socket.create_connection(place.service)
            line.sendall(request("GET", f"/v1/matches/{match}/stream?after={asked[match]}", None, place.keys[0]))
            self._lines[line.fileno()] = line
            self._of[match].append(line.fileno())
            self._poll.register(line, select.EPOLLIN)
        assert len(list(self._until(list(self._lines), b"retry: "))) == READERS

    def __enter__(self) -> Readers:
        return self

    def __exit__(self, *exception: object) -> None:
        for line in self._lines.values():
            line.close()
        self._poll.close()

    def wait_for(self, match: str, platform: Platform, dice: random.Random) -> list[float]:
        """Append an entry to a match. Return the milliseconds until each of its readers has it."""
        position = recall.position(platform, match)
        actor = position.to_act[0]
        began = time.perf_counter()
        play.play(platform, match, actor, [any_action(GAMES[GAME], position.document, actor, dice.randrange)])
        return [(at - began) * 1000 for at in self._until(self._of[match], b"event: entry")]

    def _until(self, files: list[int], mark: bytes) -> Iterator[float]:
        """Read until each of some connections has got a mark and what follows it. Yield when each has."""
        got = dict.fromkeys(files, b"")
        while got:
            ready = self._poll.poll(60)
            assert ready, "a stream is silent"
            for file, _ in ready:
                data = self._lines[file].recv(262_144)
                assert data, "a stream has ended"
                if file in got:
                    got[file] += data
                    if mark in got[file] and b"\n\n" in got[file].partition(mark)[2]:
                        del got[file]
                        yield time.perf_counter()
