"""`./run serve`: the whole service on one machine. It starts the store, the web and the workers, and restarts those that die."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
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
from dataclasses import dataclass, field
from pathlib import Path

from environs import EnvError

from events import embedded
from events.due import ADVANCE, KINDS, queue_list
from events.players import new_key
from service.settings import settings_from_environment

ROOT = Path(__file__).resolve().parent.parent
STEADY = 10.0
GRACE = 2.0
LOG_LIMIT = 16_000_000
SPARE_THREADS = 32
HEAD_LIMIT = 65_536  # bytes of a request's line and headers; granian answers a longer head with 431
HEAD_TIMEOUT_MS = 10_000


class Unable(Exception):
    """Why the service cannot run, in a sentence for the user."""


@dataclass
class Child:
    """One process of the service: how to start it, and its state since then."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path | None
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    deaths: int = 0
    due: float = field(default=0.0)


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal says stop. Return the exit status."""
    options = parsed(arguments)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    servers: dict[str, embedded.Server] = {}
    children: list[Child] = []
    try:
        run(options, servers, children, stop)
    except (Unable, EnvError, embedded.NoServer) as reason:
        print(reason, file=sys.stderr)
        return 1
    finally:
        end(servers, children)
    print("Stopped; the data is safe in", options.data)
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="./run serve", description="Run the whole service on this machine.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000); 0 takes a free one")
    parser.add_argument("--web", type=int, default=2, help="processes that answer HTTP (2)")
    parser.add_argument("--workers", type=int, default=2, help="processes that do all kinds of work; one more only ends rounds (2)")
    parser.add_argument(
        "--queues",
        type=queue_list,
        action="append",
        metavar="LIST",
        help="instead of --workers: one process for each LIST, such as advance,think",
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("WARLEDGER_DATA", "data")), help="folder of the data (./data)")
    parser.add_argument("--verbose", action="store_true", help="show the logs here instead of keeping them in the data folder")
    options = parser.parse_args(arguments)
    if options.web < 1 or options.workers < 0 or not 0 <= options.port <= 65_535:
        parser.error("--web is at least 1, --workers at least 0, --port is 0 to 65535")
    options.data = options.data.resolve()
    options.queues = options.queues or queues_of(options.workers)
    return options


def queues_of(workers: int) -> list[tuple[str, ...]]:
    """Return the queues of each worker: one for the system's steps, so that slow thinking never delays them, and that many for all."""
    return [(ADVANCE,), *[tuple(KINDS)] * workers] if workers else []


def run(options: argparse.Namespace, servers: dict[str, embedded.Server], children: list[Child], stop: threading.Event) -> None:
    """Start everything in order, print its address, and keep it running until `stop`."""
    lock(options.data, stop)
    port = free_port(options.host, options.port)
    environment = child_environment(options)
    logs = None if options.verbose else options.data / "logs"
    if logs is not None:
        logs.mkdir(exist_ok=True)
    if not environment.get("WARLEDGER_REDIS_URL"):
        for name, setting in ((embedded.STORE, "WARLEDGER_REDIS_URL"), (embedded.QUEUE, "WARLEDGER_QUEUE_URL")):
            servers[name] = embedded.start(options.data, name, fsync_of(name, environment))
            environment[setting] = servers[name].url
    web = Child("web", web_command(options, port), environment, log_of(logs, "web"))
    worker = [sys.executable, "-m", "workers.run"]
    workers = [
        Child(f"worker-{number}", [*worker, "--queues", ",".join(kinds)], environment, log_of(logs, f"worker-{number}"))
        for number, kinds in enumerate(options.queues, 1)
    ]
    for child in (web, *workers):
        children.append(child)
        start(child)
    url = f"http://{shown_host(options.host)}:{port}"
    wait_for(web, lambda: healthy(url), stop)
    if stop.is_set():
        return
    announce(options.data, url, bool(os.environ.get("WARLEDGER_ADMIN_KEY")))
    while not stop.wait(0.1):
        for name, server in servers.items():
            if not server.alive():
                print(f"The {name} ended; starting it again.", file=sys.stderr)
                servers[name] = embedded.start(options.data, name, fsync_of(name, environment))
        for child in children:
            look_after(child)
    (options.data / "serve.json").unlink(missing_ok=True)


def fsync_of(name: str, environment: dict[str, str]) -> str:
    """Return how an embedded server writes to disk: the store as set, the queue not at all."""
    return environment.get("WARLEDGER_FSYNC", "always") if name == embedded.STORE else "off"


def lock(folder: Path, stop: threading.Event) -> None:
    """Lock the data folder for this process. Raise Unable if another one has it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = os.open(folder / "serve.lock", os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + 3 * GRACE
    while not try_lock(file):
        owner = os.pread(file, 20, 0).decode()
        if alive(owner) or time.monotonic() > deadline:
            process = f" (process {owner})" if alive(owner) else ""
            raise Unable(f"The data folder {folder} is in use by another `serve`{process}; stop that one, or choose another with --data.")
        if stop.wait(0.1):  # the processes of a killed `serve` are still ending
            raise Unable("Stopped before it began.")
    os.truncate(file, 0)
    os.pwrite(file, str(os.getpid()).encode(), 0)


def try_lock(file: int) -> bool:
    """Take the lock. Return False if another process has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def alive(process: str) -> bool:
    """Return True if the process with this number runs."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def free_port(host: str, port: int) -> int:
    """Return the port to listen on. It was free a moment ago. Raise Unable if it is not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as reason:
            raise Unable(f"Port {port} of {host} cannot be used ({reason.strerror}); choose another with --port.") from None
        return int(probe.getsockname()[1])


