"""The service with the test game besides, for a server of its own process."""

from __future__ import annotations

from flask import Flask

from events.connect import open_house
from service.app import create_app
from tests.conftest import ALL_GAMES


def create() -> Flask:
    """What granian serves."""
    return create_app(open_house(games=ALL_GAMES))
