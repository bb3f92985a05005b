"""The web server: granian, with processes that end with it. `python -m service.supervisor.web` takes granian's options."""

from __future__ import annotations

import multiprocessing
import sys

from flask import Flask
from granian.cli import entrypoint

from events.lifeline import forks_end_with_this
from events.platform import Platform, open_platform
from events.timing.pulse import WEB
from service.app import create_app
from service.http.connections import Watch, allowed, raise_open_files
from service.http.settings import settings_from_environment

PATIENCE = 30.0  # seconds until a request is complete and its answer begins
SILENCE = 75.0  # seconds without a byte; granian closes an idle connection after 60, and streams have comments


def main() -> None:
    """Serve until a signal ends it."""
    if sys.platform == "linux":
        multiprocessing.set_start_method("fork")  # only a fork ends with this process from its first instruction on
        forks_end_with_this()
    raise_open_files(settings_from_environment().connections)
    entrypoint()


def application(platform: Platform | None = None) -> Flask:
    """Return the application for a process of the server, which looks after its connections and gives a pulse."""
    settings = settings_from_environment()
    Watch(allowed(settings.connections), PATIENCE, max(SILENCE, 2 * settings.comment_seconds)).start()
    platform = platform or open_platform(patient=True)
    platform.pulse.start(WEB)
    return create_app(platform, settings)


if __name__ == "__main__":
    main()
