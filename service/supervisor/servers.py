"""The embedded servers under supervision: their disk, their memory, their sockets, and whether they answer."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

from events.keeping import aof, embedded, erasing, memory, stand_in
from events.keeping.memory import MEGABYTE
from service.supervisor.forking import Errand
from service.supervisor.supervision import PROC, Child, Process, begin_command, group, say

RESERVE = 16_000_000  # bytes of the store's disk that stay free
FASTEST = 1e9  # bytes a second that the fastest disk writes
PATIENCE = 0.5  # seconds for a server that was left behind to end
LEVELS = (memory.WARNING, 0.9, 0.99)  # of a server's memory, at which `serve` says so
RELIEF = 0.75  # below this it says that there is room again
SETTLED = 3.0  # seconds in which a server has made its socket
EMPTIED = 10  # seconds after which a full queue is emptied
WAITS = 20  # looks for which a server may wait for its disk
_SPINS = 10  # hundredths of a second between two looks: a process that uses so much waits for nothing
_QUESTION = b"MEMORY STATS\r\n"
_MEMORY = re.compile(rb"\btotal\.allocated\r\n:(\d+)\r\n")
_BUSY = b"-BUSY"  # a script does not end


class Door:
    """Leads other processes to the folder with the socket of the store, or of its stand-in.

    It is an open folder of this process, which they find under /proc. A link in a folder could be deleted, as logind and cleaners of
    temporary folders do.
    """

    def __init__(self, folder: Path) -> None:
        """Open the door to a folder. Raise OSError."""
        self._file = os.open(folder, _AS_FOLDER)
        self.path = PROC / str(os.getpid()) / "fd" / str(self._file)

    @classmethod
    def opened(cls, folder: Path) -> Door | None:
        """Return a door, or None where /proc has none or hides it."""
        if sys.platform != "linux":
            return None
        with contextlib.suppress(OSError):
            door = cls(folder)
            if door.path.samefile(folder):
                return door
            door.close()
        return None

    def lead_to(self, folder: Path) -> None:
        """Lead to another folder from now on. Raise OSError."""
        other = os.open(folder, _AS_FOLDER)
        os.dup2(other, self._file, inheritable=False)
        os.close(other)

    def close(self) -> None:
        """Lead nowhere."""
        os.close(self._file)


_AS_FOLDER = getattr(os, "O_PATH", 0) | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass
class Disk:
    """The disk of the embedded store. While it is full or read-only, the store refuses writes and answers reads from memory.

    The store ends if a write fails nevertheless. While it cannot start again, a stand-in answers reads. Other processes find the socket of
    either through `door`. Without a door there is no stand-in.
    """

    data: Path
    door: Door | None = None
    room: int = 0
    writable: bool = True
    failed: bool = False
    applied: bool = True
    due: float = 0.0
    store: subprocess.Popen[bytes] | None = None
    substitute: subprocess.Popen[bytes] | None = None
    copy: Path | None = None
    place: tuple[int, int] | None = None
    preparing: Errand | None = None
    erasing: Errand | None = None

    def look(self) -> None:
        """Make the store accept or refuse writes, by the free space on its disk. If the store does not answer, try again later."""
        self.room = room_of(self.folder)
        writable = self.room > 0 and not self.failed
        if writable != self.writable:
            self.writable, self.applied = writable, False
            say(
                "The disk of the store can be written again."
                if writable
                else "The disk of the store is full or cannot be written; it refuses writes until that has changed."
            )
        if self.preparing is not None and self.preparing.is_done():
            self.preparing = None
        if not self.applied and time.monotonic() >= self.due:
            with contextlib.suppress(OSError):  # the store has never started
                self.applied = embedded.permit_writes(self.data, embedded.STORE, writable)
            self.due = time.monotonic() + 0.5

    @property
    def folder(self) -> Path:
        """The folder of the store."""
        return self.data / embedded.STORE

    @property
    def socket(self) -> Path:
        """The socket of the store, as this process finds it."""
        return embedded.socket_of(self.folder.resolve())

    @property
    def server(self) -> subprocess.Popen[bytes] | None:
        """The server that answers, the store or its stand-in, unless the files of the store are being repaired."""
        return self.substitute or self.store

    @property
    def pause(self) -> float:
        """Seconds until the next look. The fastest disk takes longer than that to fill up."""
        return self.room / FASTEST if self.applied else 0.0

    def look_closely(self) -> None:
        """Make the slower checks: whether the disk has failed, can be written again, or was replaced by another one."""
        self.failed = stand_in.has_failed(self.folder)
        if self.store is not None and self._place() not in (None, self.place):  # another disk was mounted in its place
            self.store.kill()
        if self.substitute is not None and stand_in.can_write(self.folder):
            self.substitute.terminate()

    def begin(self, fsync: str, environment: dict[str, str]) -> Process | None:
        """Start the store, or a stand-in if the disk cannot be written. If the store has failed, first start the repair of its files."""
        self.store, self.substitute, self.place = None, None, self._place()
        stand_in_place = None if self.door is None or stand_in.can_write(self.folder) else self._stand_in_place()
        if stand_in_place is None or self.door is None:
            if embedded.has_failed(self.data, embedded.STORE):
                return begin_command([sys.executable, "-m", aof.__name__, str(self.folder)], environment, None)
            self.store = embedded.launch(self.data, embedded.STORE, fsync, self.writable, PATIENCE, self._prepare).process
            if self.door is not None:
                self.door.lead_to(self.socket.parent)
            return self.store
        say("The disk of the store cannot be written; a copy in memory answers reads.")
        self.copy = stand_in_place
        self.substitute = stand_in.start(self.data, stand_in_place)
        self.door.lead_to(stand_in_place)
        return self.substitute

    def erase(self) -> None:
        """Begin to erase what is due, unless the disk is full or a stand-in has replaced the store."""
        if self.erasing is not None and self.erasing.is_done():
            self.erasing = None
        if self.erasing is None and self.writable and self.substitute is None and erasing.is_due(self.data):
            self.erasing = Errand(partial(erasing.erase, self.data))

    @property
    def shown(self) -> Path:
        """The socket of the store, or of its stand-in, as other processes find it."""
        return self.socket if self.door is None else self.door.path / self.socket.name

    def close(self) -> None:
        """Close the door, and remove the files of the stand-in."""
        if self.door is not None:
            self.door.close()
        if self.copy is not None:
            shutil.rmtree(self.copy, ignore_errors=True)

    def _prepare(self, act: Callable[[], None]) -> None:
        self.preparing = Errand(act)

    def _place(self) -> tuple[int, int] | None:
        """Return the device and the inode of the store's folder, or None if the folder is missing."""
        with contextlib.suppress(OSError):
            found = self.folder.stat()
            return found.st_dev, found.st_ino
        return None

    def _stand_in_place(self) -> Path | None:
        """Return the folder of the stand-in. It is on another disk than the store; without one, return None."""
        folder = stand_in.private_folder()
        if folder is None or folder.stat().st_dev == self.data.stat().st_dev:
            return None
        return folder / sha256(os.fsencode(self.data)).hexdigest()[:16]


