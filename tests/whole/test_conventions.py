"""The conventions of the code: linter, formatter, types, layers, and pinned lists that agree with pyproject.toml."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from service.api.openapi import VERSION

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

CHECKS = {
    "ruff_finds_nothing": ["ruff", "check", "."],
    "the_code_is_formatted": ["ruff", "format", "--check", "."],
    "the_types_are_right": ["mypy"],
}


@pytest.mark.parametrize("command", CHECKS.values(), ids=CHECKS.keys())
def test_the_code_is_in_order(command: list[str]) -> None:
    ended = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.soak
def test_the_types_are_right_with_those_of_packages_that_are_left_out_else(tmp_path: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    line = 'follow_imports = "skip"  # another quarter;'
    assert text.count(line) == 1
    (tmp_path / "pyproject.toml").write_text(text.replace(line, "#"))
    command = [sys.executable, "-m", "mypy", "--config-file", tmp_path / "pyproject.toml", "--cache-dir", tmp_path / "cache"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_imports_keep_to_the_layers() -> None:
    ended = subprocess.run([Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("listed", sorted(path.name for path in ROOT.glob("requirements*.txt")))
def test_every_pinned_package_has_hashes_and_no_address(listed: str) -> None:
    text = (ROOT / listed).read_text()
    for block in re.split(r"\n(?=[a-z])", text.split("\n", 2)[2]):
        assert "==" in block.split("\n")[0], block
        assert "--hash=sha256:" in block, block
    assert "://" not in text


def test_the_pinned_lists_have_every_declared_package() -> None:
    wanted = PROJECT["project"]["dependencies"]
    assert missing(wanted, "requirements.txt") == []
    groups = PROJECT["dependency-groups"]
    extras = PROJECT["project"]["optional-dependencies"]
    assert missing([*wanted, *groups["dev"], *(package for extra in extras.values() for package in extra)], "requirements-dev.txt") == []
    assert missing(groups["release"] + PROJECT["build-system"]["requires"], "requirements-release.txt") == []
    assert missing(wanted + groups["dev"] + groups["mutate"], "requirements-mutate.txt") == []


def test_there_is_one_version() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    client = tomllib.loads((ROOT / "sdk" / "python" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = json.loads((ROOT / "sdk" / "js" / "package.json").read_text(encoding="utf-8"))
    assert headings[0] == PROJECT["project"]["version"] == VERSION == client["version"] == package["version"]


def test_prose_of_the_docs_is_wrapped_at_100_columns() -> None:
    """Tables, code and headings may be longer, and a line without a blank where it could be broken."""
    for page in (ROOT / "docs").rglob("*.md"):
        prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        long = [line for line in prose.splitlines() if len(line) > 100 and not line.lstrip().startswith(("|", "#")) and " " in line.strip()]
        assert long == [], page.name


def missing(wanted: list[str], listed: str) -> list[str]:
    """Return the declared packages that a list does not pin to the declared version."""
    pinned = set(re.findall(r"^([a-z0-9-]+==[^ \\]+)", (ROOT / listed).read_text(), re.MULTILINE))
    return [package for package in wanted if as_pinned(package) not in pinned]


def as_pinned(package: str) -> str:
    """Return a declared package as lists name it: without extras and markers, and with hyphens for the dots of its name."""
    name, version = re.sub(r"\[.*\]|;.*", "", package).split("==")
    return f"{name.replace('.', '-')}=={version}"
