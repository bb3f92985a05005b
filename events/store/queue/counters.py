"""Counters that processes share: how much somebody has used lately. They are on the queue's server and may be lost at any time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from events.store.client import queue_client, queue_errors

BATCH = 250
PAUSE = 2.0  # seconds in which a server that did not answer is not asked again

_DAY = 86_400


class Addition(NamedTuple):
    """What to add to a counter: its name, the seconds to add, and the most seconds that it may hold then; None for any number."""

    counter: str
    seconds: float
    most: float | None = None


class Met(NamedTuple):
    """Names of keys that were right, and the moment of the server's clock up to which they are complete."""

    moment: str
    keys: list[str]


class Counters:
    """The counters. A counter holds seconds that run out by themselves."""

    def __init__(self, url: str) -> None:
        self._connection: Any = queue_client(url)
        self._spend = self._connection.register_script(_script("spend"))
        self._meet = self._connection.register_script(_script("meet"))
        self._again = 0.0

    def add(self, additions: Sequence[Addition]) -> list[tuple[bool, float]] | None:
        """Add to counters. Return for each whether it was added, and the seconds that it holds; None if the server does not answer."""
        found: list[tuple[bool, float]] = []
        if time.monotonic() < self._again:
            return None
        try:
            for start in range(0, len(additions), BATCH):
                batch = additions[start : start + BATCH]
                arguments = [text for each in batch for text in (_milliseconds(each.seconds), _milliseconds(each.most))]
                keys = [f"{{limits}}:{each.counter}" for each in batch]
                found += [(held >= 0, (held if held >= 0 else -held - 1) / 1000) for held in self._spend(keys, arguments)]
        except queue_errors:
            self._again = time.monotonic() + PAUSE
            return None
        return found

    def meet(self, keys: Sequence[str], moment: str, most: int) -> Met | None:
        """Add names of keys that were right to those that all processes know. Return those added since a moment of the server's clock.

        At most so many are kept, for a day. None if the server does not answer.
        """
        if time.monotonic() < self._again:
            return None
        try:
            now, found = self._meet(["{limits}:met"], [moment, most, _DAY, *keys])
        except queue_errors:
            self._again = time.monotonic() + PAUSE
            return None
        return Met(now.decode(), [key.decode() for key in found])

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()


def _script(name: str) -> str:
    return (Path(__file__).parent / f"{name}.lua").read_text()


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1000:.3f}"
