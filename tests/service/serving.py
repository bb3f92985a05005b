"""The service with the test game besides, for a server of its own process."""

from __future__ import annotations

from flask import Flask

from events.platform import open_platform
from service.app import create_app
from tests.conftest import ALL_GAMES


def create() -> Flask:
    """What granian serves."""
    return create_app(open_platform(games=ALL_GAMES))
