"""Verbs for figures: placing them, moving them, and the attacks of the humans."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Action, Event, Fact, Refusal, Seat, no
from games.schema import Fields
from games.sentences import say
from games.war_of_the_worlds.data import BESIDE, COAST, FIGURES, HUMANS, MINES, Building, Terms
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.outcome import check_damage, deal_damage
from games.war_of_the_worlds.sites import place, places, placing_refusal
from games.war_of_the_worlds.state import (
    FIGURE,
    REGION,
    attackers,
    barred,
    entry_closed,
    exit_closed,
    free_figure,
    fresh_figures,
    has_way,
    kind_of,
    nothing_to_attack,
    open_to_attack,
    pinned,
    place_of,
    play_of,
    ways,
)


def unit_place_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return a play for every region in which the figure may be placed. A kind with a region of its own names none."""
    kind = kind_of(terms.kind)
    if free_figure(state, kind) is None:
        return []
    return [{**play_of(terms), "region": region} if kind.placed_at is None else play_of(terms) for region in places(state, kind)]


def unit_place_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Return why a unit card cannot place a figure, or None: it must act, unless the hand has more cards of its kind than there are figures
    of the kind that took none this turn (WOW-UNT-09, WOW-UNT-10, WOW-UNT-13, WOW-EDN-03, WOW-CMP-10)."""
    kind = kind_of(terms.kind)
    cards, fresh = state["sides"][seat]["hand"].count(terms.card), fresh_figures(state, kind)
    if cards <= fresh:
        return no("must_act", "WOW-UNT-09", card=terms.card, cards=cards, kind=kind.id, fresh=fresh)
    if free_figure(state, kind) is None:
        return no("none_left", "WOW-CMP-10", kind=kind.id, figures=len(kind.figures))
    return placing_refusal(state, kind, kind.placed_at or action["region"])


def unit_place(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Place a figure. It has taken its unit card for this turn (WOW-UNT-10, WOW-UNT-11)."""
    kind = kind_of(terms.kind)
    place(match, kind, kind.placed_at or action["region"], used=True)


def unit_move_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return a play for every figure of the card's kind that is not pinned, and for every region near enough."""
    kind = kind_of(terms.kind)
    units = state["units"]
    card, option, within = terms.card, terms.option, kind.within[terms.steps]
    offers: list[Action] = []
    for figure in kind.figures:
        start = units[figure]["region"]
        if start is None or (terms.uses_figure and units[figure]["used"]) or (kind.blocks and pinned(state, figure, start)):
            continue
        offers += [{"type": "play", "card": card, "option": option, "unit": figure, "to": goal} for goal in within[start]]
    return offers


