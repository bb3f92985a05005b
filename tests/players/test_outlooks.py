"""The outlooks of War of the Worlds and War of Civilizations: when a turn begins, whose figures are whose, and what the weights are for."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from games import GAMES
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Memory, Seat, State
from players import LEVELS, question_of
from players.evaluation import BEGINNINGS, outlook_of
from players.level import Budget
from players.plans import outlook_weights
from players.war_of_civilizations import outlook as civilizations
from players.war_of_the_worlds import features as worlds_features
from players.war_of_the_worlds import outlook as worlds
from tools.simulate import course

WORLDS, CIVILIZATIONS = "war_of_the_worlds", "war_of_civilizations"
BOTH = [WORLDS, CIVILIZATIONS]
SEATS = {WORLDS: ["aliens", "humans"], CIVILIZATIONS: ["fox", "lion"]}


@cache
def played(game: str, seed: int) -> tuple[list[State], list[str]]:
    """Return the positions of a match of `greedy` in which a turn begins, and the winners."""
    rules, draw = GAMES[game], Drawn(random.Random(seed).randrange)

    def decide(state: State, seat: Seat, memory: Memory) -> Action:
        return LEVELS["greedy"](question_of(rules, state, seat, memory), Budget(), draw).action

    before = rules.begin(SEATS[game], {})
    found: list[State] = []
    winners: list[str] = []
    for _, match in course(rules, before, decide, draw):
        state: Any = match.state
        if state["outcome"] is not None:
            winners = state["outcome"]["winners"]
        elif BEGINNINGS[game].begins(before, state):
            found.append(state)
        if state["to_act"] != [SYSTEM]:
            before = state
    return found, winners


@pytest.mark.parametrize("game", BOTH)
def test_every_turn_begins_once(game: str) -> None:
    found, _ = played(game, 1)
    turns = [(state["round"], state["active"]) for state in found]
    assert len(turns) == len(set(turns)) > 8
    assert all(one["active"] != other["active"] for one, other in pairwise(found))
    assert all(state["active"] in state["to_act"] for state in found)


@pytest.mark.parametrize("game", BOTH)
def test_there_are_weights_for_every_phase_and_only_for_figures_that_there_are(game: str) -> None:
    weights = outlook_weights(game, 2, "expert")
    assert weights is not None
    features = BEGINNINGS[game].features
    assert {features.phase(state) for state in played(game, 1)[0]} <= set(weights)
    assert set(weights) == set(civilizations.PHASES if game == CIVILIZATIONS else worlds.PHASES)
    assert all(row and set(row) <= set(features.names) for row in weights.values())
    assert outlook_weights(game, 2, "strong") is outlook_weights(game, 3, "expert") is None


@pytest.mark.parametrize("game", BOTH)
def test_the_outlook_of_who_wins_soon_is_good(game: str) -> None:
    weights = outlook_weights(game, 2, "expert")
    assert weights is not None
    value = outlook_of(GAMES[game], weights).value
    right = wrong = 0
    for seed in range(6):
        found, winners = played(game, seed)
        for state in found[-4:]:
            if len(winners) == 1:
                agrees = (value(state, state["active"]) > 0.5) == (state["active"] in winners)
                right, wrong = right + agrees, wrong + (not agrees)
    assert right > 2 * wrong


def test_each_clan_has_the_other_ones_figures_as_those_of_its_rival() -> None:
    places = {name: place for place, name in enumerate(civilizations.NAMES)}
    for state in played(CIVILIZATIONS, 2)[0]:
        seat, rival = state["active"], next(other for other in state["seats"] if other != state["active"])
        mine, its = civilizations.features(state, seat), civilizations.features(state, rival)
        for name in civilizations.NAMES:
            if name.startswith("own "):
                other = places["rival " + name.removeprefix("own ")]
                assert (mine[places[name]], mine[other]) == (its[other], its[places[name]]), name


def test_the_hand_that_the_other_side_has_just_drawn_does_not_count() -> None:
    for state in played(WORLDS, 2)[0]:
        seat, other = state["active"], next(side for side in state["seats"] if side != state["active"])
        side = state["sides"][other]
        pile = side["hand"] + side["supply"]
        number = len(side["hand"])
        drawn = {**side, "hand": pile[len(pile) - number :], "supply": pile[: len(pile) - number]}
        exchanged = {**state, "sides": {**state["sides"], other: drawn}}
        assert worlds.features(exchanged, seat) == pytest.approx(worlds.features(state, seat))
        own = [place for place, name in enumerate(worlds.NAMES) if name.startswith("hand ")]
        assert [worlds.features(state, seat)[place] for place in own].count(0.0) < len(own)
        assert sum(worlds.features(state, seat)[place] for place in own) == len(state["sides"][seat]["hand"])
        assert worlds_features.features(state, seat) != worlds.features(state, seat)
