"""The boards of every game, by random play: their size, no hidden state in them, and any document can be drawn."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from games.drawing import LINES, WIDTH
from games.kernel import AUDITOR, SPECTATOR, Game
from tests.games.matches import ALL, Start, alike, same, sampled
from tests.games.test_laws import in_random_matches

MATCHES = 6
GAMES = [pytest.param(game, id=game.id) for game in ALL]


def drawn(game: Game, view: Any, viewer: str) -> list[str]:
    """Return the board of a view. Check that its size is right and that the view is unchanged."""
    before = same(view)
    lines = game.board(view, viewer)
    assert same(view) == before
    assert 0 < len(lines) <= LINES, f"{len(lines)} lines\n" + "\n".join(lines)
    for line in lines:
        assert len(line) <= WIDTH, line
        assert line == line.rstrip()
        assert line.isprintable()
    return lines


@in_random_matches(MATCHES)
def test_a_board_has_the_right_size_in_every_position_for_every_viewer(start: Start) -> None:
    for step in sampled(start, 8):
        for state in (step.before, step.after):
            for viewer in (*start.seats, SPECTATOR, AUDITOR):
                drawn(start.game, start.game.view(state, viewer), viewer)


@in_random_matches(MATCHES)
def test_positions_that_differ_only_in_hidden_state_give_the_same_board(start: Start) -> None:
    for viewer, seen, other in alike(start, 4):
        assert start.game.board(other, viewer) == start.game.board(seen, viewer)


@in_random_matches(MATCHES)
def test_a_board_changes_with_the_phase(start: Start) -> None:
    game = start.game
    for step in sampled(start, 4):
        before, after = (game.board(game.view(state, AUDITOR), AUDITOR) for state in (step.before, step.after))
        assert before != after or step.before["phase"] == step.after["phase"]


@pytest.mark.parametrize("game", GAMES)
def test_a_blank_document_and_a_new_match_can_be_drawn(game: Game) -> None:
    blank = json.loads((game.folder / "blank.json").read_text(encoding="utf-8"))
    for number in range(game.seats.least, game.seats.most + 1):
        for state in (blank, game.begin(list(game.seats.ids[:number]), {})):
            for viewer in (*state["seats"], SPECTATOR, AUDITOR):
                drawn(game, game.view(state, viewer), viewer)


@pytest.mark.parametrize("game", GAMES)
def test_a_board_names_the_winners(game: Game) -> None:
    *_, last = sampled(Start(game, list(game.seats.ids[: game.seats.least]), {}, random.Random(7).randrange(1000)), 1)
    winners = last.after["outcome"]["winners"]
    text = "\n".join(drawn(game, game.view(last.after, SPECTATOR), SPECTATOR)).lower()
    assert all(winner in text for winner in winners)
    assert "won" in text
