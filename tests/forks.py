"""The processes of tests: forks of one process that has imported everything, for each process of pytest.

pytest has threads and connections, so it cannot be forked itself. `python -m tests.forks` imports what services, workers and their test
games need, once. Then it forks on request: a service or a worker is there in a tenth of a second, and takes a tenth of the CPU time.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from events.modules import python_environment
from service.supervisor.forking import FORKS, Forked, fork_module, prepare, waited
from tools.private import Running

ROOT = Path(__file__).parents[1]
MODULES = (
    *("service.supervisor.serve", "service.supervisor.web", "workers.run", "workers.journal"),
    *("tests.service.serving", "tests.workers.toy", "tests.workers.skewed", "tests.workers.halting"),
)
LONGEST = 1 << 20  # bytes of a request
ROOM = "-" * 100  # on the command line, for the names of forks


class Process:
    """A fork of the process that forks for tests, with those methods of `subprocess.Popen` that tests need."""

    def __init__(self, parent: Parent, pid: int) -> None:
        self._parent = parent
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the status with which it ended, negative for a signal; None while it runs."""
        if self.returncode is None:
            self.returncode = self._parent.ask({"poll": self.pid})
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the status with which it ends. Raises subprocess.TimeoutExpired."""
        return waited(self.poll, timeout)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


class Parent:
    """The process that forks. It starts with its first fork, and ends with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def fork(self, module: str, arguments: Sequence[str], environment: Mapping[str, str], out: int, err: int, folder: str) -> Process:
        """Fork a process that does what `python -m MODULE ARGUMENT...` does in a folder, and prints to these files."""
        asked = {"module": module, "arguments": list(arguments), "environment": dict(environment), "folder": folder}
        return Process(self, self.ask(asked, out, err))

    def ask(self, what: Any, *files: int) -> Any:
        """Send a request with open files, and return the answer."""
        with self._lock:
            if self._line is None:
                self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                command = [sys.executable, "-m", "tests.forks", str(theirs.fileno()), ROOM]
                environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
                self._process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], start_new_session=True)
                theirs.close()
            socket.send_fds(self._line, [json.dumps(what).encode()], files)
            answer = self._line.recv(LONGEST)
        if not answer:
            raise RuntimeError("the process that forks for tests has ended")
        return json.loads(answer)

    def close(self) -> None:
        """End it, with every process that it has forked and that still runs."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.wait()


PARENT = Parent()


def start(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], out: int = 1, err: int = 2, folder: str | None = None
) -> Running:
    """Start a process that runs a module, in this folder or another: as a fork if that can be."""
    folder = folder or str(Path.cwd())
    if FORKS:
        return PARENT.fork(module, arguments, environment, out, err, folder)
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(command, env=environment, stdout=out, stderr=err, cwd=folder, start_new_session=True)


def run(module: str, *arguments: str, folder: str = "/", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a module with arguments in a process of its own, to its end: as a fork if that can be."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = start(module, arguments, {**python_environment(), **environment}, out.fileno(), err.fileno(), folder)
        try:
            status = process.wait(120)
        finally:
            process.kill()
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess([module, *arguments], status, out.read(), err.read())


def main(arguments: Sequence[str]) -> int:
    """Fork on request, until the other end of the line is closed."""
    line = socket.socket(fileno=int(arguments[0]))
    prepare(MODULES)
    forks: dict[int, Forked] = {}
    while True:
        text, files, _, _ = socket.recv_fds(line, LONGEST, 2)
        if not text:
            return 0
        asked = json.loads(text)
        if "poll" in asked:
            answer = forks[asked["poll"]].poll()
        else:
            output = partial(tuple, files)
            made = fork_module(asked["module"], asked["arguments"], asked["environment"], output, Path(asked["folder"]))
            forks[made.pid], answer = made, made.pid
            for file in files:
                os.close(file)
        line.send(json.dumps(answer).encode())


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
