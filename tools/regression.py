"""Ridge regression in plain Python, for a few dozen features.

numpy sums in an order that differs between machines. Here the same rows give the same weights everywhere, a fit takes about a second, and
tuning needs no package.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple


class Pull(NamedTuple):
    """How strongly a fit pulls the weights towards its starting weights.

    `share`: the strength in multiples of the rows, above 0. `rows`: additional strength for each feature, in rows in which the feature is
    not 0. A rare feature needs `rows`: otherwise a few matches, all of them won, would give it a huge weight.
    """

    share: float
    rows: float = 0.0


def ridge(rows: Sequence[Sequence[float]], targets: Sequence[float], start: Sequence[float], pull: Pull) -> list[float]:
    """Return the weights that fit the targets best, pulled towards `start`.

    They minimize the sum of two terms. The first is the sum of the squared errors `weights * row - target`. The second is the sum over the
    features of (weight - start)² times the feature's sum of squares times (share + rows / the number of rows in which it is not 0). So the
    unit of a feature does not matter, and a weight hardly moves if the rows say little about it.
    """
    size = len(start)
    products = [[0.0] * size for _ in range(size)]
    towards = [0.0] * size
    present = [0] * size
    for row, target in zip(rows, targets, strict=True):
        missing = target - dot(start, row)
        for place, value in enumerate(row):
            if value:
                present[place] += 1
                towards[place] += value * missing
                line = products[place]
                for other in range(place + 1):
                    line[other] += value * row[other]
    for place in range(size):
        products[place][place] = products[place][place] * (1 + pull.share + pull.rows / max(1, present[place])) or 1.0
    return [weight + change for weight, change in zip(start, solved(products, towards), strict=True)]


def solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return x with matrix * x = right, for a symmetric positive definite matrix, by Cholesky. Only its lower half is read."""
    size = len(right)
    lower: list[list[float]] = []
    for i in range(size):
        line: list[float] = []
        for j in range(i):
            line.append((matrix[i][j] - dot(line, lower[j])) / lower[j][j])
        line.append(sqrt(matrix[i][i] - dot(line, line)))
        lower.append(line)
    found = list(right)
    for i in range(size):
        found[i] = (found[i] - dot(lower[i][:i], found)) / lower[i][i]
    for i in reversed(range(size)):
        found[i] = (found[i] - dot([lower[k][i] for k in range(i + 1, size)], found[i + 1 :])) / lower[i][i]
    return found


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the sum of the products of two lists, from the left. The rest of the longer list is ignored."""
    total = 0.0
    for a, b in zip(one, other, strict=False):
        total += a * b
    return total
