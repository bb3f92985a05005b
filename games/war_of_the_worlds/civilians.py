"""What cards do with civilians: moving, fighting, being taken."""

from __future__ import annotations

from games.kernel import Action, Match, Refusal, Seat, State, no
from games.war_of_the_worlds.data import BESIDE, LAND, Terms
from games.war_of_the_worlds.outcome import check_damage, deal_damage, destroy_civilians
from games.war_of_the_worlds.state import Evacuation, closed, movable, next_has_fought, open_to_attack, protected, sealed
from games.war_of_the_worlds.strike import in_place
from games.war_of_the_worlds.verb import Verb, held, nothing_to_attack, play_of, wants_land


def civilian_moves(state: State, evacuation: Evacuation | None) -> list[tuple[str, str]]:
    """Where a civilian can go from and to, the one that Evacuate moved first left out (WOW-MOV-10, WOW-HUM-04)."""
    regions = state["regions"]
    moves = []
    for source in LAND:
        if regions[source]["civilians"] and movable(state, source, evacuation) and not sealed(state, source):
            moves += [(source, goal) for goal in BESIDE[source] if not regions[goal]["influence"] or not closed(state, goal)]
    return moves


def civilian_move_refusal(state: State, source: str, goal: str, evacuation: Evacuation | None) -> Refusal | None:
    """A civilian goes to an adjacent land region, hostile or not, unless the aliens have sealed the one or closed the other (WOW-MOV-09,
    WOW-MOV-10, WOW-INF-01, WOW-INF-02, WOW-HUM-04)."""
    refusal = wants_land(state, source, goal)
    if refusal is not None:
        return refusal
    if movable(state, source, evacuation) <= 0:
        if state["regions"][source]["civilians"]:
            return no("no_civilian", "WOW-HUM-04", region=source, wanted="no civilian but the one that has just moved")
        return no("no_civilian", "WOW-MOV-10", region=source, wanted="no civilian")
    if goal not in BESIDE[source]:
        return no("not_adjacent", "WOW-MOV-10", source=source, goal=goal, wanted="adjacent to")
    if sealed(state, source):
        return no("sealed", "WOW-INF-02", region=source)
    if closed(state, goal):
        return no("closed", "WOW-INF-01", region=goal)
    return None


def move_civilian(match: Match, source: str, goal: str, evacuation: Evacuation | None) -> bool:
    """One civilian moves, one that has not fought if there is any; returns whether it has fought (WOW-MOV-11, WOW-BLD-10)."""
    fought = next_has_fought(match.state, source, evacuation)
    match.emit("civilian_moved", **{"from": source, "to": goal, "fought": fought})
    return fought


def move_civilians_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Every step of a civilian."""
    card, option = terms.card, terms.option
    return [{"type": "play", "card": card, "option": option, "from": a, "to": b} for a, b in civilian_moves(state, None)]


def move_civilians_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """As for any step of a civilian (WOW-HUM-01, WOW-HUM-03, WOW-HUM-05)."""
    return civilian_move_refusal(state, action["from"], action["to"], None)


def move_civilians(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """A civilian moves; a card for two waits for the second as long as another one could move (WOW-HUM-03, WOW-HUM-04, WOW-TRN-04)."""
    fought = move_civilian(match, action["from"], action["to"], None)
    if terms.moves > 1:
        evacuation: Evacuation = {"region": action["to"], "fought": fought}
        if civilian_moves(match.state, evacuation):
            match.emit("evacuation_changed", evacuation=evacuation)


def civilian_attack_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Every region where a civilian has not fought and something can be attacked."""
    return [
        {**play_of(terms), "region": region}
        for region, land in state["regions"].items()
        if land["civilians"] > land["fought"] and open_to_attack(state, region)
    ]


def civilian_attack_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """A civilian attacks its own region, once a turn (WOW-HUM-02, WOW-ATK-02, WOW-ATK-07)."""
    region = action["region"]
    land = state["regions"].get(region)
    if land is None:
        return wants_land(state, region)
    if land["civilians"] <= land["fought"]:
        return no("no_civilian", "WOW-ATK-07", region=region, wanted="no civilian that has not fought this turn")
    return nothing_to_attack(state, region)


def civilian_attack(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """A civilian is marked and deals its damage (WOW-HUM-02, WOW-ATK-07)."""
    match.emit("civilian_fought", region=action["region"])
    deal_damage(match, terms.damage, terms.card, action["region"])
    check_damage(match)


def destroy_civilian_offers(state: State, seat: Seat, terms: Terms) -> list[Action]:
    """Every region where a figure of the card's kind stands with civilians."""
    return [{**play_of(terms), "region": region} for region in held(state, terms) if region in state["regions"]]


def destroy_civilian_refusal(state: State, seat: Seat, terms: Terms, action: Action) -> Refusal | None:
    """The civilian stands where a figure of the card's kind does; where the card says so it must be unprotected (WOW-ALN-01, WOW-ALN-10,
    WOW-DMG-12)."""
    region = action["region"]
    land = state["regions"].get(region)
    if land is None:
        return wants_land(state, region)
    if not in_place(state, terms, region):
        return no("no_unit", "WOW-ALN-10", kind=terms.kind, where=f"in {region}")
    if not land["civilians"]:
        return no("no_civilian", "WOW-ALN-10", region=region, wanted="no civilian")
    if terms.unprotected_only and protected(state, region):
        return no("protected", "WOW-DMG-12", region=region)
    return None


def destroy_civilian(match: Match, seat: Seat, terms: Terms, action: Action) -> None:
    """One civilian is destroyed, which is no damage (WOW-ALN-17)."""
    destroy_civilians(match, action["region"], 1)


MOVE_CIVILIANS = Verb(("from", "to"), move_civilians_offers, move_civilians_refusal, move_civilians)
CIVILIAN_ATTACK = Verb(("region",), civilian_attack_offers, civilian_attack_refusal, civilian_attack)
DESTROY_CIVILIAN = Verb(("region",), destroy_civilian_offers, destroy_civilian_refusal, destroy_civilian)
