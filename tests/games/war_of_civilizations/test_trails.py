"""Connected locations are listed in the order of the map."""

from __future__ import annotations

from games.documents import clone
from games.war_of_civilizations import GAME
from games.war_of_civilizations.data import LOCATIONS
from games.war_of_civilizations.state.control import reinforcements
from tests.games.matches import Start, walk


def test_reinforcements_come_from_connected_locations_in_the_order_of_the_map() -> None:
    """(WOC-BAT-02) This is the order of the choices."""
    state = clone(next(step.after for step in walk(Start(GAME, ["fox", "rhino", "lion"], {}, 1)) if step.after["phase"] == "turn"))
    connected = ["fox_home", "fox_north", "fox_west", "fox_haven", "fox_shield"]
    state["players"]["fox"]["fleets"] = {location: {"gunboat": 1} for location in (*connected, "rhino_west")}
    found = reinforcements(state, "fox", "fox_east")
    assert found == [location for location in LOCATIONS if location in connected]
    assert found != sorted(found)
    assert reinforcements(state, "lion", "fox_east") == []
