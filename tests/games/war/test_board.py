"""The board of War! where it is most crowded."""

from __future__ import annotations

import random
from typing import Any

import pytest

from games.kernel import AUDITOR
from games.war import GAME
from games.war.data import BROWN, CARDS, COLUMNS, SYMBOLS
from games.war.setup import begin
from tests.games.test_boards import drawn


def crowded(places: list[str], seed: int) -> Any:
    """A match of four on 36 tiles: every tile taken, all cards in hands, four attacks, long counts of units placed."""
    will = random.Random(seed)
    state = begin(["red", "blue", "green", "yellow"], {})
    seats, cards = state["seats"], will.sample(list(CARDS), len(CARDS))
    faces = [*[symbol for symbol in SYMBOLS for _ in range(3)], *[BROWN] * 18]
    tiles = {
        place: {"face": face, "region": None, "seat": will.choice(seats), "units": 20}
        for place, face in zip(places, will.sample(faces, 36), strict=True)
    }
    share = will.choice([0, 13, 27, 54])
    return {
        **state,
        "symbols": list(SYMBOLS),
        "tiles": tiles,
        "round": 10,
        "phase": "attack",
        "active": "yellow",
        "to_act": ["yellow"],
        "hands": {seat: cards[number * share // 4 : (number + 1) * share // 4] for number, seat in enumerate(seats)},
        "deck": cards[share:],
        "combat": dict.fromkeys(seats, "hammers_brown_4"),
        "row": ["hammers_brown_4"] * 4,
        "turn": {"reinforcements": 2, "combat_card": True, "placed": dict.fromkeys(places[:9], 2), "moves": 2},
        "attacks": {place: {"from": places[0], "units": 12, "rolls": 12} for place in places[1:4]},
        "final_turns": ["green", "red", "blue", "yellow"],
        "eliminated": ["blue"],
    }


def snake(columns: int) -> list[str]:
    """36 tiles, row by row."""
    return [f"{COLUMNS[number % columns]}{number // columns + 1}" for number in range(36)]


MAPS = {
    "a square": snake(6),
    "a column": snake(1),
    "two columns": snake(2),
    "broad": snake(26),
    "a corner": [f"a{row}" for row in range(1, 19)] + [f"{column}18" for column in COLUMNS[1:19]],
    "a long way": [f"a{row}" for row in range(1, 12)] + [f"{column}11" for column in COLUMNS[1:26]],
    "a column far down in the east": [f"z{row}" for row in range(1, 37)],
}


@pytest.mark.parametrize("places", MAPS.values(), ids=MAPS.keys())
@pytest.mark.parametrize("seed", range(6))
def test_the_most_crowded_positions_fit(places: list[str], seed: int) -> None:
    state = crowded(places, seed)
    for viewer in ("red", AUDITOR):
        drawn(GAME, GAME.view(state, viewer), viewer)


def test_a_tile_shows_its_symbol_its_seat_its_units_and_the_attack_on_it() -> None:
    state = crowded(snake(6), 1)
    text = "\n".join(drawn(GAME, GAME.view(state, "red"), "red"))
    attack = state["tiles"]["b1"]["seat"][0].upper() + "20<" + state["tiles"]["a1"]["seat"][0].upper() + "12"
    assert attack in text
    assert "12 from a1 on b1, where 20 stand, 12 rolls" in text
    assert all(symbol.upper() in text for symbol in SYMBOLS)
