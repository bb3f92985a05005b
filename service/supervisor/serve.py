"""`./run serve`: the whole service on one machine. It starts the store, the web and the workers, and restarts those that die.

It imports everything once; the web and the workers are forks of it. So it has one thread, and no connection when it forks.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from environs import EnvError

from events.accounts import new_admin_key
from events.due import ADVANCE, DEADLINE, QUICK, SLOW, queue_list
from events.keeping import aof, embedded, erasing, losses, stand_in
from events.lifeline import is_alive
from events.modules import COMPILED, full_name, python_environment, with_compiled
from events.notary import signer
from events.platform import check_store
from events.platform import settings_from_environment as platform_settings
from events.store import WrongStore
from events.telemetry import exposition
from service.http.connections import allowed
from service.http.settings import ADMIN_KEY, WRONG_ADMIN_KEY, settings_from_environment
from service.supervisor.forking import FORKS, Errand, prepare
from service.supervisor.supervision import Bell, Child, Guard, Look, Process, begin_command, child, end, ending, say, start
from service.supervisor.web import BACKLOG

GRACE = 2.0  # seconds for the web and the workers to end
LAST_GRACE = 0.9  # seconds for the store and the queue, after them
TICKS = (0.1, 1.0)  # the least and the most seconds between two looks, unless a signal comes earlier
POLL = 0.05
RESERVE = 16_000_000  # bytes of the store's disk that stay free
FASTEST = 1e9  # bytes a second that the fastest disk writes
WEB, WORKER, JOURNAL = map(full_name, ("service.supervisor.web", "workers.run", "workers.journal"))


class Unable(Exception):
    """The service cannot run. The message is a sentence for the user."""


@dataclass
class Disk:
    """The disk of the embedded store. While it is full or read-only, the store refuses writes and answers reads from memory.

    The store ends if a write fails nevertheless. While it cannot start again, a stand-in answers reads. Other processes find the socket of
    either by `link`. Without a link there is no stand-in.
    """

    data: Path
    link: Path | None = None
    room: int = 0
    writable: bool = True
    failed: bool = False
    applied: bool = True
    due: float = 0.0
    store: subprocess.Popen[bytes] | None = None
    substitute: subprocess.Popen[bytes] | None = None
    place: tuple[int, int] | None = None
    preparing: Errand | None = None
    erasing: Errand | None = None

    def look(self) -> None:
        """Make the store accept or refuse writes, by the free space on its disk. If the store does not answer, try again later."""
        self.room = room_of(self.data / embedded.STORE)
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
    def pause(self) -> float:
        """Seconds until the next look. The fastest disk takes longer than that to fill up."""
        return self.room / FASTEST if self.applied else 0.0

    def look_closely(self) -> None:
        """Make the slower checks: whether the disk has failed, can be written again, or was replaced by another one."""
        self.failed = stand_in.has_failed(self.data / embedded.STORE)
        if self.store is not None and self._place() not in (None, self.place):  # another disk was mounted in its place
            self.store.kill()
        if self.substitute is not None and stand_in.can_write(self.data / embedded.STORE):
            self.substitute.terminate()

    def begin(self, fsync: str, environment: dict[str, str]) -> Process | None:
        """Start the store, or a stand-in if the disk cannot be written. If the store has failed, first start the repair of its files."""
        self.substitute, self.place = None, self._place()
        if self.link is None or stand_in.can_write(self.data / embedded.STORE):
            self._lead_to(embedded.socket_of((self.data / embedded.STORE).resolve()))
            if embedded.has_failed(self.data, embedded.STORE):
                return begin_command([sys.executable, "-m", aof.__name__, str(self.data / embedded.STORE)], environment, None)
            self.store = embedded.launch(self.data, embedded.STORE, fsync, self.writable, GRACE / 4, self._prepare).process
            return self.store
        say("The disk of the store cannot be written; a copy in memory answers reads.")
        place = self.link.with_suffix("")
        self.substitute = stand_in.start(self.data, place)
        self._lead_to(place / "redis.sock")
        return self.substitute

    def erase(self) -> None:
        """Begin to erase what is due, unless the disk is full or a stand-in has replaced the store."""
        if self.erasing is not None and self.erasing.is_done():
            self.erasing = None
        if self.erasing is None and self.writable and self.substitute is None and erasing.is_due(self.data):
            self.erasing = Errand(partial(erasing.erase, self.data))

    def url(self) -> str:
        """Return the URL of the store, or of the stand-in."""
        return f"unix://{self.link}" if self.link else embedded.url_of(self.data, embedded.STORE)

    def close(self) -> None:
        """Remove the link and the files of the stand-in."""
        if self.link is not None:
            shutil.rmtree(self.link.with_suffix(""), ignore_errors=True)
            self.link.unlink(missing_ok=True)

    def _prepare(self, act: Callable[[], None]) -> None:
        self.preparing = Errand(act)

    def _place(self) -> tuple[int, int] | None:
        """Return the device and the inode of the store's folder, or None if the folder is missing."""
        with contextlib.suppress(OSError):
            found = (self.data / embedded.STORE).stat()
            return found.st_dev, found.st_ino
        return None

    def _lead_to(self, socket: Path) -> None:
        if self.link is not None:
            draft = self.link.with_suffix(".new")
            draft.unlink(missing_ok=True)
            draft.symlink_to(socket)
            draft.replace(self.link)


