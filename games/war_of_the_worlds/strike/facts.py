"""The events of strikes and of what damage destroys: how each changes the document, and its fields."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Event, Fact
from games.schema import Fields, whole
from games.war_of_the_worlds.data import BALLOONS_SLOT
from games.war_of_the_worlds.document import State
from games.war_of_the_worlds.state import BUILDING, FIGURE, GATHERED, KIND_OF_INFLUENCE, LAND_REGION, NEED, REGION, SLOT


def strike_opened(state: State, event: Event, own: Own) -> None:
    """A strike on a region gathers damage."""
    state["strike"] = {"region": event["region"], "damage": event["damage"], "need": event["need"]}


def strike_raised(state: State, event: Event, own: Own) -> None:
    """The open strike has gathered more damage."""
    own(state, "strike")["damage"] = event["damage"]


def strike_landed(state: State, event: Event, own: Own) -> None:
    """The open strike is closed. What it destroys follows."""
    state["strike"] = None


def building_destroyed(state: State, event: Event, own: Own) -> None:
    """A token leaves the match. Its card has left before (WOW-BLD-12)."""
    own(own(state, "regions"), event["region"])[event["slot"]] = False if event["slot"] == BALLOONS_SLOT else None


def unit_destroyed(state: State, event: Event, own: Own) -> None:
    """A figure leaves the board (WOW-DMG-04, WOW-EDN-10)."""
    unit = own(own(state, "units"), event["unit"])
    unit["region"] = None
    unit["used"] = False


def civilians_destroyed(state: State, event: Event, own: Own) -> None:
    """Civilians leave the board."""
    own(own(state, "regions"), event["region"])["civilians"] -= event["count"]


def influence_placed(state: State, event: Event, own: Own) -> None:
    """A condition is in force in a region."""
    own(own(own(state, "regions"), event["region"]), "influence").append(event["kind"])


def influence_removed(state: State, event: Event, own: Own) -> None:
    """A condition has ended."""
    own(own(own(state, "regions"), event["region"]), "influence").remove(event["kind"])


STRIKE_FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "strike_opened": (strike_opened, {"region": REGION, "damage": GATHERED, "need": NEED}),
    "strike_raised": (strike_raised, {"damage": GATHERED}),
    "strike_landed": (strike_landed, {"damage": GATHERED}),
    "building_destroyed": (building_destroyed, {"building": BUILDING, "slot": SLOT, "region": LAND_REGION}),
    "unit_destroyed": (unit_destroyed, {"unit": FIGURE, "region": REGION}),
    "civilians_destroyed": (civilians_destroyed, {"region": LAND_REGION, "count": whole(1)}),
    "influence_placed": (influence_placed, {"kind": KIND_OF_INFLUENCE, "region": LAND_REGION}),
    "influence_removed": (influence_removed, {"kind": KIND_OF_INFLUENCE, "region": LAND_REGION}),
}