def child_environment(options: argparse.Namespace) -> dict[str, str]:
    """Return the environment of every child: that of this process, the place of the code and of the metrics, and the admin key."""
    fixed = {"WARLEDGER_DATA": str(options.data), "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"}
    metrics = options.data / "metrics"  # shared by the processes, so that /metrics can sum them up
    shutil.rmtree(metrics, ignore_errors=True)
    metrics.mkdir()
    environment = {"PROMETHEUS_MULTIPROC_DIR": str(metrics), **os.environ, **fixed}
    if not environment.get("WARLEDGER_ADMIN_KEY"):
        environment["WARLEDGER_ADMIN_KEY"] = admin_key(options.data / "admin.key")
    return environment


def admin_key(file: Path) -> str:
    """Return the admin key of this data folder. The first start makes it, and only the owner of the folder can read it."""
    if not file.exists():
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as opened:
            opened.write(new_key() + "\n")
    return file.read_text().strip()


def web_command(options: argparse.Namespace, port: int) -> list[str]:
    """Return the command that starts granian, with a thread for every stream that may be open and some for everything else."""
    threads = settings_from_environment().streams + SPARE_THREADS
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--factory", "--host", options.host, "--port", str(port)]
    command += ["--http1-buffer-size", str(HEAD_LIMIT), "--http1-header-read-timeout", str(HEAD_TIMEOUT_MS)]
    command += ["--workers", str(options.web), "--blocking-threads", str(threads), "--log-level", "error", "--no-ws", "--http", "1"]
    return [*command, "--respawn-failed-workers", "--respawn-interval", "0.2", "--workers-kill-timeout", "1", "service.app:create_app"]


def log_of(folder: Path | None, name: str) -> Path | None:
    """Return the file for a child's output, or None for the terminal."""
    return None if folder is None else folder / f"{name}.log"


def turn_over(log: Path | None) -> None:
    """Copy a log that has grown large to `.1` and empty it. A process that writes to it continues at its end."""
    if log is not None and log.exists() and log.stat().st_size > LOG_LIMIT:
        shutil.copyfile(log, log.with_suffix(".log.1"))
        os.truncate(log, 0)


def start(child: Child) -> None:
    """Start the process in a group of its own. Then Ctrl-C reaches only this process, and a group can be ended as a whole."""
    output = None if child.log is None else child.log.open("ab")
    child.process = subprocess.Popen(
        child.command,
        env=child.environment,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        preexec_fn=ends_with_parent,
    )
    if output is not None:
        output.close()
    child.began = time.monotonic()


def ends_with_parent() -> None:
    """Let Linux end the child when this process dies in any way. Runs in the child before it starts."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def look_after(child: Child) -> None:
    """Restart a dead child: at once the first time, with growing delays while it keeps dying early."""
    now = time.monotonic()
    turn_over(child.log)
    if child.process is not None:
        status = child.process.poll()
        if status is None:
            return
        group(child, signal.SIGKILL)
        child.process = None
        child.deaths = 0 if now - child.began > STEADY else child.deaths + 1
        delay = min(5.0, 0.125 * 2**child.deaths) if child.deaths > 1 else 0.0
        child.due = now + delay
        print(f"{child.name} ended ({ending(status)}); starting it again" + (f" in {delay:g} s." if delay else "."), file=sys.stderr)
    if now >= child.due:
        start(child)


def ending(status: int) -> str:
    """Return how a process ended, in words."""
    return f"status {status}" if status >= 0 else signal.Signals(-status).name


def wait_for(child: Child, ready: Callable[[], bool], stop: threading.Event) -> None:
    """Wait until `ready`. Raise Unable if the child ends before."""
    while not stop.is_set() and not ready():
        assert child.process is not None
        status = child.process.poll()
        if status is not None:
            said = (
                ""
                if child.log is None
                else f" Its log, {child.log}, ends:\n" + "\n".join(child.log.read_text(errors="replace").splitlines()[-12:])
            )
            raise Unable(f"The {child.name} does not start ({ending(status)}).{said}")
        stop.wait(0.05)


def healthy(url: str) -> bool:
    """Return True if the web answers."""
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def announce(folder: Path, url: str, key_given: bool) -> None:
    """Print where everything is, and write the address to a file in the data folder for the other commands."""
    place = {"url": url, "pid": os.getpid()}
    draft = folder / "serve.json.new"
    draft.write_text(json.dumps(place) + "\n")
    draft.replace(folder / "serve.json")
    print(f"Warledger is open at {url}  (the API to read and try: {url}/docs)")
    print(f"Data and logs: {folder}")
    print("Admin key:     " + ("as set in WARLEDGER_ADMIN_KEY" if key_given else f"in {folder / 'admin.key'}"))
    print("Ctrl-C stops it.", flush=True)


def end(servers: dict[str, embedded.Server], children: list[Child]) -> None:
    """End every process, first those that use the store, then the servers. Kill those that do not end in time."""
    for child in children:
        group(child, signal.SIGTERM)
    deadline = time.monotonic() + GRACE
    for child in children:
        if child.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
            group(child, signal.SIGKILL)
            child.process.wait()
    for server in servers.values():
        server.stop(GRACE)


def group(child: Child, number: signal.Signals) -> None:
    """Send a signal to the child and all processes that it has started."""
    if child.process is None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.process.pid, number)


def shown_host(host: str) -> str:
    """Return the host in a form that a browser on this machine can open."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)


if __name__ == "__main__":
    sys.exit(main())
