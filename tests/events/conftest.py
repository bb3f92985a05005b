"""Fixtures that tests of the platform share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from events.platform import Platform
from tests.conftest import Servers
from tests.events.archives import archivist
from tests.events.logserver import Server


@pytest.fixture
def keeper(platform: Platform, servers: Servers) -> Iterator[Platform]:
    """The platform of the archivist."""
    with archivist(platform, servers) as other:
        yield other


@pytest.fixture
def server(quiet_servers: Servers, tmp_path: Path) -> Iterator[Server]:
    """A server of its own with a log, whose time passes when a test says so."""
    with closing(Server(quiet_servers, tmp_path)) as found:
        yield found
