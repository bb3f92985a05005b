"""The files for verifiers are made once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from events.platform import Settings, open_platform
from tests.conftest import servers_in
from tests.evidence.vectors import write_all


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the cases, and index.json: each kind of tampering with a whole dossier and with a redacted one."""
    data, folder = tmp_path_factory.mktemp("platform"), tmp_path_factory.mktemp("vectors")
    with servers_in(data) as servers:
        platform = open_platform(Settings(store_url=servers.store_url, queue_url=servers.queue_url, keys=data / "keys"))
        write_all(servers, platform, folder, every=False)
        platform.close()
    return folder
