"""Where a match goes on by a ruling, what nobody has seen is drawn anew, and nothing else changes (TBL-DIS-13)."""

from __future__ import annotations

import random

import pytest
from jsonschema_rs import Draft202012Validator

from games import GAMES
from games.kernel import SPECTATOR, Game, remembered
from table.unseen import drawn_anew, seen_by_some
from tests.games.matches import Start, walk
from tests.table.going_on import dice


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in GAMES.values()])
def test_what_no_seat_sees_is_drawn_anew_and_every_seat_sees_the_same(game: Game) -> None:
    will = random.Random(game.id)
    schema = Draft202012Validator(game.document.schema)
    changed = 0
    for seed in range(3):
        memory = {}
        for played in walk(Start(game, list(game.seats.ids[: min(3, game.seats.most)]), {}, seed)):
            before = played.before
            if will.random() < 0.05:
                anew = drawn_anew(game, before, dice(seed), memory)
                for viewer in (*before["seats"], SPECTATOR):
                    assert game.view(anew, viewer) == game.view(before, viewer)
                schema.validate(anew)
                assert not list(game.invariants(anew))
                assert drawn_anew(game, anew, dice(seed), memory) == anew, "an audit has only this document"
                assert seen_by_some(game, anew) == seen_by_some(game, before)
                changed += anew != before
            memory = remembered(game, memory, played.events)
    assert changed > 5
