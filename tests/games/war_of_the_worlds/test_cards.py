"""Every card, option and building of the game is at work in a scenario."""

from __future__ import annotations

import pytest

from games.war_of_the_worlds import GAME
from games.war_of_the_worlds.data import BUILDINGS, CARDS, INFLUENCE
from tests.games.matches import scenarios

DONE = [step["do"] for scenario in scenarios(GAME) for step in scenario["steps"] if "refused" not in step]


@pytest.mark.parametrize("card", CARDS)
def test_a_card_does_what_it_says_in_a_scenario(card):
    if CARDS[card].building:
        assert any(action["type"] == "buy" and action["card"] == card for action in DONE)
    else:
        played = {action["option"] for action in DONE if action["type"] == "play" and action["card"] == card}
        assert {terms.option for terms in CARDS[card].options} <= played


@pytest.mark.parametrize("building", [row.id for row in BUILDINGS.values() if row.action])
def test_a_building_with_an_action_uses_it_in_a_scenario(building):
    given = [scenario for scenario in scenarios(GAME) if building in str(scenario)]
    assert any(step["do"]["type"] == "use_building" and "refused" not in step for scenario in given for step in scenario["steps"])


@pytest.mark.parametrize("kind", INFLUENCE)
def test_a_condition_is_laid_in_a_scenario(kind):
    assert any(action.get("card") == kind for action in DONE)
