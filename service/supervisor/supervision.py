"""Supervision: start the processes of `./run serve`, restart those that die, kill those that hang, and end them all."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from events.keeping import embedded
from events.lifeline import end_with
from service.supervisor.forking import FORKS, Forked, Heart, fork_module

PROC = Path("/proc")
STEADY = 10.0
AGAIN = 1.0  # seconds from a failed check to the next
LOG_LIMIT = 16_000_000
KILLED = 0.5  # seconds in which a killed process has ended
HANGS = 10  # seconds without a heartbeat after which a process counts as hanging

Process = subprocess.Popen[bytes] | Forked


class Beating(Protocol):
    """A heartbeat."""

    @property
    def beats(self) -> int:
        """A count that goes up while all is well."""


@dataclass
class Child:
    """One process of the service: how to start it, and its state since then.

    `begin` starts the process. It returns None if the server already runs and belongs to another process. `heart` is the heartbeat of a
    forked process or a server, `beats` its last count, and `silent` the seconds since the count changed.
    """

    name: str
    begin: Callable[[], Process | None]
    log: Path | None = None
    heart: Beating | None = None
    process: Process | None = None
    began: float = 0.0
    deaths: int = 0
    due: float = 0.0
    beats: int = 0
    silent: int = 0


def say(sentence: str) -> None:
    """Print a sentence to stderr. Drop it if the disk is full."""
    with contextlib.suppress(OSError):
        print(sentence, file=sys.stderr, flush=True)


class Look:
    """A check that is repeated, at most once in `every` seconds. A new failure is logged; no failure ends the supervisor."""

    def __init__(self, name: str, check: Callable[[], None], every: float = 0.0) -> None:
        self._name = name
        self._check = check
        self._every = every
        self._due = 0.0
        self._failure = ""

    def left(self, now: float) -> float:
        """Return the seconds until the next check, or infinity if the check is due at every look."""
        return self._due - now if self._due > now else float("inf")

    def take(self) -> None:
        """Make the check if it is due. After a failure it is due again in a second. This raises nothing."""
        now, failure = time.monotonic(), ""
        if now < self._due:
            return
        self._due = now + self._every
        try:
            self._check()
        except Exception as reason:  # noqa: BLE001 - the service needs its supervisor, whatever has failed
            failure, self._due = f"{type(reason).__name__}: {reason}", now + AGAIN
            if failure != self._failure:
                say(f"{self._name}: the check failed; trying again.\n{traceback.format_exc()}")
        if self._failure and not failure:
            say(f"{self._name}: the check works again.")
        self._failure = failure


class Bell:
    """Wake this process on a signal: a child has ended, or the service is to stop."""

    def __init__(self) -> None:
        self._ear, bell = os.pipe()
        for end_of_pipe in (self._ear, bell):
            os.set_blocking(end_of_pipe, False)
        signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def wait(self, seconds: float) -> None:
        """Wait for a signal, at most for these seconds."""
        select.select([self._ear], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            while os.read(self._ear, 4096):
                pass


class Guard:
    """Watch every child: restart those that died, kill those that are stopped or hang. `beside` are further checks."""

    def __init__(self, children: list[Child], beside: Iterable[Look] = ()) -> None:
        self._children = children
        self._looks = [*beside, *[Look(child.name, partial(look_after, child)) for child in children]]
        self._looks.append(Look("Stopped processes", self._kill_stopped, every=1.0))
        self._looks.append(Look("Hanging processes", self._kill_hanging, every=1.0))
        self._looks += [Look(f"The log of {child.name}", partial(turn_over, child.log), every=1.0) for child in children]
        self._stopped: set[int] = set()

    def look(self) -> None:
        """Make every check that is due. This raises nothing."""
        for look in self._looks:
            look.take()

    def pause(self) -> float:
        """Return the seconds until the next check or the next start of a child."""
        now = time.monotonic()
        starts = [child.due - now for child in self._children if child.process is None]
        return min([*starts, *[look.left(now) for look in self._looks]])

    def _kill_stopped(self) -> None:
        """Kill a process that was stopped a second ago and still is. It would hold its port, its places and its files, and do nothing."""
        before = self._stopped
        self._stopped = set(stopped_processes([child.process.pid for child in self._children if child.process is not None]))
        for number in before & self._stopped:
            say(f"Process {number} is stopped; killing it.")
            with contextlib.suppress(OSError):  # it has ended; otherwise the next check finds it
                os.kill(number, signal.SIGKILL)

    def _kill_hanging(self) -> None:
        """Kill a process without a heartbeat in HANGS checks. It counts checks, not seconds: this process may have been stopped."""
        for child in self._children:
            if child.heart is None or child.process is None:
                continue
            beats = child.heart.beats
            child.silent = 0 if beats != child.beats else child.silent + 1
            child.beats = beats
            if child.silent >= HANGS:
                say(f"{child.name} hangs; killing it.")
                group(child, signal.SIGKILL)


def stopped_processes(parents: Iterable[int]) -> Iterator[int]:
    """Yield the ids of stopped processes (SIGSTOP) among `parents` and their children. Without /proc, yield none."""
    for parent in parents:
        for number in (parent, *_children_of(parent)):
            try:
                state = (PROC / str(number) / "stat").read_bytes().rpartition(b")")[2].split()[0]
            except OSError:
                continue  # the process has just ended, or must not be read
            if state == b"T":
                yield number


def _children_of(parent: int) -> list[int]:
    """Return the processes that the main thread of a process has started. The store starts one to rewrite its files."""
    try:
        return [int(number) for number in (PROC / str(parent) / "task" / str(parent) / "children").read_bytes().split()]
    except OSError:
        return []


def child(
    name: str,
    module: str,
    arguments: Sequence[str],
    environment: dict[str, str],
    logs: Path | None,
    forks: bool = FORKS,
    files: Sequence[int] = (),
) -> Child:
    """Return a child that runs a module. Its output goes to a file in the folder `logs`, or to the terminal if that is None.

    If `forks`, the child is a fork of this process. Otherwise it is a new interpreter that inherits the open `files`.
    """
    log = None if logs is None else logs / f"{name}.log"
    if not forks:
        return Child(name, partial(begin_command, [sys.executable, "-m", module, *arguments], environment, log, files), log)
    heart = Heart()
    return Child(name, partial(fork_module, module, arguments, environment, partial(output_of, log), Path(), heart), log, heart)


def output_of(log: Path | None) -> tuple[int, int]:
    """Return the open files for standard output and standard error: those of the log, or of this process if `log` is None."""
    if log is None:
        return 1, 2
    try:
        file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with contextlib.suppress(OSError):
            os.fchmod(file, 0o600)  # it may have been made by hand
    except OSError:  # the disk is full; the process matters more than its log
        file = os.open(os.devnull, os.O_WRONLY)
    return file, file


def turn_over(log: Path | None) -> None:
    """Rotate a log that has grown beyond LOG_LIMIT: copy it to `.log.1` and empty it. Its process goes on to write to it.

    On a full disk, empty the log without a copy: space matters more than old lines.
    """
    if log is None or not log.exists() or log.stat().st_size <= LOG_LIMIT:
        return
    old = log.with_suffix(".log.1")
    try:
        old.unlink(missing_ok=True)
        with log.open("rb") as lines, os.fdopen(os.open(old, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
            shutil.copyfileobj(lines, copy)
    except OSError:
        old.unlink(missing_ok=True)
    os.truncate(log, 0)


def begin_command(command: list[str], environment: dict[str, str], log: Path | None, files: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own. Ctrl-C then reaches this process alone, and a group can be ended as a whole.

    `files`: the open files that the process inherits.
    """
    out, err = output_of(log)
    try:
        return subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=partial(end_with, os.getpid()),
            pass_fds=files,
        )
    finally:
        if log is not None:
            os.close(out)


