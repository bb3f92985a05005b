"""A private service: the whole of `./run serve` on a free port with a folder of its own, for as long as a block lasts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0


class Place(NamedTuple):
    """Where a running service is: its address, its admin key, its folder, and the process that looks after it."""

    url: str
    admin_key: str
    data: Path
    process: subprocess.Popen[bytes]


@contextmanager
def service(data: Path, *options: str, environment: Mapping[str, str] | None = None) -> Iterator[Place]:
    """A service over the data of a folder; it is stopped when the block ends, and the folder stays. Raises RuntimeError."""
    place = started(data, *options, environment=environment)
    try:
        yield place
    finally:
        place.process.send_signal(signal.SIGTERM)
        place.process.wait(PATIENCE)


def started(data: Path, *options: str, environment: Mapping[str, str] | None = None) -> Place:
    """A service that goes on until it is stopped. Raises RuntimeError where it does not come up."""
    told = data / "serve.json"
    told.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "service.serve", "--port", "0", "--data", str(data), *options],
        env={**surroundings(), **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    while not told.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise RuntimeError("the service did not come up")
        time.sleep(0.02)
    set_key = (environment or os.environ).get("WARLEDGER_ADMIN_KEY")
    key = set_key or (data / "admin.key").read_text().strip()
    return Place(json.loads(told.read_text())["url"], key, data, process)


def surroundings() -> dict[str, str]:
    """The environment in which a module of this project is found from any folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
