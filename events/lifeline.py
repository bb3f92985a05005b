"""The lifeline: a process that is killed as soon as its parent dies. So no process of the service outlives the one that supervises it.

Here is also how to ask whether a process runs.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def is_alive(number: int) -> bool:
    """Return True if the process with this number runs, whoever owns it."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def start_of(number: int) -> str:
    """Return when a process began, as the kernel tells it; "0" without /proc. Numbers are used again, but not with the same begin."""
    return _state_and_start(number)[1]


def is_running(number: int, start: str) -> bool:
    """Return True if the process with this number that began at `start` has not ended. One that is stopped has not."""
    state, found = _state_and_start(number)
    return is_alive(number) and found == start and state not in ("Z", "X")


def _state_and_start(number: int) -> tuple[str, str]:
    try:
        fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[0], fields[19]
    except OSError:
        return "", "0"


def end_with(parent: int) -> None:
    """Let Linux kill this process when `parent`, which started it, dies in any way. SIGKILL also ends a process that is stopped.

    The kernel watches the thread that started this process, so that thread must live as long as `parent` does.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the kernel watched it
        os.kill(os.getpid(), signal.SIGKILL)
