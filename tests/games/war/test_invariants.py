"""The invariants name positions that no match can reach."""

from __future__ import annotations

import json
from typing import Any

import pytest
from json_merge_patch import merge

from games.documents import clone
from games.kernel import State
from games.war import GAME
from games.war.setup import cards_in_play

BLANK = json.loads((GAME.folder / "blank.json").read_text(encoding="utf-8"))
DISCARDED, COMBAT, ON_ROW, IN_HAND, *DECK = cards_in_play(BLANK)
PLAYED: dict[str, Any] = {
    "phase": "attack",
    "active": "red",
    "to_act": ["red"],
    "tiles": {"d4": {"seat": "red", "units": 3}, "d3": {"seat": "blue", "units": 1}, "f3": {"seat": "blue", "units": 2}},
    "reserve": {"red": 17, "blue": 17},
    "attacks": {"d3": {"from": "d4", "units": 2, "rolls": 0}, "e4": {"from": "d4", "units": 1, "rolls": 0}},
    "discard": [DISCARDED],
    "combat": {"blue": COMBAT},
    "row": [ON_ROW],
    "hands": {"red": [IN_HAND]},
    "deck": DECK,
}
CARDS = len(DECK) + 4


def named(patch: dict[str, Any]) -> list[str]:
    """Return what the invariants say about a position in the middle of an attack, patched."""
    state: State = merge(merge(clone(BLANK), clone(PLAYED)), clone(patch))
    return list(GAME.invariants(state))


def test_positions_of_a_match_break_nothing() -> None:
    assert named({}) == []
    assert list(GAME.invariants(GAME.begin(["red", "blue"], {}))) == []  # it has no cards yet


@pytest.mark.parametrize(
    ("patch", "sentence"),
    [
        ({"reserve": {"red": 16}}, "red has 16 units in reserve and 3 on the board"),
        ({"tiles": {"f3": {"units": 1}}}, "blue has 17 units in reserve and 2 on the board"),
        ({"tiles": {"a5": {"units": 1}}}, "a5 belongs to None with 1 units"),
        ({"tiles": {"a5": {"seat": "blue"}}}, "a5 belongs to blue with 0 units"),
        ({"attacks": {"d3": {"units": 3}}}, "more units attack from d4 than stand there"),
        ({"discard": []}, f"{CARDS - 1} cards are in the match instead of {CARDS}"),
        ({"combat": {"red": COMBAT}}, f"{CARDS + 1} cards are in the match instead of {CARDS}"),
        ({"row": [DISCARDED]}, f"{CARDS} cards are in the match instead of {CARDS}"),
    ],
)
def test_what_no_match_can_reach_is_named(patch: dict[str, Any], sentence: str) -> None:
    assert named(patch) == [sentence]
