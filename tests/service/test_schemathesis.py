"""Schemathesis looks for differences between openapi.yaml and the service in `./run soak`: a few examples in seconds, and hundreds.

`./run test` holds every answer that its tests of the service get against openapi.yaml (conformance.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from events.platform import Platform
from tests.service.conftest import ADMIN, ROOT, Live

CONFIG = ROOT / "schemathesis.toml"


@pytest.fixture(scope="module")
def public(serve: Callable[..., Live]) -> Live:
    """The service without the test game, whose views have no schema, and without limits, behind which it would see nothing else."""
    return serve("service.app:create_app", WARLEDGER_LIMITS="0")


def found_nothing(live: Live, folder: Path, *options: str, role: str = "player", config: Path = CONFIG) -> str:
    """Run Schemathesis, and return what it prints."""
    body = {"name": "Schemathesis", "role": role}
    key = requests.post(f"{live.url}/v1/players", json=body, headers={"Authorization": f"Bearer {ADMIN}"}, timeout=5).json()["key"]
    command = [str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(config), "run"]
    command += [
        f"{live.url}/openapi.json",
        "--header",
        f"Authorization: Bearer {key}",
        "--checks",
        "all",
        "--seed",
        "1",
        "--no-color",
        *options,
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


FEW = """
[phases.fuzzing.generation]
max-examples = 2
[phases.stateful.generation]
max-examples = 4
[[operations]]
include-path-regex = "/actions$"
[operations.phases.fuzzing.generation]
max-examples = 8
"""


@pytest.mark.soak
def test_nothing_is_found_in_any_operation_in_actions_and_in_sequences_of_operations(
    public: Live, platform: Platform, tmp_path: Path
) -> None:
    """Covering every value of every field takes long; the next test does it, and tests/service/test_malformed.py has its own cases."""
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG.read_text() + FEW)
    printed = found_nothing(public, tmp_path, "--exclude-path-regex", "stream$", "--phases", "examples,fuzzing,stateful", config=config)
    (cases,) = re.findall(r"([0-9]+) generated", printed)
    assert int(cases) > 200


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("role", ["player", "referee"])
def test_nothing_is_found_by_hundreds_of_examples(public: Live, platform: Platform, tmp_path: Path, role: str) -> None:
    found_nothing(public, tmp_path, "--max-examples", "300", "--exclude-path-regex", "stream$", role=role)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_nothing_is_found_in_streams(public: Live, platform: Platform, tmp_path: Path) -> None:
    found_nothing(public, tmp_path, "--max-examples", "30", "--include-path-regex", "stream$", "--phases", "coverage,fuzzing")
