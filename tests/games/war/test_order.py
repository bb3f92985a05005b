"""The choices of a position do not depend on the order of keys in its document."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from games.kernel import legal
from games.war import GAME
from tests.games.matches import Start, sampled
from tests.games.war.test_board import crowded, snake


def shuffled(value: Any, will: random.Random) -> Any:
    """Return an equal JSON value whose objects have their keys in another order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key], will) for key in will.sample(list(value), len(value))}
    return [shuffled(item, will) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(12))
def test_choices_are_the_same_bytes_whatever_the_order_of_keys(seed: int) -> None:
    will = random.Random(seed)
    seats = will.sample(GAME.seats.ids, will.randint(GAME.seats.least, GAME.seats.most))
    matches = [step.before for step in sampled(Start(GAME, seats, {"starting_cards": True}, seed), 40)]
    for state in (crowded(snake(6), seed), *matches):
        other = shuffled(state, will)
        assert other == state
        for actor in state["to_act"]:
            assert json.dumps(legal(GAME, other, actor)) == json.dumps(legal(GAME, state, actor))
