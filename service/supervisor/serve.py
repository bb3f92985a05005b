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
import sys
import threading
import time
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path

from environs import EnvError

from events.accounts import new_admin_key
from events.due import ADVANCE, DEADLINE, QUICK, SLOW, queue_list
from events.keeping import embedded, losses, memory
from events.lifeline import is_alive
from events.modules import COMPILED, full_name, python_environment, with_compiled
from events.notary import signer
from events.platform import check_store
from events.platform import settings_from_environment as platform_settings
from events.store import WrongStore
from events.store.guarantees import ALONE
from events.telemetry import exposition
from service.http.connections import TooFewFiles, allowed
from service.http.settings import ADMIN_KEY, WRONG_ADMIN_KEY, settings_from_environment
from service.supervisor.forking import FORKS, prepare
from service.supervisor.servers import Disk, Door, Echo, Memory, Sockets, room_of
from service.supervisor.supervision import Bell, Child, Guard, Look, child, end, ending, say, start
from service.supervisor.web import BACKLOG

GRACE = 1.8  # seconds for the web and the workers to end
LAST_GRACE = 0.8  # seconds for the store and the queue, after them
TICKS = (0.1, 1.0)  # the least and the most seconds between two looks, unless a signal comes earlier
POLL = 0.05
WEB, WORKER, HOOKS, JOURNAL, ARCHIVIST = map(
    full_name, ("service.supervisor.web", "workers.run", "workers.hooks.run", "workers.journal", "workers.archivist")
)


class Unable(Exception):
    """The service cannot run. The message is a sentence for the user."""


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
        if signal.getsignal(number) != signal.SIG_IGN:  # `nohup` ignores SIGHUP
            signal.signal(number, lambda *_: stop.set())
    servers: list[Child] = []
    children: list[Child] = []
    closed = contextlib.ExitStack()
    try:
        run(options, servers, children, stop, closed)
    except (Unable, EnvError, embedded.NoServer, signer.KeysUnfit, TooFewFiles, WrongStore) as reason:
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
    parser.add_argument(
        "--workers", type=int, default=2, help="processes for quick work, one more for the system's steps (2); 0: no others either"
    )
    parser.add_argument("--search", type=int, default=1, help="processes for the AI levels that search (1)")
    parser.add_argument("--hooks", type=int, default=1, help="processes that send webhooks (1)")
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
    if options.web < 1 or min(options.workers, options.hooks) < 0 or options.search < 1 or not 0 <= options.port <= 65_535:
        parser.error("--web and --search are at least 1, --workers and --hooks at least 0, --port is 0 to 65535")
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
        for advice in check_store(platform):
            say(f"{advice}.")
    elif platform.replicas:
        raise Unable(f"{ALONE}.")
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
    beside = [Look("The losses of the store", Said(options.data).look, every=1.0)]
    disk = None
    if not platform.store_url:
        embedded.binary()
        (options.data / embedded.STORE).mkdir(mode=0o700, exist_ok=True)
        store = options.data / embedded.STORE
        disk = Disk(options.data, Door.opened(store), writable=room_of(store) > 0)
        closed.callback(disk.close)
        servers += server_children(disk, environment, beside)
        environment["WARLEDGER_REDIS_URL"] = f"unix://{disk.shown}"
        environment["WARLEDGER_QUEUE_URL"] = embedded.url_of(options.data, embedded.QUEUE)
        environment[memory.SETTING] = str(memory.of_store() // memory.MEGABYTE)
        children.append(child("journal", JOURNAL, (), environment, logs))
        if platform.archive_after_days and options.workers:
            children.append(child("archivist", ARCHIVIST, (), environment, logs))
    bell = Bell()
    for each in servers:
        start(each)
    webs = web_children(options.host, port, options.web, environment, logs)
    children += [*webs, *worker_children(options.queues, environment, logs)]
    children += [child(f"hooks-{number}", HOOKS, (), environment, logs) for number in range(1, options.hooks + 1) if options.workers]
    if FORKS:
        prepare([WEB, WORKER, HOOKS, JOURNAL, ARCHIVIST])
    if stop.is_set():
        return
    for each in children:
        start(each)
    url = f"http://{shown_host(options.host)}:{port}"
    guard = Guard([*servers, *children], beside)
    wait_for(webs, url, guard, stop)
    if not stop.is_set():
        closed.callback(withdraw, options.data)  # after everything has ended: a disk may hang
        announce(options.data, url, bool(os.environ.get("WARLEDGER_ADMIN_KEY")))
    while not stop.is_set():
        guard.look()
        least, most = TICKS
        bell.wait(max(least, min(most, guard.pause(), disk.pause if disk is not None else most)))


def server_children(disk: Disk, environment: dict[str, str], beside: list[Look]) -> list[Child]:
    """Return the store and the queue. The queue needs no disk. Add to `beside` what is looked at beside their processes."""
    socket_of_queue = partial(embedded.socket_of, disk.data / embedded.QUEUE)
    store = Child("The store", partial(disk.begin, environment.get("WARLEDGER_FSYNC", "always"), environment))
    queue = Child("The queue", lambda: embedded.launch(disk.data, embedded.QUEUE, "off", patience=GRACE / 4).process)
    store.heart = store_echo = Echo(lambda: disk.shown, lambda: disk.server)
    queue.heart = queue_echo = Echo(socket_of_queue, lambda: queue.process)
    sockets = Sockets([(store, lambda: disk.shown if disk.server else disk.data), (queue, socket_of_queue)])
    beside += [
        Look("The disk of the store", disk.look),
        Look("The kind of disk", disk.look_closely, every=1.0),
        Look("The sockets of the servers", sockets.look, every=1.0),
        Look("The memory of the store", Memory(store, store_echo, memory.of_store()).look, every=1.0),
        Look("The memory of the queue", Memory(queue, queue_echo, memory.of_queue(), may_empty=True).look, every=1.0),
        Look("Erasing", disk.erase, every=1.0),
    ]
    return [store, queue]


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
    """Wait until the service is ready, and print what it waits for.

    Raise Unable if a web process ends by itself before one has answered. One that was killed is started again.
    """
    said = "Waiting for the web."
    while not stop.is_set() and (missing := what_is_missing(url)):
        if missing != said:
            say(missing)
            said = missing
        for web in webs:
            status = web.process.poll() if web.process is not None else None
            if status is not None and status > 0 and said == "Waiting for the web.":
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


def withdraw(folder: Path) -> None:
    """Remove the file with the address."""
    with contextlib.suppress(OSError):
        (folder / "serve.json").unlink(missing_ok=True)


def shown_host(host: str) -> str:
    """Return the host as a browser on this machine can open it."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)


if __name__ == "__main__":
    sys.exit(main())
