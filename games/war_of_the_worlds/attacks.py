"""How the aliens attack: with figures, with cards that lean on a figure, and with the four special attacks."""

from __future__ import annotations

from games.kernel import Action, Match, Refusal, Seat, State, no
from games.war_of_the_worlds.data import BESIDE, FIGURES, Terms
from games.war_of_the_worlds.outcome import is_over
from games.war_of_the_worlds.state import first_defence
from games.war_of_the_worlds.strike import dealt, gathers, hits, in_place, influence, land_hits, pushed, strike, weakness
from games.war_of_the_worlds.verb import Verb, attackers, held, play_of, unusable


def strike_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Every figure of the card's kind that stands where something can be hit, or where the open strike is."""
    target = None if state["strike"] is None else state["strike"]["region"]
    return [
        {**play_of(terms), "unit": figure}
        for figure, here in attackers(state, terms)
        if (here == target if target is not None else first_defence(state, here))
    ]


def strike_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """A figure attacks its own region, if something can be hit there or a strike on it is open, and the need can be met (WOW-ALN-11,
    WOW-ALN-12, WOW-DMG-07, WOW-STR-04, WOW-STR-13)."""
    figure = action["unit"]
    refusal = unusable(state, terms, figure)
    if refusal is not None:
        return refusal
    return unfit_to_strike(state, seat, terms, state["units"][figure]["region"], figure)


def unfit_to_strike(state: State, seat: Seat, terms: Terms, region: str, figure: str | None) -> Refusal | None:
    """There must be something to hit, outside an open strike, and strength enough (WOW-DMG-07, WOW-STR-04, WOW-STR-13)."""
    if state["strike"] is None and not first_defence(state, region):
        return nothing_to_hit(region)
    return weakness(state, seat, terms, region, figure)


def nothing_to_hit(region: str) -> Refusal:
    """An attack on nothing would do nothing (WOW-DMG-07, WOW-CRD-05)."""
    return no("no_target", "WOW-DMG-07", region=region, wanted="human piece that can be hit")


