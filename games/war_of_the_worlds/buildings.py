"""The deed of using a building: a repair by the Regenerator, a shot by Fort or Heavy Artillery."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, no
from games.schema import Fields, nullable, optional
from games.sentences import say
from games.war_of_the_worlds.data import ACTING_OF, ATTACKABLE, BESIDE, LAND, NO_SHOTS, REGIONS, Work
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.flow import gain
from games.war_of_the_worlds.outcome import check_damage, deal_damage
from games.war_of_the_worlds.state import BUILDING, LAND_REGION, REGION, malformed, nothing_to_attack, standing, used_up


def working(state: State, seat: Seat, region: str) -> tuple[str, Work] | None:
    """Return a seat's building in a region and its action, or None if there is no building with an action."""
    land = state["regions"].get(region)
    name = None if land is None else land["building"]
    if name is None or name not in ACTING_OF[seat]:
        return None
    return name, ACTING_OF[seat][name]


def use_building_offers(state: State, seat: Seat) -> list[Action]:
    """Return an action for every unused building of the seat, and for every target."""
    offers: list[Action] = []
    regions, acting = state["regions"], ACTING_OF[seat]
    for region in LAND:
        name = regions[region]["building"]
        if name is None or name not in acting or used_up(state, region):
            continue
        if acting[name].damage_adjacent:
            offers += [{"type": "use_building", "region": region, "target": target} for target in (region, *BESIDE[region])]
        else:
            offers.append({"type": "use_building", "region": region})
    return offers


def use_building_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why a building cannot be used, or None: it was used this turn, or can do nothing. A building works from the turn in which it
    is placed (WOW-BLD-07, WOW-BLD-11)."""
    region = action["region"]
    bad = malformed(action, "region", REGIONS, "region") or malformed(action, "target", REGIONS, "region")
    if bad is not None:
        return bad
    found = working(state, seat, region)
    if found is None:
        return no("no_building", "WOW-BLD-11", region=region)
    name, work = found
    if bool(work.damage_adjacent) != ("target" in action):
        need = say("`target` must say what is attacked") if "target" not in action else say("`target` has no place here")
        return no("bad_action", "WOW-HUM-12", reason=need)
    if used_up(state, region):
        return no("already_used", "WOW-BLD-11", building=name, region=region)
    if work.repair:
        return repair_refusal(state, name, work)
    return shot_refusal(state, name, region, action.get("target") or region)


def repair_refusal(state: State, name: str, work: Work) -> Refusal | None:
    """Return why nothing can be repaired, or None: the energy for it is missing, or there is no damage (WOW-ALN-16)."""
    if state["resources"] < work.energy:
        return no("too_expensive", "WOW-ALN-16", what=name, cost=work.energy, resources=state["resources"])
    return None if state["damage"] else no("no_damage", "WOW-ALN-16")


def shot_refusal(state: State, name: str, region: str, target: str) -> Refusal | None:
    """Return why a building cannot shoot, or None: there is fog or no target. In its own region it shoots at a Tripod, in an adjacent
    region at anything that can be attacked (WOW-HUM-12, WOW-HUM-15, WOW-INF-03, WOW-EDN-07)."""
    if NO_SHOTS in state["regions"][region]["influence"]:
        return no("fogged", "WOW-INF-03", building=name, region=region)
    if target == region:
        if standing(state, ATTACKABLE, region):
            return None
        return no("no_target", "WOW-HUM-15", region=region, wanted=say("Tripod"))
    if target not in BESIDE[region] or target not in state["regions"]:
        return no("not_adjacent", "WOW-HUM-12", source=region, goal=target, wanted=say("adjacent to"))
    return nothing_to_attack(state, target)


def use_building(match: Match, seat: Seat, action: Action) -> None:
    """Repair for energy, or shoot (WOW-ALN-16, WOW-HUM-12, WOW-HUM-15, WOW-BLD-11)."""
    region = action["region"]
    found = working(match.state, seat, region)
    assert found is not None
    name, work = found
    if work.repair:
        gain(match, seat, -work.energy, name)
        match.emit("building_used", building=name, region=region, target=None)
        deal_damage(match, -min(work.repair, match.state["damage"]), name, None)
        return
    target = action.get("target", region)
    match.emit("building_used", building=name, region=region, target=target)
    deal_damage(match, work.damage_own_region if target == region else work.damage_adjacent, name, target)
    check_damage(match)


# ---------------------------------------------------------------- facts


def building_used(state: State, event: Event, own: Own) -> None:
    """A building has done its action this turn."""
    own(state, "fired").append(event["region"])


USE_BUILDING = Deed({"region": REGION, "target": optional(REGION)}, use_building_offers, use_building_refusal, use_building)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "building_used": (building_used, {"building": BUILDING, "region": LAND_REGION, "target": nullable(LAND_REGION)}),
}
