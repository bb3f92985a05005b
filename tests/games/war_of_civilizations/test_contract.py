"""The examples of CONTRACT.md are what the rules give."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from json_merge_patch import merge

from games.chance import Drawn
from games.documents import clone
from games.kernel import carry_out, legal
from games.war_of_civilizations import GAME

CONTRACT = (GAME.folder / "CONTRACT.md").read_text(encoding="utf-8")
CHOICES, EVENTS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", CONTRACT, re.DOTALL)]
BLANK = json.loads((GAME.folder / "blank.json").read_text(encoding="utf-8"))
ACTIONS: list[dict[str, Any]] = [
    {"type": "begin", "action": "move"},
    {"type": "move", "from": "fox_north", "to": "fox_west", "ships": {"gunboat": 1}},
    {"type": "begin", "action": "buy"},
    {"type": "buy_ships", "ship": "gunboat", "at": "fox_home", "count": 2},
    {"type": "end_action"},
]


def test_the_choices_of_the_contract_are_listed() -> None:
    fleets = {"fox": {"fox_north": {"capital": 1, "gunboat": 2}}, "rhino": {"rhino_home": {"capital": 1}}}
    players = {
        "fox": {"ammo": 5, "cards": ["hull_breaker"], "fleets": fleets["fox"]},
        "rhino": {"fleets": fleets["rhino"]},
    }
    moving = merge(clone(BLANK), {"players": players, "turn": {"action": "move", "actions_used": 1}})
    battle = {
        "at": "rhino_home",
        "kind": "fleet",
        "attacker": "fox",
        "defender": "rhino",
        "hostages": {},
        "bids": {},
        "ability_used": [],
        **dict.fromkeys(("privateer", "from", "dice", "result", "retreat")),
    }
    bidding = {**moving, "phase": "bids", "to_act": ["fox", "rhino"], "battle": battle}
    listed = [*legal(GAME, moving, "fox"), *legal(GAME, bidding, "fox")]
    assert [choice for choice in CHOICES if choice not in listed] == []


def test_the_example_is_played_as_it_is_written() -> None:
    fleets = {"fox": {"fox_home": {"capital": 1}, "fox_north": {"gunboat": 1}}, "rhino": {"rhino_home": {"capital": 1}}}
    players = {"fox": {"oc": 9, "alwood": 6, "fleets": fleets["fox"]}, "rhino": {"fleets": fleets["rhino"]}}
    state = merge(clone(BLANK), {"players": players})
    for action, expected in zip(ACTIONS, EVENTS, strict=True):
        match = carry_out(GAME, state, "fox", action, Drawn(random.Random(1).randrange))
        assert match.events == expected
        state = match.state
    assert state["players"]["fox"]["fleets"] == {"fox_home": {"capital": 1, "gunboat": 2}, "fox_west": {"gunboat": 1}}
    assert (state["players"]["fox"]["oc"], state["turn"]["actions_used"]) == (7, 2)
