"""Keep the high-water mark of the server's log: how far it is signed. It is in a file next to the keys, written before each signature.

The mark is not in the store. So an older store, such as a restored backup, does not lead to a second history: whoever has the key also has
the mark, and signs nothing that does not continue it. A restore onto a machine without the mark stops the log, since nobody there knows how
far it was signed.
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
RESTORED = "restored"  # the store was restored, and more may have been signed than is known here


class Unreadable(Exception):
    """The file of marks is damaged, so nothing may be signed. The text says which file."""


class Mark(NamedTuple):
    """How far a server's log is signed: a checkpoint. `stopped`: OLDER, FORKED or RESTORED if the log cannot go on; then `found` is
    its size in the store."""

    checkpoint: Checkpoint
    stopped: str = ""
    found: int = 0


def read(folder: Path, origin: str) -> Mark:
    """Return the mark of a server's log, or the empty tree if there is none. Raises Unreadable, OSError."""
    stored = _read(folder).get(origin)
    if stored is None:
        return Mark(Checkpoint(origin, 0, EMPTY))
    try:
        root = base64.b64decode(stored["root"], validate=True)
        return Mark(Checkpoint(origin, int(stored["size"]), root), str(stored["stopped"]), int(stored["found"]))
    except (KeyError, TypeError, ValueError, binascii.Error) as reason:
        raise _damaged(folder) from reason


def keep(folder: Path, mark: Mark) -> None:
    """Write the mark of a server's log durably. Call this within `alone`. Raises Unreadable, OSError."""
    marks = _read(folder)
    size, root = mark.checkpoint.size, base64.b64encode(mark.checkpoint.root).decode()
    new = {"size": size, "root": root, "stopped": mark.stopped, "found": mark.found}
    if marks.get(mark.checkpoint.origin) != new:
        marks[mark.checkpoint.origin] = new
        durable.write(folder / FILE, json.dumps(marks, indent=1).encode() + b"\n")


def bring_back(folder: Path, marks: bytes) -> None:
    """Write the marks of a continuous backup, which may be behind what was signed. So their logs stop. Raises Unreadable, OSError."""
    try:
        stored = json.loads(marks)
        found = {origin: {**mark, "stopped": RESTORED, "found": int(mark["size"])} for origin, mark in stored.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as reason:
        raise _damaged(folder) from reason
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    durable.write(folder / FILE, json.dumps(found, indent=1).encode() + b"\n")


def hold(folder: Path, origin: str, found: int) -> bool:
    """Stop a log after a restore, with `found` leaves, unless its mark is here. Return True if it has stopped.

    Raises Unreadable, OSError.
    """
    if origin not in _read(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        keep(folder, Mark(Checkpoint(origin, found, EMPTY), RESTORED, found))
    return read(folder, origin).stopped == RESTORED


@contextmanager
def alone(folder: Path, what: str) -> Iterator[bool]:
    """Lock something for this process until the end of the block. Yield False if another process with the same folder has the lock.

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
    """Return why a server's log cannot go on, as JSON for /readyz; {} if it can."""
    try:
        mark = read(folder, origin)
    except (Unreadable, OSError):
        return {"why": "unreadable", "signed": 0, "stored": 0}
    return {"why": mark.stopped, "signed": mark.checkpoint.size, "stored": mark.found} if mark.stopped else {}


def sentence(folder: Path, origin: str) -> str:
    """Return why a server's log cannot go on and what to do about it, in sentences for people; "" if it can."""
    try:
        mark = read(folder, origin)
    except (Unreadable, OSError) as reason:
        return str(reason)
    size = mark.checkpoint.size
    if not mark.stopped:
        return ""
    what = {
        OLDER: f"The store has {mark.found} leaves of the log {origin}, but {size} were signed. It is older, like a restored backup.",
        FORKED: f"The store has other leaves of the log {origin} than the {size} that were signed.",
        RESTORED: f"The store was restored with {mark.found} leaves of the log {origin}, and more may have been signed.",
    }[mark.stopped]
    return (
        f"{what} The log has stopped, because going on would give it a second history. "
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
    return Unreadable(f"{folder / FILE} is damaged. Restore it from a copy. Without it, nobody knows what was signed.")
