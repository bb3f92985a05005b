"""The service with the test game in addition, for a server in a process of its own."""

from __future__ import annotations

from flask import Flask

from events.platform import open_platform
from service.app import create_app
from tests.conftest import ALL_GAMES


def create() -> Flask:
    """Return the application for granian."""
    return create_app(open_platform(games=ALL_GAMES))
