"""The outlooks of a turn that begins: when that is, whose figures are whose, and what the weights are for."""

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
from players.evaluation import beginnings_of, outlook_of
from players.level import Budget
from players.plans import outlook_weights
from players.war import outlook as war
from players.war_of_civilizations import outlook as civilizations
from players.war_of_the_worlds import features as worlds_features
from players.war_of_the_worlds import outlook as worlds
from tools.simulate import course

WAR, WORLDS, CIVILIZATIONS = "war", "war_of_the_worlds", "war_of_civilizations"
ALL = [WAR, WORLDS, CIVILIZATIONS]
SEATS = {WAR: ["red", "blue"], WORLDS: ["aliens", "humans"], CIVILIZATIONS: ["fox", "lion"]}
LEVEL = {WAR: "strong", WORLDS: "greedy", CIVILIZATIONS: "greedy"}
PHASES = {WAR: {*dict(war.PHASES), "more turns"}, WORLDS: set(worlds.PHASES), CIVILIZATIONS: set(civilizations.PHASES)}
PAIRED = {WAR: war.NAMES, CIVILIZATIONS: civilizations.NAMES}
"""The games whose figures of one seat stand beside the same figures of the other."""


@cache
def played(game: str, seed: int, starting_cards: bool = False) -> tuple[list[State], State]:
    """Return the positions of a match in which a turn begins, and the position at its end."""
    rules, draw = GAMES[game], Drawn(random.Random(seed).randrange)

    def decide(state: State, seat: Seat, memory: Memory) -> Action:
        return LEVELS[LEVEL[game]](question_of(rules, state, seat, memory), Budget(), draw).action

    state: Any = rules.begin(SEATS[game], {"starting_cards": True} if starting_cards else {})
    before, found = state, []
    for _, match in course(rules, state, decide, draw):
        state = match.state
        if state["outcome"] is None and state["to_act"] != [SYSTEM]:
            if beginnings_of(game).begins(before, state):
                found.append(state)
            before = state
    return found, state


@pytest.mark.parametrize("game", [pytest.param(game, marks=pytest.mark.soak if game == "war_of_the_worlds" else ()) for game in ALL])
def test_every_turn_begins_once(game: str) -> None:
    for seed in range(3):
        found, _ = played(game, seed)
        turns = [(state["round"], state["active"]) for state in found]
        assert len(turns) == len(set(turns)) > 8
        assert all(one["active"] != other["active"] for one, other in pairwise(found))
        assert all(state["active"] in state["to_act"] for state in found)


@pytest.mark.parametrize("starting_cards", [False, True])
def test_the_turns_of_war_that_are_left_are_known(starting_cards: bool) -> None:
    for seed in range(2):
        found, _ = played(WAR, seed, starting_cards)
        assert [state["active"] for state in found[:2]] == found[0]["seats"], "the first turn begins after the placement"
        if not found[-1]["eliminated"] and war.turns_left(found[-1]) == 1:
            assert [war.turns_left(state) for state in found] == list(range(len(found), 0, -1))


@pytest.mark.parametrize("game", ALL)
def test_there_are_weights_for_every_phase_and_only_for_figures_that_there_are(game: str) -> None:
    weights = outlook_weights(game, 2, "expert")
    assert weights is not None
    features = beginnings_of(game).features
    assert {features.phase(state) for state in played(game, 1)[0]} <= set(weights) == PHASES[game]
    assert all(row and set(row) <= set(features.names) for row in weights.values())
    assert outlook_weights(game, 3, "expert") is None


@pytest.mark.parametrize("game", ALL)
def test_no_figure_has_a_weight_beyond_measure(game: str) -> None:
    """A sum of 5 is a share of 0.99. Such a weight comes from a figure that was there in a few matches, all of them won."""
    weights = outlook_weights(game, 2, "expert")
    assert weights is not None
    assert max(abs(weight) for row in weights.values() for weight in row.values()) < 5


def test_an_army_far_from_its_enemies_wins_no_match() -> None:
    weights = outlook_weights(WORLDS, 2, "expert")
    assert weights is not None
    value, army = outlook_of(GAMES[WORLDS], weights).value, worlds.NAMES.index("army at 3")
    for state in played(WORLDS, 1)[0]:
        units = {**state["units"], "army_1": {"region": "cornwall", "used": False}, "army_2": {"region": None, "used": False}}
        gone = {**state, "units": {**units, "army_1": {"region": None, "used": False}}}
        far = {**state, "units": units}
        if abs(worlds.features(far, "humans")[army] - worlds.features(gone, "humans")[army]) == 1:
            assert abs(value(far, "humans") - value(gone, "humans")) < 0.15
            break
    else:
        raise AssertionError("no enemy is far from Cornwall")


def test_only_war_has_an_outlook_for_strong() -> None:
    assert [game for game in ALL if outlook_weights(game, 2, "strong") is not None] == [WAR], "analyses play on with it"


@pytest.mark.parametrize("game", ALL)
def test_the_outlook_of_who_wins_soon_is_good(game: str) -> None:
    weights = outlook_weights(game, 2, "expert")
    assert weights is not None
    value = outlook_of(GAMES[game], weights).value
    right = wrong = 0
    for seed in range(4):
        found, end = played(game, seed)
        winners = end["outcome"]["winners"]
        for state in found[-2:]:
            if len(winners) == 1:
                agrees = (value(state, state["active"]) > 0.5) == (state["active"] in winners)
                right, wrong = right + agrees, wrong + (not agrees)
    assert right > 2 * wrong


@pytest.mark.parametrize("game", PAIRED)
def test_each_seat_has_the_other_ones_figures_as_those_of_its_rival(game: str) -> None:
    features, names = beginnings_of(game).features.features, PAIRED[game]
    places = {name: place for place, name in enumerate(names)}
    for state in played(game, 2)[0]:
        seat, rival = state["active"], next(other for other in state["seats"] if other != state["active"])
        mine, its = features(state, seat), features(state, rival)
        for name in names:
            if name.startswith("own ") and name != "own turns":
                other = places["rival " + name.removeprefix("own ")]
                assert (mine[places[name]], mine[other]) == (its[other], its[places[name]]), name


def test_the_points_of_war_are_those_of_the_score() -> None:
    _, end = played(WAR, 3)
    seat, rival = end["seats"]
    found = dict(zip(war.NAMES, war.features({**end, "final_turns": [seat]}, seat), strict=True))
    assert (found["own points"], found["rival points"]) == (end["outcome"]["scores"][seat], end["outcome"]["scores"][rival])


def test_who_is_last_in_a_round_of_civilizations_follows_the_order_of_that_round() -> None:
    place = civilizations.NAMES.index("last of the round")
    for state in played(CIVILIZATIONS, 2)[0]:
        rotating = {**state, "options": {**state["options"], "first_seat_rotates": True}}
        for position, turned in ((state, 0), (rotating, (state["round"] - 1) % 2)):
            lasts = [civilizations.features(position, seat)[place] for seat in state["seats"]]
            assert lasts == ([1.0, 0.0] if turned else [0.0, 1.0])


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
