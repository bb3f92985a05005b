"""What events and documents show to whom: a seat, another seat, a spectator, an auditor."""

from __future__ import annotations

from typing import Any

import pytest

from games.kernel import AUDITOR, SPECTATOR, Event, Game
from tests.games.matches import ALL
from tests.games.recording import playthroughs, read, replay, scenario_steps

# By game and type, the fields that are hidden from everybody but auditors, and what makes of a value what is shown instead, or None.
HIDDEN: dict[str, dict[str, dict[str, Any]]] = {
    "war": {"deck_built": {"deck": len}},
    "war_of_the_worlds": {"supply_shuffled": {"cards": None}, "offer_deck_shuffled": {"cards": None}, "cards_drawn": {"cards": None}},
    "war_of_civilizations": {
        "deck_built": {"deck": len},
        "deck_reshuffled": {"deck": len},
        "tokens_placed": {"tokens": dict.fromkeys},
        "expedition_seen": {"expedition": None},
        "bid_sealed": {"ammo": None, "cards": None},
        "ammo_changed": {"change": None},
    },
}
OWN = {"cards_drawn", "expedition_seen", "bid_sealed", "ammo_changed"}  # their own seat sees them whole
GAMES = [pytest.param(game, id=game.id) for game in ALL]


def events(game: Game) -> list[Event]:
    """Return every event of the recorded playthroughs and scenarios."""
    played = [step for path in playthroughs(game) for step in replay(read(game, path.read_text(encoding="utf-8")))]
    return [event for step in [*played, *scenario_steps(game)] for event in step.events]


def expected(game: Game, event: Event, viewer: str) -> Event:
    """Return an event as its viewer must see it."""
    hidden = HIDDEN[game.id].get(event["type"], {})
    if viewer == AUDITOR or (event["type"] in OWN and event["seat"] == viewer):
        return event
    return {**event, **{name: None if instead is None else instead(event[name]) for name, instead in hidden.items()}}


@pytest.mark.parametrize("game", GAMES)
def test_an_event_hides_from_each_viewer_what_the_contract_says(game: Game) -> None:
    found = events(game)
    assert HIDDEN[game.id].keys() <= {event["type"] for event in found}, "each is played somewhere"
    for event in found:
        for viewer in (SPECTATOR, AUDITOR, *game.seats.ids):
            shown = game.shown(event, viewer)
            assert shown == expected(game, event, viewer)
            assert shown is event or shown != event, "what hides nothing is the event itself"


def test_the_deck_of_war_is_seen_as_a_number() -> None:
    (game,) = (game for game in ALL if game.id == "war")
    for step in scenario_steps(game):
        assert game.view(step.before, AUDITOR) is step.before
        for viewer in (SPECTATOR, "red"):
            assert game.view(step.before, viewer) == {**step.before, "deck": len(step.before["deck"])}


def test_a_seat_of_war_of_the_worlds_sees_its_own_hand_and_no_pile() -> None:
    (game,) = (game for game in ALL if game.id == "war_of_the_worlds")
    for step in scenario_steps(game):
        assert game.view(step.before, AUDITOR) is step.before
        for viewer in (SPECTATOR, *game.seats.ids):
            sides = {
                seat: {
                    **side,
                    "hand": side["hand"] if seat == viewer else len(side["hand"]),
                    "supply": len(side["supply"]),
                    "offer_deck": len(side["offer_deck"]),
                }
                for seat, side in step.before["sides"].items()
            }
            assert game.view(step.before, viewer) == {**step.before, "sides": sides}
