"""What events tell of the numbers that were drawn for them, so that anybody with the secret can check dice without the rules.

data.json of a game has it as `draws`, by type of event:

    {"dice": ["/attack/die", "/defence/die"]}    dice, in the order rolled: where the event has their faces
    {"numbers": 1}                               so many other numbers
    {"shuffled": "/deck"}                        a shuffle: where the event has the cards, or their number

`dice`, `numbers` and `shuffled` may stand together; the numbers were drawn in this order. docs/auditing.md has the table of all games.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, NamedTuple


class Draw(NamedTuple):
    """What an event of a type tells: JSON Pointers to the faces of its dice, with their sides, and how many numbers else were drawn."""

    dice: tuple[str, ...] = ()
    sides: int = 0
    numbers: int = 0
    shuffled: str = ""

    def faces(self, event: Mapping[str, Any]) -> list[Any]:
        """Return the faces of the dice of an event, in the order in which they were rolled; None for one that the event does not have.

        >>> Draw(("/attack/die", "/defence/die"), 6).faces({"type": "attack_rolled", "attack": {"die": 5}, "defence": {"die": 2}})
        [5, 2]
        """
        return [_at(event, pointer) for pointer in self.dice]

    def others(self, event: Mapping[str, Any]) -> int:
        """Return how many numbers besides those of dice were drawn for an event. A shuffle of n cards takes n - 1.

        >>> Draw(shuffled="/deck").others({"type": "deck_reshuffled", "deck": ["a", "b", "c"]})
        2
        >>> Draw(shuffled="/deck").others({"type": "deck_reshuffled", "deck": 3})  # as a viewer sees it
        2
        """
        cards = _at(event, self.shuffled) if self.shuffled else 0
        return self.numbers + max(0, (len(cards) if isinstance(cards, list) else cards) - 1)


Draws = Mapping[str, Draw]


def read(rows: Mapping[str, Mapping[str, Any]], sides: int = 0) -> Draws:
    """Return what a game tells of its draws, from its data.json. `sides`: of its dice.

    >>> read({"dice_rolled": {"dice": ["/dice/0"]}}, 8)
    {'dice_rolled': Draw(dice=('/dice/0',), sides=8, numbers=0, shuffled='')}
    """
    return {kind: Draw(**{**row, "dice": tuple(row["dice"]), "sides": sides} if "dice" in row else row) for kind, row in rows.items()}


def _at(value: Any, pointer: str) -> Any:
    """Return what a JSON value has at a JSON Pointer, or None."""
    try:
        return reduce(lambda part, name: part[int(name) if isinstance(part, list) else name], pointer.split("/")[1:], value)
    except (LookupError, TypeError, ValueError):
        return None
