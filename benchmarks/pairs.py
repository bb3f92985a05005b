"""Compare two sides in interleaved pairs: they are measured alternately, so that a noisy machine disturbs both alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

PAIRS = 7


class Figure(NamedTuple):
    """A line of the table: a median with its spread, its unit, and its target, if it has one."""

    name: str
    median: float
    low: float
    high: float
    unit: str
    target: str = ""
    met: bool | None = None
    more: Mapping[str, Any] = {}


def figure(name: str, values: list[float], unit: str, least: float | None = None, most: float | None = None, **more: Any) -> Figure:
    """Return the figure of some values: their median, their range, and whether the median meets a target."""
    middle = statistics.median(values)
    target = f">= {least:g}" if least is not None else f"<= {most:g}" if most is not None else ""
    met = middle >= least if least is not None else middle <= most if most is not None else None
    return Figure(name, middle, min(values), max(values), unit, target, met, {"values": values, **more})


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
