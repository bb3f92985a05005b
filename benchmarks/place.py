"""Start what a measurement needs: a private service, the bare endpoint on the same store, and a direct connection to the store."""

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
from events.keeping import embedded
from events.platform import Platform, Settings, open_platform
from service.http.limits import OWN
from service.supervisor.serve import queues_of
from tools import private

WORKERS = 2
BOUNDLESS = {str(limit.setting): "1000000000" for limit in OWN}  # limits are counted, so their cost is measured, but never reached


class Place(NamedTuple):
    """The addresses of the service and of the bare endpoint, the platform behind them, and the keys of two players.

    The platform has all rights on the store, for raw commands. `workers`: the process ids of the workers.
    """

    service: Address
    bare: Address
    platform: Platform
    keys: tuple[str, str]
    data: Path
    workers: list[int]

    def caller(self) -> Caller:
        """Open a connection to the service with the key of the first player."""
        return Caller(self.service, self.keys[0])

    def other_caller(self) -> Caller:
        """Open a connection to the service with the key of the second player."""
        return Caller(self.service, self.keys[1])


@contextmanager
def opened(data: Path) -> Iterator[Place]:
    """Start everything, and stop it at the end of the block."""
    with private.service(data, "--workers", "0", environment=BOUNDLESS) as running, workers_of(data) as workers:
        store, queue = embedded.keeper_url(data), f"unix://{embedded.socket_of(data.resolve() / embedded.QUEUE)}?db=1"
        platform = open_platform(Settings(store_url=store, queue_url=queue, data=data))
        parts = urlsplit(running.url)
        service = (str(parts.hostname), int(parts.port or 0))
        with bare(store, data) as address:
            one, other = (Caller(service).call("POST", "/v1/players", {"name": name})["key"] for name in ("one", "other"))
            yield Place(service, address, platform, (one, other), data, workers)
        platform.close()


@contextmanager
def workers_of(data: Path) -> Iterator[list[int]]:
    """Run the workers that `serve` starts by default, and yield their process ids. `serve` itself would kill a stopped worker."""
    urls = {"WARLEDGER_REDIS_URL": embedded.url_of(data, embedded.STORE), "WARLEDGER_QUEUE_URL": embedded.url_of(data, embedded.QUEUE)}
    environment = {**private.python_environment(), **urls, "WARLEDGER_DATA": str(data)}
    command = [sys.executable, "-m", "workers.run", "--queues"]
    processes = [subprocess.Popen([*command, ",".join(kinds)], env=environment, start_new_session=True) for kinds in queues_of(WORKERS)]
    try:
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


@contextmanager
def bare(store: str, data: Path) -> Iterator[Address]:
    """Run the bare endpoint for a block, under granian and with the settings of the service."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address: Address = probe.getsockname()
    command = [sys.executable, "-m", "service.supervisor.web", "--port", str(address[1]), "--application", "benchmarks.bare:create_app"]
    environment = {**private.python_environment(), "WARLEDGER_REDIS_URL": store, "WARLEDGER_DATA": str(data)}
    processes = [subprocess.Popen(command, env=environment, start_new_session=True) for _ in range(2)]
    try:
        until(lambda: listening(address))
        yield address
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


@contextmanager
def workers_stopped(place: Place) -> Iterator[None]:
    """Stop the workers for a block, so that it measures the web server alone."""
    for pid in place.workers:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in place.workers:
            os.kill(pid, signal.SIGCONT)


def own_id(caller: Caller) -> str:
    """Return the id of the player who calls."""
    return str(caller.call("GET", "/v1/players/me")["id"])
