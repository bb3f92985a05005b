"""Artificial players: their actions are legal, follow from the view alone, and are not foolish."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import GAMES as GAMES_OF_THE_SERVICE
from games.chance import Chance, Drawn
from games.choices import admits, count
from games.kernel import SYSTEM, Action, Game, Seat, State, any_action, carry_out, legal
from players import LEVELS, budget_of, choose, question_of
from players.greedy import completions
from table.data import LEVELS as DESCRIBED
from tests.conftest import ALL_GAMES
from tests.tally import TALLY
from tools.simulate import Plan, play

SHORT = 6  # iterations of a level that searches, enough for a tree of a few nodes

GAMES = [pytest.param(game, id=game.id) for game in ALL_GAMES.values()]


def test_every_level_is_described_and_no_other() -> None:
    assert list(LEVELS) == list(DESCRIBED)


def positions(game: Game, seed: int, every: int = 7, most: int = 25) -> list[tuple[State, str]]:
    """Return some states of a random match, each with a seat that must act in it."""
    number = random.Random(seed).randrange
    state = game.begin(list(game.seats.ids[: game.seats.least]), {})
    found: list[tuple[State, str]] = []
    for step in range(every * most):
        if state["outcome"] is not None:
            break
        actor = state["to_act"][0]
        if actor != SYSTEM and step % every == 0:
            found.append((state, actor))
        action = any_action(game, state, actor, number)
        assert action is not None
        state = carry_out(game, state, actor, action, Drawn(number)).state
    return found


def decided(game: Game, level: str, state: State, seat: Seat, chance: Chance) -> Action:
    """Return the action of a level. One that searches is interrupted early."""
    question = question_of(game, state, seat)
    return LEVELS[level](question, budget_of(question, level, lambda spent: spent < SHORT), chance).action


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("game", GAMES)
def test_the_action_of_a_level_is_legal(game: Game, level: str) -> None:
    chance = Drawn(random.Random(1).randrange)
    for state, seat in positions(game, 0):
        action = decided(game, level, state, seat, chance)
        assert any(admits(choice, action) for choice in legal(game, state, seat))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("game", GAMES)
def test_a_level_decides_by_its_view_alone(game: Game, level: str) -> None:
    for state, seat in positions(game, 5, 14, 12):
        guessed = game.guess(game.view(state, seat), seat, Drawn(random.Random(9).randrange))
        one = decided(game, level, state, seat, Drawn(random.Random(2).randrange))
        assert decided(game, level, guessed, seat, Drawn(random.Random(2).randrange)) == one


def test_greedy_takes_the_action_of_most_worth() -> None:
    chance = Drawn(random.Random(3).randrange)
    state = TALLY.begin(["one", "two"], {"target": 12})
    state = carry_out(TALLY, state, SYSTEM, {"type": "advance"}, chance).state
    ahead = {**state, "counts": {"one": 9, "two": 0}}
    assert choose(TALLY, "greedy", ahead, "one", chance)["type"] in ("add", "roll")
    chosen = {choose(TALLY, "greedy", state, "one", chance)["type"] for _ in range(30)}
    assert "draw" not in chosen, "a draw counts one, an addition up to three"


def test_a_novice_never_misses_a_victory() -> None:
    chance = Drawn(random.Random(3).randrange)
    state = TALLY.begin(["one", "two"], {"target": 12})
    state = carry_out(TALLY, state, SYSTEM, {"type": "advance"}, chance).state
    ahead = {**state, "counts": {"one": 9, "two": 0}}
    for _ in range(30):
        action = choose(TALLY, "novice", ahead, "one", chance)
        assert action["type"] == "roll" or action["by"] == 3, "three more are the target"


@pytest.mark.soak
@pytest.mark.parametrize("game", sorted(GAMES_OF_THE_SERVICE))
def test_a_novice_beats_random_play_and_loses_to_greedy(game: str) -> None:
    def wins(other: str) -> int:
        plan = Plan(game, ("novice", other), "friendly", {}, shuffle=True)
        return sum(result.seats[0] in result.winners for result in (play(plan, number) for number in range(100)))

    assert wins("random") >= 70
    assert 8 <= wins("greedy") <= 40


@given(st.integers(0, 5), st.integers(0, 5), st.integers(1, 8), st.integers())
@settings(max_examples=50)
def test_completions_are_admitted_and_different_and_include_the_extremes(low: int, more: int, most: int, seed: int) -> None:
    choice: dict[str, Any] = {
        "action": {"type": "go"},
        "choose": {"units": [low, low + more], "to": {"each": {"a": [0, 3], "b": [0, 2]}, "total": [1, 4]}},
    }
    tried = list(completions(choice, most, Drawn(random.Random(seed).randrange)))
    assert 1 <= len(tried) <= min(most, count(choice))
    assert all(admits(choice, action) for action in tried)
    assert all(action not in tried[:place] for place, action in enumerate(tried))
    if most > 1 and more:
        assert {low, low + more} <= {action["units"] for action in tried}
