"""Connections: a thread of each web process ends connections of slow clients, and shares the others among prefixes and addresses.

granian has a time limit for the head of a request, but none for its body, nor for an answer that the client does not read. Both occupy a
thread. The kernel knows the progress of a connection (TCP_INFO), so this works with any server. It needs Linux; elsewhere nothing is ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import socket
import stat
import struct
import sys
import termios
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from service.http.addresses import Addresses, network_of, prefix_of

LOOK_SECONDS, CROWDED_SECONDS = 2.0, 0.5  # between two looks, and while more than half of the connections are open
SLICE = 100  # connections to check before other threads get a turn
SEND_BUFFER = 65_536  # bytes of unread answers that the kernel buffers; it doubles the number for its own needs
READ_SECONDS = 30.0  # in this time a client must read READ_BYTES, if so many wait for it
READ_BYTES = 16_384
OTHER_FILES = 256  # open files of a web process other than connections of clients
LEAST = 64  # connections with which it is worth starting
_TCP_INFO = struct.Struct("=24xI92xQQ8xI")  # unacknowledged segments, bytes acknowledged, bytes received, bytes not sent
_ENOUGH = 148

_files: dict[str, tuple[int, int]] = {}


class TooFewFiles(Exception):
    """The system allows too few open files. The message is a sentence for the operator."""


def allowed(wanted: int) -> int:
    """Return how many connections a web process can hold: `wanted`, or fewer if the hard limit of open files is too low.

    Raise TooFewFiles if not even LEAST fit in.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= wanted + OTHER_FILES:
        return wanted
    if hard < OTHER_FILES + LEAST:
        raise TooFewFiles(
            f"The hard limit of open files is {hard}, and a web process needs at least {OTHER_FILES + LEAST}. Raise it (`ulimit -Hn`)."
        )
    return hard - OTHER_FILES


def raise_open_files(connections: int) -> None:
    """Raise the limit of open files, for this process and those that it starts, to what so many connections need. Raise TooFewFiles."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = allowed(connections) + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def bound_send_buffer(file: int) -> None:
    """Bound what the kernel keeps for clients of a listening socket who do not read: connections inherit it."""
    with borrowed(file) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)


class Accepting:
    """Tells whether a web server still lets in those who wait at its listening socket `file`. Its event loop does that.

    `capacity`: with so many open files the server lets nobody in, as it should.
    """

    def __init__(self, file: int, capacity: int) -> None:
        self._file = file
        self._capacity = capacity
        self._files: set[Path] = set()

    def goes_on(self) -> bool:
        """Return False if somebody waits, and nobody was let in since this was last asked. It needs Linux."""
        if sys.platform != "linux":
            return True
        try:
            with borrowed(self._file) as line:
                waiting, *_ = _TCP_INFO.unpack(line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ENOUGH))
            before, self._files = self._files, set(_open_files()) if waiting else set()
        except OSError:  # there are as many open files as can be
            return True
        return not waiting or self._files != before or len(self._files) >= self._capacity


def _open_files() -> Iterator[Path]:
    """Yield what each open file of this process is. Each socket has a number of its own. Raise OSError."""
    for file in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            yield file.readlink()


class Progress(NamedTuple):
    """The progress of a connection: bytes received, bytes that the client has acknowledged, and whether more wait for the client."""

    received: int
    acknowledged: int
    behind: bool


class Connection:
    """What was seen of a connection of a client. Times are of the monotonic clock. `address`: None for a proxy, which has no share."""

    __slots__ = ("address", "asking", "behind", "moved", "progress", "reached")

    def __init__(self, address: str | None, progress: Progress, now: float) -> None:
        self.address = address
        self.progress = progress
        self.moved = now  # when bytes last moved, in any direction
        unanswered = progress.received and progress.acknowledged <= 1 and not progress.behind
        self.asking: float | None = now if unanswered else None  # since when it has been sending without an answer
        self.behind: float | None = None  # since when bytes have been waiting for the client
        self.reached = 0  # the bytes that the client had acknowledged then

    def note(self, progress: Progress, now: float) -> None:
        """Note the connection's present progress."""
        before, self.progress = self.progress, progress
        if progress != before:
            self.moved = now
        if progress.acknowledged != before.acknowledged:
            self.asking = None
        elif progress.received != before.received and self.asking is None:
            self.asking = now
        if not progress.behind:
            self.behind = None
        elif self.behind is None or (now - self.behind >= READ_SECONDS and progress.acknowledged - self.reached >= READ_BYTES):
            self.behind, self.reached = now, progress.acknowledged

    def keeps_waiting(self, now: float, patience: float, silence: float) -> bool:
        """Return True if the client sends its request or reads its answer too slowly, or nothing has moved for too long."""
        if self.asking is not None and now - self.asking > patience:
            return True
        if self.behind is not None and now - self.behind > READ_SECONDS:
            return True
        return now - self.moved > silence


