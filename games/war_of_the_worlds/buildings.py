"""The deed of using a building's own action."""

from __future__ import annotations

from games.kernel import Action, Deed, Match, Refusal, Seat, State, no
from games.schema import optional
from games.war_of_the_worlds.data import ACTING_OF, ATTACKABLE, BESIDE, BUILDINGS, FOGGED, REGIONS, Building
from games.war_of_the_worlds.flow import gain
from games.war_of_the_worlds.outcome import check_damage, deal_damage
from games.war_of_the_worlds.state import REGION, standing
from games.war_of_the_worlds.verb import malformed, nothing_to_attack


def token_with_action(state: State, seat: Seat, region: str) -> Building | None:
    """The building of a seat in a region, if it has an action of its own."""
    land = state["regions"].get(region)
    return BUILDINGS[land["building"]] if land is not None and land["building"] in ACTING_OF[seat] else None


def _action(token: Building) -> dict[str, int]:
    assert token.action is not None
    return token.action


def use_building_offers(state: State, seat: Seat) -> list[Action]:
    """Every building of the seat with an action that it has not used, with every target."""
    offers: list[Action] = []
    acting = ACTING_OF[seat]
    for region, land in state["regions"].items():
        if land["building"] not in acting or region in state["fired"]:
            continue
        if "damage_adjacent" in _action(BUILDINGS[land["building"]]):
            offers += [{"type": "use_building", "region": region, "target": target} for target in (region, *BESIDE[region])]
        else:
            offers.append({"type": "use_building", "region": region})
    return offers


def use_building_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """A building's own action is done once a turn, also in the turn in which it is placed (WOW-BLD-07, WOW-BLD-11)."""
    region = action["region"]
    bad = malformed(action, "region", REGIONS, "region") or malformed(action, "target", REGIONS, "region")
    if bad is not None:
        return bad
    token = token_with_action(state, seat, region)
    if token is None:
        return no("no_building", "WOW-BLD-11", region=region)
    if ("damage_adjacent" in _action(token)) != ("target" in action):
        need = "must say what is attacked" if "target" not in action else "has no place here"
        return no("bad_action", "WOW-HUM-12", reason=f"`target` {need}")
    if region in state["fired"]:
        return no("already_used", "WOW-BLD-11", building=token.id, region=region)
    if "repair" in _action(token):
        return repair_refusal(state, token)
    return shot_refusal(state, token, region, action.get("target") or region)


def repair_refusal(state: State, token: Building) -> Refusal | None:
    """Repair costs energy and needs damage to lower (WOW-ALN-16)."""
    cost = _action(token)["energy"]
    if state["resources"] < cost:
        return no("too_expensive", "WOW-ALN-16", what=token.id, cost=cost, resources=state["resources"])
    return None if state["damage"] else no("no_damage", "WOW-ALN-16")


def shot_refusal(state: State, token: Building, region: str, target: str) -> Refusal | None:
    """A gun fires at a Tripod in its own region, or at what can be attacked next to it, unless fog hinders it (WOW-HUM-12, WOW-HUM-15,
    WOW-INF-03, WOW-EDN-07)."""
    if FOGGED in state["regions"][region]["influence"]:
        return no("fogged", "WOW-INF-03", building=token.id, region=region)
    if target == region:
        if standing(state, ATTACKABLE, region):
            return None
        return no("no_target", "WOW-HUM-15", region=region, wanted="Tripod")
    if target not in BESIDE[region] or target not in state["regions"]:
        return no("not_adjacent", "WOW-HUM-12", source=region, goal=target, wanted="adjacent to")
    return nothing_to_attack(state, target)


def use_building(match: Match, seat: Seat, action: Action) -> None:
    """Repair for energy, or a shot (WOW-ALN-16, WOW-HUM-12, WOW-HUM-15, WOW-BLD-11)."""
    region = action["region"]
    token = token_with_action(match.state, seat, region)
    assert token is not None
    numbers = _action(token)
    if "repair" in numbers:
        gain(match, seat, -numbers["energy"], token.id)
        match.emit("building_used", building=token.id, region=region, target=None)
        repaired = min(numbers["repair"], match.state["damage"])
        deal_damage(match, -repaired, token.id, None)
        return
    target = action.get("target", region)
    match.emit("building_used", building=token.id, region=region, target=target)
    deal_damage(match, numbers["damage_own_region" if target == region else "damage_adjacent"], token.id, target)
    check_damage(match)


USE_BUILDING = Deed({"region": REGION, "target": optional(REGION)}, use_building_offers, use_building_refusal, use_building)
