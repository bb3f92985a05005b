"""Turns: the threads of a process that carry out actions compute one at a time, and wait for the store side by side.

Python lets one thread run at a time anyway. But whoever compresses, signs or writes a line lets the others run meanwhile, and has to wait
for them. So with many actions at once each is put aside half a dozen times. With turns it is only while it waits for the store.
"""

from __future__ import annotations

import threading
from types import TracebackType

PATIENCE = 0.01  # seconds after which a thread goes on without a turn: whoever has it waits for something else


class Turns:
    """The turns of a process. A block under `with` is a turn of its thread. Turns only save time: nothing relies on them."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._thread = threading.local()

    def __enter__(self) -> None:
        self._thread.has_turn = self._lock.acquire(timeout=self._patience)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.leave()

    def leave(self) -> bool:
        """Let others have their turns. Return True if this thread had one. `take` it again afterwards."""
        if not getattr(self._thread, "has_turn", False):
            return False
        self._thread.has_turn = False
        self._lock.release()
        return True

    def take(self) -> None:
        """Wait for the turn of this thread, which has left it."""
        self.__enter__()


TURNS = Turns()