class Said:
    """The losses of the store that `serve` has printed. It prints them at each start, and whenever they change."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._known = losses.Losses()

    def look(self) -> None:
        """Print the losses if they have changed."""
        found = losses.read(self._data)
        if found != self._known:
            self._known = found
            say(losses.sentence(self._data, found) or "There are no more losses of the store to accept.")


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal stops it. Return the exit status."""
    if os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None):  # its files are mapped into memory: a full disk kills whoever writes to them
        os.execv(sys.executable, sys.orig_argv)  # start anew: an imported module has already read the variable
    options = parsed(arguments)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    servers: list[Child] = []
    children: list[Child] = []
    closed = contextlib.ExitStack()
    try:
        run(options, servers, children, stop, closed)
    except (Unable, EnvError, embedded.NoServer, signer.KeysUnfit, WrongStore) as reason:
        say(str(reason))
        return 1
    finally:
        end(children, GRACE)  # first the users of the store
        end(servers, LAST_GRACE)
        closed.close()
    print("Stopped; the data is safe in", options.data)
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="./run serve", description="Run the whole service on this machine.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000); 0 takes a free one")
    parser.add_argument("--web", type=int, default=2, help="processes that answer HTTP (2)")
    parser.add_argument("--workers", type=int, default=2, help="processes for quick work; one more is for the system's steps (2)")
    parser.add_argument("--search", type=int, default=1, help="processes for the AI levels that search (1)")
    parser.add_argument(
        "--queues",
        type=queue_list,
        action="append",
        metavar="LIST",
        help="instead of --workers and --search: one process for each LIST, such as advance,deadline",
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("WARLEDGER_DATA", "data")), help="folder of the data (./data)")
    parser.add_argument("--verbose", action="store_true", help="show the logs here instead of keeping them in the data folder")
    options = parser.parse_args(arguments)
    if options.web < 1 or options.workers < 0 or options.search < 1 or not 0 <= options.port <= 65_535:
        parser.error("--web and --search are at least 1, --workers at least 0, --port is 0 to 65535")
    options.data = options.data.resolve()
    options.queues = options.queues or queues_of(options.workers, options.search)
    return options


def queues_of(workers: int, searching: int = 1) -> list[tuple[str, ...]]:
    """Return the queues of each worker. Without `workers` there are none.

    One worker is for the system's steps, so that no AI delays them. `workers` are for every quick kind of work, `searching` for slow work.
    """
    return [(ADVANCE, DEADLINE), *[QUICK] * workers, *[SLOW] * searching] if workers else []


