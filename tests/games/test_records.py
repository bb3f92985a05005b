"""The rules still give what they gave: counts of positions, and whole playthroughs."""

from __future__ import annotations

import json

import pytest

from games.documents import clone
from games.kernel import carry_out, fold
from tests.games.matches import ALL, Start, chance, same
from tests.games.recording import digest, playthroughs, positions, tally

COUNTED = [pytest.param(game, state, counts, id=f"{game.id}: {name}") for game in ALL for name, state, counts in positions(game)]
PLAYED = [pytest.param(game, path, id=f"{game.id}: {path.stem}") for game in ALL for path in playthroughs(game)]


@pytest.mark.parametrize(("game", "state", "counts"), COUNTED)
def test_as_many_rows_of_actions_lead_on_as_were_counted(game, state, counts):
    assert [tally(game, state, depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize(("game", "path"), PLAYED)
def test_a_recorded_match_goes_the_same_way_again(game, path):
    start, *played, end = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    state = game.begin(start["seats"], start["options"])
    dice = chance(("dice", start["seed"]))
    for number, (actor, action, expected) in enumerate(played, 1):
        match = carry_out(game, state, actor, clone(action), dice)
        assert digest(match.events) == expected, f"action {number}: {action} by {actor}"
        assert fold(game, state, match.events) == match.state
        state = match.state
    assert same(state) == same(end)
    assert state["outcome"] is not None


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_three_matches_are_recorded(game):
    assert len(playthroughs(game)) >= 3
    assert len({Start(game, **json.loads(path.read_text().splitlines()[0])).seed for path in playthroughs(game)}) >= 3
