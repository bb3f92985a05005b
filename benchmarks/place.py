"""Start what a measurement needs: a private service, the bare endpoint on the same store, and a direct connection to the store.

Every process ends with this one, however that ends.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.load import Address, Caller, until
from events.keeping import embedded
from events.lifeline import end_with
from events.modules import python_environment
from events.platform import Platform, Settings, open_platform
from service.http.limits import OWN
from service.supervisor.serve import queues_of
from tools import private
from tools.processes import family

WORKERS = 2
BOUNDLESS = {str(limit.setting): "1000000000" for limit in OWN}  # limits are counted, so their cost is measured, but never reached


class Run(NamedTuple):
    """What the measurements are asked for: see the options of `./run bench`.

    `folder`: for the data of services. `beside`: which processes have run, for the report.
    """

    folder: Path
    pairs: int
    seconds: float
    matches: int
    turns: int
    crowd: int
    archived: int
    beside: list[str]

    @contextmanager
    def place(self, name: str, workers: int = WORKERS, environment: Mapping[str, str] | None = None) -> Iterator[Place]:
        """Start a service with its own data for a block, and say what runs."""
        with opened(self.folder / name, workers, environment or {}) as place:
            self.beside[:] = [f"{len(pids)} {name}" for name, pids in place.processes().items()]
            print(f"  beside it run: {', '.join(self.beside)}", flush=True)
            yield place


class Place(NamedTuple):
    """The addresses of the service and of the bare endpoint, the platform behind them, and the keys of two players.

    The platform has all rights on the store, for raw commands. `workers`: the process ids of the workers. `supervisor`: that of `serve`.
    `others`: those of the bare endpoint.
    """

    service: Address
    bare: Address
    platform: Platform
    keys: tuple[str, str]
    data: Path
    workers: list[int]
    supervisor: int
    others: list[int]

    def processes(self) -> dict[str, list[int]]:
        """Return the processes of the service, of its workers and of the bare endpoint, by what they do."""
        beside = {"bare": self.others, "worker": self.workers} if self.workers else {"bare": self.others}
        return {**processes_of(self.supervisor), **beside}

    def cpu(self) -> dict[str, float]:
        """Return the processor seconds that the operating system has counted for the processes, by what they do."""
        return {name: sum(map(processor_seconds, pids)) for name, pids in self.processes().items()}

    def caller(self) -> Caller:
        """Open a connection to the service with the key of the first player."""
        return Caller(self.service, self.keys[0])

    def other_caller(self) -> Caller:
        """Open a connection to the service with the key of the second player."""
        return Caller(self.service, self.keys[1])


_NAMES = {"workers.run": "worker"}


def processes_of(supervisor: int) -> dict[str, list[int]]:
    """Return the processes of a `serve`, by what they do."""
    found = defaultdict(list, {"serve": [supervisor]})
    for process in family(supervisor):
        named = process.command.split()[0]
        server = "queue" if "/queue" in process.command else "store"
        found[server if "/" in named else _NAMES.get(named, named.rpartition(".")[2])].append(process.number)
    return dict(found)


def memory(pids: list[int]) -> float:
    """Return the bytes of memory of processes. What several share is divided among them."""
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()]
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def processor_seconds(pid: int) -> float:
    """Return the processor seconds of a process and its ended threads, in nanoseconds' precision. Linux alone has this clock."""
    return time.clock_gettime(~pid << 3 | 2)


@contextmanager
def opened(data: Path, workers: int, environment: Mapping[str, str]) -> Iterator[Place]:
    """Start everything, and stop it at the end of the block."""
    with private.service(data, "--workers", "0", environment={**BOUNDLESS, **environment}) as running, workers_of(data, workers) as pids:
        store, queue = embedded.keeper_url(data), f"unix://{embedded.socket_of(data.resolve() / embedded.QUEUE)}?db=1"
        platform = open_platform(Settings(store_url=store, queue_url=queue, data=data))
        parts = urlsplit(running.url)
        service = (str(parts.hostname), int(parts.port or 0))
        with bare(store, data) as (address, others):
            one, other = (Caller(service).call("POST", "/v1/players", {"name": name})["key"] for name in ("one", "other"))
            yield Place(service, address, platform, (one, other), data.resolve(), pids, running.process.pid, others)
        platform.close()


@contextmanager
def workers_of(data: Path, number: int = WORKERS) -> Iterator[list[int]]:
    """Run the workers that `serve` starts by default, and yield their process ids. `serve` itself would kill a stopped worker."""
    urls = {"WARLEDGER_REDIS_URL": embedded.url_of(data, embedded.STORE), "WARLEDGER_QUEUE_URL": embedded.url_of(data, embedded.QUEUE)}
    with started([["-m", "workers.run", "--queues", ",".join(kinds)] for kinds in queues_of(number)], urls, data) as pids:
        yield pids


@contextmanager
def bare(store: str, data: Path) -> Iterator[tuple[Address, list[int]]]:
    """Run the bare endpoint for a block, under granian and with the settings of the service."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address: Address = probe.getsockname()
    command = ["-m", "service.supervisor.web", "--port", str(address[1]), "--application", "benchmarks.bare:create_app"]
    with started([command] * 2, {"WARLEDGER_REDIS_URL": store}, data) as pids:
        until(lambda: listening(address))
        yield address, pids


@contextmanager
def started(commands: list[list[str]], environment: dict[str, str], data: Path) -> Iterator[list[int]]:
    """Run processes of Python for a block, and yield their ids. What they print goes to a file in the folder of the data."""
    environment = {**python_environment(), **environment, "WARLEDGER_DATA": str(data)}
    processes: list[subprocess.Popen[Any]] = []
    with (data / "bench.log").open("ab") as log:
        tie = partial(end_with, os.getpid())
        begin = partial(subprocess.Popen, env=environment, stdout=log, stderr=log, preexec_fn=tie)
        try:
            processes += [begin([sys.executable, *command], start_new_session=True) for command in commands]
            yield [process.pid for process in processes]
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


def listening(address: Address) -> bool:
    """Return True if the address accepts connections."""
    try:
        socket.create_connection(address, 0.5).close()
    except OSError:
        return False
    return True


def own_id(caller: Caller) -> str:
    """Return the id of the player who calls."""
    return str(caller.call("GET", "/v1/players/me")["id"])
