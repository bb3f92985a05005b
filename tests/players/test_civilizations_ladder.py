"""The levels of War of Civilizations in order of strength: a few matches in every run of the tests, many in the soak."""

from __future__ import annotations

import pytest

from tools.simulate import Plan, play


def wins(levels: tuple[str, ...], matches: int, any_order: bool = False) -> int:
    """Return how many matches the first level wins, with seats shuffled. Without `any_order` it always has the first turn."""
    plan = Plan("war_of_civilizations", levels, "ladder", {}, shuffle=True, any_order=any_order)
    return sum(result.seats[0] in result.winners for result in (play(plan, number) for number in range(matches)))


@pytest.mark.soak
def test_strong_beats_greedy() -> None:
    assert wins(("strong", "greedy"), 400) >= 320


@pytest.mark.soak
def test_strong_wins_against_three_greedy_seats() -> None:
    assert wins(("strong", "greedy", "greedy", "greedy"), 400) >= 180


@pytest.mark.soak
def test_expert_beats_strong() -> None:
    assert wins(("expert", "strong"), 100, any_order=True) >= 60
