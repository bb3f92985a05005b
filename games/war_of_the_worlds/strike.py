"""What the aliens' damage does to a region, and how a strike gathers over several cards."""

from __future__ import annotations

from typing import Any

from games.kernel import Match, Refusal, Seat, State, no
from games.war_of_the_worlds.data import (
    ARMOUR,
    BALLOONS,
    BESIDE,
    BONUS,
    CIVILIAN_DEFENCE,
    FIGURES,
    FIGURES_OF,
    HIT_FIRST,
    HUMANS,
    KINDS,
    STRONGEST,
    Kind,
    Terms,
)
from games.war_of_the_worlds.outcome import destroy_civilians, is_over
from games.war_of_the_worlds.state import first_defence, hostile, kind_of, standing, stands_anywhere

Hits = list[tuple[str, dict[str, Any]]]


def hits(state: State, region: str, damage: int) -> Hits:
    """What damage destroys in a region, piece by piece, as events without effect yet: a building, Balloons, figures, civilians. What is
    left goes on to the next piece, what is too small for it is lost. Landmines are passed over. Defence is read afresh for each piece
    (WOW-DMG-02, WOW-DMG-03, WOW-DMG-05, WOW-DMG-06, WOW-DMG-08, WOW-DMG-09, WOW-DMG-10, WOW-DMG-11, WOW-UNT-16)."""
    fallen: Hits = []
    land = state["regions"].get(region)
    destroyed = None
    if land is not None:
        if land["building"] in HIT_FIRST:
            destroyed = land["building"]
            damage -= HIT_FIRST[destroyed]
            if damage < 0:
                return fallen
            fallen.append(("building_destroyed", {"building": destroyed, "slot": "building", "region": region}))
        if land["balloons"]:
            damage -= BALLOONS.defence
            if damage < 0:
                return fallen
            fallen.append(("building_destroyed", {"building": BALLOONS.id, "slot": BALLOONS.slot, "region": region}))
    units = state["units"]
    for figure in FIGURES_OF[HUMANS]:
        if units[figure]["region"] == region:
            damage -= _armour(state, FIGURES[figure], destroyed and region)
            if damage < 0:
                return fallen
            fallen.append(("unit_destroyed", {"unit": figure, "region": region}))
    if land is not None and (count := min(land["civilians"], damage // CIVILIAN_DEFENCE)):
        fallen.append(("civilians_destroyed", {"region": region, "count": count}))
    return fallen


def _armour(state: State, kind: Kind, lost: str | None) -> int:
    """The Defence of a kind of figure when the building of a region has just been lost."""
    raised = ARMOUR.get(kind.id)
    if raised is None:
        return kind.defence
    stands = any(land["building"] == raised[0] and region != lost for region, land in state["regions"].items())
    return raised[1] if stands else kind.defence


def land_hits(match: Match, fallen: Hits) -> None:
    """Pieces are destroyed in the damage order; the last civilian's death ends the match (WOW-DMG-04, WOW-END-03)."""
    for event, facts in fallen:
        if event == "civilians_destroyed":
            destroy_civilians(match, facts["region"], facts["count"])
        else:
            match.emit(event, **facts)


def power(state: State, terms: Terms) -> int:
    """The damage of one attack; the Alien Factory adds to unit cards only (WOW-ALN-15, WOW-DMG-01)."""
    if terms.uses_figure and terms.kind in BONUS:
        building, more = BONUS[terms.kind]
        if stands_anywhere(state, building):
            return terms.damage + more
    return terms.damage


def gathered(state: State) -> int:
    """The damage of the open strike; 0 if none is open."""
    strike = state["strike"]
    return 0 if strike is None else int(strike["damage"])


def need(state: State, region: str) -> int:
    """The damage that a strike needs there: the Defence of the first piece, fixed when the strike opens (WOW-STR-01, WOW-STR-08)."""
    strike = state["strike"]
    return first_defence(state, region) if strike is None else int(strike["need"])


def in_place(state: State, terms: Terms, region: str) -> bool:
    """Whether a figure of the card's kind stands where the card wants it: in the region, or in one adjacent to it."""
    figures = kind_of(terms.kind).figures
    if terms.at != "adjacent":
        return standing(state, figures, region) > 0
    units = state["units"]
    near = BESIDE[region]
    return any([units[figure]["region"] in near for figure in figures])  # noqa: C419 - a list is faster here


def reach(state: State, seat: Seat, region: str, card: str, figure: str | None) -> int:
    """The most that the hand could still add in a region after a card has been played with a figure: for unit cards one attack for each
    figure there that took none this turn, for action cards their damage if a figure is in place (WOW-STR-09)."""
    left = state["sides"][seat]["hand"].copy()
    left.remove(card)
    units = state["units"]
    total = 0
    free: dict[str, int] = {}
    for other in left:
        terms = STRONGEST.get(other)
        if terms is None or terms.kind is None:
            continue
        if terms.uses_figure:
            if terms.kind not in free:
                figures = KINDS[terms.kind].figures
                free[terms.kind] = sum([units[one]["region"] == region and not units[one]["used"] and one != figure for one in figures])
            if free[terms.kind]:
                free[terms.kind] -= 1
                total += power(state, terms)
        elif in_place(state, terms, region):
            total += terms.damage
    return total


def weakness(state: State, seat: Seat, terms: Terms, region: str, figure: str | None) -> Refusal | None:
    """An attack that cannot bring the strike to the need, even with all that could follow, is not allowed (WOW-STR-03, WOW-STR-04,
    WOW-EDN-04)."""
    total = gathered(state) + power(state, terms)
    wanted = need(state, region)
    if total >= wanted:
        return None
    more = reach(state, seat, region, terms.card, figure)
    if total + more >= wanted:
        return None
    return no("too_weak", "WOW-STR-04", region=region, total=total, reach=more, need=wanted)


def gathers(state: State, terms: Terms, region: str) -> bool:
    """Whether an attack that is part of a strike leaves it open (WOW-STR-05)."""
    return gathered(state) + power(state, terms) < need(state, region)


def strike(match: Match, terms: Terms, region: str) -> None:
    """Damage below the need is noted, and opens a strike or goes on with it; when it reaches the need all of it lands, even where
    nothing is left to hit (WOW-STR-05, WOW-STR-07, WOW-STR-13)."""
    state = match.state
    total = gathered(state) + power(state, terms)
    wanted = need(state, region)
    if total < wanted:
        match.emit("strike_changed", strike={"region": region, "damage": total, "need": wanted})
        return
    if state["strike"] is not None:
        match.emit("strike_changed", strike=None)
    land_hits(match, hits(match.state, region, total))


def dealt(state: State, terms: Terms, region: str, joins: bool) -> int:
    """The damage that a special attack would deal now: what lands with the strike it joins, else its own, which is lost below the need
    (WOW-STR-07, WOW-STR-10, WOW-STR-11)."""
    if joins:
        return 0 if gathers(state, terms, region) else gathered(state) + power(state, terms)
    return terms.damage if terms.damage >= need(state, region) else 0


def pushed(state: State, terms: Terms, region: str, damage: int) -> tuple[str | None, list[str]]:
    """The Army that is pushed out of a region once damage has been dealt there, and the regions it can be pushed to: the lowest number
    still there, to any adjacent land region that is not hostile; nothing else stops it (WOW-ALN-06, WOW-ALN-07, WOW-UNT-16)."""
    if terms.push is None:
        return None, []
    units = state["units"]
    there = [figure for figure in KINDS[terms.push].figures if units[figure]["region"] == region]
    if there and damage:
        fallen = [facts["unit"] for event, facts in hits(state, region, damage) if event == "unit_destroyed"]
        there = [figure for figure in there if figure not in fallen]
    if not there:
        return None, []
    goals = [near for near in BESIDE[region] if not hostile(state, near)]
    return (there[0], goals) if goals else (None, [])


def influence(match: Match, kind: str | None, region: str) -> None:
    """A condition is laid once on a region, whether its kind's tokens have run out or not (WOW-INF-05, WOW-CMP-11)."""
    if kind is not None and not is_over(match) and kind not in match.state["regions"][region]["influence"]:
        match.emit("influence_placed", kind=kind, region=region)
