"""Schemathesis looks for differences between openapi.yaml and the service: a few examples here, hundreds in `./run soak`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from events.platform import Platform
from tests.service.conftest import ADMIN, ROOT, Live


@pytest.fixture(scope="module")
def public(serve: Callable[..., Live]) -> Live:
    """The service without the test game, whose views have no schema, and without limits, behind which it would see nothing else."""
    return serve("service.app:create_app", WARLEDGER_LIMITS="0")


def found_nothing(live: Live, folder: Path, *options: str, role: str = "player") -> None:
    body = {"name": "Schemathesis", "role": role}
    key = requests.post(f"{live.url}/v1/players", json=body, headers={"Authorization": f"Bearer {ADMIN}"}, timeout=5).json()["key"]
    command = [str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(ROOT / "schemathesis.toml"), "run"]
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


def test_nothing_is_found_in_any_operation(public: Live, platform: Platform, tmp_path: Path) -> None:
    """Covering every value of every field takes long; `./run soak` does it."""
    found_nothing(public, tmp_path, "--max-examples", "4", "--exclude-path-regex", "(stream|/actions)$", "--phases", "examples,fuzzing")


def test_nothing_is_found_in_actions(public: Live, platform: Platform, tmp_path: Path) -> None:
    """Covering every field of every action takes long; `./run soak` does it, and tests/service/test_malformed.py has its own cases."""
    found_nothing(public, tmp_path, "--max-examples", "12", "--include-path-regex", "/actions$", "--phases", "examples,fuzzing")


def test_nothing_is_found_in_sequences_of_operations(public: Live, platform: Platform, tmp_path: Path) -> None:
    found_nothing(public, tmp_path, "--max-examples", "8", "--exclude-path-regex", "stream$", "--phases", "stateful")


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("role", ["player", "referee"])
def test_nothing_is_found_by_hundreds_of_examples(public: Live, platform: Platform, tmp_path: Path, role: str) -> None:
    found_nothing(public, tmp_path, "--max-examples", "300", "--exclude-path-regex", "stream$", role=role)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_nothing_is_found_in_streams(public: Live, platform: Platform, tmp_path: Path) -> None:
    found_nothing(public, tmp_path, "--max-examples", "30", "--include-path-regex", "stream$", "--phases", "coverage,fuzzing")
