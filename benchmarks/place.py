"""Where everything is measured: one private service, the bare endpoint beside it on the same store, and the memory opened directly."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.load import Address, Caller, until
from events import embedded
from events.connect import House, Settings, open_house
from service.serve import SPARE_THREADS
from tools import private


class Place(NamedTuple):
    """The address of the service and of the bare endpoint, the memory behind both, and the key of a player."""

    service: Address
    bare: Address
    house: House
    key: str
    data: Path
    workers: list[int]

    def caller(self) -> Caller:
        """A connection to the service with the player's key."""
        return Caller(self.service, self.key)


@contextmanager
def opened(data: Path) -> Iterator[Place]:
    """Everything up, for as long as the block lasts."""
    with private.service(data) as running:
        urls = [f"unix://{embedded.socket_of(data.resolve() / name)}" for name in (embedded.STORE, embedded.QUEUE)]
        house = open_house(Settings(store_url=urls[0], queue_url=urls[1], data=data))
        parts = urlsplit(running.url)
        service = (str(parts.hostname), int(parts.port or 0))
        with bare(urls[0]) as address:
            key = Caller(service).call("POST", "/v1/players", {"name": "bench"})["key"]
            yield Place(service, address, house, key, data, workers_of(running.process.pid))
        house.close()


@contextmanager
def bare(store: str) -> Iterator[Address]:
    """The bare endpoint under granian, set as the service's is."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address: Address = probe.getsockname()
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--factory", "--host", address[0], "--port", str(address[1])]
    command += ["--workers", "2", "--blocking-threads", str(256 + SPARE_THREADS), "--log-level", "warning", "--no-ws", "--http", "1"]
    environment = {**os.environ, "WARLEDGER_REDIS_URL": store, "PYTHONPATH": str(private.ROOT), "PYTHONSAFEPATH": "1"}
    command += ["--workers-kill-timeout", "1", "benchmarks.bare:create_app"]
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        until(lambda: listening(address))
        yield address
    finally:
        process.terminate()
        process.wait()


def listening(address: Address) -> bool:
    """Whether somebody takes connections there."""
    try:
        socket.create_connection(address, 0.5).close()
    except OSError:
        return False
    return True


def workers_of(supervisor: int) -> list[int]:
    """The process ids of the service's workers, from the system's list of processes."""
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,ppid=,command="], capture_output=True, text=True, check=True).stdout
    found = []
    for line in listed.splitlines():
        pid, parent, command = line.split(None, 2)
        if int(parent) == supervisor and "workers.run" in command:
            found.append(int(pid))
    return found


@contextmanager
def still(place: Place) -> Iterator[None]:
    """The workers stand still for the length of the block, so that it measures the web alone."""
    for pid in place.workers:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in place.workers:
            os.kill(pid, signal.SIGCONT)
