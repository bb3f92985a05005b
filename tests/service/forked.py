"""What a fork finds: `main` prints it as JSON, and then ends, or hangs, as it is told."""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import random
import signal
import sys
from pathlib import Path

from events.telemetry import exposition
from service.supervisor import forking

CHANGED = (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)  # by the parent


def main(arguments: list[str]) -> int:
    """Print what this process finds. The first argument says how to end."""
    found = {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "session": os.getsid(0),
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": str(Path.cwd()),
        "input": sys.stdin.read(),
        "files": sorted(int(file.name) for file in Path("/proc/self/fd").iterdir()),
        "title": Path("/proc/self/cmdline").read_bytes().rstrip(b"\0").decode(),
        "blocked": [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())],
        "handled": [number.name for number in CHANGED if signal.getsignal(number) != signal.SIG_DFL],
        "chance": [random.random(), exposition._sign().partition("-")[2]],
        "frozen": gc.get_freeze_count() > 1000 and gc.isenabled(),
    }
    sys.stdout.write(json.dumps(found) + "\n")
    atexit.register(sys.stdout.write, "the end\n")
    how = arguments[0]
    if how == "fail":
        raise RuntimeError("as it was told")
    if how == "hang":
        ctypes.PyDLL(None).pause()  # it holds the interpreter, as a regular expression does that takes for ever
    if how == "miss":
        forking.SIGNS.append(lambda: False)
    if how in ("wait", "miss"):
        signal.pause()
    return int(how)
