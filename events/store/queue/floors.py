"""Share floors: the moment up to which each web process has carried out all received requests. They are on the queue's server."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from events.store.client import queue_client, queue_errors
from events.telemetry import metrics

KEPT_MS = 5000
PAUSE = 2.0  # seconds until the next report to a server that did not answer


class Floors:
    """The floors of web processes, in ms since 1970. They may be lost at any time: each process reports its own four times a second."""

    def __init__(self, url: str) -> None:
        self._connection: Any = queue_client(url)
        self._again = 0.0

    def report(self, process: str, floor: int) -> None:
        """Report the floor of a process. Never raises because of the queue's server."""
        if time.monotonic() < self._again:
            return
        try:
            self._connection.set(_key(process), floor, px=KEPT_MS)
        except queue_errors:
            metrics.queue_failures.inc()
            self._again = time.monotonic() + PAUSE

    def read(self, processes: Sequence[str]) -> list[int | None] | None:
        """Return the floor of each process, or None for a process without a recent report. Return None if the server does not answer."""
        if not processes:
            return []
        try:
            return [None if floor is None else int(floor) for floor in self._connection.mget([_key(process) for process in processes])]
        except queue_errors:
            metrics.queue_failures.inc()
            return None

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()


def _key(process: str) -> str:
    return f"flight:{process}"
