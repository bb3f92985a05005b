"""Strikes and damage: the damage that a strike needs, the pieces that damage destroys, and the facts of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from games.documents import Own
from games.kernel import Event, Fact, Refusal, Seat, no
from games.schema import Fields, whole
from games.war_of_the_worlds import data
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.outcome import check_extinction
from games.war_of_the_worlds.state import (
    BUILDING,
    FIGURE,
    GATHERED,
    KIND_OF_INFLUENCE,
    LAND_REGION,
    NEED,
    PLAYING,
    REGION,
    SLOT,
    STRIKING,
    hostile,
    kind_of,
    standing,
    stands_anywhere,
)


class Piece(NamedTuple):
    """A human piece that damage can destroy: a building, a figure, or a civilian if both are None."""

    defence: int
    building: str | None = None
    figure: str | None = None


CIVILIAN = Piece(data.CIVILIAN_DEFENCE)


def damage_order(state: State, region: str) -> Iterator[Piece]:
    """Yield the pieces of a region in the order in which damage hits them, each with its Defence at that moment: the building, Balloons,
    figures, civilians. Landmines are passed over. In a sea region damage hits Navies (WOW-DMG-02, WOW-DMG-03, WOW-DMG-08, WOW-DMG-09,
    WOW-DMG-10, WOW-DMG-11, WOW-UNT-16)."""
    land = state["regions"].get(region)
    lost = None
    if land is not None:
        building = land["building"]
        if building in data.HIT_FIRST:
            yield Piece(data.HIT_FIRST[building], building=building)
            lost = region
        if land["balloons"]:
            yield Piece(data.BALLOONS.defence, building=data.BALLOONS.id)
    units = state["units"]
    for figure in data.FIGURES_OF[data.HUMANS]:
        if units[figure]["region"] == region:
            yield Piece(_armour(state, data.FIGURES[figure], lost), figure=figure)
    if land is not None:
        for _ in range(land["civilians"]):
            yield CIVILIAN


def _armour(state: State, kind: data.Kind, lost: str | None) -> int:
    """Return the Defence of a kind of human figure. It is higher while the building that raises it is on the board. The strike may just
    have destroyed the building in the region `lost` (WOW-DMG-03, WOW-DMG-11, WOW-HUM-10)."""
    if kind.id not in data.ARMOUR:
        return kind.defence
    building, raised = data.ARMOUR[kind.id]
    return raised if stands_anywhere(state, building, except_in=lost) else kind.defence


def first_defence(state: State, region: str) -> int:
    """Return the Defence of the first piece that damage hits in a region; 0 if nothing can be hit (WOW-STR-01, WOW-DMG-07)."""
    first = next(damage_order(state, region), None)
    return 0 if first is None else first.defence


def protected(state: State, region: str) -> bool:
    """Return True if damage would hit another piece in a region before its civilians (WOW-DMG-12)."""
    return next(damage_order(state, region), CIVILIAN) is not CIVILIAN


def protected_regions(state: State) -> set[str | None]:
    """Return the regions in which damage would hit another piece before the civilians: those for which `protected` is true (WOW-DMG-12)."""
    units = state["units"]
    found = {units[figure]["region"] for figure in data.FIGURES_OF[data.HUMANS]}
    for region, land in state["regions"].items():
        if land["balloons"] or land["building"] in data.HIT_FIRST:
            found.add(region)
    return found


def hits(state: State, region: str, damage: int) -> list[Piece]:
    """Return the pieces that damage destroys in a region. What is left over goes on to the next piece. What is too small for that piece is
    lost (WOW-DMG-05, WOW-DMG-06)."""
    destroyed = []
    for piece in damage_order(state, region):
        damage -= piece.defence
        if damage < 0:
            break
        destroyed.append(piece)
    return destroyed


def power(state: State, terms: data.Terms) -> int:
    """Return the damage of one attack. The Alien Factory adds to unit cards only (WOW-ALN-15, WOW-DMG-01)."""
    if terms.uses_figure and terms.kind in data.BONUS:
        building, more = data.BONUS[terms.kind]
        if stands_anywhere(state, building):
            return terms.damage + more
    return terms.damage


def gathered(state: State) -> int:
    """Return the damage of the open strike; 0 if no strike is open."""
    strike = state["strike"]
    return 0 if strike is None else strike["damage"]


def need(state: State, region: str) -> int:
    """Return the damage that a strike on a region needs: the Defence of the first piece, fixed when the strike opens (WOW-STR-01,
    WOW-STR-08)."""
    strike = state["strike"]
    return first_defence(state, region) if strike is None else strike["need"]


def in_place(state: State, terms: data.Terms, region: str) -> bool:
    """Return True if a figure of the card's kind is where the card wants it: in the region, or in an adjacent one."""
    figures = kind_of(terms.kind).figures
    if terms.at != data.ADJACENT:
        return standing(state, figures, region) > 0
    units = state["units"]
    near = data.BESIDE[region]
    return any([units[figure]["region"] in near for figure in figures])  # noqa: C419 - a list is faster here


