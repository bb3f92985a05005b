"""Rolls of dice in the events, which can be checked without the rules of the game (docs/auditing.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from record.dice import Draws

_Event = Mapping[str, Any]


def _war_attack(event: _Event) -> list[int]:
    return [event["attack"]["die"], event["defence"]["die"]]


def _pirates(event: _Event) -> list[int]:
    return list(event["dice"])


def _reshuffled(event: _Event) -> int:
    deck = event["deck"]
    return max(0, (deck if isinstance(deck, int) else len(deck)) - 1)


_DICE: Mapping[str, Mapping[str, Callable[[_Event], list[int]]]] = {
    "war": {"attack_rolled": _war_attack},
    "war_of_civilizations": {"dice_rolled": _pirates},
}
"""By game and type of event, the faces of its dice of 6 sides, in the order in which they were rolled."""

_OTHERS: Mapping[str, Mapping[str, Callable[[_Event], int]]] = {
    "war_of_civilizations": {"disaster_drawn": lambda event: 1, "deck_reshuffled": _reshuffled},
}
"""By game and type of event, how many numbers else were drawn for it. Such events can stand before dice in one entry."""

SIDES = 6


def wrong_roll(game: str, events: Iterable[_Event], key: bytes, version: int) -> int | None:
    """Return the place of the first event whose dice are not those of its version, or None.

    Raises KeyError, TypeError for an event of another shape.
    """
    dice, others = _DICE.get(game, {}), _OTHERS.get(game, {})
    draws = Draws(key, version)
    for place, event in enumerate(events):
        kind = event["type"]
        if kind in dice:
            if [draws.number(SIDES) + 1 for _ in range(2)] != dice[kind](event):
                return place
        elif kind in others:
            draws.blocks += others[kind](event)
    return None
