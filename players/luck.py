"""Chance within a search: numbers that follow from a seed, whether any was drawn at all, and numbers that are not drawn.

Two positions are compared under the same luck when both are played on with the numbers of one seed. There are two such sources because
recorded decisions follow from each: `split_mix` from those of the method `flat`, `congruential` from those of `turns`.
"""

from __future__ import annotations

from collections.abc import Callable

from games.chance import Drawn

Number = Callable[[int], int]
"""A source of whole numbers: `number(below)` returns 0 to below - 1."""

_WORD = 0xFFFFFFFFFFFFFFFF


def split_mix(seed: int) -> Number:
    """Return the numbers of a seed by SplitMix64 (Steele et al. 2014).

    Seeds n apart give the same numbers, n draws later. So two sources that are used side by side need seeds that are far apart.

    >>> number = split_mix(1)
    >>> [number(6) + 1 for _ in range(8)]
    [3, 1, 6, 1, 2, 2, 5, 2]
    """
    state = seed * 0x9E3779B97F4A7C15 & _WORD

    def number(below: int) -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & _WORD
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & _WORD
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _WORD
        return ((mixed ^ mixed >> 31) * below) >> 64

    return number


def congruential(seed: int) -> Number:
    """Return the numbers of a seed of 31 bits by a linear congruential generator of 64 bits (Knuth, MMIX).

    >>> number = congruential(1)
    >>> [number(6) + 1 for _ in range(8)]
    [1, 2, 5, 3, 4, 3, 4, 3]
    """
    state = seed * 2 + 1

    def number(below: int) -> int:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) & _WORD
        return (state >> 33) * below >> 31

    return number


class Noticed(Drawn):
    """Chance from a source of numbers that notices whether any was drawn: `drawn`.

    >>> chance = Noticed(split_mix(1))
    >>> chance.drawn, chance.roll(6), chance.drawn
    (False, 3, True)
    """

    def __init__(self, number: Number) -> None:
        drawn = self._drawn = [False]

        def noticed(below: int) -> int:
            drawn[0] = True
            return number(below)

        self.number = noticed

    @property
    def drawn(self) -> bool:
        """Whether a number was drawn."""
        return self._drawn[0]


def lowest(below: int) -> int:
    """Return 0: the lowest counts of an open choice, for `games.choices.complete`.

    >>> from games.choices import complete
    >>> complete({"type": "take"}, {"pebbles": [1, 3]}, lowest), complete({"type": "take"}, {"pebbles": [1, 3]}, highest)
    ({'type': 'take', 'pebbles': 1}, {'type': 'take', 'pebbles': 3})
    """
    return 0


def highest(below: int) -> int:
    """Return below - 1: the highest counts of an open choice.

    >>> highest(6)
    5
    """
    return below - 1