@dataclass
class Sockets:
    """The sockets of the embedded servers. A server whose socket was deleted is started again: nobody can reach it."""

    paths: list[tuple[Child, Callable[[], Path]]]
    missed: set[str] = field(default_factory=set)

    def look(self) -> None:
        """Kill each server that runs and has had no socket in two looks."""
        settled = time.monotonic() - SETTLED
        missing = {
            child.name for child, path in self.paths if child.process is not None and child.began < settled and not os.path.lexists(path())
        }
        for child, _ in self.paths:
            if child.name in missing & self.missed:
                say(f"The socket of {child.name.lower()} was deleted; starting it again.")
                group(child, signal.SIGKILL)
        self.missed = missing


@dataclass
class Memory:
    """The memory of an embedded server. A queue whose memory stays full is emptied by a new start: nothing in it has to be kept."""

    child: Child
    echo: Echo
    limit: int
    may_empty: bool = False
    level: float = 0.0
    full: int = 0

    def look(self) -> None:
        """Print how full the memory is when it has reached another level. Kill a queue that has been full for EMPTIED looks."""
        used = self.echo.used
        if used is None:
            return
        level = max((level for level in LEVELS if used >= level * self.limit), default=0.0)
        if level > self.level or used < RELIEF * self.limit < self.level * self.limit:
            self.level = level
            then = {0.0: "", LEVELS[-1]: " It refuses what makes it grow."}.get(
                level, " When they are full, it refuses what makes it grow."
            )
            say(f"{self.child.name} takes {used // MEGABYTE} of {self.limit // MEGABYTE} MB of memory ({memory.SETTING}).{then}")
        self.full = self.full + 1 if level == LEVELS[-1] else 0
        if self.may_empty and self.full >= EMPTIED:
            self.full = 0
            say(f"{self.child.name} is emptied. The store knows what is due.")
            group(self.child, signal.SIGKILL)


def room_of(folder: Path) -> int:
    """Return how many bytes the store may still write to the disk of a folder. It keeps a reserve: the store ends if a write fails."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return 0
    return 0 if disk.f_flag & os.ST_RDONLY else max(0, disk.f_bavail * disk.f_frsize - RESERVE)


class Echo:
    """The heartbeat of an embedded server: how many of its answers have come. At each look it is asked how much memory it takes.

    BUSY is no answer, since a script does not end then. A process that is no server beats, and so does one that uses no processor time,
    for WAITS looks: it waits for its disk, and a new start would not help.
    """

    def __init__(self, path: Callable[[], Path], process: Callable[[], Process | None]) -> None:
        self.used: int | None = None
        self._path = path
        self._process = process
        self._line: socket.socket | None = None
        self._beats = self._waits = self._ticks = 0

    @property
    def beats(self) -> int:
        """The number of beats until now."""
        process = self._process()
        if process is None or self._answers() or self._is_waiting(process.pid):
            self._beats += 1
        return self._beats

    def _answers(self) -> bool:
        """Return True if an answer has come since the last look, and ask for the next one. This waits for nothing."""
        answer = b""
        try:
            if self._line is None:
                self._line = socket.socket(socket.AF_UNIX)
                self._line.setblocking(False)
                self._line.connect(str(self._path()))
            else:
                answer = self._line.recv(65_536)
            self._line.send(_QUESTION)
        except BlockingIOError:
            return False
        except OSError:  # it has ended, or does not listen yet
            if self._line is not None:
                self._line.close()
            self._line = self.used = None
            return False
        found = _MEMORY.search(answer)
        self.used = int(found[1]) if found else None
        self._waits = 0 if answer else self._waits
        return bool(answer) and not answer.startswith(_BUSY)

    def _is_waiting(self, number: int) -> bool:
        before, self._ticks = self._ticks, ticks_of(number)
        self._waits += 1
        return self._waits <= WAITS and self._ticks - before < _SPINS


def ticks_of(number: int) -> int:
    """Return the processor time that a process has used, in hundredths of a second. Return 0 if it has ended, or without /proc."""
    with contextlib.suppress(OSError):
        user, system = (PROC / str(number) / "stat").read_bytes().rpartition(b")")[2].split()[11:13]
        return int(user) + int(system)
    return 0