def run(
    options: argparse.Namespace, servers: list[Child], children: list[Child], stop: threading.Event, closed: contextlib.ExitStack
) -> None:
    """Start everything in order, print the address, and keep it running until `stop`. The caller closes `closed` at the end."""
    lock(options.data, stop)
    platform = platform_settings()._replace(data=options.data)
    if platform.store_url:
        check_store(platform)
    else:
        embedded.check_format(options.data)
    port = free_port(options.host, options.port)
    if FORKS:
        closed.enter_context(reserved(options.host, port))
    environment = child_environment(options)
    signer.opened(platform.keys_folder, platform.name)
    connections = settings_from_environment().connections
    if allowed(connections) < connections:
        say(f"A web process can hold {allowed(connections)} connections, not {connections}: the hard limit of open files is too low.")
    logs = None if options.verbose else options.data / "logs"
    if logs is not None:
        with contextlib.suppress(OSError):
            logs.mkdir(mode=0o700, exist_ok=True)
            logs.chmod(0o700)
    disk = None
    if not platform.store_url:
        embedded.binary()
        (options.data / embedded.STORE).mkdir(mode=0o700, exist_ok=True)
        disk = Disk(options.data, link_of(options.data), writable=room_of(options.data / embedded.STORE) > 0)
        closed.callback(disk.close)
        servers.append(Child("The store", partial(disk.begin, environment.get("WARLEDGER_FSYNC", "always"), environment)))
        servers.append(Child("The queue", partial(begin_queue, options.data)))
        environment["WARLEDGER_REDIS_URL"] = disk.url()
        environment["WARLEDGER_QUEUE_URL"] = embedded.url_of(options.data, embedded.QUEUE)
        children.append(child("journal", JOURNAL, (), environment, logs))
    bell = Bell()
    for each in servers:
        start(each)
    webs = web_children(options.host, port, options.web, environment, logs)
    children += [*webs, *worker_children(options.queues, environment, logs)]
    if FORKS:
        prepare([WEB, WORKER, JOURNAL])
    if stop.is_set():
        return
    for each in children:
        start(each)
    url = f"http://{shown_host(options.host)}:{port}"
    beside = [Look("The losses of the store", Said(options.data).look, every=1.0)]
    if disk is not None:
        beside += [
            Look("The disk of the store", disk.look),
            Look("The kind of disk", disk.look_closely, every=1.0),
            Look("Erasing", disk.erase, every=1.0),
        ]
    guard = Guard([*servers, *children], beside)
    wait_for(webs, url, guard, stop)
    if not stop.is_set():
        announce(options.data, url, bool(os.environ.get("WARLEDGER_ADMIN_KEY")))
    while not stop.is_set():
        guard.look()
        least, most = TICKS
        bell.wait(max(least, min(most, guard.pause(), disk.pause if disk is not None else most)))
    with contextlib.suppress(OSError):
        (options.data / "serve.json").unlink(missing_ok=True)


def room_of(folder: Path) -> int:
    """Return how many bytes the store may still write to the disk of a folder. It keeps a reserve: the store ends if a write fails."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return 0
    return 0 if disk.f_flag & os.ST_RDONLY else max(0, disk.f_bavail * disk.f_frsize - RESERVE)


def link_of(data: Path) -> Path | None:
    """Return the path of the link to the store's socket. It is on another disk than the store; without one, return None."""
    folder = stand_in.private_folder()
    if folder is None or folder.stat().st_dev == data.stat().st_dev:
        return None
    return folder / f"{sha256(os.fsencode(data)).hexdigest()[:16]}.sock"


def begin_queue(data: Path) -> subprocess.Popen[bytes] | None:
    """Start the queue. It needs no disk. Return None if it runs and belongs to another process."""
    return embedded.launch(data, embedded.QUEUE, "off", patience=GRACE / 4).process


def lock(folder: Path, stop: threading.Event) -> None:
    """Lock the data folder for this process. Raise Unable if another process has it, or if it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(folder / "serve.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as reason:
        raise Unable(f"The data folder {folder} cannot be written ({reason.strerror}).") from None
    deadline = time.monotonic() + 3 * GRACE
    while not try_lock(file):
        owner = os.pread(file, 20, 0).decode()
        runs = owner.isdigit() and is_alive(int(owner))
        if runs or time.monotonic() > deadline:
            process = f" (process {owner})" if runs else ""
            raise Unable(f"The data folder {folder} is in use by another `serve`{process}; stop that one, or choose another with --data.")
        if stop.wait(0.1):  # the children of a killed `serve` may still be ending
            raise Unable("Stopped before it began.")
    with contextlib.suppress(OSError):  # the disk is full; the lock alone has to do
        os.truncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)


def try_lock(file: int) -> bool:
    """Take the lock. Return False if another process has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def free_port(host: str, port: int) -> int:
    """Return a port to listen on that was free a moment ago. Raise Unable if `port` is taken."""
    with bound(host, port) as probe:
        return int(probe.getsockname()[1])


def reserved(host: str, port: int) -> socket.socket:
    """Return a socket that reserves a port for the web processes to share. It does not listen. Raise Unable if the port is taken.

    No other program can take the port while the web processes start, or after all of them have ended.
    """
    return bound(host, port, socket.SO_REUSEPORT)


def bound(host: str, port: int, *options: int) -> socket.socket:
    """Return a socket that is bound to a port (0: any) and does not listen. Raise Unable if the port is taken."""
    found = socket.socket(family_of(host), socket.SOCK_STREAM)
    for option in (socket.SO_REUSEADDR, *options):
        found.setsockopt(socket.SOL_SOCKET, option, 1)
    try:
        found.bind((host, port))
    except OSError as reason:
        found.close()
        raise Unable(f"Port {port} of {host} cannot be used ({reason.strerror}); choose another with --port.") from None
    return found


