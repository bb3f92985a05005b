"""Fixtures that tests of the platform share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from events.platform import Platform
from tests.conftest import Servers
from tests.events.archives import archivist


@pytest.fixture
def keeper(platform: Platform, servers: Servers) -> Iterator[Platform]:
    """The platform of the archivist."""
    with archivist(platform, servers) as other:
        yield other
