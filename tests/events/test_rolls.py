"""What games tell of draws: the dice of events are checked without the rules, in matches that were really played."""

from __future__ import annotations

import operator
import random
from collections.abc import Iterator
from functools import reduce
from itertools import chain
from typing import Any

import pytest

from games import GAMES
from games.chance import Drawn
from games.documents import clone
from games.draws import Draw, read
from games.kernel import Event, Game, any_action, carry_out
from record.dice import Draws
from record.dossiers.rolls import wrong_roll

KEY = bytes(range(32))
OPTIONS = {"war_of_civilizations": {"pirates": True, "disasters": True}}
TOLD = [game for game in GAMES.values() if game.draws is not None]


def played(game: Game, seed: int, most: int = 1500) -> Iterator[tuple[int, list[Event], int]]:
    """Play a match at random with the dice of a key. Yield each version with its events, and how many numbers were drawn for it."""
    number = random.Random(seed).randrange
    state = game.begin(list(game.seats.ids[: game.seats.least]), OPTIONS.get(game.id, {}))
    for version in range(2, most):
        if state["outcome"] is not None:
            break
        actor = state["to_act"][0]
        draws = Draws(KEY, version)
        action = any_action(game, state, actor, number)
        match = carry_out(game, state, actor, action, Drawn(draws.number))
        state = match.state
        yield version, match.events, draws.blocks


@pytest.mark.parametrize(
    "game", [pytest.param(game, id=game.id, marks=pytest.mark.soak if game.id == "war_of_the_worlds" else ()) for game in TOLD]
)
def test_dice_that_fell_are_found_to_be_right_and_others_wrong(game: Game) -> None:
    told = game.draws
    assert told is not None
    assert set(told) <= game.rolls
    left = {kind for kind, draw in told.items() if draw.dice}
    for version, events, drawn in chain.from_iterable(played(game, seed) for seed in range(20)):
        assert wrong_roll(game.id, events, KEY, version) is None
        telling = [(place, event, told[event["type"]]) for place, event in enumerate(events) if event["type"] in told]
        if len(telling) == sum(event["type"] in game.rolls for event in events):
            assert sum(len(draw.dice) + draw.others(event) for _, event, draw in telling) == drawn
        for place, event, draw in telling:
            left.discard(event["type"])
            for pointer in draw.dice:
                false = clone(events)
                *way, last = pointer.split("/")[1:]
                holder: Any = reduce(operator.getitem, way, false[place])
                face = int(last) if isinstance(holder, list) else last
                holder[face] = holder[face] % draw.sides + 1
                assert wrong_roll(game.id, false, KEY, version) == place
    assert left == set(), "every event with dice has happened"


def test_a_game_that_tells_nothing_has_no_wrong_rolls() -> None:
    assert wrong_roll("chess", [{"type": "attack_rolled"}], KEY, 2) is None


def test_what_is_not_there_is_a_wrong_die_and_counts_for_nothing() -> None:
    assert wrong_roll("war", [{"type": "attack_rolled", "attack": {"die": 1}}], KEY, 2) == 0
    draw = Draw(("/dice/1",), 6, 2, "/deck")
    assert (draw.faces({"dice": [3]}), draw.others({"deck": []}), draw.others({"deck": 5})) == ([None], 2, 6)
    assert read({}) == {}
