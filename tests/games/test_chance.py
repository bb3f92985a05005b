"""Chance: `Scripted` gives the entries of a scenario, refuses impossible ones by name, and then leaves the draws to another source."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from games.chance import Chance, Drawn, Fractional, Scripted

LAST = Drawn(lambda below: below - 1)

DRAWS: list[tuple[Callable[[Chance], Any], Any, list[Any], str, Any]] = [
    (lambda chance: chance.number(6), 0, [6, -1, True, "1", 1.0], "a number below 6", 5),
    (lambda chance: chance.roll(6), 6, [0, 7, True, None], "a die of 6", 6),
    (lambda chance: chance.pick(["a", "b"]), "a", ["c", None], "one of ['a', 'b']", "b"),
    (
        lambda chance: chance.sample(["a", "a", "b"], 2),
        ["b", "a"],
        [["b"], ["b", "b"], "ab", ["a", "c"]],
        "2 of ['a', 'a', 'b']",
        ["b", "a"],
    ),
    (
        lambda chance: chance.shuffle(["b", "c", "a"]),
        ["b", "a", "c"],
        [["d"], ["a", "a"], "abc"],
        "a shuffle of ['a', 'b', 'c']",
        ["a", "b", "c"],
    ),
]


@pytest.mark.parametrize(("draw", "entry", "impossible", "what", "beyond"), DRAWS)
def test_an_entry_is_the_draw_if_it_is_possible(
    draw: Callable[[Chance], Any], entry: Any, impossible: list[Any], what: str, beyond: Any
) -> None:
    assert draw(Scripted([entry], LAST)) == entry
    for other in impossible:
        with pytest.raises(ValueError) as error:
            draw(Scripted([other], LAST))
        assert str(error.value) == f"the chance list gives {other!r} where {what} is drawn"
    assert draw(Scripted([], LAST)) == beyond


def test_the_rest_of_a_shuffle_follows_in_alphabetical_order() -> None:
    assert Scripted([["c"]], LAST).shuffle(["b", "d", "c", "a"]) == ["c", "a", "b", "d"]
    assert Scripted([["b"]], LAST).shuffle([10, "b", 9]) == ["b", 10, 9]


def test_the_extremes_of_a_draw_are_possible() -> None:
    assert [Scripted([entry], LAST).number(6) for entry in (0, 5)] == [0, 5]
    assert [Scripted([entry], LAST).roll(6) for entry in (1, 6)] == [1, 6]


def test_fractions_give_the_draws_that_their_numbers_give() -> None:
    one, other = random.Random(7), random.Random(7).random
    quick, plain = Fractional(one.random), Drawn(lambda below: int(other() * below))
    for size in range(1, 40):
        assert quick.shuffle(range(size)) == plain.shuffle(range(size))
        assert quick.sample("abcdefgh"[:size], min(3, size, 8)) == plain.sample("abcdefgh"[:size], min(3, size, 8))
        assert (quick.number(size), quick.roll(6), quick.pick("xyz")) == (plain.number(size), plain.roll(6), plain.pick("xyz"))
