"""Measure how long a polite client waits beside thousands of connections that are idle, do not read, or send half a body."""

from __future__ import annotations

import resource
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from benchmarks.load import received, request
from benchmarks.pairs import Figure, figure
from benchmarks.place import Place, Run

IDLE, NOT_READING, HALF = 5000, 2000, 2000
ASKED = 200
SLOWER = 2.0
HALF_BODY = request("POST", "/v1/players", {"name": "x" * 30_000})[:1000]


def measured(run: Run) -> Iterator[Figure]:
    """Measure the median time of a request beside each crowd, as a ratio to the time without the crowd."""
    more_files()
    crowds = {
        "5,000 idle connections": [(IDLE, b"")],
        "these and 2,000 that do not read": [(IDLE, b""), (NOT_READING, request("GET", "/openapi.json"))],
        "2,000 half bodies": [(HALF, HALF_BODY)],
    }
    with run.place("crowd") as place:
        for name, crowd in crowds.items():
            yield figure(f"a request beside {name} / alone", ratios(place, crowd, run.pairs), "ratio", most=SLOWER)


def more_files() -> None:
    """Let this process open as many connections as it may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def ratios(place: Place, crowd: list[tuple[int, bytes]], pairs: int) -> list[float]:
    """Return the ratio of each pair: the time beside the crowd to the mean of the times before and after."""
    found = []
    for _ in range(pairs):
        before = median(place)
        with gathered(place, crowd):
            beside = median(place)
        time.sleep(1.0)
        found.append(beside / statistics.mean([before, median(place)]))
    return found


@contextmanager
def gathered(place: Place, crowd: list[tuple[int, bytes]]) -> Iterator[None]:
    """Open the connections of a crowd for a block, and send the bytes of each."""
    with ExitStack() as stack:
        for count, sent in crowd:
            for number in range(count):
                line = stack.enter_context(socket.create_connection(place.service, 60, (f"127.0.0.{2 + number % 3}", 0)))
                line.sendall(sent)
        if sent:
            line.recv(1, socket.MSG_PEEK)  # the last answer has begun, so the crowd causes no more work
        yield


def median(place: Place) -> float:
    """Return the median time of a request of a player, in seconds. Each request opens a new connection."""
    took = []
    for _ in range(ASKED):
        began = time.perf_counter()
        with socket.create_connection(place.service) as line:
            line.sendall(request("GET", "/v1/players/me", None, place.keys[0]))
            assert received(line)[0] == 200
        took.append(time.perf_counter() - began)
    return statistics.median(took)
