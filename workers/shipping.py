"""Send the files of a store to the continuous backup (ADR 123).

Those of the data folder are sent in a thread of the process that keeps the journal.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import structlog

from events.archive.mirrored import ARCHIVE, Below, copy_missing
from events.archive.objects import open_objects
from events.errors import ArchiveUnavailable
from events.keeping import aof, embedded, erasing
from events.keeping.chain import Point, Taken
from events.keeping.embedded import STORE
from events.keeping.shipping import NODES, Moving, Shipper, small_files
from events.platform import Settings
from events.telemetry import metrics
from workers.listening import Life

LONG = 10_000  # objects after which the server rewrites its files, so that a restore reads fewer
COMPARED = 86_400.0  # seconds after which the archive is compared again
_TAKEN = 600.0  # seconds to wait after objects of another process were found
_LONGEST = 3600.0  # seconds of a round, which may copy a whole archive

log = structlog.get_logger(__name__)


class Sender:
    """Sends a store. `archive`: the place of its archive if that is to be copied, or "".

    `runs` tells whether its server runs. `rewrite` lets the server rewrite its files.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        small: dict[str, Path],
        archive: str = "",
        runs: Callable[[], bool] = lambda: True,
        rewrite: Callable[[], None] = lambda: None,
    ) -> None:
        self._archive = archive
        self._objects = open_objects(settings.backup)
        self._shipper = Shipper(folder, small, self._objects, settings.backup_seconds, settings.backup_days)
        self._runs = runs
        self._rewrite = rewrite

    def round(self) -> Point | None:
        """Send what is new (Shipper.round)."""
        if not self._runs():
            raise Moving("The store does not run.")
        point = self._shipper.round()
        if self._shipper.length > LONG:
            self._rewrite()
        return point

    def copy_archive(self) -> None:
        """Copy what the backup lacks of the archive. Whatever archives a match copies it, too (events/archive/mirrored.py)."""
        if self._archive:
            copied = copy_missing(open_objects(self._archive), Below(self._objects, ARCHIVE))
            if copied:
                log.info("archive_copied", objects=copied)


def of_data_folder(settings: Settings) -> Sender:
    """Return a sender of the store of the data folder. Raises WrongArchive."""
    small = small_files(settings.data, settings.keys_folder)
    archive = settings.archive_place if settings.archive_is_local else ""
    return Sender(settings, settings.data / STORE, small, archive, lambda: _is_used(settings), lambda: erasing.ask(settings.data))


def of_server(settings: Settings, folder: Path) -> Sender:
    """Return a sender of the files of a server of one's own. Raises WrongArchive."""
    return Sender(settings, folder, {NODES: folder / NODES})


def start(settings: Settings) -> threading.Thread | None:
    """Begin to send in a thread, if there is a place for it, and return the thread. No process that forks may do this."""
    if not settings.backup:
        return None
    if settings.store_url and not settings.store_url.startswith("unix://"):
        log.error("backup_of_another_server")  # its files are elsewhere: `./run backup --server DIR --follow` sends them
        return None
    thread = threading.Thread(target=send, args=(of_data_folder(settings), settings, threading.Event()), name="backup", daemon=True)
    thread.start()
    return thread


def send(sender: Sender, settings: Settings, stop: threading.Event, life: Life | None = None) -> None:
    """Send until `stop` is set. After an error, try again."""
    life = life or Life()
    compared: float | None = None
    pause = 0.0
    while not stop.wait(pause):
        began = time.monotonic()
        life.promise(_LONGEST)
        try:
            point, pause = sender.round(), 0.0
            if point is not None:
                metrics.backup_point.set(point.at // 1000)
                if compared is None or began > compared + COMPARED:
                    sender.copy_archive()
                    compared = began
                pause = max(0.0, settings.backup_seconds - (time.monotonic() - began))
        except Taken as reason:
            log.error("backup_taken", reason=str(reason))
            metrics.backup_failures.inc()
            pause = _TAKEN
        except (ArchiveUnavailable, Moving, aof.NotWhole, OSError) as reason:
            log.warning("backup_not_sent", error=type(reason).__name__, reason=getattr(reason, "reason", "") or str(reason))
            metrics.backup_failures.inc()
            pause = settings.backup_seconds / 4


def _is_used(settings: Settings) -> bool:
    """Return True if the service uses the store of the data folder, and not a stand-in or another server."""
    if not settings.store_url:
        return True
    with contextlib.suppress(OSError):
        return Path(urlsplit(settings.store_url).path).samefile(embedded.socket_of((settings.data / STORE).resolve()))
    return False
