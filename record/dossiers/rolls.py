"""Check the rolls of dice in events, without the rules of the game (docs/auditing.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from games import GAMES
from record.dice import Draws


def wrong_roll(game: str, events: Iterable[Mapping[str, Any]], key: bytes, version: int) -> int | None:
    """Return the place of the first event whose dice are not those of its version, or None.

    Raises KeyError or TypeError for an event of another shape.

    >>> rolled = {"type": "attack_rolled", "attack": {"die": 3}, "defence": {"die": 4}}
    >>> wrong_roll("war", [rolled], key=bytes(32), version=1)
    0
    """
    shown = (GAMES[game].draws if game in GAMES else None) or {}
    draws = Draws(key, version)
    for place, event in enumerate(events):
        draw = shown.get(event["type"])
        if draw is not None:
            if [draws.number(draw.sides) + 1 for _ in draw.dice] != draw.faces(event):
                return place
            draws.blocks += draw.others(event)
    return None
