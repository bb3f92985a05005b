"""Hold: wait until replicas have what a connection has read or written, before anybody is told (ADR 120).

Commands that must be held are sent with two more on the same connection: the function `barrier`, which writes something, and WAIT. WAIT
covers only what its own connection has written. The barrier is written after everything that the commands have read or found done, so
replicas that have the barrier have all of that, too. An append that says that it has written needs no barrier.

The server answers all who wait for the same replicas at once. So nothing is shared between the threads of a process, and nobody remembers
which versions are held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from events.errors import StoreUnavailable
from events.store.library import script

Command = Sequence[str | bytes | int]

PATIENCE_MS = 1000  # that replicas have to answer. A connection waits longer for its server
MARK = "replicas: "  # the beginning of the reason of a StoreUnavailable, if replicas do not answer

_BARRIER = script("barrier")
_TAGGED = ("FCALL", "FCALL_RO")


def tag_of(command: Command) -> str:
    """Return the hash tag of the first key of a command, such as `{p3}`."""
    key = str(command[3 if command[0] in _TAGGED else 1])
    return key[: key.index("}") + 1]


def with_wait(commands: Sequence[Command], replicas: int, barrier: bool = True) -> list[Command]:
    """Return commands that are held: with a barrier and WAIT. All must be for one server.

    Without a `barrier`, only what the commands write is held.
    """
    wait: list[Command] = [("WAIT", replicas, PATIENCE_MS)]
    if barrier:
        wait.insert(0, (_BARRIER.command, _BARRIER.function, 1, f"{tag_of(commands[0])}:barrier"))
    return [*commands, *wait]


def checked(answers: list[Any], commands: int, replicas: int) -> list[Any]:
    """Return the answers of so many commands, which were sent `with_wait`. Raises StoreUnavailable if fewer replicas have all of it."""
    held = int(answers[-1])
    if held < replicas:
        raise StoreUnavailable(f"{MARK}{held} of {replicas} have what was written last")
    return answers[:commands]
