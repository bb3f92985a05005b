"""Chance as the rules use it: rolls, numbers, picks, samples and shuffles.

`Drawn` makes all of them from one source of whole numbers. A match derives the numbers from its secret, a simulation from its seed. The
audit depends on the order in which the numbers are drawn (docs/auditing.md). `Scripted` takes them from the list of a scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Chance(Protocol):
    """A source of random draws. Each possible result of a draw has the same probability."""

    def number(self, below: int) -> int:
        """Return a whole number from 0 to below - 1. `below` is at least 1."""

    def roll(self, sides: int) -> int:
        """Return the face of a die: 1 to `sides`."""

    def pick(self, items: Sequence[T]) -> T:
        """Return one of `items`, which are not empty."""

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """Return the items at `size` different places of `items`, in the order drawn."""

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """Return all `items` in a new order."""


class Drawn:
    """Chance from a source of whole numbers: `number(below)` returns 0 to below - 1, each with the same probability."""

    def __init__(self, number: Callable[[int], int]) -> None:
        self.number = number

    def roll(self, sides: int) -> int:
        """Draw one number."""
        return self.number(sides) + 1

    def pick(self, items: Sequence[T]) -> T:
        """Draw one number."""
        return items[self.number(len(items))]

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """Draw one number for each item: its place among the items that are left, in their order."""
        left = list(items)
        return [left.pop(self.number(len(left))) for _ in range(size)]

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """Shuffle after Fisher and Yates, from the end: for i = m - 1 down to 1, one number below i + 1 is the place to swap with."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.number(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


class Fractional(Drawn):
    """Chance from a source of fractions: `fraction()` returns a float of at least 0 and less than 1, such as `random.Random(seed).random`.

    The numbers are `int(fraction() * below)`. That is not exactly even, so it is for search only, where it is the quickest.
    """

    def __init__(self, fraction: Callable[[], float]) -> None:
        super().__init__(lambda below: int(fraction() * below))
        self._fraction = fraction

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """Shuffle as `Drawn` does, with the same numbers."""
        order, fraction = list(items), self._fraction
        for i in range(len(order) - 1, 0, -1):
            j = int(fraction() * (i + 1))
            order[i], order[j] = order[j], order[i]
        return order


class Scripted:
    """The draws that a scenario lists, one entry for each draw. After the last entry, `beyond` draws.

    The entry of a shuffle lists the items on top. The rest follows in alphabetical order. A draw raises ValueError if its entry is not a
    possible result. The scenario is then wrong, not the rules.
    """

    def __init__(self, entries: Iterable[Any], beyond: Chance) -> None:
        self._entries = list(entries)
        self._beyond = beyond

    def _next(self, what: str, possible: Callable[[Any], bool]) -> Any:
        entry = self._entries.pop(0)
        if not possible(entry):
            raise ValueError(f"the chance list gives {entry!r} where {what} is drawn")
        return entry

    def number(self, below: int) -> int:
        """Return the entry as the number."""
        if not self._entries:
            return self._beyond.number(below)
        return int(self._next(f"a number below {below}", lambda entry: _is_whole(entry) and 0 <= entry < below))

    def roll(self, sides: int) -> int:
        """Return the entry as the face."""
        if not self._entries:
            return self._beyond.roll(sides)
        return int(self._next(f"a die of {sides}", lambda entry: _is_whole(entry) and 1 <= entry <= sides))

    def pick(self, items: Sequence[T]) -> T:
        """Return the entry as the item."""
        if not self._entries:
            return self._beyond.pick(items)
        entry: T = self._next(f"one of {list(items)}", lambda entry: entry in items)
        return entry

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """Return the entry as the list of the items."""
        if not self._entries:
            return self._beyond.sample(items, size)
        entry = self._next(
            f"{size} of {list(items)}", lambda entry: isinstance(entry, list) and len(entry) == size and _within(entry, items)
        )
        return list(entry)

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """Return the items of the entry, then the rest."""
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
