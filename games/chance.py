"""Chance as the rules see it: rolls, numbers, picks, samples and shuffles, whatever stands behind them.

`Drawn` makes all of them from one source of even whole numbers, so that the secret of a match, a seed of a simulation and the list of
a scenario differ in that source alone. The order in which numbers are taken is part of the audit (docs/auditing.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Chance(Protocol):
    """Every draw is even over all possibilities."""

    def number(self, below: int) -> int:
        """A whole number from 0 to below - 1; `below` is at least 1."""

    def roll(self, sides: int) -> int:
        """A die: 1 to `sides`."""

    def pick(self, items: Sequence[T]) -> T:
        """One of `items`, which are not empty."""

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """`size` different places of `items`, in the order drawn."""

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """All `items` in a new order."""


class Drawn:
    """Chance from a source of even numbers: `number(below)` gives 0 to below - 1."""

    def __init__(self, number: Callable[[int], int]) -> None:
        self.number = number

    def roll(self, sides: int) -> int:
        """One number."""
        return self.number(sides) + 1

    def pick(self, items: Sequence[T]) -> T:
        """One number."""
        return items[self.number(len(items))]

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """One number for each item drawn: the place among those left, in their order."""
        left = list(items)
        return [left.pop(self.number(len(left))) for _ in range(size)]

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """Fisher and Yates from the end: for i = m - 1 down to 1 one number below i + 1 names the item to swap with."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.number(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


class Scripted:
    """The draws that a scenario names, one entry of its list for each; from `beyond` when the list is used up.

    A shuffle's entry lists what comes on top; the rest follows in alphabetical order. Raises ValueError where an entry does not fit
    its draw: the scenario is then wrong, not the rules.
    """

    def __init__(self, entries: Iterable[Any], beyond: Chance) -> None:
        self._entries = list(entries)
        self._beyond = beyond

    def _next(self, what: str, fits: Callable[[Any], bool]) -> Any:
        entry = self._entries.pop(0)
        if not fits(entry):
            raise ValueError(f"the chance list gives {entry!r} where {what} is drawn")
        return entry

    def number(self, below: int) -> int:
        """The entry is the number."""
        if not self._entries:
            return self._beyond.number(below)
        return int(self._next(f"a number below {below}", lambda entry: _is_whole(entry) and 0 <= entry < below))

    def roll(self, sides: int) -> int:
        """The entry is the face."""
        if not self._entries:
            return self._beyond.roll(sides)
        return int(self._next(f"a die of {sides}", lambda entry: _is_whole(entry) and 1 <= entry <= sides))

    def pick(self, items: Sequence[T]) -> T:
        """The entry is the item."""
        if not self._entries:
            return self._beyond.pick(items)
        entry: T = self._next(f"one of {list(items)}", lambda entry: entry in items)
        return entry

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """The entry is the list of the items."""
        if not self._entries:
            return self._beyond.sample(items, size)
        entry = self._next(
            f"{size} of {list(items)}", lambda entry: isinstance(entry, list) and len(entry) == size and _within(entry, items)
        )
        return list(entry)

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """The entry is the list of the items on top."""
        left = sorted(items, key=str)
        if not self._entries:
            return self._beyond.shuffle(left)
        top = self._next(f"a shuffle of {left}", lambda entry: isinstance(entry, list) and _within(entry, left))
        for item in top:
            left.remove(item)
        return [*top, *left]


def _is_whole(entry: Any) -> bool:
    return isinstance(entry, int) and not isinstance(entry, bool)


def _within(some: Iterable[Any], items: Iterable[Any]) -> bool:
    left = list(items)
    for item in some:
        if item not in left:
            return False
        left.remove(item)
    return True
