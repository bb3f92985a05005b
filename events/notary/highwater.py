"""The mark: how far the server's log has been signed, in a file beside the keys that sign it. It is written before anything is signed.

It is neither in the store nor in a backup. So a store that comes back older, as from a backup, does not lead to a second history: whoever
has the key also has the mark, and signs nothing that does not continue it.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from events.keeping import durable
from evidence.checkpoints import Checkpoint
from evidence.tree import EMPTY

FILE = "log.json"

OLDER = "older"  # the store has fewer leaves than were signed
FORKED = "forked"  # the store has other leaves than were signed


class Unreadable(Exception):
    """The file of marks is damaged, so that nothing may be signed. The text says which file."""


class Mark(NamedTuple):
    """How far a log of the server has been signed: a checkpoint. `stopped` is OLDER or FORKED if it cannot go on, `found` the size in the
    store."""

    checkpoint: Checkpoint
    stopped: str = ""
    found: int = 0


def read(folder: Path, origin: str) -> Mark:
    """Return the mark of a log of the server; the empty tree if there is none. Raises Unreadable, OSError."""
    stored = _read(folder).get(origin)
    if stored is None:
        return Mark(Checkpoint(origin, 0, EMPTY))
    try:
        root = base64.b64decode(stored["root"], validate=True)
        return Mark(Checkpoint(origin, int(stored["size"]), root), str(stored["stopped"]), int(stored["found"]))
    except (KeyError, TypeError, ValueError, binascii.Error) as reason:
        raise _damaged(folder) from reason


def keep(folder: Path, mark: Mark) -> None:
    """Write the mark of a log of the server, so that it survives a power cut. Call it within `alone`. Raises Unreadable, OSError."""
    marks = _read(folder)
    size, root = mark.checkpoint.size, base64.b64encode(mark.checkpoint.root).decode()
    new = {"size": size, "root": root, "stopped": mark.stopped, "found": mark.found}
    if marks.get(mark.checkpoint.origin) != new:
        marks[mark.checkpoint.origin] = new
        durable.write(folder / FILE, json.dumps(marks, indent=1).encode() + b"\n")


@contextmanager
def alone(folder: Path, what: str) -> Iterator[bool]:
    """Keep other processes that share the folder from doing something until the end of the block. Yield False if another one does it now.

    Raises OSError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / f".{what}.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def as_json(folder: Path, origin: str) -> dict[str, Any]:
    """Return why a log of the server does not go on, in words and numbers, for /readyz; nothing if it does."""
    try:
        mark = read(folder, origin)
    except (Unreadable, OSError):
        return {"why": "unreadable", "signed": 0, "stored": 0}
    return {"why": mark.stopped, "signed": mark.checkpoint.size, "stored": mark.found} if mark.stopped else {}


def sentence(folder: Path, origin: str) -> str:
    """Return why a log of the server does not go on, and what to do about it, in sentences for people; empty if it does."""
    try:
        mark = read(folder, origin)
    except (Unreadable, OSError) as reason:
        return str(reason)
    size = mark.checkpoint.size
    if not mark.stopped:
        return ""
    what = {
        OLDER: f"The store has {mark.found} leaves of the log {origin}, and {size} were signed: it is older, as from a backup.",
        FORKED: f"The store has other leaves of the log {origin} than the {size} that were signed.",
    }[mark.stopped]
    return (
        f"{what} The log stands, because to go on would give it a second history. "
        "Bring back the newer store, or begin a new log: `./run keys rotate --name` with another name."
    )


def _read(folder: Path) -> dict[str, Any]:
    try:
        with os.fdopen(os.open(folder / FILE, os.O_RDONLY), "rb") as file:
            stored = json.loads(file.read())
    except FileNotFoundError:
        return {}
    except ValueError as reason:
        raise _damaged(folder) from reason
    if not isinstance(stored, dict):
        raise _damaged(folder)
    return stored


def _damaged(folder: Path) -> Unreadable:
    return Unreadable(f"{folder / FILE} is damaged. Bring it back from a copy: without it nobody knows what was signed.")
