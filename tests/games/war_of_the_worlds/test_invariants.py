"""The invariants name positions that no match can reach."""

from __future__ import annotations

import json
from typing import Any

import pytest
from json_merge_patch import merge

from games.documents import clone
from games.kernel import State
from games.lifecycle import OVER, ROUND_END, SETUP
from games.war_of_the_worlds import GAME
from games.war_of_the_worlds.data import SEATS, pile
from games.war_of_the_worlds.state import EVACUATING, STRIKING

BLANK = json.loads((GAME.folder / "blank.json").read_text(encoding="utf-8"))
PILES = {seat: {"supply": pile(seat, starting=True), "offer_deck": pile(seat, starting=False)} for seat in SEATS}
ALIENS, HUMANS = PILES["aliens"], PILES["humans"]
NOBODY = {"active": None, "to_act": ["system"]}
ENDED = {"phase": OVER, "to_act": [], "outcome": {"winners": ["aliens"], "reason": "round_limit", "scores": {}}}
STRIKE = {"region": "london", "damage": 1, "need": 3}
EVACUATION = {"region": "london", "fought": False}


def named(patch: dict[str, Any]) -> list[str]:
    """Return what the invariants say about a position in which the aliens are to play, patched. A null becomes part of the position."""
    state: State = merge(merge(clone(BLANK), {"sides": clone(PILES)}), clone(patch))
    state["active"] = patch.get("active", "aliens")
    for absent in ("strike", "evacuation", "outcome"):
        state.setdefault(absent, None)
    return list(GAME.invariants(state))


def lands(**regions: dict[str, Any]) -> dict[str, Any]:
    """Return a patch of regions."""
    return {"regions": regions}


def side(**piles: list[str]) -> dict[str, Any]:
    """Return a patch of piles of the aliens."""
    return {"sides": {"aliens": piles}}


@pytest.mark.parametrize(
    "patch",
    [
        {},
        {"phase": STRIKING, "strike": STRIKE},
        {"phase": EVACUATING, "evacuation": EVACUATION},
        {**NOBODY, "phase": ROUND_END},
        {**ENDED, "active": None, "resources": 1, "damage": 30},
        {"fired": ["london"], "swapped": True, "resources": 1},
        lands(
            london={
                "civilians": 30,
                "fought": 30,
                "influence": ["nerve_agent", "poisonous_fog", "frightening_sound"],
                "building": "bunkers",
                "balloons": True,
            },
            wessex={"building": "bunkers", "balloons": True},
        ),
        {"units": {"army_1": {"region": "london", "used": True}, "ufo_1": {"region": "hebrides"}}},
        side(hand=ALIENS["supply"][:5], supply=ALIENS["supply"][5:], offer=ALIENS["offer_deck"][:5], offer_deck=ALIENS["offer_deck"][5:]),
    ],
)
def test_positions_of_a_match_break_nothing(patch: dict[str, Any]) -> None:
    assert named(patch) == []


def test_a_match_that_is_not_set_up_has_no_cards_yet() -> None:
    assert list(GAME.invariants(GAME.begin(list(SEATS), {}))) == []


@pytest.mark.parametrize(
    ("patch", "sentence"),
    [
        ({"strike": STRIKE}, f"the strike is {STRIKE} in phase play"),
        ({"phase": STRIKING}, "the strike is None in phase strike"),
        ({"evacuation": EVACUATION}, f"the evacuation is {EVACUATION} in phase play"),
        ({"phase": EVACUATING}, "the evacuation is None in phase evacuate"),
        ({"outcome": ENDED["outcome"]}, f"the outcome is {ENDED['outcome']} in phase play"),
        ({"phase": OVER, "to_act": []}, "the outcome is None in phase over"),
        ({"to_act": ["humans"]}, "['humans'] act in phase play with aliens active"),
        ({"phase": ROUND_END}, "['aliens'] act in phase round_end with aliens active"),
        ({"phase": SETUP}, "['aliens'] act in phase setup with aliens active"),
        ({**ENDED, "to_act": ["aliens"]}, "['aliens'] act in phase over with aliens active"),
        ({**NOBODY, "phase": ROUND_END, "resources": 1}, "marks of a turn are left when it is nobody's"),
        ({**NOBODY, "phase": ROUND_END, "fired": ["london"]}, "marks of a turn are left when it is nobody's"),
        ({**NOBODY, "phase": ROUND_END, "swapped": True}, "marks of a turn are left when it is nobody's"),
        ({"damage": -1}, "the damage is -1"),
        ({"damage": 31}, "the damage is 31"),
        ({"resources": -1}, "-1 resources are left"),
        (lands(london={"civilians": 30}, wessex={"civilians": 1}), "31 civilians are on the board"),
        (lands(london={"civilians": 2, "fought": 3}), "3 of 2 civilians have fought in london"),
        (lands(london={"civilians": 2, "fought": -1}), "-1 of 2 civilians have fought in london"),
        (lands(london={"influence": ["nerve_agent"] * 2}), "london carries ['nerve_agent', 'nerve_agent']"),
        (lands(london={"influence": ["rain"]}), "london carries ['rain']"),
        (lands(london={"building": "fort"}, wessex={"building": "fort"}), "2 tokens of fort are on the board"),
        (
            lands(london={"balloons": True}, wessex={"balloons": True}, cornwall={"balloons": True}),
            "3 tokens of barrage_balloons are on the board",
        ),
        ({"units": {"army_1": {"region": "hebrides"}}}, "army_1 is in hebrides"),
        ({"units": {"navy_1": {"region": "london"}}}, "navy_1 is in london"),
        ({"units": {"army_1": {"used": True}}}, "army_1 is marked off the board"),
        (side(supply=ALIENS["supply"][1:]), "aliens has 34 cards instead of its 35"),
        (side(removed=["reap"]), "aliens has 36 cards instead of its 35"),
        (side(supply=ALIENS["supply"][1:], discard=["ufo"]), "aliens has 35 cards instead of its 35"),
        (side(hand=ALIENS["supply"][:6], supply=ALIENS["supply"][6:]), "aliens has 6 cards in hand and 0 on offer"),
        (side(offer=ALIENS["offer_deck"][:6], offer_deck=ALIENS["offer_deck"][6:]), "aliens has 0 cards in hand and 6 on offer"),
        *(
            (
                side(
                    supply=[*ALIENS["supply"], *(["regenerator"] if name == "supply" else [])],
                    offer_deck=[card for card in ALIENS["offer_deck"] if card != "regenerator"],
                    **({name: ["regenerator"]} if name != "supply" else {}),
                ),
                "a building card of aliens is in its hand, supply or discard pile",
            )
            for name in ("hand", "supply", "discard")
        ),
        (side(supply=ALIENS["supply"][1:], offer=ALIENS["supply"][:1]), "a starting card of aliens is on offer"),
        (
            side(supply=ALIENS["supply"][1:], offer_deck=[*ALIENS["offer_deck"], *ALIENS["supply"][:1]]),
            "a starting card of aliens is on offer",
        ),
    ],
)
def test_what_no_match_can_reach_is_named(patch: dict[str, Any], sentence: str) -> None:
    assert named(patch) == [sentence]
