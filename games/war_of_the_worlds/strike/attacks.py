"""The attacks of the aliens: by figures, by Scorching Beam, and by the four special cards. `play` carries them out."""

from __future__ import annotations

import functools

from games.kernel import Action, Refusal, Seat, no
from games.sentences import say
from games.war_of_the_worlds.data import ADJACENT, BESIDE, FIGURES, Terms
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.outcome import is_over
from games.war_of_the_worlds.state import attackers, place_of, play_of, regions_of
from games.war_of_the_worlds.strike import damage

_HIT = say("human piece that can be hit")

# ---------------------------------------------------------------- every attack


def aim_refusal(state: State, seat: Seat, terms: Terms, region: str, figure: str | None) -> Refusal | None:
    """Return why an attack on a region is refused, or None: it finds nothing to hit and adds to no open strike, or is too weak (WOW-DMG-07,
    WOW-CRD-05, WOW-STR-04, WOW-STR-13)."""
    if state["strike"] is None and not damage.first_defence(state, region):
        return no("no_target", "WOW-DMG-07", region=region, wanted=_HIT)
    return damage.weakness(state, seat, terms, region, figure)


def destroyed_by(state: State, terms: Terms, action: Action) -> list[damage.Piece]:
    """Return the pieces that an attack destroys at once: none if it leaves a strike open (WOW-STR-05, WOW-STR-07, WOW-STR-10)."""
    region = place_of(state, action["unit"]) if "unit" in action else action["region"]
    if terms.influence is not None or terms.push is not None:
        return [] if "strike" in action and damage.gathers(state, terms, region) else damage.struck(state, terms, region)
    if damage.gathers(state, terms, region):
        return []
    return damage.hits(state, region, damage.gathered(state) + damage.power(state, terms))


# ---------------------------------------------------------------- figures: Tripod and UFO cards


def figure_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return a play for every figure of the card's kind that has something to hit, or that is in the region of the open strike."""
    strike = state["strike"]
    return [
        {**play_of(terms), "unit": figure}
        for figure, here in attackers(state, terms)
        if (here == strike["region"] if strike is not None else damage.first_defence(state, here))
    ]


def figure_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Return why a figure cannot attack its own region, or None (WOW-ALN-11, WOW-ALN-12, WOW-DMG-07, WOW-STR-04, WOW-STR-13)."""
    figure = action["unit"]
    return aim_refusal(state, seat, terms, place_of(state, figure), figure)


def figure_attack(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Attack the figure's own region (WOW-ALN-11, WOW-ALN-12, WOW-STR-05, WOW-STR-07)."""
    damage.attack(match, terms, place_of(match.state, action["unit"]))


def figure_adds(state: State, terms: Terms, action: Action, region: str) -> bool:
    """Return True if a figure of the card's kind is in the region of the open strike (WOW-STR-06)."""
    figure = action["unit"]
    return FIGURES[figure].id == terms.kind and state["units"][figure]["region"] == region


def figure_opens(state: State, terms: Terms, action: Action) -> bool:
    """Return True if the figure's attack would leave a strike open."""
    return damage.gathers(state, terms, place_of(state, action["unit"]))


# ---------------------------------------------------------------- a card that needs a figure in place: Scorching Beam


def beam_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return a play for every region with a figure of the card's kind."""
    return [{**play_of(terms), "region": region} for region in regions_of(state, terms)]


def beam_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Return why a beam cannot attack a region, or None: no figure of the card's kind is there, or the attack is refused. Land and sea will
    do (WOW-ALN-09, WOW-DMG-10)."""
    region = action["region"]
    if not damage.in_place(state, terms, region):
        return no("no_unit", "WOW-ALN-09", kind=terms.kind, where=say("in {region}", region=region))
    return aim_refusal(state, seat, terms, region, None)


def beam_attack(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Attack the region (WOW-ALN-09)."""
    damage.attack(match, terms, action["region"])


def beam_adds(state: State, terms: Terms, action: Action, region: str) -> bool:
    """Return True if the attack is on the region of the open strike (WOW-STR-06)."""
    return bool(action["region"] == region)


def beam_opens(state: State, terms: Terms, action: Action) -> bool:
    """Return True if the attack would leave a strike open."""
    return damage.gathers(state, terms, action["region"])


# ---------------------------------------------------------------- special attacks: three conditions, and the push of Infrasound


