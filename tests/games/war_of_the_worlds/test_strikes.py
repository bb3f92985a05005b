"""What the hand could still add to a strike (WOW-STR-09), and where civilians are protected (WOW-DMG-12)."""

from __future__ import annotations

import pytest

from games.war_of_the_worlds import GAME
from games.war_of_the_worlds.data import LAND
from games.war_of_the_worlds.strike.damage import protected, protected_regions, reach
from tests.games.matches import Start, walk
from tools.scenarios import GameRules

HERE = {"region": "london"}
USED = {"region": "london", "used": True}
AWAY = {"region": "wessex"}


@pytest.mark.parametrize(
    ("hand", "units", "card", "figure", "more"),
    [
        pytest.param(["tripod", "tripod"], {"tripod_1": HERE, "tripod_2": HERE}, "tripod", "tripod_1", 3, id="another Tripod"),
        pytest.param(["tripod", "tripod"], {"tripod_1": HERE, "tripod_2": USED}, "tripod", "tripod_1", 0, id="it has its card"),
        pytest.param(["tripod", "tripod"], {"tripod_1": HERE, "tripod_2": AWAY}, "tripod", "tripod_1", 0, id="it is elsewhere"),
        pytest.param(["tripod", "tripod", "tripod"], {"tripod_1": HERE, "tripod_2": HERE}, "tripod", "tripod_1", 3, id="one card a figure"),
        pytest.param(
            ["scorching_beam", "tripod", "tripod", "tripod"],
            {"ufo_1": HERE, "tripod_1": HERE, "tripod_2": HERE},
            "scorching_beam",
            None,
            6,
            id="as many as stand there",
        ),
        pytest.param(
            ["reap", "power_supply", "tripod", "ufo", "ufo"],
            {"tripod_1": HERE, "tripod_2": HERE, "ufo_1": HERE},
            "tripod",
            "tripod_1",
            3,
            id="a kind by itself",
        ),
        pytest.param(
            ["tripod", "reap", "nerve_agent", "scorching_beam", "poisonous_fog"],
            {"tripod_1": HERE, "tripod_2": AWAY, "ufo_1": HERE},
            "tripod",
            "tripod_1",
            4,
            id="actions with a figure in place",
        ),
        pytest.param(
            ["tripod", "nerve_agent", "scorching_beam", "poisonous_fog"],
            {"tripod_1": AWAY, "ufo_1": AWAY},
            "tripod",
            "tripod_1",
            1,
            id="actions from beside",
        ),
    ],
)
def test_each_unused_figure_and_each_card_in_place_adds_its_most(hand, units, card, figure, more):
    state = GameRules(GAME).start({"patch": {"units": units, "sides": {"aliens": {"hand": hand}}}})
    assert reach(state, "aliens", "london", card, figure) == more


def test_the_alien_factory_adds_to_unit_cards_only():
    patch = {
        "regions": {"cornwall": {"building": "alien_factory"}},
        "units": {"tripod_1": HERE, "tripod_2": HERE},
        "sides": {"aliens": {"hand": ["tripod", "tripod", "nerve_agent"]}},
    }
    assert reach(GameRules(GAME).start({"patch": patch}), "aliens", "london", "tripod", "tripod_1") == 5


@pytest.mark.parametrize("seed", range(5))
def test_the_protected_regions_are_those_in_which_civilians_are_protected(seed):
    for step in walk(Start(GAME, ["aliens", "humans"], {}, seed)):
        if step.number % 8 == 1:
            guarded = protected_regions(step.before)
            assert [region for region in LAND if protected(step.before, region)] == [region for region in LAND if region in guarded]
