"""Positions of War! in which one way of playing is clearly best. `strong` must find it, whatever its draws.

The positions are patches over blank.json. Its map is drawn in games/war/RULES.md and at the top of games/war/scenarios.yaml.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from games import GAMES
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Seat, State, carry_out, legal
from games.war.data import CARDS, UNITS
from players import choose
from players.war.features import features, odds

WAR = GAMES["war"]
DRAWS = range(4)


def position(phase: str, red: dict[str, int], blue: dict[str, int], hand: list[str], final: list[Seat] | None = None, **more: Any) -> State:
    """Return a position near the end, in which no card is left to draw and red is to act: units by tile, and red's hand."""
    state = json.loads((WAR.folder / "blank.json").read_text(encoding="utf-8"))
    for seat, units in (("red", red), ("blue", blue)):
        for tile, number in units.items():
            state["tiles"][tile].update(seat=seat, units=number)
        state["reserve"][seat] = UNITS - sum(units.values())
    state["hands"]["red"] = hand
    state["discard"] = [name for name, card in CARDS.items() if card.symbol in state["symbols"] and name not in hand]
    state.update(phase=phase, active="red", to_act=["red"], round=9, map_number=4, row=[], deck=[], final_turns=final or ["red"], **more)
    return state


def finished(state: State, level: str, draw: int) -> State:
    """Return the end of the match, with both seats at a level."""
    dice, players = Drawn(random.Random(draw).randrange), Drawn(random.Random(-draw).randrange)
    while state["outcome"] is None:
        actor = state["to_act"][0]
        action = legal(WAR, state, SYSTEM)[0]["action"] if actor == SYSTEM else choose(WAR, level, state, actor, players)
        state = carry_out(WAR, state, actor, action, dice).state
    return state


def decided(state: State, level: str) -> list[Action]:
    """Return what a level does in a position, with some different draws."""
    return [choose(WAR, level, state, "red", Drawn(random.Random(draw).randrange)) for draw in DRAWS]


# Red is a point behind. Three units stand on b2, and only the combat card makes two attackers strong enough for them.
ATTACK = position("cards", {"b1": 3, "c1": 1, "a2": 1}, {"b2": 3, "b3": 2, "c2": 1}, ["hammers_brown_6"])

# Red is ahead, and stays so if its only circles tile stands. Five units of blue are beside it, and blue has the last turn.
DEFENCE = position("cards", {"e2": 2, "e1": 1, "f2": 1, "f3": 1}, {"d2": 5, "c2": 1, "d3": 1}, ["circles_brown_5"], ["red", "blue"])

# Red leads by a point. One attacker is left, and its tile is lost with it.
BROKEN = position(
    "attack",
    {"b1": 1, "c1": 1, "c4": 1},
    {"b2": 3, "c2": 1, "d3": 1},
    [],
    attacks={"b2": {"from": "b1", "units": 1, "rolls": 2}},
    turn={"reinforcements": 0, "combat_card": False, "placed": {}, "moves": 2},
)

# Blue has two tiles with one unit each, both beside red's stack.
STRIKE = position("moves", {"b2": 9, "f3": 1}, {"b1": 1, "b3": 1}, [], ["red", "blue"])

# Everything within red's reach is its own.
SETTLED = position("moves", {"a4": 3, "a5": 2, "b5": 2, "b4": 2}, {"b2": 19, "d2": 1}, [])


@pytest.mark.parametrize("state", [ATTACK, DEFENCE, BROKEN, STRIKE, SETTLED])
def test_the_positions_are_possible(state: State) -> None:
    assert list(WAR.invariants(state)) == []


def test_strong_plays_a_combat_card_that_wins_an_attack() -> None:
    assert odds(0)[3][3] < 0.6 < 0.99 < odds(6)[3][3]
    assert decided(ATTACK, "strong") == [{"type": "play_combat_card", "card": "hammers_brown_6"}] * len(DRAWS)
    assert all(finished(ATTACK, "strong", draw)["outcome"]["winners"] == ["red"] for draw in DRAWS)


def test_strong_plays_a_combat_card_that_saves_a_tile() -> None:
    assert odds(0)[5][4] > 0.5 > 0.15 > odds(-5)[5][2], "two more units would not save it"
    assert decided(DEFENCE, "strong") == [{"type": "play_combat_card", "card": "circles_brown_5"}] * len(DRAWS)
    assert all(finished(DEFENCE, "strong", draw)["outcome"]["winners"] == ["red"] for draw in DRAWS)


def test_strong_breaks_off_an_attack_that_can_only_lose() -> None:
    assert decided(BROKEN, "strong") == [{"type": "stop_attack", "tile": "b2"}] * len(DRAWS)


def test_strong_finishes_a_rival() -> None:
    endings = [finished(STRIKE, "strong", draw)["outcome"]["reason"] for draw in DRAWS]
    assert endings.count("last_seat") >= len(DRAWS) - 1, "dice may fail it"


def test_strong_makes_no_idle_move() -> None:
    assert decided(SETTLED, "strong") == [{"type": "end_moves"}] * len(DRAWS)


def test_odds_are_those_of_the_dice() -> None:
    assert odds(0)[1][1] == pytest.approx(0.5)
    assert odds(0)[2][1] == pytest.approx(21 / 31 + 10 / 31 / 2), "one more wins 21 of the 31 rolls that are no draw"
    assert odds(0)[1][6] < 0.0001
    assert odds(-6)[1][1] == 0.0


def test_features_compare_a_seat_with_its_rival() -> None:
    for state in (ATTACK, DEFENCE, STRIKE):
        assert features(state, "red") == pytest.approx([-number for number in features(state, "blue")])
