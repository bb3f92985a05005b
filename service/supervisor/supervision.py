"""Supervision: the processes of `./run serve`, how they are started, restarted when they die, and ended."""

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

from events.keeping import embedded
from events.lifeline import end_with
from service.supervisor.forking import FORKS, Forked, Heart, fork_module

ROOT = Path(__file__).resolve().parents[2]
PROC = Path("/proc")
STEADY = 10.0
AGAIN = 1.0  # seconds from a failed look to the next
LOG_LIMIT = 16_000_000
HANGS = 20  # seconds without a beat of its heart after which a process counts as hanging

Process = subprocess.Popen[bytes] | Forked


@dataclass
class Child:
    """One process of the service: how to start it, and its state since then. `begin` returns None if another process owns the server.

    `heart`: the heart of a forked process; `silent`: for how many seconds it has had the same number of `beats`.
    """

    name: str
    begin: Callable[[], Process | None]
    log: Path | None = None
    heart: Heart | None = None
    process: Process | None = None
    began: float = 0.0
    deaths: int = 0
    due: float = 0.0
    beats: int = 0
    silent: int = 0


def say(sentence: str) -> None:
    """Print a sentence to stderr, or drop it if that is on a full disk."""
    with contextlib.suppress(OSError):
        print(sentence, file=sys.stderr, flush=True)


class Look:
    """Something to check again and again, at most once in `every` seconds. A failure is logged when it is new, and ends nothing."""

    def __init__(self, name: str, check: Callable[[], None], every: float = 0.0) -> None:
        self._name = name
        self._check = check
        self._every = every
        self._due = 0.0
        self._failure = ""

    def left(self, now: float) -> float:
        """Return the seconds until it is due, if it is not always."""
        return self._due - now if self._due > now else float("inf")

    def take(self) -> None:
        """Check it if that is due. After a failure it is due in a second. Raises nothing."""
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
    """Wakes this process when a signal comes: when a child has ended, or when everything is to end."""

    def __init__(self) -> None:
        self._ear, bell = os.pipe()
        for end_of_pipe in (self._ear, bell):
            os.set_blocking(end_of_pipe, False)
        signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def wait(self, seconds: float) -> None:
        """Wait for a signal, at most so many seconds."""
        select.select([self._ear], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            while os.read(self._ear, 4096):
                pass


class Guard:
    """Looks after every child: restarts those that died, kills those that are stopped or hang. It also takes the looks `beside`."""

    def __init__(self, children: list[Child], beside: Iterable[Look] = ()) -> None:
        self._children = children
        self._looks = [*beside, *[Look(child.name, partial(look_after, child)) for child in children]]
        self._looks.append(Look("Stopped processes", self._kill_stopped, every=1.0))
        self._looks.append(Look("Hanging processes", self._kill_hanging, every=1.0))
        self._looks += [Look(f"The log of {child.name}", partial(turn_over, child.log), every=1.0) for child in children]
        self._stopped: set[int] = set()

    def look(self) -> None:
        """Look at everything once. Raises nothing."""
        for look in self._looks:
            look.take()

    def pause(self) -> float:
        """Return the seconds until something is to be looked at, or a child to be started."""
        now = time.monotonic()
        starts = [child.due - now for child in self._children if child.process is None]
        return min([*starts, *[look.left(now) for look in self._looks]])

    def _kill_stopped(self) -> None:
        """Kill what was stopped a second ago and still is. It would keep its port, its places or its files, and do nothing."""
        before = self._stopped
        self._stopped = set(stopped_processes([child.process.pid for child in self._children if child.process is not None]))
        for number in before & self._stopped:
            say(f"Process {number} is stopped; killing it.")
            with contextlib.suppress(OSError):  # it has ended, or else it is still stopped in a second
                os.kill(number, signal.SIGKILL)

    def _kill_hanging(self) -> None:
        """Kill what has not shown for long that it goes on, by as many looks as seconds: this process may have been stopped itself."""
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
    """Yield those of some processes, and of the processes that they have started, that are stopped, as by SIGSTOP. None without /proc."""
    for parent in parents:
        for number in (parent, *_children_of(parent)):
            try:
                state = (PROC / str(number) / "stat").read_bytes().rpartition(b")")[2].split()[0]
            except OSError:
                continue  # the process has just ended, or may not be read
            if state == b"T":
                yield number


def _children_of(parent: int) -> list[int]:
    """Return the processes that the first thread of a process has started, as the server does that rewrites its files."""
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
    """Return a child that runs a module, with its output in a file of the folder `logs`, or on the terminal.

    It is a fork of this process if it `forks`, and else started anew, with the open `files`.
    """
    log = None if logs is None else logs / f"{name}.log"
    if not forks:
        return Child(name, partial(begin_command, [sys.executable, "-m", module, *arguments], environment, log, files), log)
    heart = Heart()
    return Child(name, partial(fork_module, module, arguments, environment, partial(output_of, log), ROOT, heart), log, heart)


def output_of(log: Path | None) -> tuple[int, int]:
    """Return the files for what a process prints and for its errors: a log, or those of this process."""
    if log is None:
        return 1, 2
    try:
        file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError:  # the disk is full; the process is worth more than its log
        file = os.open(os.devnull, os.O_WRONLY)
    return file, file


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


def begin_command(command: list[str], environment: dict[str, str], log: Path | None, files: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own. Then Ctrl-C reaches only this process, and a group can be ended as a whole.

    `files`: the open files that it inherits.
    """
    out, err = output_of(log)
    try:
        return subprocess.Popen(
            command,
            env=environment,
            cwd=ROOT,
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
    """Start the process. If that fails, it is due again after a while, as if it had died at once."""
    child.began, child.silent = time.monotonic(), 0
    try:
        child.process = child.begin()
    except (OSError, embedded.NoServer) as reason:
        postpone(child, f"cannot start ({reason})")
        return
    if child.process is None:
        child.due = child.began + 1.0  # another process owns the server, and may end


def look_after(child: Child) -> None:
    """Restart a dead child: at once the first time, with growing delays while it keeps dying early."""
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
    with contextlib.suppress(OSError):  # it has ended, or cannot be reached; the others still get theirs
        os.killpg(child.process.pid, number)
