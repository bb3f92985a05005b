"""The levels of War of the Worlds in order of strength: a few matches in every run of the tests, many in the soak."""

from __future__ import annotations

import pytest

from tools.simulate import Plan, play


def wins(levels: tuple[str, ...], matches: int, **options: int) -> int:
    """Return how many matches the first level wins, with seats shuffled."""
    plan = Plan("war_of_the_worlds", levels, "ladder", options, shuffle=True)
    return sum(result.seats[0] in result.winners for result in (play(plan, number) for number in range(matches)))


@pytest.mark.soak
def test_strong_is_no_weaker_than_greedy() -> None:
    assert wins(("strong", "greedy"), 1, round_limit=6) == 1, "the score after six rounds decides"


@pytest.mark.soak
def test_strong_beats_greedy() -> None:
    assert wins(("strong", "greedy"), 400) >= 300


@pytest.mark.soak
def test_expert_beats_strong() -> None:
    assert wins(("expert", "strong"), 100) >= 70
