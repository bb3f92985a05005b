"""Compare two sides in interleaved pairs: they are measured alternately, so that a noisy machine disturbs both alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

PAIRS = 7


class Figure(NamedTuple):
    """A row: a median with its spread, its unit, its target if it has one, and what else was measured with it.

    The name of a ratio says what is compared: "one / other".
    """

    name: str
    median: float
    low: float
    high: float
    unit: str
    target: str = ""
    met: bool | None = None
    told: str = ""
    values: Sequence[float] = ()

    def line(self) -> str:
        """Return the row as text."""
        numbers = "".join(f"{rounded(value):>11}" for value in (self.median, self.low, self.high))
        met = "" if self.met is None else "  met" if self.met else "  MISSED"
        return f"  {self.name:<64}{numbers}  {self.unit:<12}{self.target}{met}{'  ' * bool(self.target)}{self.told}".rstrip()


def figure(name: str, values: list[float], unit: str, least: float | None = None, most: float | None = None, told: str = "") -> Figure:
    """Return the figure of some values: their median, their range, and whether the median meets a target."""
    middle = statistics.median(values)
    target = f">= {least:g}" if least is not None else f"<= {most:g}" if most is not None else ""
    met = middle >= least if least is not None else middle <= most if most is not None else None
    return Figure(name, middle, min(values), max(values), unit, target, met, told, values)


def rounded(value: float) -> str:
    """Return a number with three significant digits, or, from 100 on, without decimals."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def interleaved(ours: Callable[[], float], theirs: Callable[[], float], pairs: int) -> tuple[list[float], list[float]]:
    """Measure both sides in pairs and return their values. The two sides begin alternately."""
    mine, other = [], []
    for number in range(pairs):
        if number % 2:
            other.append(theirs())
            mine.append(ours())
        else:
            mine.append(ours())
            other.append(theirs())
    return mine, other


def ratios(above: list[float], below: list[float]) -> list[float]:
    """Return the ratio of each pair."""
    return [one / other for one, other in zip(above, below, strict=True)]


def compared(
    one: str, mine: list[float], other: str, theirs: list[float], unit: str, least: float | None = None, most: float | None = None
) -> Iterator[Figure]:
    """Yield the figures of two sides, and of their ratio."""
    yield figure(one, mine, unit)
    yield figure(other, theirs, unit)
    yield figure(f"{one} / {other}", ratios(mine, theirs), "ratio", least=least, most=most)
