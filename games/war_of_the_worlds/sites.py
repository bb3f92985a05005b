"""The regions for new figures and building tokens, and how these come on the board."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Event, Fact, Refusal, Seat, no
from games.schema import Fields, flag
from games.sentences import say
from games.war_of_the_worlds import data
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.flow import INCOME_SOURCE, gain
from games.war_of_the_worlds.state import BUILDING, FIGURE, LAND_REGION, REGION, SEAT, SLOT, entry_closed, free_figure, hostile, standing


def placing_refusal(state: State, kind: data.Kind, region: str) -> Refusal | None:
    """Return why a new figure cannot be placed in a region, or None. Humans are not placed in hostile or closed regions. An Army needs a
    civilian there. Navies are placed in the harbour, aliens in the ship's region (WOW-UNT-02, WOW-UNT-03, WOW-UNT-04, WOW-UNT-17,
    WOW-MAP-03, WOW-MAP-04, WOW-EDN-09)."""
    if kind.placed_at is None:
        land = state["regions"].get(region)
        if land is None:
            return no("wrong_terrain", "WOW-UNT-02", region=region, wanted=say("land"))
        if not land["civilians"]:
            return no("no_civilian", "WOW-UNT-02", region=region, wanted=say("no civilian"))
    if kind.side == data.HUMANS:
        if hostile(state, region):
            return no("hostile", "WOW-UNT-03" if kind.placed_at else "WOW-UNT-02", region=region)
        if entry_closed(state, region):
            return no("closed", "WOW-UNT-17", region=region)
    return None


def places(state: State, kind: data.Kind) -> list[str]:
    """Return every region in which a figure of a kind may be placed."""
    regions = data.LAND if kind.placed_at is None else (kind.placed_at,)
    return [region for region in regions if placing_refusal(state, kind, region) is None]


def place(match: Match, kind: data.Kind, region: str, used: bool) -> None:
    """Place the free figure with the lowest number (WOW-UNT-16)."""
    figure = free_figure(match.state, kind)
    assert figure is not None
    match.emit("unit_placed", unit=figure, region=region, used=used)


def building_refusal(state: State, building: data.Building, region: str) -> Refusal | None:
    """Return why a new token cannot be placed in a region, or None. A land region takes one building, and one Balloons token besides.
    Humans need a civilian there and no alien piece. Aliens need an own building next to it and no human piece there. Influence does not
    matter (WOW-BLD-02, WOW-BLD-03, WOW-BLD-04, WOW-BLD-13, WOW-HUM-13, WOW-HUM-14, WOW-EDN-06)."""
    land = state["regions"].get(region)
    if land is None:
        return no("wrong_terrain", "WOW-BLD-01", region=region, wanted=say("land"))
    if building.side == data.HUMANS:
        if not land["civilians"]:
            return no("no_civilian", "WOW-BLD-03", region=region, wanted=say("no civilian"))
        if hostile(state, region):
            return no("hostile", "WOW-BLD-03", region=region)
        if land[building.slot]:
            return no(
                "occupied", "WOW-BLD-02", region=region, token=land["building"] if building.slot == data.BUILDING_SLOT else building.id
            )
        return None
    if not _beside_own_building(state, building.side, region):
        return no("not_adjacent", "WOW-BLD-04", goal=region, wanted=say("adjacent to"), source=say("a region with an alien building"))
    if land[building.slot]:
        return no("occupied", "WOW-BLD-02", region=region, token=land["building"])
    if land["balloons"] or land["civilians"] or standing(state, data.LAND_FIGURES_OF[data.HUMANS], region):
        return no("humans_there", "WOW-BLD-04", region=region)
    return None


def _beside_own_building(state: State, seat: Seat, region: str) -> bool:
    """Return True if a region is adjacent to a building of a seat. The Invasion Ship is a building (WOW-BLD-04, WOW-BLD-05)."""
    regions = state["regions"]
    return any([regions[near]["building"] in data.BUILDINGS_OF[seat] for near in data.BESIDE[region]])  # noqa: C419 - a list is faster here


def sites(state: State, building: data.Building) -> list[str]:
    """Return every region in which a token may be placed."""
    return [region for region in data.LAND if building_refusal(state, building, region) is None]


def build(match: Match, name: str, region: str) -> None:
    """Place a token. It works at once, so its first income is paid (WOW-BLD-01, WOW-BLD-07, WOW-BLD-08)."""
    building = data.BUILDINGS[name]
    match.emit("building_placed", seat=building.side, building=name, slot=building.slot, region=region)
    gain(match, building.side, data.INCOME.get(name, 0), INCOME_SOURCE)


# ---------------------------------------------------------------- facts


def unit_placed(state: State, event: Event, own: Own) -> None:
    """A figure comes on the board."""
    unit = own(own(state, "units"), event["unit"])
    unit["region"] = event["region"]
    unit["used"] = event["used"]


def building_placed(state: State, event: Event, own: Own) -> None:
    """A token comes on the board."""
    own(own(state, "regions"), event["region"])[event["slot"]] = True if event["slot"] == data.BALLOONS_SLOT else event["building"]


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "unit_placed": (unit_placed, {"unit": FIGURE, "region": REGION, "used": flag("whether it has taken a unit card this turn")}),
    "building_placed": (building_placed, {"seat": SEAT, "building": BUILDING, "slot": SLOT, "region": LAND_REGION}),
}
