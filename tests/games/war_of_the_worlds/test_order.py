"""The list of legal choices does not depend on the order of the keys in the document."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from json_merge_patch import merge

from games.kernel import State, legal
from games.war_of_the_worlds import GAME
from games.war_of_the_worlds.data import BUILDINGS, CARDS, FIGURES, LAND, SEATS
from tests.games.matches import Start, chance, scenarios, walk
from tools.scenarios import GameRules


def shuffled(value: Any, will: random.Random) -> Any:
    """Return an equal value with the keys of every dict in another order."""
    if isinstance(value, dict):
        keys = list(value)
        will.shuffle(keys)
        return {key: shuffled(value[key], will) for key in keys}
    return [shuffled(item, will) for item in value] if isinstance(value, list) else value


def check(state: State, will: random.Random) -> None:
    """Fail if a document with other orders of keys gives other choices, or another worth."""
    other = shuffled(state, will)
    assert other == state
    assert json.dumps(other) != json.dumps(state)
    for actor in state["to_act"]:
        assert json.dumps(legal(GAME, other, actor)) == json.dumps(legal(GAME, state, actor))
    for seat in SEATS:
        assert GAME.worth(other, seat) == GAME.worth(state, seat)


def examples() -> Iterator[State]:
    """Yield the document before and after every accepted step of the scenarios."""
    for scenario in scenarios(GAME):
        state = GameRules(GAME).start(scenario["given"])
        yield state
        for step in scenario["steps"]:
            if "refused" not in step:
                state = GameRules(GAME).act(state, step, chance(1))[1]
                yield state


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
def test_the_choices_of_a_random_match_have_the_same_bytes_for_equal_documents(seed):
    will = random.Random(seed)
    for step in walk(Start(GAME, list(SEATS), {}, seed)):
        check(step.before, will)


@pytest.mark.parametrize("seat", SEATS)
def test_the_choices_of_a_crowded_board_have_the_same_bytes_for_equal_documents(seat):
    regions = {region: {"civilians": 2, "building": building} for region, building in zip(LAND, BUILDINGS, strict=False)}
    units = {figure: {"region": list(kind.beside)[number]} for number, (figure, kind) in enumerate(FIGURES.items())}
    cards = [card.id for card in CARDS.values() if card.side == seat]
    blank = json.loads((GAME.folder / "blank.json").read_text(encoding="utf-8"))
    sides = {seat: {"hand": cards, "offer": cards, "offer_deck": cards}}
    state = merge(
        blank, {"active": seat, "to_act": [seat], "resources": 50, "damage": 5, "regions": regions, "units": units, "sides": sides}
    )
    kinds = {choice["action"]["type"] for choice in legal(GAME, state, seat)}
    assert kinds >= {"play", "buy", "swap", "use_building"}
    for seed in range(10):
        check(state, random.Random(seed))


def test_the_choices_of_every_phase_have_the_same_bytes_for_equal_documents():
    will = random.Random(1)
    phases = set()
    for state in examples():
        phases.add(state["phase"])
        check(state, will)
    assert phases == {*GAME.phases}