def reach(state: State, seat: Seat, region: str, card: str, figure: str | None) -> int:
    """Return the most that the hand could still add in a region after a card is played with a figure. A unit card adds one attack for each
    unused figure there. An action card adds its damage if a figure is in place (WOW-STR-09)."""
    left = state["sides"][seat]["hand"].copy()
    left.remove(card)
    units = state["units"]
    total = 0
    free: dict[str, int] = {}
    for other in left:
        terms = data.STRONGEST.get(other)
        if terms is None or terms.kind is None:
            continue
        if terms.uses_figure:
            if terms.kind not in free:
                figures = data.KINDS[terms.kind].figures
                free[terms.kind] = sum([units[one]["region"] == region and not units[one]["used"] and one != figure for one in figures])
            if free[terms.kind]:
                free[terms.kind] -= 1
                total += power(state, terms)
        elif in_place(state, terms, region):
            total += terms.damage
    return total


def weakness(state: State, seat: Seat, terms: data.Terms, region: str, figure: str | None) -> Refusal | None:
    """Return why an attack is too weak, or None: it cannot bring the strike to its need, even with everything that could follow
    (WOW-STR-03, WOW-STR-04, WOW-EDN-04)."""
    total = gathered(state) + power(state, terms)
    wanted = need(state, region)
    if total >= wanted:
        return None
    more = reach(state, seat, region, terms.card, figure)
    if total + more >= wanted:
        return None
    return no("too_weak", "WOW-STR-04", region=region, total=total, reach=more, need=wanted)


def gathers(state: State, terms: data.Terms, region: str) -> bool:
    """Return True if an attack that is part of a strike leaves the strike open (WOW-STR-05)."""
    return gathered(state) + power(state, terms) < need(state, region)


def struck(state: State, terms: data.Terms, region: str) -> list[Piece]:
    """Return the pieces that a special attack destroys now: none if its damage is too small. In an open strike it deals the whole damage of
    the strike if it lands; damage below its need would hit nothing (WOW-STR-07, WOW-STR-10, WOW-STR-11)."""
    return hits(state, region, gathered(state) + terms.damage)


def pushed(state: State, terms: data.Terms, region: str) -> tuple[str | None, list[str]]:
    """Return the Army that a special attack pushes out of a region, and the regions to which it can be pushed. It is the lowest number that
    survives the damage. It goes to an adjacent land region that is not hostile; nothing else stops it (WOW-ALN-06, WOW-ALN-07,
    WOW-UNT-16)."""
    if terms.push is None:
        return None, []
    units = state["units"]
    there = [figure for figure in data.KINDS[terms.push].figures if units[figure]["region"] == region]
    if there:
        destroyed = {piece.figure for piece in struck(state, terms, region)}
        there = [figure for figure in there if figure not in destroyed]
    if not there:
        return None, []
    goals = [near for near in data.BESIDE[region] if not hostile(state, near)]
    return (there[0], goals) if goals else (None, [])


# ---------------------------------------------------------------- dealing damage


def attack(match: Match, terms: data.Terms, region: str) -> None:
    """Add an attack to the open strike, or open one. Once the damage reaches the need, all of it lands, even if nothing is left to hit
    (WOW-STR-05, WOW-STR-07, WOW-STR-13)."""
    state = match.state
    total, wanted = gathered(state) + power(state, terms), need(state, region)
    opened = state["strike"] is not None
    if total >= wanted:
        if opened:
            match.emit("strike_landed", damage=total)
            match.emit("phase_changed", phase=PLAYING, active=data.ALIENS, to_act=[data.ALIENS])
        destroy(match, region, hits(match.state, region, total))
    elif opened:
        match.emit("strike_raised", damage=total)
    else:
        match.emit("strike_opened", region=region, damage=total, need=wanted)
        match.emit("phase_changed", phase=STRIKING, active=data.ALIENS, to_act=[data.ALIENS])


def destroy(match: Match, region: str, destroyed: list[Piece]) -> None:
    """Take pieces off the board, in the order of damage. The last civilian's death ends the match (WOW-DMG-04, WOW-END-03)."""
    civilians = 0
    for piece in destroyed:
        if piece.building is not None:
            match.emit("building_destroyed", building=piece.building, slot=data.BUILDINGS[piece.building].slot, region=region)
        elif piece.figure is not None:
            match.emit("unit_destroyed", unit=piece.figure, region=region)
        else:
            civilians += 1
    if civilians:
        match.emit("civilians_destroyed", region=region, count=civilians)
        check_extinction(match)


def place_influence(match: Match, kind: str, region: str) -> None:
    """Place a condition on a region once, even if no token of its kind is left (WOW-INF-05, WOW-CMP-11)."""
    if kind not in match.state["regions"][region]["influence"]:
        match.emit("influence_placed", kind=kind, region=region)


# ---------------------------------------------------------------- facts


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
    own(own(state, "regions"), event["region"])[event["slot"]] = False if event["slot"] == data.BALLOONS_SLOT else None


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


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "strike_opened": (strike_opened, {"region": REGION, "damage": GATHERED, "need": NEED}),
    "strike_raised": (strike_raised, {"damage": GATHERED}),
    "strike_landed": (strike_landed, {"damage": GATHERED}),
    "building_destroyed": (building_destroyed, {"building": BUILDING, "slot": SLOT, "region": LAND_REGION}),
    "unit_destroyed": (unit_destroyed, {"unit": FIGURE, "region": REGION}),
    "civilians_destroyed": (civilians_destroyed, {"region": LAND_REGION, "count": whole(1, about="how many civilians")}),
    "influence_placed": (influence_placed, {"kind": KIND_OF_INFLUENCE, "region": LAND_REGION}),
}
