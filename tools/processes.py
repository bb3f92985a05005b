"""List the processes of this machine and their descendants, from /proc, or from `ps` if there is no /proc."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")


class Process(NamedTuple):
    """A process: its id, the id of its parent, and its command line."""

    number: int
    parent: int
    command: str


def processes() -> list[Process]:
    """Return every process, without zombies."""
    return list(_from_proc() if (PROC / "self/stat").exists() else _from_ps())


def family(number: int) -> list[Process]:
    """Return the descendants of a process, each after its parent."""
    every = processes()
    found: list[Process] = []
    parents = {number}
    for _ in every:  # there are no more generations than processes
        children = [process for process in every if process.parent in parents]
        if not children:
            break
        found += children
        parents = {child.number for child in children}
    return found


def lives(number: int) -> bool:
    """Return True if a process runs. A zombie does not run."""
    return any(process.number == number for process in processes())


def _from_proc() -> Iterator[Process]:
    for folder in PROC.glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # the process has just ended
        if state != "Z":
            yield Process(int(folder.name), int(parent), command)


def _from_ps() -> Iterator[Process]:
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,command="], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        number, parent, state, command = line.split(None, 3)
        if not state.startswith("Z"):
            yield Process(int(number), int(parent), command)
