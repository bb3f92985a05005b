"""What an attack records: the seat that eliminated another."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from json_merge_patch import merge

from games.chance import Drawn, Scripted
from games.documents import clone
from games.kernel import Event, carry_out
from games.war import GAME

BLANK = json.loads((GAME.folder / "blank.json").read_text(encoding="utf-8"))
POSITION: dict[str, Any] = {
    "seats": ["green", "red", "blue"],
    "phase": "attack",
    "active": "red",
    "to_act": ["red"],
    "hands": {"green": [], "red": [], "blue": []},
    "attacks": {"d3": {"from": "d4", "units": 1, "rolls": 0}},
    "tiles": {"d4": {"seat": "red", "units": 1}, "d3": {"seat": "blue", "units": 1}, "a5": {"seat": "green", "units": 2}},
    "reserve": {"green": 18, "red": 19, "blue": 19},
}


def eliminations(dice: list[int]) -> list[Event]:
    """Return the eliminations when red attacks the only unit of blue with its own only unit. The first die is the attacker's."""
    match = carry_out(
        GAME,
        merge(clone(BLANK), clone(POSITION)),
        "red",
        {"type": "attack", "tile": "d3"},
        Scripted(list(dice), Drawn(random.Random(1).randrange)),
    )
    return [event for event in match.events if event["type"] == "seat_eliminated"]


@pytest.mark.parametrize(
    ("dice", "seat", "by"),
    [pytest.param([6, 1], "blue", "red", id="the attacker wins"), pytest.param([1, 6], "red", "blue", id="the defender wins")],
)
def test_the_winner_of_the_fight_eliminates_the_loser(dice: list[int], seat: str, by: str) -> None:
    """The record names the opponent in the fight, not the active seat or a third one (WAR-ELI-01, WAR-ELI-03)."""
    assert eliminations(dice) == [{"type": "seat_eliminated", "seat": seat, "by": by}]
