"""The web server: one process that answers HTTP with granian. On Linux several of them share a port.

`python -m service.supervisor.web --host H --port P` starts one. `./run serve` starts and supervises several, without granian's own parent
process, which would import everything once more.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import os
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any

from flask import Flask
from granian._granian import ListenerSpec, RSGIWorker, SocketHolder, WorkerSignal
from granian.http import HTTP1Settings
from granian.log import LogLevels, configure_logging

from events.lifeline import collect_rarely, give_way
from events.modules import full_name
from events.platform import Platform, open_platform
from events.timing.pulse import WEB
from service.app import create_app
from service.http.addresses import Addresses
from service.http.connections import Accepting, Watch, allowed, bound_send_buffer, raise_open_files
from service.http.following import Loop
from service.http.gateway import Direct, Gateway
from service.http.settings import ANSWERS, AUDITS, BODIES, DRAWINGS, Settings, settings_from_environment
from service.supervisor.forking import SIGNS

PATIENCE = 30.0  # seconds in which a request must be complete and its answer begin
SILENCE = 75.0  # seconds without a byte; granian closes an idle connection after 60, and streams send comments
GIVES_WAY = 200  # when memory is short; workers give way sooner (workers/run.py)
BACKLOG = 4096  # connections that wait to be accepted
SPARE_THREADS = 32
IDLE_THREAD = 30  # seconds after which a thread without work ends
HEAD_LIMIT = 65_536  # bytes of a request's line and headers; granian answers a longer head with 431
HEAD_TIMEOUT_MS = 60_000  # also the life of an idle connection that a client keeps for its next request; granian's maximum
GRACE = 1.0  # seconds for requests in progress once a signal ends the process


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal ends it. Return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m service.supervisor.web", description="Run one web process until SIGTERM or SIGINT.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
    parser.add_argument("--file", type=int, help="number of an open file that already listens, in place of an address")
    parser.add_argument(
        "--application", default=full_name("service.supervisor.web:application"), help="what makes the application, as MODULE:FUNCTION"
    )
    options = parser.parse_args(arguments)
    give_way(GIVES_WAY)
    settings = settings_from_environment()
    raise_open_files(settings.connections)
    module, _, function = options.application.partition(":")
    app = getattr(importlib.import_module(module), function)()
    holder: Any = SocketHolder  # its stub has no arguments
    spec = ListenerSpec(options.host, options.port, BACKLOG)
    serve(app, settings, spec.build() if options.file is None else holder(options.file, False, BACKLOG))
    return 0


def application(platform: Platform | None = None) -> Flask:
    """Return the application for a web process. Start the watch over its connections, and its pulse."""
    collect_rarely()
    settings = settings_from_environment()
    silence = max(SILENCE, 2 * settings.comment_seconds)
    Watch(allowed(settings.connections), PATIENCE, silence, Addresses(settings.trusted_proxies)).start()
    platform = platform or open_platform(patient=True)
    platform.pulse.start(WEB)
    return create_app(platform, settings)


def serve(app: Callable[..., Any], settings: Settings, listening: SocketHolder) -> None:
    """Answer requests until SIGTERM or SIGINT, with a thread for every place that keeps one (service/http/places.py) and some spare ones.

    This does what a worker process of granian 2.8 does, without its parent process, and without an event loop for requests.
    """
    configure_logging(LogLevels.error)
    ended, signalled = threading.Event(), WorkerSignal()
    ear, bell = os.pipe()
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)  # a signal may reach another thread, and ends no wait for a lock here

    def end_waiting() -> None:
        ended.set()
        os.write(bell, b".")

    signalled.add_cb(end_waiting)

    def end(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, GRACE)  # open streams do not delay the end: SIGALRM kills the process
        signalled.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    bound_send_buffer(listening.get_fd())
    threads = BODIES + ANSWERS + AUDITS + DRAWINGS + SPARE_THREADS
    http1 = HTTP1Settings(header_read_timeout=HEAD_TIMEOUT_MS, max_buffer_size=HEAD_LIMIT)
    of_runtime = 1, 512  # threads of the event loop, and at most of its helpers
    of_python = threads, IDLE_THREAD, allowed(settings.connections)
    no_tls: tuple[Any, ...] = False, None, None, None, "tls1.3", None, [], False
    worker: Any = RSGIWorker  # its stub lacks two arguments
    worker = worker(1, (None, listening), None, *of_runtime, *of_python, "1", http1, None, False, None, *no_tls, (None, None))
    loop = Loop()
    SIGNS.extend((loop.goes_on, Accepting(listening.get_fd(), allowed(settings.connections)).goes_on))
    worker.serve_mtr(Gateway(app, loop), Direct(), signalled)
    while not ended.is_set():
        os.read(ear, 64)


if __name__ == "__main__":
    status = main()
    atexit._run_exitfuncs()
    os._exit(status)  # threads of granian may still run, and none may outlive the interpreter