def unit_move_legal(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return the plays that are not refused, with all ways of a figure found at once."""
    kind = kind_of(terms.kind)
    card, option, steps = terms.card, terms.option, terms.steps
    legal: list[Action] = []
    for figure, start in attackers(state, terms):
        found = ways(state, figure, start, steps)
        legal += [
            {"type": "play", "card": card, "option": option, "unit": figure, "to": goal}
            for goal in kind.within[steps][start]
            if goal in found
        ]
    return legal


def unit_move_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Return why a figure cannot move to a region, or None: it is not of the figure's terrain, not in reach, or without an allowed way
    (WOW-MOV-01, WOW-MOV-03, WOW-MOV-05, WOW-MOV-06, WOW-MOV-12, WOW-HUM-05, WOW-HUM-07, WOW-HUM-08, WOW-ALN-01, WOW-ALN-10, WOW-ALN-11,
    WOW-ALN-12)."""
    figure, goal = action["unit"], action["to"]
    kind = FIGURES[figure]
    if goal not in kind.beside:
        return no("wrong_terrain", "WOW-MOV-01", region=goal, wanted=say("a region for {kind}", kind=kind.id))
    start = place_of(state, figure)
    if goal not in kind.within[terms.steps][start]:
        if terms.steps > 1:
            wanted = say("another region within {steps} of", steps=terms.steps)
            return no("not_adjacent", "WOW-MOV-03", source=start, goal=goal, wanted=wanted)
        return no("not_adjacent", "WOW-MOV-02", source=start, goal=goal, wanted=say("adjacent to"))
    if has_way(state, figure, start, goal, terms.steps):
        return None
    if pinned(state, figure, start):
        return no("unit_blocked", "WOW-MOV-05", unit=figure, region=start)
    if kind.side == HUMANS:
        if exit_closed(state, start):
            return no("sealed", "WOW-INF-02", region=start)
        if entry_closed(state, goal):
            return no("closed", "WOW-INF-01", region=goal)
    if barred(state, kind, goal):
        return no("balloons", "WOW-MOV-12", unit=figure, region=goal)
    return no("no_path", "WOW-MOV-04", source=start, goal=goal)


def _mine(state: State, figure: str, region: str) -> Building | None:
    """Return the token in a region that a figure sets off when it enters, or None (WOW-HUM-16, WOW-HUM-17)."""
    land = state["regions"].get(region)
    mine = MINES.get(land["building"]) if land is not None else None
    return mine if mine is not None and FIGURES[figure].id in mine.triggered_by else None


def mine_damage(state: State, figure: str, region: str) -> int:
    """Return the damage of Landmines that a figure sets off when it enters a region (WOW-HUM-16)."""
    mine = _mine(state, figure, region)
    return mine.trigger_damage if mine is not None else 0


def unit_move(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Move the figure. A Tripod sets off Landmines, with every card that moves it (WOW-HUM-16, WOW-HUM-17, WOW-INF-07, WOW-END-04,
    WOW-ATK-04)."""
    figure, goal = action["unit"], action["to"]
    match.emit("unit_moved", **{"unit": figure, "from": place_of(match.state, figure), "to": goal})
    mine = _mine(match.state, figure, goal)
    if mine is not None:
        deal_damage(match, mine.trigger_damage, mine.id, goal)
        match.emit("building_destroyed", building=mine.id, slot=mine.slot, region=goal)
        check_damage(match)


def human_attack_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return a play for every Army whose region can be attacked, or for every Navy and every coastal region that can be attacked."""
    opened = open_to_attack(state)
    if terms.at == COAST:
        return [
            {**play_of(terms), "unit": figure, "region": coast}
            for figure, here in attackers(state, terms)
            for coast in BESIDE[here]
            if coast in opened
        ]
    return [{**play_of(terms), "unit": figure} for figure, here in attackers(state, terms) if here in opened]


def human_attack_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Return why a figure cannot attack a region, or None: it does not reach it, or nothing there can be attacked. An Army attacks its own
    region, a Navy a coastal region of its sea region (WOW-ATK-05, WOW-ATK-06, WOW-MAP-10, WOW-HUM-07, WOW-HUM-08)."""
    here = place_of(state, action["unit"])
    if terms.at != COAST:
        return nothing_to_attack(state, here)
    region = action["region"]
    if region not in state["regions"]:
        return no("wrong_terrain", "WOW-ATK-06", region=region, wanted=say("a land region"))
    if region not in BESIDE[here]:
        return no("not_adjacent", "WOW-ATK-06", source=here, goal=region, wanted=say("adjacent to"))
    return nothing_to_attack(state, region)


def human_attack(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Deal the damage of the attack (WOW-ATK-03, WOW-HUM-07, WOW-HUM-08)."""
    region = action.get("region") or place_of(match.state, action["unit"])
    deal_damage(match, terms.damage, terms.card, region)
    check_damage(match)


# ---------------------------------------------------------------- facts


def unit_moved(state: State, event: Event, own: Own) -> None:
    """A figure is in another region."""
    own(own(state, "units"), event["unit"])["region"] = event["to"]


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "unit_moved": (unit_moved, {"unit": FIGURE, "from": REGION, "to": REGION}),
}
