"""One service for all tests of the SDK, and a hostile proxy before it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sdk.hostile import Hostile
from tools import private


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[private.Place]:
    limits = {"WARLEDGER_LIMIT_FORKS": "2", "WARLEDGER_LIMIT_AUDITS": "20"}  # low, for the tests of what a client does then
    with private.service(tmp_path_factory.mktemp("sdk"), *private.SMALL, environment=limits) as started:
        yield started


@pytest.fixture
def hostile(place: private.Place) -> Iterator[Hostile]:
    with Hostile(place.url) as proxy:
        yield proxy
