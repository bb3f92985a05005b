"""Erasing: what was deleted from the store also leaves its append-only file, within a day.

The server keeps deleted values in the file until it rewrites it. A deletion leaves a mark in the data folder. `serve` lets the server
rewrite the file when the mark is a day old, so players who come and go make it do that once a day at most.
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
    """Note that something was deleted that must not stay in the files of the embedded store. A disk that is full has no room for it."""
    if (data / STORE / FILES).is_dir():
        with contextlib.suppress(OSError):
            (data / MARK).touch(mode=0o600, exist_ok=False)


def is_due(data: Path) -> bool:
    """Return True if the server of a data folder should rewrite its files."""
    with contextlib.suppress(OSError):
        return (data / MARK).stat().st_mtime + AFTER <= time.time()
    return False


def erase(data: Path) -> bool:
    """Let the server rewrite its files, and remove the mark. Return False if that fails; it is due again after `AGAIN` seconds."""
    mark, done = data / MARK, False
    with contextlib.suppress(StoreUnavailable, StoreRefused, OSError):
        mark.unlink(missing_ok=True)  # first: what is deleted from now on may come too late for this rewrite
        done = rewrite_files(keeper_url(data))
    if not done:
        log.warning("files_not_rewritten")
        note(data)
        with contextlib.suppress(OSError):
            again = time.time() - AFTER + AGAIN
            os.utime(mark, (again, again))
    return done
