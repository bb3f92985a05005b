"""Verbs for civilians: moving, fighting and being destroyed; and the second move of Evacuate."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Action, Deed, Event, Fact, Refusal, Seat, never_refused, no, only
from games.schema import Fields
from games.sentences import say
from games.war_of_the_worlds.data import BESIDE, HUMANS, LAND, REGIONS, Terms
from games.war_of_the_worlds.document import Evacuation, Match, State
from games.war_of_the_worlds.outcome import check_damage, check_extinction, deal_damage
from games.war_of_the_worlds.state import (
    EVACUATING,
    FOUGHT,
    LAND_REGION,
    PLAYING,
    REGION,
    entry_closed,
    exit_closed,
    malformed,
    movable,
    next_has_fought,
    nothing_to_attack,
    open_to_attack,
    play_of,
    regions_of,
    wants_land,
)
from games.war_of_the_worlds.strike.damage import in_place, protected

# ---------------------------------------------------------------- one step of a civilian


def civilian_moves(state: State, evacuation: Evacuation | None) -> list[tuple[str, str]]:
    """Return every step of a civilian, as two regions. The civilian that Evacuate moved first stays (WOW-MOV-10, WOW-HUM-04)."""
    regions = state["regions"]
    moves: list[tuple[str, str]] = []
    for source in LAND:
        if regions[source]["civilians"] and movable(state, source, evacuation) and not exit_closed(state, source):
            moves += [(source, goal) for goal in BESIDE[source] if not regions[goal]["influence"] or not entry_closed(state, goal)]
    return moves


def civilian_move_refusal(state: State, source: str, goal: str, evacuation: Evacuation | None) -> Refusal | None:
    """Return why no civilian can make a step, or None: none there may move, the goal is not adjacent land, or a condition stops it. The
    goal may be hostile (WOW-MOV-09, WOW-MOV-10, WOW-INF-01, WOW-INF-02, WOW-HUM-04)."""
    refusal = wants_land(state, source, goal)
    if refusal is not None:
        return refusal
    if movable(state, source, evacuation) <= 0:
        if state["regions"][source]["civilians"]:
            return no("no_civilian", "WOW-HUM-04", region=source, wanted=say("no civilian but the one that has just moved"))
        return no("no_civilian", "WOW-MOV-10", region=source, wanted=say("no civilian"))
    if goal not in BESIDE[source]:
        return no("not_adjacent", "WOW-MOV-10", source=source, goal=goal, wanted=say("adjacent to"))
    if exit_closed(state, source):
        return no("sealed", "WOW-INF-02", region=source)
    if entry_closed(state, goal):
        return no("closed", "WOW-INF-01", region=goal)
    return None


def move_civilian(match: Match, source: str, goal: str, evacuation: Evacuation | None) -> bool:
    """Move a civilian, if possible one that has not fought, and return True if it has fought (WOW-MOV-11, WOW-BLD-10)."""
    fought = next_has_fought(match.state, source, evacuation)
    match.emit("civilian_moved", **{"from": source, "to": goal, "fought": fought})
    return fought


# ---------------------------------------------------------------- cards that move civilians


def move_civilians_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return a play for every step of a civilian."""
    card, option = terms.card, terms.option
    return [{"type": "play", "card": card, "option": option, "from": a, "to": b} for a, b in civilian_moves(state, None)]


def move_civilians_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Return why a card cannot move civilians like this, or None: no civilian can make the step (WOW-HUM-01, WOW-HUM-03, WOW-HUM-05)."""
    return civilian_move_refusal(state, action["from"], action["to"], None)


def move_civilians(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Move a civilian. A card for two waits for the second, if any other could move (WOW-HUM-03, WOW-HUM-04, WOW-TRN-04)."""
    goal = action["to"]
    fought = move_civilian(match, action["from"], goal, None)
    if terms.moves > 1 and civilian_moves(match.state, {"region": goal, "fought": fought}):
        match.emit("evacuation_started", region=goal, fought=fought)
        match.emit("phase_changed", phase=EVACUATING, active=HUMANS, to_act=[HUMANS])


def second_move_offers(state: State, seat: Seat) -> list[Action]:
    """Return every step of another civilian than the one that moved first (WOW-HUM-04)."""
    return [{"type": "move_civilian", "from": a, "to": b} for a, b in civilian_moves(state, state["evacuation"])]


