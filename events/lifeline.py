"""Tie the life of a process to its parent, ask whether a process runs, and say how it uses memory.

Linux kills a tied process as soon as its parent dies. So no process of the service outlives its supervisor.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
from pathlib import Path

YOUNG = 20_000  # objects that a process makes and keeps before Python looks for cycles among them; 700 by default

_PR_SET_PDEATHSIG = 1
_SCORE = Path("/proc/self/oom_score_adj")


def is_alive(number: int) -> bool:
    """Return True if the process with this pid runs, whoever owns it."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def start_of(number: int) -> str:
    """Return the start time of a process by the kernel; "0" without /proc. A reused pid has another start time."""
    return _state_and_start(number)[1]


def is_running(number: int, start: str) -> bool:
    """Return True if the process with this pid and start time has not ended. A stopped process has not ended."""
    state, found = _state_and_start(number)
    return is_alive(number) and found == start and state not in ("Z", "X")


def _state_and_start(number: int) -> tuple[str, str]:
    try:
        fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return fields[0], fields[19]
    except OSError:
        return "", "0"


def end_with(parent: int) -> None:
    """Let Linux kill this process when its parent dies in any way. SIGKILL also ends a stopped process. `parent`: the pid of the parent.

    The kernel watches the thread that started this process, so that thread must live as long as the parent.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the kernel watched it
        os.kill(os.getpid(), signal.SIGKILL)


def give_way(score: int) -> None:
    """Let Linux kill this process before those with a lower score when memory is short. `score`: 0 to 1000."""
    with contextlib.suppress(OSError, ValueError):
        if int(_SCORE.read_text()) < score:
            _SCORE.write_text(str(score))


def collect_rarely() -> None:
    """Look for cycles of objects less often. An action makes hundreds of objects that live as long as it, and nearly no cycles."""
    gc.set_threshold(YOUNG, 20, 20)
