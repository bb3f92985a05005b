"""The thread that chooses the puzzle of each day goes on after errors."""

from __future__ import annotations

import pytest

from events import puzzles
from events.errors import StoreUnavailable
from events.platform import Platform
from record.puzzles import Puzzle
from tests.conftest import within
from workers import daily


def test_a_worker_chooses_the_puzzle_of_the_day_and_goes_on_after_errors(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "EVERY", 0.01)
    choose, failures = puzzles.choose, [StoreUnavailable("away"), ValueError("odd")]

    def fails_first(given: Platform) -> str | None:
        if failures:
            raise failures.pop()
        return choose(given)

    monkeypatch.setattr(puzzles, "choose", fails_first)
    thread = daily.begin(platform)
    puzzle = Puzzle("m" + "a" * 16, 2, "tally", "one", "p" + "a" * 16, 5, "easy", 0.3, [])
    platform.store.puzzles.put(puzzle)
    within(10, lambda: puzzles.today(platform) == puzzle.id)
    assert failures == []
    thread.stop()
    thread.join(5)
    assert not thread.is_alive()