def second_move_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Return why the second civilian cannot move like this, or None: no other civilian can make the step (WOW-HUM-04)."""
    bad = malformed(action, "from", REGIONS, "region") or malformed(action, "to", REGIONS, "region")
    return bad or civilian_move_refusal(state, action["from"], action["to"], state["evacuation"])


def second_move(match: Match, seat: Seat, action: Action) -> None:
    """Move the second civilian, which ends Evacuate (WOW-HUM-03, WOW-HUM-04)."""
    move_civilian(match, action["from"], action["to"], match.state["evacuation"])
    _end_evacuation(match)


def end_moves(match: Match, seat: Seat, action: Action) -> None:
    """End Evacuate (WOW-HUM-04)."""
    _end_evacuation(match)


def _end_evacuation(match: Match) -> None:
    match.emit("evacuation_ended")
    match.emit("phase_changed", phase=PLAYING, active=HUMANS, to_act=[HUMANS])


# ---------------------------------------------------------------- civilians that fight


def civilian_attack_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return a play for every region with a target and a civilian that has not fought."""
    regions = state["regions"]
    return [
        {**play_of(terms), "region": region} for region in open_to_attack(state) if regions[region]["civilians"] > regions[region]["fought"]
    ]


def civilian_attack_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Return why civilians cannot attack a region, or None: it has no target, or no civilian that has not fought this turn (WOW-HUM-02,
    WOW-ATK-02, WOW-ATK-07)."""
    region = action["region"]
    land = state["regions"].get(region)
    if land is None:
        return wants_land(state, region)
    if land["civilians"] <= land["fought"]:
        return no("no_civilian", "WOW-ATK-07", region=region, wanted=say("no civilian that has not fought this turn"))
    return nothing_to_attack(state, region)


def civilian_attack(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Mark a civilian and deal its damage (WOW-HUM-02, WOW-ATK-07)."""
    match.emit("civilian_fought", region=action["region"])
    deal_damage(match, terms.damage, terms.card, action["region"])
    check_damage(match)


# ---------------------------------------------------------------- cards that destroy a civilian


def destroy_civilian_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Return a play for every land region with a figure of the card's kind."""
    return [{**play_of(terms), "region": region} for region in regions_of(state, terms) if region in state["regions"]]


def destroy_civilian_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """Return why no civilian can be destroyed in a region, or None: it has no figure of the card's kind, or no civilian, who for some cards
    must be unprotected (WOW-ALN-01, WOW-ALN-10, WOW-DMG-12)."""
    region = action["region"]
    land = state["regions"].get(region)
    if land is None:
        return wants_land(state, region)
    if not in_place(state, terms, region):
        return no("no_unit", "WOW-ALN-10", kind=terms.kind, where=say("in {region}", region=region))
    if not land["civilians"]:
        return no("no_civilian", "WOW-ALN-10", region=region, wanted=say("no civilian"))
    if terms.unprotected_only and protected(state, region):
        return no("protected", "WOW-DMG-12", region=region)
    return None


def destroy_civilian(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """Destroy one civilian. This is not damage (WOW-ALN-17)."""
    match.emit("civilians_destroyed", region=action["region"], count=1)
    check_extinction(match)


# ---------------------------------------------------------------- facts


def civilian_moved(state: State, event: Event, own: Own) -> None:
    """A civilian is in another region, and its mark goes with it (WOW-ATK-08, WOW-ATK-09)."""
    regions = own(state, "regions")
    source, goal = own(regions, event["from"]), own(regions, event["to"])
    source["civilians"] -= 1
    goal["civilians"] += 1
    if event["fought"]:
        source["fought"] -= 1
        goal["fought"] += 1


def civilian_fought(state: State, event: Event, own: Own) -> None:
    """A civilian has attacked this turn."""
    own(own(state, "regions"), event["region"])["fought"] += 1


def evacuation_started(state: State, event: Event, own: Own) -> None:
    """A second civilian may move. The first one stays in its region."""
    state["evacuation"] = {"region": event["region"], "fought": event["fought"]}


def evacuation_ended(state: State, event: Event, own: Own) -> None:
    """No second civilian may move any more."""
    state["evacuation"] = None


MOVE_CIVILIAN = Deed({"from": REGION, "to": REGION}, second_move_offers, second_move_refusal, second_move)
END_MOVES = Deed({}, only("end_moves"), never_refused, end_moves)

FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "civilian_moved": (civilian_moved, {"from": LAND_REGION, "to": LAND_REGION, "fought": FOUGHT}),
    "civilian_fought": (civilian_fought, {"region": LAND_REGION}),
    "evacuation_started": (evacuation_started, {"region": LAND_REGION, "fought": FOUGHT}),
    "evacuation_ended": (evacuation_ended, {}),
}
