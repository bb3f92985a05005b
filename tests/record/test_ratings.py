"""Ratings: what a result changes, and what the intervals promise."""

from __future__ import annotations

import math
import random
import statistics

import pytest

from record.ratings import DEVIATION, DRIFT, MEAN, STEADY, Rating, Result, after, ratings


def result(number: int, **places: int) -> Result:
    return Result(f"m{number:016}", "war", number, "", True, places)


def test_who_wins_rises_and_who_loses_falls_by_as_much() -> None:
    found = ratings([result(1, ada=1, ben=2)])
    assert found["ada"].mean - MEAN == pytest.approx(MEAN - found["ben"].mean)
    assert found["ada"].sigma < DEVIATION
    assert [(found[name].matches, found[name].won) for name in ("ada", "ben")] == [(1, 1), (1, 0)]


def test_a_draw_between_equals_moves_nobody_and_is_nobodys_victory() -> None:
    found = ratings([result(1, ada=1, ben=1)])
    assert {(rating.points, rating.matches, rating.won) for rating in found.values()} == {(1500, 1, 0)}


def test_a_result_that_does_not_count_changes_nothing() -> None:
    known = {"ada": Rating(1600.0, 50.0, 9, 5)}
    assert after(known, result(1)) == {}


def test_in_what_order_players_are_named_does_not_matter_and_in_what_order_results_count_does() -> None:
    one, two = result(1, ada=1, ben=2, cleo=2), result(1, cleo=2, ben=2, ada=1)
    assert ratings([one]) == ratings([two])
    first, second = result(1, ada=1, ben=2), result(2, ben=1, cleo=2)
    assert ratings([first, second])["ben"].mean != ratings([second, first])["ben"].mean


def test_the_strength_of_players_drifts_and_that_of_programs_does_not() -> None:
    results = [result(number, ada=1 + number % 2, ben=2 - number % 2) for number in range(4000)]
    assert ratings(results, STEADY)["ada"].sigma < 20 < 25 < ratings(results, DRIFT)["ada"].sigma


@pytest.mark.parametrize("seats", [2, 4])
def test_95_percent_intervals_have_the_true_strength_nearly_always(seats: int) -> None:
    """Players of known strength play by the model. Of 500 intervals, fewer than 93 % would be two standard errors below 95 %."""
    inside = []
    for seed in range(100):
        dice = random.Random(seed)
        strength = {f"p{number}": dice.gauss(MEAN, 200) for number in range(5)}
        results = []
        for number in range(60):
            playing = dice.sample(sorted(strength), seats)
            winner = dice.choices(playing, [math.exp(strength[each] * math.log(10) / 400) for each in playing])[0]
            results.append(result(number, **{each: 1 if each == winner else 2 for each in playing}))
        found = ratings(results, STEADY)
        shift = statistics.mean(found[each].mean - strength[each] for each in strength)  # only differences show in results
        inside += [rating.low <= strength[each] + shift <= rating.high for each, rating in found.items()]
    assert statistics.mean(inside) > 0.93
