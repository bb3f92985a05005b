"""Supervision: the processes of `./run serve`, how they are started, restarted when they die, and ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from events.keeping import embedded
from events.lifeline import end_with

ROOT = Path(__file__).resolve().parents[2]
STEADY = 10.0
LOG_LIMIT = 16_000_000


@dataclass
class Child:
    """One process of the service: how to start it, and its state since then. `begin` returns None if another process owns the server."""

    name: str
    begin: Callable[[], subprocess.Popen[bytes] | None]
    log: Path | None = None
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    deaths: int = 0
    due: float = 0.0


def say(sentence: str) -> None:
    """Print a sentence to stderr, or drop it if that is on a full disk."""
    with contextlib.suppress(OSError):
        print(sentence, file=sys.stderr, flush=True)


class Guard:
    """Looks after every child: restarts those that died and kills those that are stopped. Each time it also calls `beside`."""

    def __init__(self, children: list[Child], beside: Callable[[], None] | None = None) -> None:
        self._children = children
        self._beside = beside
        self._stopped: set[int] = set()
        self._due = 0.0

    def look(self) -> None:
        """Look at everything once."""
        if self._beside is not None:
            self._beside()
        for child in self._children:
            look_after(child)
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + 1.0
            self._kill_stopped()

    def _kill_stopped(self) -> None:
        """Kill what was stopped a second ago and still is. It would keep its port, its places or its files, and do nothing."""
        stopped = set(stopped_processes({child.process.pid for child in self._children if child.process is not None}))
        for number in stopped & self._stopped:
            say(f"Process {number} is stopped; killing it.")
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self._stopped = stopped


def stopped_processes(groups: set[int]) -> Iterator[int]:
    """Yield every process of these groups that is stopped, as by SIGSTOP. Without /proc there are none."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, group = file.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue  # the process has just ended
        if state == "T" and int(group) in groups:
            yield int(file.parent.name)


def child(name: str, command: list[str], environment: dict[str, str], logs: Path | None) -> Child:
    """Return a child that runs a command, with its output in a file of the folder `logs`, or on the terminal."""
    log = None if logs is None else logs / f"{name}.log"
    return Child(name, partial(begin_command, command, environment, log), log)


def turn_over(log: Path | None) -> None:
    """Copy a log that has grown large to `.1` and empty it. A process that writes to it continues at its end.

    On a full disk the log is emptied without a copy: room is worth more than old lines.
    """
    if log is None or not log.exists() or log.stat().st_size <= LOG_LIMIT:
        return
    old = log.with_suffix(".log.1")
    try:
        shutil.copyfile(log, old)
    except OSError:
        old.unlink(missing_ok=True)
    os.truncate(log, 0)


def begin_command(command: list[str], environment: dict[str, str], log: Path | None) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own. Then Ctrl-C reaches only this process, and a group can be ended as a whole."""
    with contextlib.ExitStack() as opened:
        output: IO[bytes] | int | None = None
        if log is not None:
            try:
                output = opened.enter_context(log.open("ab"))
            except OSError:  # the disk is full; the process is worth more than its log
                output = subprocess.DEVNULL
        return subprocess.Popen(
            command,
            env=environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=partial(end_with, os.getpid()),
        )


def start(child: Child) -> None:
    """Start the process. If that fails, it is due again after a while, as if it had died at once."""
    child.began = time.monotonic()
    try:
        child.process = child.begin()
    except (OSError, embedded.NoServer) as reason:
        postpone(child, f"cannot start ({reason})")
        return
    if child.process is None:
        child.due = child.began + 1.0  # another process owns the server, and may end


def look_after(child: Child) -> None:
    """Restart a dead child: at once the first time, with growing delays while it keeps dying early."""
    with contextlib.suppress(OSError):
        turn_over(child.log)
    if child.process is not None:
        status = child.process.poll()
        if status is None:
            return
        group(child, signal.SIGKILL)
        child.process = None
        postpone(child, f"ended ({ending(status)})")
    if time.monotonic() >= child.due:
        start(child)


def postpone(child: Child, what: str) -> None:
    """Set when a child is due to start again, and say so."""
    now = time.monotonic()
    child.deaths = 0 if now - child.began > STEADY else child.deaths + 1
    delay = min(5.0, 0.125 * 2**child.deaths) if child.deaths > 1 else 0.0
    child.due = now + delay
    say(f"{child.name} {what}; starting it again" + (f" in {delay:g} s." if delay else "."))


def ending(status: int) -> str:
    """Return how a process ended, in words."""
    return f"status {status}" if status >= 0 else signal.Signals(-status).name


def end(children: list[Child], patience: float) -> None:
    """End every process. Kill those that do not end in time."""
    for child in children:
        group(child, signal.SIGTERM)
        group(child, signal.SIGCONT)  # one that is stopped hears of it, too
    deadline = time.monotonic() + patience
    for child in children:
        if child.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
            group(child, signal.SIGKILL)
            child.process.wait()


def group(child: Child, number: signal.Signals) -> None:
    """Send a signal to the child and all processes that it has started."""
    if child.process is None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.process.pid, number)
