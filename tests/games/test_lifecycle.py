"""The life-cycle events: every game has them, with the same fields."""

from __future__ import annotations

import pytest

from games.lifecycle import lifecycle
from games.schema import record, whole
from tests.games.matches import ALL

SHARED = {kind: set(fields) for kind, (_, fields) in lifecycle([], [], [], record({}), whole()).items()}


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_the_life_cycle_events_have_the_fields_that_all_games_share(game):
    assert {kind: set(game.events.get(kind, ())) for kind in SHARED} == SHARED
    assert SHARED.keys() <= game.facts.keys()
