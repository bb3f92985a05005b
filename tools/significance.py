"""Significance tests: tails of the chi-square and Student's t distributions, a correction for many tests, and a sequential test."""

from __future__ import annotations

import math
from collections.abc import Sequence

MOST = 300


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


def student_tail(value: float, freedom: int) -> float:
    """Return the probability that Student's t with `freedom` degrees of freedom, 1 or more, is at least `value`."""
    angle = math.atan2(value, math.sqrt(freedom))
    cosine = math.cos(angle)
    total = term = 1.0
    if freedom % 2:
        total = term = cosine if freedom > 1 else 0.0
        for number in range(3, freedom - 1, 2):
            term *= cosine * cosine * (number - 1) / number
            total += term
        inside = 2 / math.pi * (angle + math.sin(angle) * total)
    else:
        for number in range(2, freedom - 1, 2):
            term *= cosine * cosine * (number - 1) / number
            total += term
        inside = math.sin(angle) * total
    return min(1.0, max(0.0, (1 - inside) / 2))


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
