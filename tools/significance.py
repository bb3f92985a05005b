"""Significance tests: tails of the chi-square distribution and of sums of draws, a correction for many tests, and a sequential test."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Sequence

from games.kernel import total

MOST = 300
MOST_TILT = 20.0
SAMPLES = 2000
CLOSE = 1e-9


def chi_square_tail(value: float, freedom: int) -> float:
    """Return the probability that a chi-square with `freedom` degrees of freedom, 1 or more, is at least `value`.

    The result is exact up to 300 degrees of freedom. Above, it is the approximation of Wilson and Hilferty, with an error below 0.0001.
    """
    if freedom > MOST:
        ninth = 2 / (9 * freedom)
        return math.erfc(((max(value, 0.0) / freedom) ** (1 / 3) - (1 - ninth)) / math.sqrt(2 * ninth)) / 2
    half = max(value, 0.0) / 2
    odd = freedom % 2
    tail = math.erfc(math.sqrt(half)) if odd else 0.0
    term = math.exp(-half) * (2 * math.sqrt(half / math.pi) if odd else 1.0)
    for number in range(freedom // 2):
        tail += term
        term *= half / (number + (1.5 if odd else 1.0))
    return min(1.0, tail)


def sum_tail(draws: Sequence[Sequence[float]], value: float) -> float:
    """Return the probability that the sum of one number of each draw, all equally likely, is at least `value`.

    The draws are independent. The result is an estimate by `SAMPLES` samples, always the same ones, with an error of some 5 %, also far out
    in the tail: numbers are drawn by weights under which the sum is about `value` on average, and each sample counts by how likely it
    would have been without them (importance sampling with exponential tilting).

    >>> round(sum_tail([[-1, 1]] * 40, 20), 4)  # 30 heads or more of 40 coins: 0.0011
    0.0011
    """
    low, high = 0.0, MOST_TILT
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if total([_tilted(numbers, middle)[1] for numbers in draws]) < value else (low, middle)
    will, sums, logarithm = random.Random(1), [0.0] * SAMPLES, 0.0
    for numbers in draws:
        weights, _ = _tilted(numbers, low)
        logarithm += math.log(total(weights) / len(numbers)) + low * max(numbers)
        sums = list(map(operator.add, sums, will.choices(numbers, weights, k=SAMPLES)))
    return min(1.0, total([math.exp(logarithm - low * one) for one in sums if one >= value - CLOSE]) / SAMPLES)


def _tilted(numbers: Sequence[float], tilt: float) -> tuple[list[float], float]:
    """Return weights of numbers that grow by e to `tilt` for each 1, and the weighted mean."""
    highest = max(numbers)
    weights = [math.exp(tilt * (number - highest)) for number in numbers]
    return weights, total([weight * number for weight, number in zip(weights, numbers, strict=True)]) / total(weights)


def corrected(probabilities: Sequence[float]) -> list[float]:
    """Return the probabilities of many tests after Holm's correction, in their order.

    The probability that any true null hypothesis is rejected at a level is then at most that level, however the tests depend on each other.
    """
    number = len(probabilities)
    found, highest = [0.0] * number, 0.0
    for rank, place in enumerate(sorted(range(number), key=probabilities.__getitem__)):
        highest = max(highest, min(1.0, (number - rank) * probabilities[place]))
        found[place] = highest
    return found


def better(wins: int, losses: int, share: float, wrong: float) -> bool | None:
    """Return True if a side is the better one, False if it is not, and None if more matches are needed.

    This is Wald's sequential probability ratio test: a win has either an even chance or the chance `share`. The probability of accepting an
    even side is at most about `wrong`, and so is the probability of rejecting a side that wins with `share`. It can be called after
    every match.
    """
    ratio = wins * math.log(share / 0.5) + losses * math.log((1 - share) / 0.5)
    bound = math.log((1 - wrong) / wrong)
    if ratio >= bound:
        return True
    return False if ratio <= -bound else None