def family_of(host: str) -> socket.AddressFamily:
    """Return the family of an address to listen on."""
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def child_environment(options: argparse.Namespace) -> dict[str, str]:
    """Return the environment of every child: that of this process, the folders of the code and of the metrics, and the admin key."""
    fixed = {"WARLEDGER_DATA": str(options.data), "PYTHONUNBUFFERED": "1"}
    metrics = options.data / "metrics"  # every process writes here, and /metrics adds them up
    shutil.rmtree(metrics, ignore_errors=True)
    with contextlib.suppress(OSError):
        metrics.mkdir(mode=0o700)
    environment = {exposition.SETTING: str(metrics), **python_environment(), **fixed}
    if not environment.get("WARLEDGER_ADMIN_KEY"):
        environment["WARLEDGER_ADMIN_KEY"] = admin_key(options.data / "admin.key")
    return environment


def web_children(host: str, port: int, number: int, environment: dict[str, str], logs: Path | None) -> list[Child]:
    """Return the web processes. On Linux each listens by itself, and the kernel spreads connections. Elsewhere they share a socket."""
    if FORKS:
        return [child("web", WEB, ("--host", host, "--port", str(port)), environment, logs) for _ in range(number)]
    listening = socket.create_server((host, port), family=family_of(host), backlog=BACKLOG)
    listening.setblocking(False)
    file = listening.detach()
    return [child("web", WEB, ("--file", str(file)), environment, logs, files=(file,)) for _ in range(number)]


def worker_children(queues: list[tuple[str, ...]], environment: dict[str, str], logs: Path | None) -> list[Child]:
    """Return a worker for each list of queues. Workers with compiled modules are no forks: this process has the modules uncompiled."""
    forks = FORKS and not environment.get(COMPILED)
    environment = worker_environment(environment)
    return [
        child(f"worker-{number}", WORKER, ("--queues", ",".join(kinds)), environment, logs, forks) for number, kinds in enumerate(queues, 1)
    ]


def worker_environment(environment: dict[str, str]) -> dict[str, str]:
    """Return the environment of the workers: that of every child, with the modules from `./run compile` first on Python's path."""
    compiled = environment.get(COMPILED)
    return with_compiled(environment, compiled) if compiled else environment


def admin_key(file: Path) -> str:
    """Return the admin key of this data folder. The first start makes it. Only the owner of the folder can read it. Raise Unable."""
    if not file.exists():
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as opened:
            opened.write(new_admin_key() + "\n")
    key = file.read_text().strip()
    if not ADMIN_KEY.fullmatch(key):
        raise Unable(f"The key in {file} cannot be the admin key. {WRONG_ADMIN_KEY} Delete the file, and the next start makes a new one.")
    return key


def wait_for(webs: list[Child], url: str, guard: Guard, stop: threading.Event) -> None:
    """Wait until the service is ready, and print what it waits for. Raise Unable if a web process ends before it has answered once."""
    said = "Waiting for the web."
    processes = [web.process for web in webs]
    while not stop.is_set() and (missing := what_is_missing(url)):
        if missing != said:
            say(missing)
            said = missing
        for web, process in zip(webs, processes, strict=True):
            status = process.poll() if process is not None else None
            if status is not None and said == "Waiting for the web.":
                raise Unable(f"The {web.name} does not start ({ending(status)}).{end_of(web.log)}")
        guard.look()
        stop.wait(POLL)


def end_of(log: Path | None) -> str:
    """Return a sentence with the last lines of a log."""
    if log is None or not log.exists():
        return ""
    return f" Its log, {log}, ends:\n" + "\n".join(log.read_text(errors="replace").splitlines()[-12:])


def what_is_missing(url: str) -> str:
    """Return what the service waits for, as /readyz reports it, or "" if it is ready."""
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=2):
            return ""
    except urllib.error.HTTPError as answer:
        with answer, contextlib.suppress(OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
            return str(json.loads(answer.read())["detail"])
    except (OSError, http.client.HTTPException):
        pass
    return "Waiting for the web."


def announce(folder: Path, url: str, key_given: bool) -> None:
    """Print where everything is. Write the address to a file in the data folder for the other commands."""
    place = {"url": url, "pid": os.getpid()}
    draft = folder / "serve.json.new"
    try:
        draft.write_text(json.dumps(place) + "\n")
        draft.replace(folder / "serve.json")
    except OSError as reason:
        say(f"The address could not be written to {folder / 'serve.json'} ({reason.strerror}).")
    print(f"Warledger is open at {url}  (the API to read and try: {url}/docs)")
    print(f"Data and logs: {folder}")
    print("Admin key:     " + ("as set in WARLEDGER_ADMIN_KEY" if key_given else f"in {folder / 'admin.key'}"))
    print("Ctrl-C stops it.", flush=True)


def shown_host(host: str) -> str:
    """Return the host as a browser on this machine can open it."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)


if __name__ == "__main__":
    sys.exit(main())
