"""The pictures of fixed versions, letter by letter."""

from __future__ import annotations

from tests.web.recording import FOLDER, golden


def test_pictures_are_as_recorded() -> None:
    """If one should have changed: `python -m tests.web.recording`, and read the difference."""
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()} == {path.name: text for path, text in golden()}
