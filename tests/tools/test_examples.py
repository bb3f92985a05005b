"""The examples of openapi.yaml come from a run that gives the same each time."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from service.api.shapes import EXAMPLES
from tools.examples import played, short


def test_long_lists_maps_and_texts_are_cut_short() -> None:
    assert short({"tiles": {"a1": 1, "a2": 2, "a3": 3}, "row": list("abcdef"), "list": [{"x": "y" * 500}, {}]}) == {
        "tiles": {"a1": 1},
        "row": ["a", "b", "c"],
        "list": [{"x": f"{'y' * 90}…"}],
    }
    assert (short(b"text"), short(b"\xff\x00")) == ("text", "/wA=")


@pytest.mark.soak
def test_two_runs_give_the_same_examples(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first = played(tmp_path / "one")
    assert first == played(tmp_path / "two")
    assert set(first) == set(orjson.loads(EXAMPLES.read_bytes()))
