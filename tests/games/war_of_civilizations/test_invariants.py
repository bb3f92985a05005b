"""The invariants name positions that no match can reach."""

from __future__ import annotations

from typing import Any

import pytest
from json_merge_patch import merge
from jsonpointer import set_pointer

from games.documents import clone
from games.kernel import State
from games.war_of_civilizations import GAME
from games.war_of_civilizations.data import CAPACITY, HAND_LIMIT, MAX_LEVEL, OFFERS_A_MOMENT
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


# ---------------------------------------------------------------- each invariant

Change = dict[str, Any]  # by pointer, what is put there

FIRST_TURN: State = next(step.after for step in walk(Start(GAME, ["fox", "rhino", "lion"], {}, 1)) if step.after["phase"] == "turn")
DISPLAY, DECK = FIRST_TURN["power"]["display"], FIRST_TURN["power"]["deck"]
OUTCOME = {"winners": ["fox"], "reason": "survivor", "scores": {}}
BLOCKADE = {"at": "fox_shield", "seat": "rhino", "occupant": "fox"}
RANSOM = {"from": "rhino", "to": "fox", "at": "fox_shield", "offer": {}, "note": None}
RETREAT = {"seat": "rhino", "count": 1}
RAID = {**BATTLE, "at": "fox_shield", "attacker": "rhino", "defender": "fox"}
BIDDING: Change = {"/phase": "bids", "/to_act": ["fox", "rhino"], "/active": "rhino", "/battle": RAID}
EXPLORED = {"explored": True, "expedition": None, "known_to": [], "pirate": False}


def ships(number: int) -> dict[str, int]:
    """Return up to fifteen ships, without the capital ship."""
    counts = {"destroyer": min(number, 5), "frigate": min(max(number - 5, 0), 4), "gunboat": max(number - 9, 0)}
    return {ship: count for ship, count in counts.items() if count}


def said(change: Change) -> list[str]:
    """Return what the invariants say about a first turn in which something is changed."""
    state = clone(FIRST_TURN)
    for pointer, value in change.items():
        set_pointer(state, pointer, clone(value))
    return list(GAME.invariants(state))


