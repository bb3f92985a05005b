"""The content hash of the rules: what changes it, and what does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from games import GAMES
from record.rules import content_hash

WAR = GAMES["war"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the folder of War!."""
    shutil.copytree(WAR.folder, tmp_path / "war")
    return tmp_path / "war"


def test_the_same_files_have_the_same_hash(folder: Path) -> None:
    assert content_hash(WAR._replace(folder=folder)) == content_hash(WAR)


@pytest.mark.parametrize(
    ("file", "counts"), [("data.json", True), ("moves.py", True), ("RULES.md", True), ("scene.py", False), ("picture.json", False)]
)
def test_rules_change_the_hash_and_looks_do_not(folder: Path, file: str, counts: bool) -> None:
    path = folder / file
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert (content_hash(WAR._replace(folder=folder)) != content_hash(WAR)) is counts
