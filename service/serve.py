"""`./run serve`: the whole service on one machine. Starts the store, the web and the workers, and starts again what dies."""

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

from events import embedded
from events.players import new_key

ROOT = Path(__file__).resolve().parent.parent
STEADY = 10.0
GRACE = 2.0
LOG_LIMIT = 16_000_000
SPARE_THREADS = 32


class Unable(Exception):
    """Why the service cannot run, in a sentence for whoever started it."""


@dataclass
class Child:
    """One process of the service: how it is started, and how it has fared since."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path | None
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    deaths: int = 0
    due: float = field(default=0.0)


def main(arguments: list[str] | None = None) -> int:
    """Serve until told to stop; the exit status."""
    options = parsed(arguments)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    servers: dict[str, embedded.Server] = {}
    children: list[Child] = []
    try:
        run(options, servers, children, stop)
    except (Unable, embedded.NoServer) as reason:
        print(reason, file=sys.stderr)
        return 1
    finally:
        end(servers, children)
    print("Stopped; the data is safe in", options.data)
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="./run serve", description="Run the whole service on this machine.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000); 0 takes a free one")
    parser.add_argument("--web", type=int, default=2, help="processes that answer HTTP (2)")
    parser.add_argument("--workers", type=int, default=2, help="processes that play AI seats and the system (2)")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("WARLEDGER_DATA", "data")), help="folder of the data (./data)")
    parser.add_argument("--verbose", action="store_true", help="show the logs here instead of keeping them in the data folder")
    options = parser.parse_args(arguments)
    if options.web < 1 or options.workers < 0 or not 0 <= options.port <= 65_535:
        parser.error("--web is at least 1, --workers at least 0, --port is 0 to 65535")
    options.data = options.data.resolve()
    return options


def run(options: argparse.Namespace, servers: dict[str, embedded.Server], children: list[Child], stop: threading.Event) -> None:
    """Start everything in order, tell where it is, and keep it running until `stop`."""
    lock(options.data, stop)
    port = free_port(options.host, options.port)
    environment = surroundings(options)
    logs = None if options.verbose else options.data / "logs"
    if logs is not None:
        logs.mkdir(exist_ok=True)
    if not environment.get("WARLEDGER_REDIS_URL"):
        for name, setting in ((embedded.STORE, "WARLEDGER_REDIS_URL"), (embedded.QUEUE, "WARLEDGER_QUEUE_URL")):
            servers[name] = embedded.start(options.data, name, fsync_of(name, environment))
            environment[setting] = servers[name].url
    web = Child("web", web_command(options, port, environment), environment, log_of(logs, "web"))
    workers = [
        Child(f"worker-{number}", [sys.executable, "-m", "workers.run"], environment, log_of(logs, f"worker-{number}"))
        for number in range(1, options.workers + 1)
    ]
    for child in (web, *workers):
        children.append(child)
        start(child)
    url = f"http://{shown_host(options.host)}:{port}"
    wait_for(web, lambda: healthy(url), stop)
    if stop.is_set():
        return
    tell(options.data, url, bool(os.environ.get("WARLEDGER_ADMIN_KEY")))
    while not stop.wait(0.1):
        for name, server in servers.items():
            if not server.alive():
                print(f"The {name} ended; starting it again.", file=sys.stderr)
                servers[name] = embedded.start(options.data, name, fsync_of(name, environment))
        for child in children:
            look_after(child)
    (options.data / "serve.json").unlink(missing_ok=True)


def fsync_of(name: str, environment: dict[str, str]) -> str:
    """How an embedded server keeps what it is told: the store by setting, the queue not at all."""
    return environment.get("WARLEDGER_FSYNC", "always") if name == embedded.STORE else "off"


def lock(folder: Path, stop: threading.Event) -> None:
    """Keep the data folder for this process until it ends; raises Unable where another has it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    held = os.open(folder / "serve.lock", os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + 3 * GRACE
    while not taken(held):
        holder = os.pread(held, 20, 0).decode()
        if alive(holder) or time.monotonic() > deadline:
            told = f" (process {holder})" if alive(holder) else ""
            raise Unable(f"The data folder {folder} is in use by another `serve`{told}; stop that one, or choose another with --data.")
        if stop.wait(0.1):  # what a killed `serve` has left behind is just ending
            raise Unable("Stopped before it began.")
    os.truncate(held, 0)
    os.pwrite(held, str(os.getpid()).encode(), 0)


def taken(held: int) -> bool:
    """Whether this process has the lock now."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def alive(process: str) -> bool:
    """Whether the process with this number runs."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def free_port(host: str, port: int) -> int:
    """The port to listen on, known to be free a moment ago."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as reason:
            raise Unable(f"Port {port} of {host} cannot be used ({reason.strerror}); choose another with --port.") from None
        return int(probe.getsockname()[1])


def surroundings(options: argparse.Namespace) -> dict[str, str]:
    """The environment of every child: what was set, this code, where its counts go, and the admin key."""
    set_here = {"WARLEDGER_DATA": str(options.data), "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"}
    numbers = options.data / "metrics"  # where the processes keep their counts, so that /metrics tells the sum
    shutil.rmtree(numbers, ignore_errors=True)
    numbers.mkdir()
    environment = {"PROMETHEUS_MULTIPROC_DIR": str(numbers), **os.environ, **set_here}
    if not environment.get("WARLEDGER_ADMIN_KEY"):
        environment["WARLEDGER_ADMIN_KEY"] = admin_key(options.data / "admin.key")
    return environment


def admin_key(file: Path) -> str:
    """The admin key of this data folder, made on the first start and readable by its owner alone."""
    if not file.exists():
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as opened:
            opened.write(new_key() + "\n")
    return file.read_text().strip()


def web_command(options: argparse.Namespace, port: int, environment: dict[str, str]) -> list[str]:
    """Granian with a thread for every stream that the service may hold open, and some for everything else."""
    threads = int(environment.get("WARLEDGER_STREAMS", "256")) + SPARE_THREADS
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--factory", "--host", options.host, "--port", str(port)]
    command += ["--workers", str(options.web), "--blocking-threads", str(threads), "--log-level", "error", "--no-ws", "--http", "1"]
    return [*command, "--respawn-failed-workers", "--respawn-interval", "0.2", "--workers-kill-timeout", "1", "service.app:create_app"]


def log_of(folder: Path | None, name: str) -> Path | None:
    """Where a child's output goes: a file, or the terminal."""
    return None if folder is None else folder / f"{name}.log"


def turn_over(log: Path | None) -> None:
    """Begin a log anew that has grown large, and keep the one before; whoever writes to it goes on at its end."""
    if log is not None and log.exists() and log.stat().st_size > LOG_LIMIT:
        shutil.copyfile(log, log.with_suffix(".log.1"))
        os.truncate(log, 0)


def start(child: Child) -> None:
    """Start the process, in a group of its own, so that Ctrl-C reaches this one alone and a group can be ended as a whole."""
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
    """In a child before it begins: Linux ends it when this process dies, however that comes about."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def look_after(child: Child) -> None:
    """Start a dead child again: at once the first time, later and later while it keeps dying young."""
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
    """How a process ended, in words."""
    return f"status {status}" if status >= 0 else signal.Signals(-status).name


def wait_for(child: Child, ready: Callable[[], bool], stop: threading.Event) -> None:
    """Wait until `ready`, or raise Unable when the child ends before."""
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
    """Whether the web answers."""
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def tell(folder: Path, url: str, key_given: bool) -> None:
    """Say where everything is, to people here and to the other commands in a file beside the data."""
    place = {"url": url, "pid": os.getpid()}
    draft = folder / "serve.json.new"
    draft.write_text(json.dumps(place) + "\n")
    draft.replace(folder / "serve.json")
    print(f"Warledger is open at {url}  (the API to read and try: {url}/docs)")
    print(f"Data and logs: {folder}")
    print("Admin key:     " + ("as set in WARLEDGER_ADMIN_KEY" if key_given else f"in {folder / 'admin.key'}"))
    print("Ctrl-C stops it.", flush=True)


def end(servers: dict[str, embedded.Server], children: list[Child]) -> None:
    """End every process: first those that use the store, then the servers; what does not end in time is killed."""
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
    """Send a signal to the child and to whatever it has started."""
    if child.process is None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.process.pid, number)


def shown_host(host: str) -> str:
    """The host as a browser on this machine can open it."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)


if __name__ == "__main__":
    sys.exit(main())