RIGHT: list[Change] = [
    {},
    {"/phase": "over", "/active": None, "/to_act": [], "/turn": None, "/outcome": OUTCOME},
    {"/phase": "round_end", "/active": None, "/to_act": ["system"], "/turn": None},
    {"/phase": "deploy", "/turn": None},
    {"/phase": "ransom", "/to_act": ["fox"], "/blockade": BLOCKADE, "/ransom": RANSOM},
    {"/phase": "blockade", "/blockade": BLOCKADE},
    {"/phase": "ransom", "/to_act": ["fox"], "/ransom": RANSOM},
    {**BIDDING, "/phase": "reinforce", "/to_act": ["fox"]},
    {**BIDDING},
    {**BIDDING, "/phase": "retreat", "/to_act": ["rhino"], "/battle": {**RAID, "retreat": RETREAT}},
    {**BIDDING, "/phase": "retreat", "/to_act": []},
    {**BIDDING, "/blockade": BLOCKADE},
    {"/offers": OFFERS_A_MOMENT},
    {"/turn/action": "move", "/turn/trail": ["fox_home"]},
    {"/crystals": {"supply": 0, "isle": 24}},
    {"/players/fox/crystals": 1, "/crystals/supply": 8},
    {"/apex/apex_1": EXPLORED, "/crystals/supply": 10},
    {"/isle": {"holder": "fox", "since": 1, "full_rounds": 3}, "/countdown": 5},
    {
        "/isle": {"holder": "rhino", "since": 1, "full_rounds": 0},
        "/countdown": 5,
        "/players/rhino/fleets": {"isle": {"capital": 1}},
        "/players/rhino/entered_central": True,
    },
    {"/players/fox/mounted": {"fox_west": "oc"}, "/crystals/supply": 8},
    {"/countdown": 1},
    {"/countdown": 5},
    {"/round": 50},
    {"/power/display": DISPLAY[1:], "/power/deck": [], "/power/discard": ["wet_powder", *DECK]},
    {"/apex/apex_1/known_to": ["fox", "lion"]},
    {"/covered": ["apex_2"], "/apex/apex_2": EXPLORED, "/crystals/supply": 10},
    {**BIDDING, "/players/rhino/fleets/fox_shield": {"gunboat": 1}},
    {"/players/fox/fleets/fox_haven": ships(CAPACITY["fox_haven"])},
    {"/players/fox/fleets/fox_home": {"capital": 1, **ships(CAPACITY["fox_home"])}},
    {"/marks": {"fox_west": 1}, "/options/disasters": True},
    {"/marks": {"fox_west": "barren"}, "/options/disasters": True},
    {"/players/fox/privateer": "rhino_west", "/options/pirates": True},
    {"/players/fox/privateer": "reserve", "/players/rhino/privateer": "reserve", "/options/pirates": True},
    {**{f"/apex/apex_{n}/pirate": True for n in range(1, 7)}, "/options/pirates": True},
    {"/players/fox/fleets/fox_west": {"gunboat": 3}},
    {"/players/fox/teleporters": ["fox_west", "rhino_west"]},
    {"/players/fox/alwood": 0, "/players/fox/ammo": 0, "/players/fox/oc": 0},
    {"/players/fox/ability": MAX_LEVEL},
    {"/players/fox/cards": DECK[:HAND_LIMIT], "/power/deck": DECK[HAND_LIMIT:]},
    {"/players/fox/fleets/apex_1": {"gunboat": 1}, "/players/fox/entered_central": True},
    {"/players/lion/eliminated": True, "/players/lion/fleets": {}},
    {**BIDDING, "/to_act": ["rhino"], "/battle": {**RAID, "bids": {"fox": {"ammo": 3, "cards": []}}}},
    {
        **BIDDING,
        "/to_act": ["rhino"],
        "/players/fox/cards": ["crosswind"],
        "/power/deck": DECK[1:],
        "/battle": {**RAID, "bids": {"fox": {"ammo": 3, "cards": ["crosswind"]}}},
    },
    {
        **BIDDING,
        "/phase": "retreat",
        "/to_act": ["rhino"],
        "/battle": {**RAID, "retreat": RETREAT, "result": {"winner": "defender"}, "bids": {"fox": {"ammo": 9, "cards": []}}},
    },
]

