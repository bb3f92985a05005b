"""Long polls: wait for the next entry of a match."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from events.errors import PlatformError
from service.context import Service
from service.http.problems import Problem
from service.shown_entries import ShownEntry


def wait_for_entries(
    service: Service, match: str, seconds: float, read: Callable[[], list[ShownEntry]]
) -> Generator[bytes, None, list[ShownEntry]]:
    """Wait until `read` finds entries of a match. Return them, or none when the time is up. Yield empty chunks meanwhile.

    The answer has begun, so it can no longer be a problem. After an error it has no entries; the next request gets the problem.
    """
    until = time.monotonic() + min(seconds, service.settings.wait_limit)
    try:
        with service.hub.watch(match) as watch:
            while True:
                watch.rearm()
                found = read()
                if found or time.monotonic() >= until or watch.removed:
                    return found
                yield from watch.wait(until)
    except (PlatformError, Problem):
        return []
