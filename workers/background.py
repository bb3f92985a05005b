"""Background threads of a worker. They run until they are stopped, and take turns with those of other workers."""

from __future__ import annotations

import contextlib
from hashlib import sha256
from threading import Event, Thread
from typing import ClassVar

from events.notary import highwater
from events.platform import Platform


class Background(Thread):
    """A thread that works in rounds on a platform. `TITLE`: the name of the thread.

    Before each round, `run` calls `_stop_it.wait`. It ends if that returns True.
    """

    TITLE: ClassVar[str]

    def __init__(self, platform: Platform) -> None:
        super().__init__(name=self.TITLE, daemon=True)
        self._platform = platform
        self._stop_it = Event()

    def stop(self) -> None:
        """End after the current round."""
        self._stop_it.set()


class Turn:
    """A turn for work that one worker must do and any worker may do. Of the workers with the same folder of keys, one has the turn.

    It keeps the turn until it ends. While any process is frozen, all workers do the work, because the frozen one may have the turn. So a
    turn only saves work, and nothing depends on it.
    """

    def __init__(self, platform: Platform, what: str) -> None:
        store = sha256(platform.settings.store_url.encode()).hexdigest()[:8]  # two services may share their keys
        self._folder, self._what = platform.settings.keys_folder, f"{what}-{store}"
        self._pulse = platform.pulse
        self._held: contextlib.ExitStack | None = None

    def is_mine(self) -> bool:
        """Return True if this worker must do the work now."""
        if self._held is not None:
            return True
        held = contextlib.ExitStack()
        with contextlib.suppress(OSError):  # a worker that cannot know does the work
            if not held.enter_context(highwater.alone(self._folder, self._what)):
                held.close()
                return self._pulse.is_disturbed or not self._pulse.is_fresh
            self._held = held
        return True

    def close(self) -> None:
        """Let another worker have the turn."""
        if self._held is not None:
            self._held.close()
            self._held = None
