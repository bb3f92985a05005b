"""Tactical puzzles of War of the Worlds: levels that search find what wins within their turn, where no single action does.

Each position is a match that has begun, with other pieces on the board and other cards in a hand. It keeps every law of the game.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from games.chance import Drawn
from games.kernel import SYSTEM, Seat, State, carry_out
from games.war_of_the_worlds import GAME
from games.war_of_the_worlds.data import ALIENS, BESIDE, HUMANS
from players import LEVELS, budget_of, choose, question_of
from players.turns import Beam, Node
from tests.players.test_searching import drawn

PUZZLES: Mapping[str, tuple[Seat, dict[str, Any]]] = {
    "a finishing strike through a fort takes two cards, and one of them must leave the game": (
        ALIENS,
        {
            "civilians": {"yorkshire": 1},
            "buildings": {"yorkshire": "fort"},
            "units": {"tripod_1": "yorkshire", "tripod_2": "yorkshire"},
            "hand": ["tripod", "tripod", "power_supply", "power_supply", "plasma_synthesis"],
            "damage": 22,
        },
    ),
    "a beam opens the strike that a Tripod ends": (
        ALIENS,
        {
            "civilians": {"london": 2},
            "buildings": {"london": "heavy_artillery"},
            "units": {"tripod_1": "london", "ufo_1": "london"},
            "hand": ["scorching_beam", "tripod", "reap", "power_supply", "power_supply"],
            "damage": 25,
        },
    ),
    "one Reap carries the Tripod to the last civilian, another takes it": (
        ALIENS,
        {
            "civilians": {"cornwall": 1},
            "units": {"tripod_1": "wessex", "ufo_1": "grampian"},
            "hand": ["reap", "reap", "power_supply", "power_supply", "power_supply"],
            "damage": 27,
        },
    ),
    "an Army is brought up and strikes": (
        HUMANS,
        {
            "civilians": {"midlands": 2, "london": 3},
            "units": {"tripod_1": "yorkshire", "army_1": "london"},
            "hand": ["redeploy", "army", "relocate", "relocate", "relocate"],
            "damage": 28,
        },
    ),
    "a civilian walks to the Tripod and fights": (
        HUMANS,
        {
            "civilians": {"midlands": 2, "cornwall": 3},
            "units": {"tripod_1": "yorkshire"},
            "hand": ["relocate", "guerillas", "relocate", "relocate", "evacuate"],
            "damage": 28,
        },
    ),
    "the guns, the Airstrike and the fleet deal the last four points": (
        HUMANS,
        {
            "civilians": {"london": 2, "wessex": 1},
            "buildings": {"london": "heavy_artillery"},
            "units": {"tripod_1": "east_anglia", "navy_1": "dogger_bank"},
            "hand": ["airstrike", "royal_navy", "relocate", "relocate", "evacuate"],
            "damage": 26,
        },
    ),
}


def position(seat: Seat, pieces: Mapping[str, Any]) -> State:
    """Return a begun match in which it is the turn of a seat, with some pieces, a hand and damage."""
    state = carry_out(GAME, GAME.begin([ALIENS, HUMANS], {}), SYSTEM, {"type": "advance"}, Drawn(random.Random(5).randrange)).state
    regions = {
        region: {
            **land,
            "civilians": pieces["civilians"].get(region, 0),
            "building": pieces.get("buildings", {}).get(region, land["building"]),
        }
        for region, land in state["regions"].items()
    }
    units = {figure: {**unit, "region": pieces["units"].get(figure)} for figure, unit in state["units"].items()}
    side = {name: list(pile) for name, pile in state["sides"][seat].items()}
    side["supply"] += side["hand"]
    side["hand"] = []
    for card in pieces["hand"]:
        found = next(pile for pile in ("supply", "offer_deck", "offer") if card in side[pile])
        side[found].remove(card)
        side["hand"].append(card)
    for building in pieces.get("buildings", {}).values():
        found = next(pile for pile in ("offer_deck", "offer") if building in state["sides"][HUMANS][pile])
        (side if seat == HUMANS else state["sides"][HUMANS])[found].remove(building)
        (side if seat == HUMANS else state["sides"][HUMANS])["removed"].append(building)
    return {
        **state,
        "round": 20,
        "active": seat,
        "to_act": [seat],
        "damage": pieces["damage"],
        "regions": regions,
        "units": units,
        "sides": {**state["sides"], seat: side},
    }


@pytest.mark.parametrize("level", ["strong", "expert"])
@pytest.mark.parametrize("name", PUZZLES)
@pytest.mark.parametrize("seeds", [[0], pytest.param([1, 2], marks=pytest.mark.soak)])
def test_it_wins_within_its_turn(name: str, level: str, seeds: list[int]) -> None:
    seat, pieces = PUZZLES[name]
    for seed in seeds:
        state = position(seat, pieces)
        assert not list(GAME.invariants(state))
        chance = drawn(seed)
        while state["outcome"] is None and state["active"] == seat:
            state = carry_out(GAME, state, seat, choose(GAME, level, state, seat, chance), chance).state
        assert state["outcome"] is not None, f"the match goes on after seed {seed}"
        assert state["outcome"]["winners"] == [seat]


@pytest.mark.parametrize("level", ["strong", "expert"])
def test_a_ufo_that_is_far_from_all_civilians_flies_towards_them(level: str) -> None:
    pieces = {
        "civilians": {"cornwall": 2, "wessex": 2, "london": 3},
        "units": {"tripod_1": "yorkshire", "ufo_1": "north_highlands"},
        "hand": ["ufo", "ufo", "power_supply", "power_supply", "power_supply"],
        "damage": 4,
    }
    for seed in range(3):
        state = position(ALIENS, pieces)
        chance = drawn(seed)
        while state["active"] == ALIENS:
            state = carry_out(GAME, state, ALIENS, choose(GAME, level, state, ALIENS, chance), chance).state
        assert steps(state["units"]["ufo_1"]["region"], pieces["civilians"]) < steps("north_highlands", pieces["civilians"])


def test_replies_do_not_forget_what_was_bought_in_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card that was bought may lie in the own supply by then, where a guess puts what nobody has seen going elsewhere."""
    pieces = {"civilians": {"midlands": 2, "london": 3}, "units": {"tripod_1": "yorkshire"}, "hand": ["relocate"] * 3, "damage": 10}
    state = position(HUMANS, pieces)
    state["resources"] = 6
    side = state["sides"][HUMANS]
    side["discard"], side["supply"] = side["supply"], []  # the next hand comes from a shuffled pile
    question = question_of(GAME, state, HUMANS)
    ended: list[Node] = []
    add = Beam.add

    def watched(beam: Beam, node: Node) -> bool:
        goes_on = add(beam, node)
        if not goes_on:
            ended.append(node)
        return goes_on

    monkeypatch.setattr(Beam, "add", watched)
    LEVELS["expert"](question, budget_of(question, "expert"), Drawn(random.Random(2).randrange))
    shuffled = 0
    for node in ended:
        side = node.state["sides"][HUMANS]
        bought = Counter(node.memory.get(f"{HUMANS} bought", ()))
        shuffled += bool(bought & Counter(side["supply"]))
        guessed = GAME.guess(GAME.view(node.state, HUMANS), HUMANS, drawn(1), node.memory)["sides"][HUMANS]
        for pile in ("hand", "supply", "discard"):
            assert Counter(guessed[pile]) == Counter(side[pile])
    assert shuffled, "a card that was bought was shuffled into the supply"


def steps(start: str, goals: Iterable[str]) -> int:
    """Return the steps over land from a region to the nearest of some."""
    reached, away = {start}, 0
    while not reached.intersection(goals):
        reached.update(near for region in list(reached) for near in BESIDE[region])
        away += 1
    return away