WRONG: list[tuple[Change, list[str]]] = [
    ({"/outcome": OUTCOME}, ["the outcome is "]),
    ({"/phase": "over", "/active": None, "/to_act": [], "/turn": None}, ["the outcome is None in phase over"]),
    ({"/active": None, "/to_act": ["system"]}, ["None is active in phase turn, the turn is "]),
    ({"/phase": "round_end", "/to_act": ["system"], "/turn": None}, ["fox is active in phase round_end, the turn is None"]),
    ({"/turn": None}, ["fox is active in phase turn, the turn is None"]),
    ({"/phase": "deploy"}, ["fox is active in phase deploy, the turn is "]),
    ({"/battle": RAID}, ["the battle is "]),
    ({"/ransom": RANSOM}, ["the ransom is "]),
    ({"/phase": "ransom", "/to_act": [], "/blockade": BLOCKADE}, ["the ransom is None in phase ransom"]),
    ({"/blockade": BLOCKADE}, ["the blockade is "]),
    ({"/phase": "blockade", "/blockade": BLOCKADE, "/to_act": ["rhino"]}, ["['rhino'] act in phase blockade with fox active, not ['fox']"]),
    ({"/to_act": ["rhino"]}, ["['rhino'] act in phase turn with fox active, not ['fox']"]),
    ({"/to_act": []}, ["[] act in phase turn with fox active, not ['fox']"]),
    ({"/offers": -1}, ["-1 offers were made"]),
    ({"/offers": OFFERS_A_MOMENT + 1}, ["4 offers were made"]),
    (
        {"/turn/mover": {"from": "fox_home", "at": "fox_haven", "ships": {}, "steps_left": 0}, "/turn/trail": ["fox_home"]},
        ["['mover', 'trail'] is left of an action that is over"],
    ),
    ({"/crystals/supply": 8}, ["there are 29 crystals, {'supply': 8, 'isle': 15} of them unowned"]),
    ({"/crystals/supply": 10}, ["there are 31 crystals, {'supply': 10, 'isle': 15} of them unowned"]),
    ({"/crystals": {"supply": 25, "isle": -1}}, ["there are 30 crystals, {'supply': 25, 'isle': -1} of them unowned"]),
    ({"/isle/since": 3}, ["the record of the Isle is "]),
    ({"/isle/holder": "fox"}, ["the record of the Isle is ", "the Isle has a holder and the countdown does not run"]),
    ({"/isle": {"holder": "fox", "since": 1, "full_rounds": 4}, "/countdown": 5}, ["the record of the Isle is "]),
    ({"/isle": {"holder": "fox", "since": 1, "full_rounds": -1}, "/countdown": 5}, ["the record of the Isle is "]),
    ({"/isle/full_rounds": 1}, ["the record of the Isle is "]),
    (
        {"/isle": {"holder": "rhino", "since": 1, "full_rounds": 0}, "/countdown": 5},
        ["rhino is holder of the Isle without its capital ship"],
    ),
    (
        {
            "/isle": {"holder": "rhino", "since": 1, "full_rounds": 0},
            "/countdown": 5,
            "/players/rhino/fleets": {"rhino_home": {"capital": 1}, "isle": {"gunboat": 1}},
            "/players/rhino/entered_central": True,
        },
        ["rhino is holder of the Isle without its capital ship"],
    ),
    ({"/isle": {"holder": "fox", "since": 1, "full_rounds": 0}}, ["the Isle has a holder and the countdown does not run"]),
    ({"/countdown": 0}, ["the countdown is 0"]),
    ({"/countdown": 6}, ["the countdown is 6"]),
    ({"/round": 0}, ["this is round 0"]),
    ({"/round": 51}, ["this is round 51"]),
    ({"/power/deck/0": "spyglass"}, ["there are 21 power cards"]),
    ({"/players/fox/cards": ["crosswind"]}, ["there are 22 power cards"]),
    ({"/power/discard": ["wet_powder"], "/power/display": DISPLAY[1:]}, ["the display has 3 cards"]),
    ({"/power/display": [*DISPLAY, "crosswind"], "/power/deck": DECK[1:]}, ["the display has 5 cards"]),
    ({"/apex/apex_1/expedition": "expedition_1"}, ["the lost expeditions are ['expedition_1', 'expedition_1', 'e"]),
    ({"/apex/apex_1/expedition": "expedition_77"}, ["the lost expeditions are ['expedition_77', 'expedition_1', '"]),
    ({"/apex/apex_1/expedition": None}, ["apex_1 is "]),
    ({"/apex/apex_1/explored": True, "/crystals/supply": 10}, ["apex_1 is "]),
    ({"/apex/apex_1/known_to": ["tiger"]}, ["apex_1 is "]),
    ({"/covered": ["apex_2"]}, ["the covered apex_2 is "]),
    (
        {"/covered": ["apex_2"], "/apex/apex_2": {**EXPLORED, "pirate": True}, "/crystals/supply": 10, "/options/pirates": True},
        ["the covered apex_2 is "],
    ),
    ({"/players/fox/fleets/tiger_west": {"gunboat": 1}}, ["['fox'] have ships on tiger_west"]),
    ({"/players/fox/fleets/rhino_haven": {"gunboat": 1}}, ["['fox', 'rhino'] share rhino_haven"]),
    ({**BIDDING, "/players/rhino/fleets/fox_haven": {"gunboat": 1}}, ["['fox', 'rhino'] share fox_haven"]),
    (
        {**BIDDING, "/players/rhino/fleets/fox_shield": {"gunboat": 1}, "/players/lion/fleets/fox_shield": {"gunboat": 1}},
        ["['fox', 'rhino', 'lion'] share fox_shield"],
    ),
    ({"/players/fox/fleets/fox_haven": ships(CAPACITY["fox_haven"] + 1)}, ["7 ships are on fox_haven"]),
    ({"/players/fox/fleets/fox_home": {"capital": 1, **ships(CAPACITY["fox_home"] + 1)}}, ["12 ships are on fox_home"]),
    (
        {"/players/fox/fleets/fox_home": ships(CAPACITY["fox_home"] + 1), "/players/fox/fleets/fox_haven": {"capital": 1}},
        ["11 ships are on fox_home"],
    ),
    (
        {"/players/fox/fleets/fox_home": {}, "/players/fox/fleets/fox_haven": {"capital": 1, **ships(CAPACITY["fox_haven"])}},
        ["7 ships are on fox_haven", "fox has the fleet {} on fox_home"],
    ),
    ({"/marks": {"fox_west": 0}, "/options/disasters": True}, ["fox_west is marked 0"]),
    ({"/marks": {"fox_west": 9}, "/options/disasters": True}, ["fox_west is marked 9"]),
    ({"/marks": {"tiger_west": 1}, "/options/disasters": True}, ["tiger_west is marked 1"]),
    ({"/marks": {"apex_1": 1}, "/options/disasters": True}, ["apex_1 is marked 1"]),
    ({"/marks": {"fox_west": 1}}, ["islands are marked in a match without disasters"]),
    ({"/players/fox/privateer": "reserve"}, ["there are 0 pirates, and privateers at ['reserve']"]),
    (
        {"/players/fox/privateer": "rhino_west", "/players/rhino/privateer": "rhino_west", "/options/pirates": True},
        ["there are 0 pirates, and privateers at ['rhino_west', 'rhino_west']"],
    ),
    (
        {**{f"/apex/apex_{n}/pirate": True for n in range(1, 7)}, "/options/pirates": True, "/players/fox/privateer": "reserve"},
        ["there are 6 pirates, and privateers at ['reserve']"],
    ),
    ({"/players/fox/fleets/fox_west": {}}, ["fox has the fleet {} on fox_west"]),
    ({"/players/fox/fleets/fox_west": {"gunboat": 0}}, ["fox has the fleet {'gunboat': 0} on fox_west"]),
    (
        {"/players/fox/fleets/fox_west": {"gunboat": 3}, "/players/fox/fleets/fox_east": {"gunboat": 1}},
        ["fox has {'capital': 1, 'frigate': 1, 'gunboat': 7}"],
    ),
    ({"/players/fox/fleets/fox_home": {"gunboat": 1}}, ["fox has {'gunboat': 4, 'frigate': 1}"]),
    ({"/players/fox/fleets/fox_west": {"capital": 1}}, ["fox has {'capital': 2, 'frigate': 1, 'gunboat': 3}"]),
    ({"/players/fox/teleporters": ["fox_west", "fox_west"]}, ["fox has teleporters on ['fox_west', 'fox_west']"]),
    ({"/players/fox/teleporters": ["isle"]}, ["fox has teleporters on ['isle']"]),
    (
        {"/players/fox/teleporters": ["fox_west", "fox_east", "fox_north", "rhino_west", "rhino_east", "rhino_north"]},
        ["fox has teleporters on ['fox_west', 'fox_east', 'fox_north',"],
    ),
    (
        {"/players/fox/mounted": {"rhino_west": "x"}},
        ["there are 31 crystals, {'supply': 9, 'isle': 15} of them unowned", "fox has crystals mounted on {'rhino_west': 'x'}"],
    ),
    ({"/players/fox/mounted": {"fox_west": "x"}}, ["there are 31 crystals, {'supply': 9, 'isle': 15} of them unowned"]),
    ({"/players/fox/oc": -1}, ["fox has "]),
    ({"/players/fox/crystals": -1, "/crystals/supply": 10}, ["fox has "]),
    ({"/players/fox/ability": -1}, ["fox has "]),
    ({"/players/fox/ability": MAX_LEVEL + 1}, ["fox has "]),
    (
        {"/players/fox/cards": DECK[: HAND_LIMIT + 1], "/power/deck": DECK[HAND_LIMIT + 1 :]},
        ["fox has the cards ['crosswind', 'driftwood', 'spyglass']"],
    ),
    ({"/players/fox/fleets/isle": {"gunboat": 1}}, ["fox is on the central continent without having entered it"]),
    ({"/players/fox/fleets/apex_1": {"gunboat": 1}}, ["fox is on the central continent without having entered it"]),
    (
        {"/players/lion/eliminated": True},
        ["lion has {'capital': 1, 'gunboat': 3, 'frigate': 1}", "lion is eliminated and has something left"],
    ),
    (
        {"/players/lion/eliminated": True, "/players/lion/fleets": {}, "/players/lion/teleporters": ["fox_west"]},
        ["lion is eliminated and has something left"],
    ),
    (
        {"/players/lion/eliminated": True, "/players/lion/fleets": {}, "/players/lion/mounted": {"lion_west": "x"}},
        ["there are 31 crystals, {'supply': 9, 'isle': 15} of them unowned", "lion is eliminated and has something left"],
    ),
    (
        {"/players/lion/eliminated": True, "/players/lion/fleets": {}, "/players/lion/cards": ["crosswind"], "/power/deck": DECK[1:]},
        ["lion is eliminated and has something left"],
    ),
    (
        {"/players/lion/eliminated": True, "/players/lion/fleets": {}, "/players/lion/privateer": "reserve", "/options/pirates": True},
        ["lion is eliminated and has something left"],
    ),
    (
        {"/players/lion/eliminated": True, "/players/lion/fleets": {}, "/players/lion/crystals": 1, "/crystals/supply": 8},
        ["lion is eliminated and has something left"],
    ),
    ({"/players/fox/eliminated": True, "/players/fox/fleets": {}}, ["an eliminated seat is to act: ['fox'], fox"]),
    (
        {"/players/lion/eliminated": True, "/players/lion/fleets": {}, "/to_act": ["lion"]},
        ["['lion'] act in phase turn with fox active, not ['fox']", "an eliminated seat is to act: ['lion'], fox"],
    ),
    (
        {**BIDDING, "/to_act": ["rhino"], "/battle": {**RAID, "bids": {"fox": {"ammo": 4, "cards": []}}}},
        ["fox has bid {'ammo': 4, 'cards': []} and has not got that"],
    ),
    (
        {**BIDDING, "/to_act": ["rhino"], "/battle": {**RAID, "bids": {"fox": {"ammo": 3, "cards": ["crosswind"]}}}},
        ["fox has bid {'ammo': 3, 'cards': ['crosswind']} and has not got that"],
    ),
]


@pytest.mark.parametrize("change", RIGHT)
def test_a_position_at_the_edge_of_what_is_possible_breaks_nothing(change: Change) -> None:
    assert said(change) == []


@pytest.mark.parametrize(("change", "beginnings"), WRONG)
def test_each_invariant_names_what_breaks_it(change: Change, beginnings: list[str]) -> None:
    sentences = said(change)
    assert len(sentences) == len(beginnings), sentences
    assert all(sentence.startswith(beginning) for sentence, beginning in zip(sentences, beginnings, strict=True)), sentences
