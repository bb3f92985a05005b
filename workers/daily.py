"""The thread that chooses the puzzle of each day, in each worker that could. On each machine one does, until its worker ends."""

from __future__ import annotations

import structlog

from events import puzzles
from events.errors import StoreRefused, StoreUnavailable
from events.platform import Platform
from workers.background import Background, Turn

EVERY = 20.0

log = structlog.get_logger(__name__)


class Daily(Background):
    """The thread that looks every twenty seconds whether today has a puzzle."""

    TITLE = "daily"

    def run(self) -> None:
        """Look until stopped. After an error, try again in the next round."""
        pause, turn = 0.0, Turn(self._platform, "daily")
        while not self._stop_it.wait(pause):
            pause = EVERY
            if not turn.is_mine():
                continue
            try:
                puzzles.choose(self._platform)
            except (StoreUnavailable, StoreRefused) as reason:
                log.warning("puzzle_not_chosen", error=type(reason).__name__)
            except Exception as reason:  # noqa: BLE001 - it is logged; an ended thread would be noticed much later
                log.error("puzzle_not_chosen", error=type(reason).__name__)
        turn.close()


def begin(platform: Platform) -> Background:
    """Start the thread, and return it."""
    thread = Daily(platform)
    thread.start()
    return thread
