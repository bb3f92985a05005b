"""Entries in words: readable lines for every game."""

from __future__ import annotations

import pytest

from games import GAMES
from games.kernel import AUDITOR, SPECTATOR
from tests.games.matches import Start, walk
from tools.words import LONG, facts, move, phrase


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("viewer", [SPECTATOR, AUDITOR])
def test_every_action_and_event_of_a_match_becomes_lines_of_words(game, viewer):
    for step in walk(Start(game, list(game.seats.ids[: game.seats.least]), {}, 4)):
        entry = {"version": 1, "actor": step.actor, "action": step.action, "events": [game.shown(event, viewer) for event in step.events]}
        lines = [move(entry), *facts(entry)]
        assert len(lines) > len(step.events)
        for line in lines:
            assert len(line) <= LONG + 20
            assert not set("{}[]_'\"") & set(line), line
            assert "None" not in line


def test_a_field_that_the_type_names_appears_as_its_value():
    moved = {"type": "unit_moved", "unit": "tripod_1", "from": "cumbria", "to": "yorkshire"}
    assert phrase(moved) == "unit moved: tripod 1 from cumbria to yorkshire"
    assert phrase({"type": "hand_discarded", "cards": ["reap", "reap", "tripod"]}) == "hand discarded: cards reap x2, tripod"
    assert phrase({"type": "deck_built", "deck": [f"card_{number}" for number in range(30)]}) == "deck built: deck of 30"
    assert phrase({"type": "end_turn"}) == "end turn"


def test_text_of_players_is_printed_without_control_characters():
    note = "\x1b[2J\x9b31m\x07one\r\ntwo\u2028\u202eeno\u202c \u05e9\u05dc\u05d5\u05dd \U0001f98a"
    entry = {"version": 1, "actor": "fox", "action": {"type": "answer_ransom", "note": note}, "events": [{"type": "noted", "note": note}]}
    lines = [move(entry), *facts(entry)]
    assert len(lines) == 2
    for line in lines:
        assert line.isprintable()
        assert line.endswith("\u05e9\u05dc\u05d5\u05dd \U0001f98a")


def test_a_seat_is_named_if_it_is_not_the_actor():
    entry = {"actor": "system", "events": [{"type": "turn_started", "seat": "red"}, {"type": "round_started", "round": 3}]}
    assert list(facts(entry)) == ["red: turn started", "round started: 3"]
