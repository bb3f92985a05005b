"""Hold: wait until replicas have what a connection has read or written, before anybody is told (ADR 120).

Commands that must be held are sent with two more on the same connection: the function `barrier`, which writes something, and WAIT. WAIT
covers only what its own connection has written. The barrier is written after everything that the commands have read or found done, so
replicas that have the barrier have all of that, too. An append that says that it has written needs no barrier.

The server answers all who wait for the same replicas at once. So nothing is shared between the threads of a process, and nobody remembers
which versions are held.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from events.errors import StoreUnavailable
from events.store.library import script

Command = Sequence[str | bytes | int]

PATIENCE_MS = 1000  # that replicas have to answer. A connection waits longer for its server
SHORT_MS = 100  # while they have just failed to, so that threads go on with what needs no replicas
AGAIN = 1.0  # seconds after which they are given more time
MARK = "replicas: "  # the beginning of the reason of a StoreUnavailable, if replicas do not answer

_BARRIER = script("barrier")
_TAGGED = ("FCALL", "FCALL_RO")


def tag_of(command: Command) -> str:
    """Return the hash tag of the first key of a command, such as `{p3}`."""
    key = str(command[3 if command[0] in _TAGGED else 1])
    return key[: key.index("}") + 1]


class Waits:
    """Waits for `replicas` of each server, for a client whose threads share it. `seconds`: a clock that never goes back."""

    def __init__(self, replicas: int, seconds: Callable[[], float] = time.monotonic) -> None:
        self.replicas = replicas
        self._seconds = seconds
        self._failed: dict[str, float] = {}  # by server, when its replicas last failed to answer

    def added(self, commands: Sequence[Command], server: str = "", barrier: bool = True) -> list[Command]:
        """Return commands for a server with a barrier and WAIT. Without a `barrier`, only what the commands write is held."""
        failed = self._failed.get(server)
        patience = PATIENCE_MS if failed is None or self._seconds() - failed > AGAIN else SHORT_MS
        wait: list[Command] = [("WAIT", self.replicas, patience)]
        if barrier:
            wait.insert(0, (_BARRIER.command, _BARRIER.function, 1, f"{tag_of(commands[0])}:barrier"))
        return [*commands, *wait]

    def taken(self, answers: list[Any], commands: int, server: str = "") -> list[Any]:
        """Return the answers of so many commands. Raises StoreUnavailable if fewer replicas have all of it."""
        held = int(answers[-1])
        if held < self.replicas:
            self._failed[server] = self._seconds()
            raise StoreUnavailable(f"{MARK}{held} of {self.replicas} have what was written last")
        self._failed.pop(server, None)
        return answers[:commands]
