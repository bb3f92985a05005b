"""Where figures and building tokens may be put, and how they come on the board."""

from __future__ import annotations

from games.kernel import Match, Refusal, Seat, State, no
from games.war_of_the_worlds.data import BESIDE, BUILDINGS, BUILDINGS_OF, HUMANS, INCOME, LAND, LAND_FIGURES_OF, Building, Kind
from games.war_of_the_worlds.flow import gain
from games.war_of_the_worlds.state import closed, free_figure, hostile, standing


def placing_refusal(state: State, kind: Kind, region: str) -> Refusal | None:
    """Humans are placed neither in hostile regions nor in those closed to them, Armies only where a civilian stands; Navies in the
    harbour and aliens in the ship's region (WOW-UNT-02, WOW-UNT-03, WOW-UNT-04, WOW-UNT-17, WOW-MAP-03, WOW-MAP-04, WOW-EDN-09)."""
    if kind.placed_at is None:
        land = state["regions"].get(region)
        if land is None:
            return no("wrong_terrain", "WOW-UNT-02", region=region, wanted="land")
        if not land["civilians"]:
            return no("no_civilian", "WOW-UNT-02", region=region, wanted="no civilian")
    if kind.side == HUMANS:
        if hostile(state, region):
            return no("hostile", "WOW-UNT-03" if kind.placed_at else "WOW-UNT-02", region=region)
        if closed(state, region):
            return no("closed", "WOW-UNT-17", region=region)
    return None


def places(state: State, kind: Kind) -> list[str]:
    """Every region in which a figure of a kind may be placed."""
    regions = LAND if kind.placed_at is None else (kind.placed_at,)
    return [region for region in regions if placing_refusal(state, kind, region) is None]


def place(match: Match, kind: Kind, region: str, used: bool) -> None:
    """The free figure with the lowest number comes on the board (WOW-UNT-16)."""
    figure = free_figure(match.state, kind)
    assert figure is not None
    match.emit("unit_placed", unit=figure, region=region, used=used)


def building_refusal(state: State, building: Building, region: str) -> Refusal | None:
    """A land region holds one building, and Balloons beside it once. Humans build where civilians stand and nothing alien is; aliens
    beside a building of theirs, where nothing human is. Influence is no hindrance (WOW-BLD-02, WOW-BLD-03, WOW-BLD-04, WOW-BLD-13,
    WOW-HUM-13, WOW-HUM-14, WOW-EDN-06)."""
    land = state["regions"].get(region)
    if land is None:
        return no("wrong_terrain", "WOW-BLD-01", region=region, wanted="land")
    if building.side == HUMANS:
        if not land["civilians"]:
            return no("no_civilian", "WOW-BLD-03", region=region, wanted="no civilian")
        if hostile(state, region):
            return no("hostile", "WOW-BLD-03", region=region)
        if land[building.slot]:
            return no("occupied", "WOW-BLD-02", region=region, token=land["building"] if building.slot == "building" else building.id)
        return None
    if not _beside_own_building(state, building.side, region):
        return no("not_adjacent", "WOW-BLD-04", goal=region, wanted="adjacent to", source="a region with an alien building")
    if land[building.slot]:
        return no("occupied", "WOW-BLD-02", region=region, token=land["building"])
    if land["balloons"] or land["civilians"] or standing(state, LAND_FIGURES_OF[HUMANS], region):
        return no("humans_there", "WOW-BLD-04", region=region)
    return None


def _beside_own_building(state: State, seat: Seat, region: str) -> bool:
    """Whether a region borders on one with a building of a seat; the Invasion Ship is one (WOW-BLD-04, WOW-BLD-05)."""
    regions = state["regions"]
    return any([regions[near]["building"] in BUILDINGS_OF[seat] for near in BESIDE[region]])  # noqa: C419 - a list is faster here


def sites(state: State, building: Building) -> list[str]:
    """Every region in which a token may be put."""
    return [region for region in LAND if building_refusal(state, building, region) is None]


def build(match: Match, name: str, region: str) -> None:
    """A token lies on the board at once, and works from now on: its first income is paid (WOW-BLD-01, WOW-BLD-07, WOW-BLD-08)."""
    building = BUILDINGS[name]
    match.emit("building_placed", seat=building.side, building=name, slot=building.slot, region=region)
    gain(match, building.side, INCOME.get(name, 0), "income")
