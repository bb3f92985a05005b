"""The examples of CONTRACT.md are what the rules give."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from json_merge_patch import merge

from games.chance import Drawn, Scripted
from games.documents import clone
from games.kernel import carry_out, legal
from games.war import GAME

CONTRACT = (GAME.folder / "CONTRACT.md").read_text(encoding="utf-8")
FIRST, CHOICES, *EVENTS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", CONTRACT, re.DOTALL)]
ACTIONS: list[dict[str, Any]] = [{"type": "move", "from": "d4", "to": {"d3": 3}}, *[{"type": "attack", "tile": "d3"}] * 3]


def test_a_new_match_is_the_document_of_the_contract() -> None:
    assert GAME.begin(["red", "blue"], {}) == FIRST


def test_the_example_is_played_as_it_is_written() -> None:
    blank = json.loads((GAME.folder / "blank.json").read_text(encoding="utf-8"))
    tiles = {"d4": {"seat": "red", "units": 4}, "d3": {"seat": "blue", "units": 2}, "a5": {"seat": "blue", "units": 1}}
    state = merge(blank, clone({"phase": "moves", "active": "red", "to_act": ["red"], "tiles": tiles, "reserve": {"red": 16, "blue": 17}}))
    assert json.dumps(legal(GAME, state, "red")) == json.dumps(CHOICES)
    chance = Scripted([3, 3, 2, 5, 4, 4], Drawn(random.Random(1).randrange))
    for action, expected in zip(ACTIONS, EVENTS, strict=True):
        match = carry_out(GAME, state, "red", action, chance)
        assert match.events == expected
        state = match.state
    assert {tile: state["tiles"][tile]["units"] for tile in ("d3", "d4", "a5")} == {"d3": 2, "d4": 1, "a5": 1}
    assert state["reserve"]["blue"] == 19


def test_a_choice_of_reinforcements_leaves_out_tiles_without_room() -> None:
    blank = json.loads((GAME.folder / "blank.json").read_text(encoding="utf-8"))
    patch = {
        "phase": "cards",
        "active": "red",
        "to_act": ["red"],
        "turn": {"placed": {"b2": 1}},
        "hands": {"red": ["hammers_pink_2"]},
        "tiles": {"b2": {"seat": "red", "units": 2}, "d2": {"seat": "red", "units": 3}},
        "reserve": {"red": 15},
    }
    choices = [choice["choose"] for choice in legal(GAME, merge(blank, patch), "red") if choice["action"]["type"] == "reinforce"]
    assert choices == [{"units": {"each": {"d2": [0, 3]}, "total": [2, 2]}}]
