"""The outlook of a seat of War! whose turn begins: when that is, how many turns are left, and that it is told from the seat's own side."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

from games import GAMES
from games.chance import Drawn
from games.kernel import State
from players import LEVELS, question_of
from players.evaluation import BEGINNINGS, outlook_of
from players.level import Budget
from players.plans import outlook_weights
from players.war.outlook import NAMES, begins, features, phase, turns_left
from tools.simulate import course

WAR = GAMES["war"]
SEATS = ["red", "blue"]


def states(seed: int, options: dict[str, object]) -> Iterator[State]:
    """Yield every position of a match at first sight, with dice of a seed."""
    draw = Drawn(random.Random(seed).randrange)

    def decide(state: State, seat: str, memory: object) -> dict[str, object]:
        return LEVELS["strong"](question_of(WAR, state, seat), Budget(), draw).action

    yield from (match.state for _, match in course(WAR, WAR.begin(SEATS, options), decide, draw))


def beginnings(seed: int, options: dict[str, object]) -> list[State]:
    """Return the positions of a match in which a turn begins."""
    found: list[State] = []
    before: State | None = None
    for state in states(seed, options):
        if state["phase"] in ("setup", "round_end", "over"):
            continue
        if before is not None and begins(before, state):
            found.append(state)
        before = state
    return found


@pytest.mark.parametrize("options", [{}, {"starting_cards": True}])
def test_every_turn_begins_once_and_the_turns_that_are_left_are_known(options: dict[str, object]) -> None:
    for seed in range(6):
        found = beginnings(seed, options)
        assert [state["active"] for state in found[:2]] == found[0]["seats"], "the first turn begins after the placement"
        assert all(one["active"] != other["active"] for one, other in pairwise(found))
        if not found[-1]["eliminated"] and turns_left(found[-1]) == 1:
            assert [turns_left(state) for state in found] == list(range(len(found), 0, -1))


def test_each_seat_has_the_other_ones_figures_as_those_of_its_rival() -> None:
    places = {name: place for place, name in enumerate(NAMES)}
    for state in beginnings(1, {}):
        seat, rival = state["active"], next(other for other in SEATS if other != state["active"])
        mine, his = features(state, seat), features(state, rival)
        for name in NAMES:
            if name.startswith("own ") and name != "own turns":
                other = places["rival " + name.removeprefix("own ")]
                assert (mine[places[name]], mine[other]) == (his[other], his[places[name]]), name


def test_the_figures_are_those_of_the_score() -> None:
    last: State | None = None
    for state in states(3, {}):
        if state["outcome"] is None:
            last = state
            continue
        assert last is not None
        seat = state["seats"][0]
        found = dict(zip(NAMES, features({**state, "final_turns": [seat]}, seat), strict=True))
        rival = state["seats"][1]
        assert (found["own points"], found["rival points"]) == (state["outcome"]["scores"][seat], state["outcome"]["scores"][rival])
    assert last is not None


def test_the_data_have_weights_for_every_phase_and_only_for_figures_that_there_are() -> None:
    weights = outlook_weights("war", 2, "expert")
    assert weights is not None
    found = BEGINNINGS["war"].features
    assert {phase(state) for state in beginnings(1, {})} <= set(weights)
    assert all(set(row) <= set(found.names) for row in weights.values())
    assert outlook_weights("war", 3, "expert") is None


def test_the_outlook_of_who_is_far_ahead_at_the_end_is_good() -> None:
    weights = outlook_weights("war", 2, "expert")
    assert weights is not None
    value = outlook_of(WAR, weights).value
    won = lost = 0
    for seed in range(8):
        *_, end = states(seed, {})
        for state in beginnings(seed, {}):
            if turns_left(state) <= 2:
                right = (value(state, state["active"]) > 0.5) == (state["active"] in end["outcome"]["winners"])
                won, lost = won + right, lost + (not right)
    assert won > 2 * lost
