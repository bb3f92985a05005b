"""Programs that play: processes that read a JSON line for each question, and write a JSON line for each answer.

docs/tournament.md describes the lines. Each program runs without a shell, in a session of its own, and is killed with everything in its
process group when its match is over. On Linux it also dies with the arena, and its memory may be bounded. It is no sandbox.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

PROTOCOL = 1
LONGEST_LINE = 65_536  # bytes of an answer
LONGEST_TEXT = 64  # characters of a program's name and of its version
STARTING = 10.0  # seconds for the first line
ENDING = 1.0  # seconds to end by itself once its match is over
KEPT = 2000  # bytes of the standard error that are kept
LONGEST_WAIT = 3600.0  # seconds of one call of the system; a longer wait takes several
_CHUNK = 65_536
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class Line(NamedTuple):
    """What a program did: it wrote a line, or it failed and gets no further question. `fault` says how, in a sentence without a subject.

    `at`: when the line was complete, in seconds of time.monotonic.
    """

    program: Program
    line: bytes
    at: float
    fault: str = ""


class Program:
    """A running program. `errors` has the end of what it wrote to its standard error."""

    def __init__(self, command: Sequence[str], memory: int = 0) -> None:
        """Start a command. `memory`: bytes of address space, 0 for no bound. Raises OSError."""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_bounds(memory),
        )
        self._written, self._read, self.errors = bytearray(), bytearray(), b""
        self.fault = ""
        self._silent = False  # its standard error is closed
        for pipe in self._pipes():
            os.set_blocking(pipe.fileno(), False)

    def send(self, message: Any) -> None:
        """Write a message as a line, in the background of `wait`."""
        self._written += json.dumps(message, separators=(",", ":")).encode() + b"\n"

    def close(self) -> None:
        """Let the program end by itself for a moment, then kill its process group."""
        with suppress(OSError):
            self._flush()
            self._pipes()[0].close()
        if not self.fault:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING)
        self.kill()

    def kill(self) -> None:
        """Kill the process group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in self._pipes():
            with suppress(OSError):
                pipe.close()

    def _pipes(self) -> list[Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        return [self._process.stdin, self._process.stdout, self._process.stderr]

    def _flush(self) -> None:
        """Write what fits into the pipe. Raises OSError."""
        with suppress(BlockingIOError):
            while self._written:
                del self._written[: os.write(self._pipes()[0].fileno(), self._written[:_CHUNK])]

    def _take(self) -> bytes | None:
        """Return a complete line that was read, or None."""
        line, end, rest = bytes(self._read).partition(b"\n")
        if not end:
            return None
        self._read = bytearray(rest)
        return line

    def _fail(self, fault: str) -> None:
        self.fault = self.fault or fault

    def _step(self, pipe: Any) -> None:
        """Read from or write to a pipe that is ready."""
        stdin, stdout, stderr = self._pipes()
        if pipe is stdin:
            try:
                self._flush()
            except OSError:
                self._fail("closed its standard input")
            return
        try:
            found = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            found = b""
        if pipe is stderr:
            self.errors, self._silent = (self.errors + found)[-KEPT:], not found
        elif found:
            self._read += found
            if b"\n" not in self._read and len(self._read) > LONGEST_LINE:
                self._fail(f"wrote a line of more than {LONGEST_LINE} bytes")
        elif pipe is stdout:
            self._fail(self._how_it_ended())

    def _how_it_ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            status = self._process.wait(ENDING)
            return f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}"
        return "closed its standard output"


def wait(programs: Iterable[Program], until: float) -> Line | None:
    """Return the next line of one of the programs, or how one of them failed; None at `until`, in seconds of time.monotonic.

    A program that has failed is told once. What programs are sent is written meanwhile, and their standard error is read.
    """
    waiting = [program for program in programs if not program.fault]
    while True:
        for program in waiting:
            line = program._take()
            if line is not None and len(line) > LONGEST_LINE:
                program._fail(f"wrote a line of more than {LONGEST_LINE} bytes")
            elif line is not None:
                return Line(program, line, time.monotonic())
            if program.fault:
                return Line(program, b"", time.monotonic(), program.fault)
        left = until - time.monotonic()
        if left <= 0:
            return None
        with selectors.DefaultSelector() as selector:
            for program in waiting:
                stdin, stdout, stderr = program._pipes()
                for pipe in (stdout,) if program._silent else (stdout, stderr):
                    selector.register(pipe, selectors.EVENT_READ, program)
                if program._written:
                    selector.register(stdin, selectors.EVENT_WRITE, program)
            ready = selector.select(min(left, LONGEST_WAIT))
        for key, _ in ready:
            key.data._step(key.fileobj)


def greeted(program: Program, hello: dict[str, Any]) -> dict[str, str]:
    """Send the first line to a program, and return its name and version. Return {} if it fails; its `fault` says how."""
    program.send({"warledger": PROTOCOL, **hello})
    line = wait([program], time.monotonic() + STARTING)
    if line is None:
        program._fail(f"did not answer the first line within {STARTING:g} seconds")
    if line is None or line.fault:
        return {}
    found = parsed(line.line) or {}
    about = {name: found[name] for name in ("name", "version") if isinstance(found.get(name), str)}
    if len(about) == 2 and all(0 < len(text) <= LONGEST_TEXT and text.isprintable() for text in about.values()):
        return about
    program._fail('did not begin with a line such as {"name": "mine", "version": "1"}')
    return {}


def parsed(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a line, or None."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def die_with_parent() -> None:
    """Let this process be killed when its parent ends, also if that is killed. Only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _bounds(memory: int) -> Callable[[], None]:
    """Return what a child does before it becomes the program."""

    def bound() -> None:
        die_with_parent()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return bound