def start(child: Child) -> None:
    """Start the process. If that fails, try again later, as if it had died at once."""
    child.began, child.silent = time.monotonic(), 0
    try:
        child.process = child.begin()
    except (OSError, embedded.NoServer) as reason:
        postpone(child, f"cannot start ({reason})")
        return
    if child.process is None:
        child.due = child.began + 1.0  # the server belongs to another process, which may end


def look_after(child: Child) -> None:
    """Restart a dead child: at once the first time, then with growing delays while it keeps dying early."""
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
    """Set when a child is due to start again, and print it."""
    now = time.monotonic()
    child.deaths = 0 if now - child.began > STEADY else child.deaths + 1
    delay = min(5.0, 0.125 * 2**child.deaths) if child.deaths > 1 else 0.0
    child.due = now + delay
    say(f"{child.name} {what}; starting it again" + (f" in {delay:g} s." if delay else "."))


def ending(status: int) -> str:
    """Return how a process ended, in words."""
    return f"status {status}" if status >= 0 else signal.Signals(-status).name


def end(children: list[Child], patience: float) -> None:
    """End every process. Kill those that do not end within `patience` seconds."""
    for child in children:
        group(child, signal.SIGTERM)
        group(child, signal.SIGCONT)  # a stopped process receives SIGTERM only when it continues
    deadline = time.monotonic() + patience
    for child in children:
        if child.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
            group(child, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):  # it waits for a disk, and ends when that answers
                child.process.wait(KILLED)


def group(child: Child, number: signal.Signals) -> None:
    """Send a signal to the child and to every process in its group."""
    if child.process is None:
        return
    with contextlib.suppress(OSError):  # it has ended, or may not be signalled; the other children still get theirs
        os.killpg(child.process.pid, number)
