"""Every card of the game, every deed and every phase is at work in a scenario."""

from __future__ import annotations

import pytest

from games.war_of_civilizations import GAME
from games.war_of_civilizations.data import BATTLE_CARDS, CARDS, DISASTERS, EXPEDITIONS
from tests.games.matches import scenarios
from tools.scenarios import GameRules

SCENARIOS = scenarios(GAME)
STEPS = [(scenario, step) for scenario in SCENARIOS for step in scenario["steps"] if "refused" not in step]
DONE = [step["do"] for _, step in STEPS]


@pytest.mark.parametrize("card", CARDS)
def test_a_power_card_is_played_at_its_moment_in_a_scenario(card):
    if card in BATTLE_CARDS:
        assert any(action["type"] == "bid" and card in action["cards"] for action in DONE)
    else:
        assert any(action["type"] == "play_card" and action["card"] == card for action in DONE)


@pytest.mark.parametrize("card", DISASTERS)
def test_a_disaster_card_is_drawn_in_a_scenario(card):
    assert any(card in scenario.get("chance", ()) and step["do"]["type"] == "forecast" for scenario, step in STEPS)


@pytest.mark.parametrize("token", EXPEDITIONS)
def test_a_lost_expedition_lies_somewhere_in_a_scenario(token):
    assert any(token in str(scenario) for scenario in SCENARIOS)


@pytest.mark.parametrize("kind", GAME.deeds())
def test_every_action_is_done_in_a_scenario(kind):
    assert any(action["type"] == kind for action in DONE)


@pytest.mark.parametrize("phase", GAME.phases)
def test_every_phase_is_reached_in_a_scenario(phase):
    reached = {step.get("then", {}).get("/phase") for _, step in STEPS} | {
        GameRules(GAME).start(scenario["given"])["phase"] for scenario in SCENARIOS
    }
    assert phase in reached
