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
from events.platform import Platform, Settings, open_platform
from service.serve import SPARE_THREADS
from tools import private
from tools.processes import family


class Place(NamedTuple):
    """The address of the service and of the bare endpoint, the memory behind both, and the keys of two players.

    The memory is opened with all rights, for raw commands, and with a queue that nobody reads: what it makes due is done by hand.
    """

    service: Address
    bare: Address
    platform: Platform
    keys: tuple[str, str]
    data: Path
    workers: list[int]

    def caller(self) -> Caller:
        """A connection to the service with the first player's key."""
        return Caller(self.service, self.keys[0])

    def other_caller(self) -> Caller:
        """The same for the second player."""
        return Caller(self.service, self.keys[1])


@contextmanager
def opened(data: Path) -> Iterator[Place]:
    """Everything up, for as long as the block lasts."""
    with private.service(data) as running:
        store, queue = embedded.keeper_url(data), f"unix://{embedded.socket_of(data.resolve() / embedded.QUEUE)}?db=1"
        platform = open_platform(Settings(store_url=store, queue_url=queue, data=data))
        parts = urlsplit(running.url)
        service = (str(parts.hostname), int(parts.port or 0))
        with bare(store) as address:
            workers = [process.number for process in family(running.process.pid) if "workers.run" in process.command]
            one, other = (Caller(service).call("POST", "/v1/players", {"name": name})["key"] for name in ("one", "other"))
            yield Place(service, address, platform, (one, other), data, workers)
        platform.close()


@contextmanager
def bare(store: str) -> Iterator[Address]:
    """The bare endpoint under granian, set as the service's is."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address: Address = probe.getsockname()
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--factory", "--host", address[0], "--port", str(address[1])]
    command += ["--workers", "2", "--blocking-threads", str(256 + SPARE_THREADS), "--log-level", "error", "--no-ws", "--http", "1"]
    environment = {**private.surroundings(), "WARLEDGER_REDIS_URL": store}
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


def own_id(caller: Caller) -> str:
    """The id of the player who calls."""
    return str(caller.call("GET", "/v1/players/me")["id"])
