"""Count how much somebody has used lately. All processes share the counters. They are on the queue's server, which may lose them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from events.store.client import queue_errors
from events.store.queue.server import QueueServer

BATCH = 250
HELD = 5000
PAUSE = 2.0  # seconds until the next request to a server that did not answer


class Addition(NamedTuple):
    """An addition to a counter: its name, the seconds to add, and the most seconds that it may then hold, or None."""

    counter: str
    seconds: float
    most: float | None = None


class Counters:
    """The counters. A counter holds seconds, which run down by themselves."""

    def __init__(self, url: str) -> None:
        self._server = QueueServer(url)
        self._spend = self._server.script("spend")
        self._hold = self._server.script("hold")
        self._again = 0.0

    def add(self, additions: Sequence[Addition]) -> list[tuple[bool, float]] | None:
        """Add to counters. Return for each if it was added, and the seconds that it holds, or None if the server does not answer."""
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

    def hold(self, kind: str, process: str, held: Mapping[str, int]) -> dict[str, int] | None:
        """Note how many places of a kind each holder has in a process. Return how many they have in all others.

        A note counts for `HELD` milliseconds. Return None if the server does not answer.
        """
        if time.monotonic() < self._again:
            return None
        try:
            others = self._hold([f"{{limits}}:held:{kind}"], [process, orjson.dumps(held) if held else b"", HELD])
        except queue_errors:
            self._again = time.monotonic() + PAUSE
            return None
        found: Counter[str] = Counter()
        for each in others:
            found.update(orjson.loads(each))
        return dict(found)

    def close(self) -> None:
        """Close the connections."""
        self._server.close()


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1000:.3f}"
