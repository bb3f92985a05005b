"""The options of a match: a document has those that were given, and the others have their defaults."""

from __future__ import annotations

import pytest

from games import GAMES
from games.kernel import Game, Refused
from tests.games.matches import ALL, Start, walk


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_a_document_has_the_options_that_were_given_and_no_others(game: Game) -> None:
    """So a new option that is off by default changes no record."""
    seats = list(game.seats.ids[: game.seats.least])
    assert game.begin(seats, {})["options"] == {}
    for name, default in game.with_defaults({}).items():
        assert game.begin(seats, {name: default})["options"] == {name: default}


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_a_match_goes_as_one_that_was_given_the_defaults(game: Game) -> None:
    seats = list(game.seats.ids[: game.seats.least])
    defaults = game.with_defaults({})
    assert defaults.keys() == game.options.schema["properties"].keys()
    without, given = (walk(Start(game, seats, options, 7)) for options in ({}, defaults))
    for one, other in zip(without, given, strict=True):
        assert (one.actor, one.action, one.events) == (other.actor, other.action, other.events)
        assert game.board(one.after, seats[0]) == game.board(other.after, seats[0])
        assert {**one.after, "options": defaults} == other.after


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_a_house_profile_sets_options_of_the_game_for_every_number_of_seats(game: Game) -> None:
    for profile in game.profiles:
        for number in range(game.seats.least, game.seats.most + 1):
            options = game.options_of(profile, number)
            assert game.begin(list(game.seats.ids[:number]), options)["options"] == options
    with pytest.raises(Refused):
        game.options_of("unheard of", game.seats.least)


def test_profiles_differ_by_the_number_of_seats() -> None:
    game = GAMES["war_of_civilizations"]
    assert game.options_of("rulebook", 2) == {}
    assert game.options_of("balanced", 2) == {"arrival_counts": True}
    assert game.options_of("balanced", 4) == {"first_seat_rotates": True}
