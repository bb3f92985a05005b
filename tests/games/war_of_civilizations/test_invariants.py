"""The invariants name positions that no match can reach."""

from __future__ import annotations

from typing import Any

import pytest
from json_merge_patch import merge

from games.documents import clone
from games.kernel import State
from games.war_of_civilizations import GAME
from tests.games.matches import Start, walk

BATTLE = {
    "at": "rhino_home",
    "kind": "fleet",
    "attacker": "fox",
    "defender": "rhino",
    "privateer": None,
    "from": "rhino_haven",
    "hostages": {},
    "bids": {},
    "dice": None,
    "ability_used": [],
    "result": None,
    "retreat": None,
}
AT_THE_HOME_OF_RHINO = {"players": {"fox": {"fleets": {"fox_home": None, "rhino_home": {"capital": 1}}}}}
IN_BATTLE = {"phase": "bids", "active": "fox", "to_act": ["fox", "rhino"]}
EMPTY_HOME = {"players": {"rhino": {"fleets": {"rhino_home": None, "rhino_west": {"capital": 1}}}}}
SENTENCE = "have ships on rhino_home, the home base of rhino, which does not defend it"


@pytest.fixture(scope="module")
def first_turn() -> State:
    """Return the document of a match of three at its first turn. Fox and Rhino have no more than a capital ship at home."""
    found = next(step.after for step in walk(Start(GAME, ["fox", "rhino", "lion"], {}, 1)) if step.after["phase"] == "turn")
    at_home = {"fox": {"fleets": {"fox_home": {"capital": 1}}}, "rhino": {"fleets": {"rhino_home": {"capital": 1}}}}
    for seat, player in at_home.items():
        found["players"][seat] = {**found["players"][seat], **player}
    return found


def named(first_turn: State, *patches: dict[str, Any]) -> list[str]:
    """Return what the invariants say about a position, which is patched one by one."""
    state = clone(first_turn)
    for patch in patches:
        battle = patch.get("battle")
        state = merge(state, clone(patch))
        if battle is not None:
            state["battle"] = clone(battle)
    return list(GAME.invariants(state))


def test_a_position_of_a_match_breaks_nothing(first_turn: State) -> None:
    assert named(first_turn) == []


def test_another_seat_is_on_a_home_base_only_in_a_battle(first_turn: State) -> None:
    found = named(first_turn, AT_THE_HOME_OF_RHINO, EMPTY_HOME)
    assert found == [f"['fox'] {SENTENCE}"]


@pytest.mark.parametrize("patches", [(), (EMPTY_HOME,)], ids=["fleets at home", "an empty home base"])
def test_a_home_base_may_be_attacked(first_turn: State, patches: tuple[dict[str, Any], ...]) -> None:
    assert named(first_turn, AT_THE_HOME_OF_RHINO, *patches, IN_BATTLE, {"battle": BATTLE}) == []


def test_a_seat_does_not_attack_its_own_home_base(first_turn: State) -> None:
    """So a beaten attacker always goes home from another location (WOC-RET-01, WOC-ELM-01)."""
    own = {**BATTLE, "attacker": "rhino", "defender": "fox"}
    found = named(first_turn, AT_THE_HOME_OF_RHINO, {**IN_BATTLE, "active": "rhino"}, {"battle": own})
    assert found == [f"['fox', 'rhino'] {SENTENCE}"]


def test_a_battle_elsewhere_does_not_open_a_home_base(first_turn: State) -> None:
    elsewhere = {**BATTLE, "at": "rhino_west"}
    assert named(first_turn, AT_THE_HOME_OF_RHINO, EMPTY_HOME, IN_BATTLE, {"battle": elsewhere}) == [f"['fox'] {SENTENCE}"]


def test_the_home_base_of_an_eliminated_seat_is_an_ordinary_location(first_turn: State) -> None:
    gone = {"players": {"rhino": {"eliminated": True}}}
    assert not any(SENTENCE in sentence for sentence in named(first_turn, AT_THE_HOME_OF_RHINO, EMPTY_HOME, gone))
