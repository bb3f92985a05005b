"""Long polls: waiting for the next entry of a match."""

from __future__ import annotations

import time

from games.kernel import Game
from service.context import Service
from service.shown_entries import ShownEntry


def wait_for_entries(
    service: Service, game: Game, match: str, after: int, limit: int, viewer: str, seconds: float, proof: bool
) -> list[ShownEntry]:
    """Return the entries after a version as soon as there are any, or none when the time is up. Raise Problem `streams_full`."""
    until = time.monotonic() + min(seconds, service.settings.wait_limit)
    service.hub.acquire()
    try:
        with service.hub.watch(match) as watch:
            while True:
                watch.rearm()
                found = service.entries.read(game, match, after, limit, viewer, proof)
                left = until - time.monotonic()
                if found or left <= 0:
                    return found
                watch.wait(left)
    finally:
        service.hub.release()
