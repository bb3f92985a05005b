"""Everything that the Dockerfile and compose.yaml name exists. This needs no container engine."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
CODE = "\n".join(file.read_text() for place in ("events", "service", "workers") for file in (ROOT / place).glob("*.py"))


def commands() -> list[list[str]]:
    """Return our commands: that of the image, and those of the services in compose.yaml that are built from it."""
    image = [json.loads(listed) for listed in re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)]
    return image + [service["command"] for service in SERVICES.values() if "build" in service]


def settings() -> set[str]:
    """Return every setting that the two files name."""
    named = set(re.findall(r"WARLEDGER_\w+", DOCKERFILE))
    return named.union(*(service.get("environment", {}) for service in SERVICES.values()))


def test_the_image_copies_every_package_that_it_runs_and_nothing_that_is_missing() -> None:
    copied = {source for line in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE) for source in line.split()}
    assert [source for source in copied if not (ROOT / source).exists()] == []
    assert copied >= {"games", "events", "service", "workers", "requirements.txt"}


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_starts_a_module_that_exists(command: list[str]) -> None:
    assert command[:2] == ["python", "-m"]
    assert importlib.util.find_spec(command[2]) is not None


@pytest.mark.parametrize("option", sorted({word for command in commands() for word in command if word.startswith("--")}))
def test_every_option_is_one_of_serve(option: str) -> None:
    assert f'"{option}"' in (ROOT / "service/serve.py").read_text()


@pytest.mark.parametrize("setting", sorted(settings()))
def test_every_setting_is_read_by_the_code(setting: str) -> None:
    assert setting in CODE


def test_nothing_runs_as_root_and_the_image_has_a_health_check() -> None:
    assert re.search(r"^USER (?!root)\w+", DOCKERFILE, re.MULTILINE)
    assert "HEALTHCHECK" in DOCKERFILE


def test_the_ledger_is_durable_and_the_queue_is_not() -> None:
    assert option(SERVICES["redis"], "--appendfsync") == "always"
    assert option(SERVICES["redis"], "--appendonly") == "yes"
    assert "ledger:/data" in SERVICES["redis"]["volumes"]
    assert "volumes" not in SERVICES["queue"]


def test_every_part_depends_only_on_services_of_the_same_file() -> None:
    for service in SERVICES.values():
        assert set(service.get("depends_on", {})) <= set(SERVICES)


def option(service: dict[str, Any], name: str) -> str:
    """Return the value of an option in the command of a service."""
    command: list[str] = service["command"]
    return command[command.index(name) + 1]
