"""The pictures of fixed versions, letter by letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.web.recording import FOLDER, golden

GOLDEN = [pytest.param(path, text, id=path.stem) for path, text in golden()]


@pytest.mark.parametrize(("path", "text"), GOLDEN)
def test_a_picture_is_as_recorded(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, "if it should have changed: python -m tests.web.recording, and read the difference"


def test_every_recorded_picture_is_still_drawn() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {path.name for path, _ in golden()}
