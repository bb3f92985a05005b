"""The memory of the embedded servers: a share of what this machine, or its control group, has.

A server without a limit would grow until the kernel kills it, or another process. One that has reached its limit refuses what makes it
grow, answers reads, and still carries out what frees memory (store/library.py).
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

from environs import Env, validate

SETTING = "WARLEDGER_MEMORY"
MEGABYTE = 1_000_000
STORE_SHARE = 2  # half of the machine: while it rewrites its files, the store may need the same again
QUEUE_SHARE = 4  # of the store's limit
WARNING = 0.8  # of its limit: from here on the service says how full a server is
LEAST = 32  # megabytes of each server; it needs some for itself, its functions and its connections

_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def chosen() -> int:
    """Return the limit of the store that the environment sets, in bytes; 0 if it sets none. Raises environs.EnvError."""
    megabytes: int = Env().int(SETTING, 0, validate=lambda number: number and validate.Range(min=LEAST)(number))
    return megabytes * MEGABYTE


def of_store() -> int:
    """Return the limit of the embedded store in bytes. Raises environs.EnvError."""
    return chosen() or max(LEAST * MEGABYTE, of_machine() // STORE_SHARE)


def of_queue() -> int:
    """Return the limit of the embedded queue in bytes. Raises environs.EnvError."""
    return max(LEAST * MEGABYTE, of_store() // QUEUE_SHARE)


def of_machine() -> int:
    """Return the bytes of memory that a process may use here: those of the machine, or fewer by a control group or `ulimit -v`."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_of_groups()]
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return min([*limits, soft] if soft != resource.RLIM_INFINITY else limits)


def _of_groups() -> list[int]:
    """Return the limits of the control groups of this process, of both versions."""
    found = []
    with contextlib.suppress(OSError):
        for line in _OWN_GROUPS.read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            root, name = (_GROUPS, "memory.max") if not kinds else (_GROUPS / "memory", "memory.limit_in_bytes")
            if not kinds or "memory" in kinds.split(","):
                folder = root / path.lstrip("/")
                files = [parent / name for parent in (folder, *folder.parents) if parent.is_relative_to(root)]
                found += [int(text) for text in map(_read, files) if text.isdigit()]
    return found


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:  # a container sees only its own groups
        return ""