def unit_strike(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """The attack lands, or is gathered (WOW-ALN-11, WOW-ALN-12, WOW-STR-05, WOW-STR-07)."""
    strike(match, terms, match.state["units"][action["unit"]]["region"])


def figure_adds(state: State, terms: Terms, action: Action) -> bool:
    """Whether a figure of the card's kind stands in the region of the open strike (WOW-STR-06)."""
    figure = action["unit"]
    return FIGURES[figure].id == terms.kind and state["units"][figure]["region"] == state["strike"]["region"]


def figure_opens(state: State, terms: Terms, action: Action) -> bool:
    """Whether the attack of a figure would be gathered."""
    return gathers(state, terms, state["units"][action["unit"]]["region"])


def beam_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Every region in which a figure of the card's kind stands."""
    return [{**play_of(terms), "region": region} for region in held(state, terms)]


def beam_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """An attack by a card that leans on a figure, on land or sea (WOW-ALN-09, WOW-DMG-10)."""
    region = action["region"]
    if not in_place(state, terms, region):
        return no("no_unit", "WOW-ALN-09", kind=terms.kind, where=f"in {region}")
    return unfit_to_strike(state, seat, terms, region, None)


def beam(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """The attack lands, or is gathered (WOW-ALN-09)."""
    strike(match, terms, action["region"])


def beam_adds(state: State, terms: Terms, action: Action) -> bool:
    """Whether the attack is on the region of the open strike (WOW-STR-06)."""
    return bool(action["region"] == state["strike"]["region"])


def beam_opens(state: State, terms: Terms, action: Action) -> bool:
    """Whether the attack would be gathered."""
    return gathers(state, terms, action["region"])


def special_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Every region that the card reaches, plain or as part of a strike, with every region to which an Army can be pushed."""
    offers: list[Action] = []
    for region in targets(state, terms):
        for joins in (True,) if state["strike"] is not None else (False, True):
            if joins and state["strike"] is None and terms.damage >= first_defence(state, region):
                continue
            action = {**play_of(terms), "region": region, "strike": True} if joins else {**play_of(terms), "region": region}
            goals = pushed(state, terms, region, dealt(state, terms, region, joins))[1]
            offers += [{**action, "to": goal} for goal in goals] if goals else [action]
    return offers


def targets(state: State, terms: Terms) -> list[str]:
    """The land regions that a special attack reaches; while a strike is open that region only."""
    if state["strike"] is not None:
        return [state["strike"]["region"]]
    here = [region for region in held(state, terms) if region in state["regions"]]
    return here if terms.at != "adjacent" else list(dict.fromkeys([near for region in here for near in BESIDE[region]]))


def special_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """A special attack needs a Tripod in place, but no human piece; as part of a strike it must be needed and enough (WOW-ALN-03,
    WOW-ALN-04, WOW-ALN-05, WOW-ALN-06, WOW-INF-06, WOW-STR-04, WOW-STR-11, WOW-STR-12)."""
    region = action["region"]
    if region not in state["regions"]:
        return no("wrong_terrain", "WOW-ALN-03", region=region, wanted="a land region")
    if not in_place(state, terms, region):
        return no("no_unit", "WOW-ALN-03", kind=terms.kind, where=f"adjacent to {region}" if terms.at == "adjacent" else f"in {region}")
    joins = "strike" in action
    if joins:
        first = first_defence(state, region)
        if state["strike"] is None and terms.damage >= first:
            return no("no_strike", "WOW-STR-12", region=region, damage=terms.damage, need=first)
        refusal = weakness(state, seat, terms, region, None)
        if refusal is not None:
            return refusal
    return None if terms.push is None else push_refusal(state, terms, action, joins)


def push_refusal(state: State, terms: Terms, action: Action, joins: bool) -> Refusal | None:
    """An Army still there after the damage is pushed to an adjacent land region that is not hostile, whenever there is one; with neither
    damage nor push the card cannot be played (WOW-ALN-06, WOW-ALN-07)."""
    region, goal = action["region"], action.get("to")
    damage = dealt(state, terms, region, joins)
    figure, goals = pushed(state, terms, region, damage)
    if figure is None:
        if not joins and not (damage and first_defence(state, region)):
            return no("no_target", "WOW-ALN-06", region=region, wanted=f"Army to push, and no piece that {terms.damage} damage destroys,")
        return None if goal is None else no("bad_action", "WOW-ALN-06", reason="`to` is given, but no figure will be pushed")
    if goal is None:
        return no("bad_action", "WOW-ALN-07", reason=f"`to` must say where {figure} is pushed")
    if goal in goals:
        return None
    if goal not in BESIDE[region] or goal not in state["regions"]:
        return no("not_adjacent", "WOW-ALN-06", source=region, goal=goal, wanted="adjacent to")
    return no("hostile", "WOW-ALN-06", region=goal)


def special(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """First the damage, dealt, gathered or lost; then the condition, or the push (WOW-ALN-03, WOW-ALN-04, WOW-ALN-05, WOW-ALN-06,
    WOW-CRD-03, WOW-STR-10, WOW-STR-11, WOW-INF-01, WOW-INF-02, WOW-INF-03)."""
    region, joins = action["region"], "strike" in action
    damage = dealt(match.state, terms, region, joins)
    figure, _ = pushed(match.state, terms, region, damage)
    if joins:
        strike(match, terms, region)
    elif damage:
        land_hits(match, hits(match.state, region, damage))
    influence(match, terms.influence, region)
    if figure is not None and not is_over(match):
        match.emit("unit_moved", **{"unit": figure, "from": region, "to": action["to"]})


def special_adds(state: State, terms: Terms, action: Action) -> bool:
    """Whether the attack is declared part of the open strike (WOW-STR-06, WOW-STR-11)."""
    return "strike" in action and action["region"] == state["strike"]["region"]


def special_opens(state: State, terms: Terms, action: Action) -> bool:
    """Whether the attack is declared part of a strike, which its damage alone never completes (WOW-STR-11, WOW-STR-12)."""
    return "strike" in action


UNIT_STRIKE = Verb(("unit",), strike_offers, strike_refusal, unit_strike, (), figure_adds, figure_opens)
BEAM = Verb(("region",), beam_offers, beam_refusal, beam, (), beam_adds, beam_opens)
SPECIAL = Verb(("region",), special_offers, special_refusal, special, ("strike",), special_adds, special_opens)
PUSH = SPECIAL._replace(optional=("strike", "to"))
