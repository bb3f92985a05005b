"""The rater: a thread in each worker that can count rated matches. On each machine one does, until its worker ends.

Nothing depends on it: ratings follow from the records, and whoever comes later goes on where the last one ended (events/rating.py).
"""

from __future__ import annotations

import time

import structlog

from events import rating
from events.errors import StoreRefused, StoreUnavailable
from events.platform import Platform
from workers.background import Background, Turn

EVERY = 2.0
WORTH = 20  # times that counting anew took until it may begin again, so that no ruling costs more than a twentieth of a worker

log = structlog.get_logger(__name__)


class Rater(Background):
    """The thread that looks for rated matches every two seconds. While there are more, it rests for as long as a step took."""

    TITLE = "rater"

    def run(self) -> None:
        """Count until stopped. After an error, try again in the next round."""
        pause, turn = EVERY, Turn(self._platform, "rater")
        rest_until = worked = 0.0
        while not self._stop_it.wait(pause):
            pause = EVERY
            if not turn.is_mine():
                continue
            began = time.monotonic()
            try:
                more = self._step(renew=began >= rest_until)
            except (StoreUnavailable, StoreRefused) as reason:
                log.warning("ratings_not_counted", error=type(reason).__name__)
                continue
            except Exception as reason:  # noqa: BLE001 - it is logged; an ended thread would be noticed much later
                log.error("ratings_not_counted", error=type(reason).__name__)
                continue
            now = time.monotonic()
            worked = worked + now - began if more else 0.0
            rest_until = max(rest_until, now + WORTH * worked)
            if more:
                pause = now - began
        turn.close()

    def _step(self, *, renew: bool) -> bool:
        """Count a step of each game. Return True if one has more."""
        now = self._platform.clock.now()
        more = [rating.count(self._platform, game, now, renew=renew) for game in self._platform.games]
        return any(more)


def begin(platform: Platform) -> Background:
    """Start the thread, and return it."""
    thread = Rater(platform)
    thread.start()
    return thread