def special_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return a play for every region that the card reaches, by itself and as part of a strike, and for every region to which it can push
    an Army."""
    opened = state["strike"] is not None
    offers: list[Action] = []
    for region in targets(state, terms):
        for joins in (True,) if opened else (False, True):
            if joins and needs_no_strike(state, terms, region):
                continue
            action = {**play_of(terms), "region": region, "strike": True} if joins else {**play_of(terms), "region": region}
            goals = damage.pushed(state, terms, region)[1]
            offers += [{**action, "to": goal} for goal in goals] if goals else [action]
    return offers


def targets(state: State, terms: Terms) -> list[str]:
    """Return the land regions that a special attack reaches; while a strike is open, only its region."""
    if state["strike"] is not None:
        return [state["strike"]["region"]]
    here = [region for region in regions_of(state, terms) if region in state["regions"]]
    return here if terms.at != ADJACENT else list(dict.fromkeys([near for region in here for near in BESIDE[region]]))


def needs_no_strike(state: State, terms: Terms, region: str) -> bool:
    """Return True if an attack cannot open a strike: its damage is enough by itself, or nothing can be hit (WOW-STR-12)."""
    return state["strike"] is None and terms.damage >= damage.first_defence(state, region)


def special_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Return why a special attack is refused, or None: no Tripod is in place, or it joins a strike without need or in vain. No human piece
    is needed (WOW-ALN-03, WOW-ALN-04, WOW-ALN-05, WOW-ALN-06, WOW-INF-06, WOW-STR-04, WOW-STR-11, WOW-STR-12)."""
    region = action["region"]
    if region not in state["regions"]:
        return no("wrong_terrain", "WOW-ALN-03", region=region, wanted=say("a land region"))
    if not damage.in_place(state, terms, region):
        where = say("adjacent to {region}", region=region) if terms.at == ADJACENT else say("in {region}", region=region)
        return no("no_unit", "WOW-ALN-03", kind=terms.kind, where=where)
    joins = "strike" in action
    if joins:
        if needs_no_strike(state, terms, region):
            return no("no_strike", "WOW-STR-12", region=region, damage=terms.damage, need=damage.first_defence(state, region))
        refusal = damage.weakness(state, seat, terms, region, None)
        if refusal is not None:
            return refusal
    return None if terms.push is None else push_refusal(state, terms, action, joins)


@functools.cache
def _to_push(damage: int) -> str:
    return say("Army to push, and no piece that {damage} damage destroys,", damage=damage)


def push_refusal(state: State, terms: Terms, action: Action, joins: bool) -> Refusal | None:
    """Return why an Army cannot be pushed like this, or None: `to` is wrong, or the card neither deals damage nor pushes. An Army that
    survives the damage and has somewhere to go must be pushed (WOW-ALN-06, WOW-ALN-07)."""
    region, goal = action["region"], action.get("to")
    figure, goals = damage.pushed(state, terms, region)
    if figure is None:
        if not joins and not damage.struck(state, terms, region):
            return no("no_target", "WOW-ALN-06", region=region, wanted=_to_push(terms.damage))
        return None if goal is None else no("bad_action", "WOW-ALN-06", reason=say("`to` is given, but no figure will be pushed"))
    if goal is None:
        return no("bad_action", "WOW-ALN-07", reason=say("`to` must say where {figure} is pushed", figure=figure))
    if goal in goals:
        return None
    if goal not in BESIDE[region] or goal not in state["regions"]:
        return no("not_adjacent", "WOW-ALN-06", source=region, goal=goal, wanted=say("adjacent to"))
    return no("hostile", "WOW-ALN-06", region=goal)


def special_attack(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Deal, gather or lose the damage. Then place the condition, or push the Army (WOW-ALN-03, WOW-ALN-04, WOW-ALN-05, WOW-ALN-06,
    WOW-CRD-03, WOW-STR-10, WOW-STR-11, WOW-INF-01, WOW-INF-02, WOW-INF-03)."""
    region, joins = action["region"], "strike" in action
    figure, _ = damage.pushed(match.state, terms, region)
    if joins:
        damage.attack(match, terms, region)
    else:
        damage.destroy(match, region, damage.struck(match.state, terms, region))
    if is_over(match):
        return
    if terms.influence is not None:
        damage.place_influence(match, terms.influence, region)
    if figure is not None:
        match.emit("unit_moved", **{"unit": figure, "from": region, "to": action["to"]})


def special_adds(state: State, terms: Terms, action: Action, region: str) -> bool:
    """Return True if the attack is declared part of the open strike (WOW-STR-06, WOW-STR-11)."""
    return "strike" in action and action["region"] == region


def special_opens(state: State, terms: Terms, action: Action) -> bool:
    """Return True if the attack is declared part of a strike. Its damage alone never completes one (WOW-STR-11, WOW-STR-12)."""
    return "strike" in action
