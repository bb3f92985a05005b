"""Forking: a process that has imported everything once starts others as copies of itself, in a hundredth of a second.

A fork does what `python -m MODULE ARGUMENT...` does, but finds the modules in memory, and shares that memory with its parent. The parent
must be fit for that: one thread, no connection, nothing that belongs to it alone. macOS is not fit, whatever the parent does: its own
libraries start threads. There, and where other modules are wanted, processes are started anew.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import mmap
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from events.lifeline import end_with

FORKS = sys.platform == "linux"
BEAT_SECONDS = 1.0

_BEATS = struct.Struct("=Q")


class Forked:
    """A process that this one has forked, with those methods of `subprocess.Popen` that supervision needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the status with which it ended, negative for a signal; None while it runs."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # somebody else has waited for it
                pid, status = self.pid, 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the status with which it ends. Raises subprocess.TimeoutExpired."""
        return waited(self.poll, timeout)


class Heart:
    """How often a forked process has shown that it goes on, in memory that it shares with its parent. It does so once a second."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _BEATS.size)

    @property
    def beats(self) -> int:
        """The number of beats since it began."""
        return int(_BEATS.unpack_from(self._shared)[0])

    def start(self) -> None:
        """Beat, in a thread. It stands still when the interpreter does: when the process hangs in code that lets no other thread run."""
        _BEATS.pack_into(self._shared, 0, 0)
        threading.Thread(target=self._run, name="heart", daemon=True).start()

    def _run(self) -> None:
        while True:
            _BEATS.pack_into(self._shared, 0, self.beats + 1)
            time.sleep(BEAT_SECONDS)


class Errand:
    """Something that is done once beside this process: by a fork of it, again if that is killed, or by a thread where nothing is forked."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self._doing: Forked | threading.Thread | None = None
        self._due = 0.0
        self.is_done()

    def is_done(self) -> bool:
        """Return True if it is done. Begin it again if it has failed, at most once a second."""
        if isinstance(self._doing, threading.Thread):
            return not self._doing.is_alive()
        status = None if self._doing is None else self._doing.poll()
        if (self._doing is None or status) and time.monotonic() >= self._due:
            self._due = time.monotonic() + 1.0
            if FORKS:
                with contextlib.suppress(OSError):
                    self._doing = fork(self._act)
            else:
                self._doing = threading.Thread(target=self._act, daemon=True)
                self._doing.start()
        return status == 0


def waited(poll: Callable[[], int | None], timeout: float | None) -> int:
    """Return what `poll` returns as soon as that is not None. Raises subprocess.TimeoutExpired."""
    deadline = None if timeout is None else time.monotonic() + timeout
    pause = 0.0005
    while (status := poll()) is None:
        left = pause if deadline is None else deadline - time.monotonic()
        if left <= 0:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0.0)
        time.sleep(min(pause, left))
        pause = min(0.05, pause * 2)
    return status


def prepare(modules: Iterable[str]) -> None:
    """Import what forks will need, and leave it out of every collection of garbage, so that the memory stays shared."""
    gc.disable()
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    gc.enable()


def fork_module(
    module: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    output: Callable[[], tuple[int, int]],
    folder: Path,
    heart: Heart | None = None,
) -> Forked:
    """Fork a process that calls the `main` of a module with arguments.

    `output`, called there, returns the open files for what it prints and for its errors. Raises OSError.
    """

    def run() -> None:
        streams = output()
        os.chdir(folder)
        _redirect(*streams)
        os.environ.clear()
        os.environ.update(environment)
        _rename(" ".join([module, *arguments]))
        if heart is not None:
            heart.start()
        sys.exit(importlib.import_module(module).main(list(arguments)))

    return fork(run)


def fork(act: Callable[[], object]) -> Forked:
    """Fork a process that calls a function, in a session of its own. It ends then, or with this process. Raises OSError."""
    parent = os.getpid()
    _flush()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # a handler of this process must not run in the new one
    try:
        pid = os.fork()
        if pid == 0:
            _end_after(parent, blocked, act)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return Forked(pid)


def _end_after(parent: int, blocked: set[signal.Signals | int], act: Callable[[], object]) -> None:
    """Call a function in a process that was just forked, and end it as Python ends."""
    status = 1
    try:
        end_with(parent)
        os.setsid()
        _forget_signals()
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        atexit._clear()
        act()
        status = 0
    except SystemExit as reason:
        status = reason.code if isinstance(reason.code, int) else int(reason.code is not None)
        if isinstance(reason.code, str):
            sys.stderr.write(f"{reason.code}\n")
    except BaseException:  # noqa: BLE001 - it is printed, as Python prints it
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()
        _flush()
        os._exit(status & 0xFF)


def _flush() -> None:
    """Write out what is printed. It may be on a full disk, or nowhere."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


def _forget_signals() -> None:
    """Handle signals as a process does that has just begun."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _redirect(out: int, err: int) -> None:
    """Read nothing, print to these files, and close all others that the parent had open."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for place, file in enumerate((nothing, os.dup(out), os.dup(err))):
        os.dup2(file, place)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    sys.stdout, sys.stderr = [os.fdopen(file, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False) for file in (1, 2)]


def _rename(title: str) -> None:
    """Let `ps` show what this process does, as far as there is room for it in place of what its parent was started with."""
    with contextlib.suppress(OSError, ValueError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        begin, end = int(fields[45]), int(fields[46])
        if 0 < begin < end:
            ctypes.memmove(begin, os.fsencode(title)[: end - begin - 1].ljust(end - begin, b"\0"), end - begin)
