"""The choices of a position do not depend on the order of keys in its document."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from games.kernel import legal
from games.war_of_civilizations import GAME
from tests.games.matches import Start, sampled
from tests.games.war_of_civilizations.test_busy_play import busy, seeds


def shuffled(value: Any, will: random.Random) -> Any:
    """Return an equal JSON value whose objects have their keys in another order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key], will) for key in will.sample(list(value), len(value))}
    return [shuffled(item, will) for item in value] if isinstance(value, list) else value


def assert_same_choices(state: Any, will: random.Random) -> None:
    other = shuffled(state, will)
    assert other == state
    for actor in state["to_act"]:
        assert json.dumps(legal(GAME, other, actor)) == json.dumps(legal(GAME, state, actor))


@pytest.mark.parametrize("seed", seeds(0, 3, 8))
def test_choices_of_random_matches_do_not_depend_on_the_order_of_keys(seed: int) -> None:
    will = random.Random(seed)
    seats = will.sample(GAME.seats.ids, will.randint(GAME.seats.least, GAME.seats.most))
    for step in sampled(Start(GAME, seats, {"pirates": True, "disasters": True, "round_limit": 20}, seed), 40):
        assert_same_choices(step.before, will)


@pytest.mark.parametrize("seed", seeds(60, 62, 72))
def test_choices_of_busy_matches_do_not_depend_on_the_order_of_keys(seed: int) -> None:
    will = random.Random(seed)
    phases = set()
    for step in busy(seed):
        if step.before["phase"] not in phases or step.number % 6 == 0:
            phases.add(step.before["phase"])
            assert_same_choices(step.before, will)
    assert {"turn", "bids"} <= phases
