"""Start a private service for one `with` block: all of `./run serve` on a free port, with a data folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from events.due import QUICK
from events.lifeline import end_with
from events.modules import full_name, python_environment

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0  # seconds until the service must have started or stopped
POLL = 0.02  # seconds between two looks at the file with its address
SMALL = ("--web", "1", "--hooks", "0", "--queues", ",".join(QUICK))  # options for the fewest processes, without searches


class Running(Protocol):
    """A process, with some of the methods of `subprocess.Popen`."""

    @property
    def pid(self) -> int:
        """The process id."""

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process. Return the exit status."""

    def send_signal(self, number: int, /) -> None:
        """Send a signal."""

    def terminate(self) -> None:
        """Send SIGTERM."""

    def kill(self) -> None:
        """Send SIGKILL."""


class Place(NamedTuple):
    """A running service: its address, its admin key, its data folder, and its process."""

    url: str
    admin_key: str
    data: Path
    process: Running


@contextmanager
def service(data: Path, *options: str, environment: Mapping[str, str] | None = None) -> Iterator[Place]:
    """Start a service on a data folder, and stop it at the end of the block. The folder stays. Raises RuntimeError if it does not start."""
    place = started(data, *options, environment=environment)
    try:
        yield place
    finally:
        place.process.send_signal(signal.SIGTERM)
        place.process.wait(PATIENCE)


def started(data: Path, *options: str, environment: Mapping[str, str] | None = None) -> Place:
    """Start a service that runs until it is stopped. Raises RuntimeError if it does not start."""
    address = data / "serve.json"
    address.unlink(missing_ok=True)
    process = start(["--port", "0", "--data", str(data), *options], {**python_environment(), **(environment or {})})
    deadline = time.monotonic() + PATIENCE
    while not address.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise RuntimeError("the service did not start")
        time.sleep(POLL)
    return place_of(data, process, (environment or os.environ).get("WARLEDGER_ADMIN_KEY"))


def place_of(data: Path, process: Running, key: str | None = None) -> Place:
    """Return the place of a service that has written its address to the data folder."""
    key = key or (data / "admin.key").read_text().strip()
    return Place(json.loads((data / "serve.json").read_text())["url"], key, data, process)


def start(arguments: list[str], environment: dict[str, str]) -> Running:
    """Start `serve`. It ends when this process does, however that ends. Tests replace this function."""
    command, null = [sys.executable, "-m", full_name("service.supervisor.serve"), *arguments], subprocess.DEVNULL
    return subprocess.Popen(
        command, env=environment, stdin=null, stdout=null, start_new_session=True, preexec_fn=partial(end_with, os.getpid())
    )
