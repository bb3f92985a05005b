"""Forking: a process imports everything once, and starts others as copies of itself in a hundredth of a second.

A fork does what `python -m MODULE ARGUMENT...` does, but finds the modules in memory and shares that memory with its parent. The parent
must have one thread, no connection, and nothing else that two processes cannot share. On macOS that is impossible, because the system's
own libraries start threads. There, and for workers with compiled modules, a new interpreter is started instead.
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

SIGNS: list[Callable[[], bool]] = []
"""What must go on in this process beside its threads. While one of these returns False, the heart does not beat. Each is asked at every
beat, waits for nothing and raises nothing."""

_BEATS = struct.Struct("=Q")


class Forked:
    """A forked process, with the methods of `subprocess.Popen` that supervision needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal, or None while the process runs."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # another thread has already waited for it
                pid, status = self.pid, 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return the exit status. Raise subprocess.TimeoutExpired."""
        return waited(self.poll, timeout)


class Heart:
    """The heartbeat of a forked process: a counter in memory that it shares with its parent. It counts up once a second."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _BEATS.size)

    @property
    def beats(self) -> int:
        """The number of beats since the process began."""
        return int(_BEATS.unpack_from(self._shared)[0])

    def start(self) -> None:
        """Beat in a thread. The beat stops when the process hangs in code that lets no other thread run, and while a sign is missing."""
        _BEATS.pack_into(self._shared, 0, 0)
        threading.Thread(target=self._run, name="heart", daemon=True).start()

    def _run(self) -> None:
        while True:
            if all(sign() for sign in SIGNS):
                _BEATS.pack_into(self._shared, 0, self.beats + 1)
            time.sleep(BEAT_SECONDS)


class Errand:
    """A task that is done once in the background: in a fork, which is repeated if it fails, or in a thread where forking is impossible."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self._doing: Forked | threading.Thread | None = None
        self._due = 0.0
        self.is_done()

    def is_done(self) -> bool:
        """Return True if the task is done. Begin it again if it has failed, at most once a second."""
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
    """Call `poll` until it returns a status, and return that. Raise subprocess.TimeoutExpired."""
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
    """Import what forks will need. Exempt it from garbage collection, so that the memory stays shared."""
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
    """Fork a process that calls the `main` of a module with arguments. Raise OSError.

    The new process calls `output` for the open files of its standard output and standard error.
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
    """Fork a process that calls a function in a session of its own. It ends after that, or with this process. Raise OSError."""
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
    """Call a function in a process that was just forked. Then end the process as Python does, with the same exit status."""
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
    except BaseException:  # noqa: BLE001 - printed as Python prints it
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()
        _flush()
        os._exit(status & 0xFF)


def _flush() -> None:
    """Flush the output. Ignore a full disk and a closed stream."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


def _forget_signals() -> None:
    """Restore the default handling of every signal that the parent handles."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _redirect(out: int, err: int) -> None:
    """Send the output to these files, read nothing, and close every other file that the parent had open."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for place, file in enumerate((nothing, os.dup(out), os.dup(err))):
        os.dup2(file, place)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    sys.stdout, sys.stderr = [os.fdopen(file, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False) for file in (1, 2)]


def _rename(title: str) -> None:
    """Set the title that `ps` shows. It replaces the parent's command line in memory, and is cut to its length."""
    with contextlib.suppress(OSError, ValueError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        begin, end = int(fields[45]), int(fields[46])
        if 0 < begin < end:
            ctypes.memmove(begin, os.fsencode(title)[: end - begin - 1].ljust(end - begin, b"\0"), end - begin)