class Watch:
    """Supervises the connections of this process.

    `capacity`: how many the server accepts. Once half of them are open, a quarter stays free for others: an address may hold a quarter, a
    prefix half, and those who hold most give up what is too much. `patience`: the seconds within which a request must be complete and its
    answer begin. `silence`: the seconds without a byte after which a connection is ended. `proxies`: their connections have no shares.
    """

    def __init__(self, capacity: int, patience: float, silence: float, proxies: Addresses) -> None:
        self._capacity = capacity
        self._proxies = proxies
        self._patience = patience
        self._silence = silence
        self._ports: set[int] = set()
        self._connections: dict[int, Connection] = {}  # by the inode of the socket

    def start(self) -> None:
        """Start the thread that looks at all connections again and again."""
        if sys.platform == "linux":
            threading.Thread(target=self._run, name="connections", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(CROWDED_SECONDS if self._is_crowded() else LOOK_SECONDS)
            with contextlib.suppress(OSError):  # as when the process can open no more files; the next look may succeed
                self.look(time.monotonic())

    def _is_crowded(self) -> bool:
        return len(self._connections) > self._capacity / 2

    def look(self, now: float) -> None:
        """Look at every connection once. End those that keep the server waiting, and those beyond the share of their holder."""
        found: list[tuple[int, int, Connection]] = []
        for number, (file, inode) in enumerate(sockets()):
            if number % SLICE == 0:
                time.sleep(0.001)
            with contextlib.suppress(OSError):  # it has just been closed
                connection = self._looked_at(file, inode, now)
                if connection is not None:
                    found.append((file, inode, connection))
        self._connections = {inode: connection for _, inode, connection in found}
        for file, inode, connection in found:
            if connection.keeps_waiting(now, self._patience, self._silence):
                end(file, inode)
        if self._is_crowded():
            self._share(found)

    def _looked_at(self, file: int, inode: int, now: float) -> Connection | None:
        """Return the connection of a client, with its progress noted. Return None for another socket."""
        connection = self._connections.get(inode)
        with borrowed(file) as line:
            if connection is not None:
                connection.note(progress_of(line), now)
                return connection
            if line.family not in (socket.AF_INET, socket.AF_INET6):
                return None
            port = line.getsockname()[1]
            if line.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                self._ports.add(port)
            if port not in self._ports:
                return None
            peer = line.getpeername()[0]
            return Connection(None if self._proxies.trusts(peer) else network_of(peer), progress_of(line), now)

    def _share(self, found: list[tuple[int, int, Connection]]) -> None:
        """End connections of those who hold most: first those on which nothing was asked yet, then the longest idle."""
        prefixes: dict[str, dict[str, list[tuple[bool, float, int, int]]]] = defaultdict(lambda: defaultdict(list))
        for file, inode, connection in found:
            if connection.address is not None:
                asked = connection.progress.received > 0
                prefixes[prefix_of(connection.address)][connection.address].append((asked, connection.moved, file, inode))
        held = [sum(map(len, addresses.values())) for addresses in prefixes.values()]
        of_prefix = min(self._capacity // 2, fair_share(held, self._capacity * 3 // 4))
        for addresses in prefixes.values():
            of_address = min(self._capacity // 4, fair_share([len(those) for those in addresses.values()], of_prefix))
            for those in addresses.values():
                for _, _, file, inode in sorted(those)[: max(0, len(those) - of_address)]:
                    end(file, inode)


def fair_share(held: Collection[int], total: int) -> int:
    """Return how many each holder may keep, so that all together keep at most `total`, and who has fewer than that gives up none.

    >>> fair_share([1, 90, 200], 101), fair_share([1, 2], 100)
    (50, 2)
    """
    left, share = total, 0
    for number, each in enumerate(sorted(held)):
        share = left // (len(held) - number)
        if each > share:
            return share
        left -= each
    return max(held, default=0)


def sockets() -> Iterator[tuple[int, int]]:
    """Yield the file number and the inode of every socket of this process."""
    with os.scandir("/proc/self/fd") as entries:
        files = [int(entry.name) for entry in entries]
    for file in files:
        try:
            found = os.fstat(file)
        except OSError:  # it has just been closed
            continue
        if stat.S_ISSOCK(found.st_mode):
            yield file, found.st_ino


@contextlib.contextmanager
def borrowed(file: int) -> Iterator[socket.socket]:
    """Yield a socket for a file that somebody else owns. Do not close it."""
    line = socket.socket(fileno=file)
    try:
        yield line
    finally:
        line.detach()


def progress_of(line: socket.socket) -> Progress:
    """Return the progress of a TCP connection."""
    unacknowledged, acknowledged, received, unsent = _TCP_INFO.unpack(line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ENOUGH))
    return Progress(received, acknowledged, bool(unacknowledged or unsent))


def unread(client: str) -> int:
    """Return how many bytes the kernel keeps for a client that has not acknowledged them; 0 where the kernel does not tell.

    `client`: its address and port.
    """
    if sys.platform != "linux":
        return 0
    kept = _kept_for(client)
    if kept is None:
        _find_files()
        kept = _kept_for(client)
    return sys.maxsize if kept is None else kept  # it has just gone


def _kept_for(client: str) -> int | None:
    file, inode = _files.get(client, (-1, 0))
    with contextlib.suppress(OSError):
        if os.fstat(file).st_ino == inode:
            return int.from_bytes(fcntl.ioctl(file, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    return None


def _find_files() -> None:
    """Note the file and the inode of every connection, by the address and the port of its client."""
    found = {}
    for file, inode in sockets():
        with contextlib.suppress(OSError), borrowed(file) as line:
            if line.family in (socket.AF_INET, socket.AF_INET6):
                host, port = line.getpeername()[:2]
                found[f"[{host.partition('%')[0]}]:{port}" if ":" in host else f"{host}:{port}"] = file, inode
    _files.clear()
    _files.update(found)


def end(file: int, inode: int) -> None:
    """Shut a connection down, so that the server releases its thread. Do nothing if the file number belongs to another socket by now."""
    with contextlib.suppress(OSError):
        held = os.dup(file)
        with socket.socket(fileno=held) as line:
            if os.fstat(held).st_ino == inode:
                line.shutdown(socket.SHUT_RDWR)
