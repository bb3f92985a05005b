"""The rules give the recorded results: the counts of positions, whole playthroughs, scenarios, and refusals."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.kernel import fold
from games.schema import text
from tests.games.matches import ALL, HERE
from tests.games.recording import (
    parsed,
    phrase,
    playthroughs,
    positions,
    read,
    recorded_refusals,
    refusal_line,
    replay,
    scenario_lines,
    scenario_steps,
    tally,
    written,
)

COUNTED = [pytest.param(game, state, counts, id=f"{game.id}: {name}") for game in ALL for name, state, counts in positions(game)]
PLAYED = [pytest.param(game, path, id=f"{game.id}: {path.stem}") for game in ALL for path in playthroughs(game)]
PLAYTHROUGHS = {path.stem for game in ALL for path in playthroughs(game)}
DIFFERENCE = 60  # lines of a difference that are shown


@pytest.mark.parametrize(("game", "state", "counts"), COUNTED)
def test_the_number_of_sequences_of_actions_is_as_recorded(game, state, counts):
    assert [tally(game, state, depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize(("game", "path"), PLAYED)
def test_a_recorded_match_goes_the_same_way_again(game, path):
    before = path.read_text(encoding="utf-8")
    recorded = read(game, before)
    steps = list(replay(recorded))
    difference = unified_diff(before.splitlines(), list(written(recorded.start, steps)), "recorded", "played", lineterm="")
    assert "\n".join(islice(difference, DIFFERENCE)) == ""
    assert all(fold(game, step.before, step.events) == step.after for step in steps)
    assert steps[-1].after["outcome"] is not None


@pytest.mark.parametrize(("game", "path"), PLAYED)
def test_what_is_tried_instead_is_refused_as_recorded(game, path):
    attempts = [attempt for attempt in recorded_refusals(game) if attempt.match == path.stem]
    before = {step.number: step.before for step in replay(read(game, path.read_text(encoding="utf-8")))}
    for match, number, actor, action, refusal in attempts:
        assert refusal_line(game, before[number], actor, action, number) == refusal, f"{match} {number} {actor} {action}"


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_scenarios_have_the_recorded_events(game):
    before = (HERE / game.id / "scenarios.txt").read_text(encoding="utf-8")
    difference = unified_diff(before.splitlines(), list(scenario_lines(game)), "recorded", "played", lineterm="")
    assert "\n".join(islice(difference, DIFFERENCE)) == ""


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_what_scenarios_refuse_is_refused_as_recorded(game):
    refusals = {
        (name, number): refusal_line(game, state, step["seat"], step["do"], number)
        for name, number, step, state, *_ in scenario_steps(game)
        if "refused" in step
    }
    recorded = {(one.match, one.number): one.refusal for one in recorded_refusals(game) if one.match not in PLAYTHROUGHS}
    assert refusals == recorded


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_three_matches_are_recorded(game):
    assert len({read(game, path.read_text(encoding="utf-8")).start.seed for path in playthroughs(game)}) >= 3


NAMES = st.sampled_from(["seat", "to", "ships", "note_"])
# YAML reads no key of more than 1,024 characters.
WORDS = st.sampled_from(["fox", "a1", "no", "1", "", "yes", "Null", "a b=c", "-", "~", "é", 'x" y=1']) | st.text(max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(NAMES, VALUES))
def test_a_recorded_action_is_read_as_it_was_written(fields):
    action = {"type": "go", **fields}
    line = phrase(action, {"go": dict.fromkeys(fields, text())})
    assert len(line.splitlines()) == 1
    assert parsed(f"red: {line}") == ("red", action)
