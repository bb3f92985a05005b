"""The service with the test game in addition, for a server in a process of its own."""

from __future__ import annotations

import os

from flask import Flask

from events.platform import open_platform
from service.http import connections
from service.supervisor import web
from tests.conftest import ALL_GAMES


def create() -> Flask:
    """Return the application for the web server. `TEST_PATIENCE` is the number of seconds that it gives slow clients."""
    if patience := os.environ.get("TEST_PATIENCE"):
        web.PATIENCE = connections.READ_SECONDS = float(patience)
        connections.LOOK_SECONDS = 0.5
    return web.application(open_platform(games=ALL_GAMES))
