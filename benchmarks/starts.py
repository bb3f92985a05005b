"""Measure a service without anything to do: how long it takes to be ready, what that costs, and what it costs to wait."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.pairs import Figure, figure
from benchmarks.place import Run, memory, processes_of, processor_seconds
from tools import private

IDLE = 10.0  # seconds


def measured(run: Run) -> Iterator[Figure]:
    """Start `serve` with its default processes and new data, and leave it alone for a while."""
    ready, starting, sizes, idle, parts = [], [], [], [], {}
    for number in range(run.pairs):
        began = time.perf_counter()
        with private.service(run.folder / f"start-{number}") as place:
            ready.append(time.perf_counter() - began)
            processes = processes_of(place.process.pid)
            used = {name: sum(map(processor_seconds, pids)) for name, pids in processes.items()}
            starting.append(sum(used.values()))
            time.sleep(IDLE / 2)  # what the start has left to do
            used = {name: sum(map(processor_seconds, pids)) for name, pids in processes.items()}
            time.sleep(IDLE)
            parts = {name: (sum(map(processor_seconds, pids)) - used[name]) / IDLE for name, pids in processes.items()}
            idle.append(sum(parts.values()))
            sizes.append(memory([pid for pids in processes.values() for pid in pids]) / 1e6)
    yield figure("from the command to ready", ready, "s", told=", ".join(f"{len(pids)} {name}" for name, pids in processes.items()))
    yield figure("CPU until it is ready", starting, "s")
    yield figure("memory of all processes", sizes, "MB", told="what they share is counted once")
    told = ", ".join(f"{name} {share * 1000:.2g}" for name, share in parts.items())
    yield figure("CPU while nothing happens", [1000 * share for share in idle], "ms/s", told=told)
