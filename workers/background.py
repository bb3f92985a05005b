"""Background: threads that run beside the jobs of a worker until they are stopped."""

from __future__ import annotations

from threading import Event, Thread
from typing import ClassVar

from events.platform import Platform


class Background(Thread):
    """A thread that works in rounds on a platform. Its `run` waits before each round by `_stop_it.wait`, and ends if that returns True.

    `TITLE`: the name of the thread.
    """

    TITLE: ClassVar[str]

    def __init__(self, platform: Platform) -> None:
        super().__init__(name=self.TITLE, daemon=True)
        self._platform = platform
        self._stop_it = Event()

    def stop(self) -> None:
        """End after the current round."""
        self._stop_it.set()
