"""Erase deleted values from the append-only file within a day.

The file keeps deleted values until the server rewrites it. A deletion leaves a mark in the data folder. `serve` lets the server rewrite the
file when the mark is a day old. So deletions cause at most one rewrite a day.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import structlog

from events.errors import StoreRefused, StoreUnavailable
from events.keeping.embedded import FILES, STORE, keeper_url
from events.store.client import rewrite_files

MARK = "erase"
AFTER = 86_400.0  # seconds from the first deletion to the rewrite
AGAIN = 3600.0  # seconds until the next try

log = structlog.get_logger("events")


def note(data: Path) -> None:
    """Mark that something was deleted that must leave the files of the embedded store. On a full disk this does nothing."""
    if (data / STORE / FILES).is_dir():
        with contextlib.suppress(OSError):
            (data / MARK).touch(mode=0o600, exist_ok=False)


def ask(data: Path) -> None:
    """Let the server rewrite its files now. On a full disk this does nothing."""
    note(data)
    with contextlib.suppress(OSError):
        os.utime(data / MARK, (0, 0))


def is_due(data: Path) -> bool:
    """Return True if the server of a data folder should rewrite its files."""
    with contextlib.suppress(OSError):
        return (data / MARK).stat().st_mtime + AFTER <= time.time()
    return False


def erase(data: Path) -> bool:
    """Let the server rewrite its files, and remove the mark. Return False if that fails; the next try is due after `AGAIN` seconds."""
    mark, done = data / MARK, False
    with contextlib.suppress(StoreUnavailable, StoreRefused, OSError):
        mark.unlink(missing_ok=True)  # first: this rewrite may miss what is deleted from now on
        done = rewrite_files(keeper_url(data))
    if not done:
        log.warning("files_not_rewritten")
        note(data)
        with contextlib.suppress(OSError):
            again = time.time() - AFTER + AGAIN
            os.utime(mark, (again, again))
    return done
