"""The end of the round, which the system carries out: upkeep, reward, the win on the Isle, forecasts, countdown, round limit (CONTRACT
section 7)."""

from __future__ import annotations

from games.kernel import Match, Seat, State
from games.war_of_civilizations.data import (
    FLAGSHIP,
    HOME,
    ISLE,
    ISLE_REWARD,
    PLACE,
    ROUNDS_TO_WIN,
    STRENGTH,
    UPKEEP,
    WEAKEST_FIRST,
    Counts,
)
from games.war_of_civilizations.economy import cool_down
from games.war_of_civilizations.flow import lose_isle, move_crystals, move_ships, pay, start_turn
from games.war_of_civilizations.outcome import end_by_crystals, end_match
from games.war_of_civilizations.state import controlled, neighbours, option, room, ships_at, still_in


def end_round(match: Match) -> None:
    """All seats have had their turn (WOC-RND-01, WOC-RND-09, WOC-RND-10, WOC-RND-11, WOC-DIS-09, WOC-ISL-05)."""
    pay_upkeep(match)
    if reward(match):
        return
    cool_down(match)
    countdown, limit = match.state["countdown"], option(match.state, "round_limit")
    if countdown == 1:
        end_by_crystals(match, "crystals")
        return
    if countdown is not None:
        match.emit("countdown_set", value=countdown - 1)
    if match.state["round"] >= limit:
        end_by_crystals(match, "round_limit")
        return
    match.emit("round_ended", next_round=match.state["round"] + 1)
    start_turn(match, still_in(match.state)[0])


def upkeep(fleet: Counts) -> int:
    """What a fleet on the Isle costs, by its strength (WOC-RND-02)."""
    strength = sum([STRENGTH[ship] * number for ship, number in fleet.items()])
    return max([price for least, price in UPKEEP if least <= strength], default=0)


def pay_upkeep(match: Match) -> None:
    """The holder pays for its fleet on the Isle; ships that cannot be paid for leave, and with the capital ship the Isle is lost
    (WOC-RND-02, WOC-RND-03, WOC-RND-04, WOC-RND-05)."""
    state = match.state
    seat = state[ISLE]["holder"]
    if seat is None:
        return
    stock = state["players"][seat]["oc"]
    staying = dict(ships_at(state, seat, ISLE))
    leaving = []
    for ship in WEAKEST_FIRST:
        while staying.get(ship) and upkeep(staying) > stock:
            staying[ship] -= 1
            leaving.append(ship)
    found = refuges(state, seat, leaving)
    lost = found.pop(None, None)
    for goal, ships in found.items():
        move_ships(match, seat, ISLE, str(goal), ships, "upkeep")
    if lost is not None:
        match.emit("ships_removed", seat=seat, at=ISLE, ships=lost, reason="upkeep")
    lose_isle(match, seat)
    if match.state[ISLE]["holder"] == seat:
        pay(match, seat, {"oc": upkeep(staying)}, "upkeep")


def refuges(state: State, seat: Seat, ships: list[str]) -> dict[str | None, Counts]:
    """Where ships go that leave the Isle one after another: to the nearest location under control with room, in map order among equals;
    without one the capital ship home all the same, others to the reserve, which is None (WOC-RND-04, WOC-LIM-04)."""
    if not ships:
        return {}
    steps = distances(state)
    own = [location for location in controlled(state, seat) if location != ISLE]
    nearest = sorted(own, key=lambda location: (steps[location], PLACE[location]))
    left = {location: room(state, location) for location in nearest}
    found: dict[str | None, Counts] = {}
    for ship in ships:
        goal = next((location for location in nearest if left[location] > 0), HOME[seat] if ship == FLAGSHIP else None)
        if goal in left:
            left[goal] -= 1
        there = found.setdefault(goal, {})
        there[ship] = there.get(ship, 0) + 1
    return found


def distances(state: State) -> dict[str, int]:
    """The steps on the map from the Isle to each location, whoever is in between and without teleporters (WOC-RND-04)."""
    near = neighbours(state)
    found = {ISLE: 0}
    todo = [ISLE]
    for here in todo:
        for other in near[here]:
            if other not in found:
                found[other] = found[here] + 1
                todo.append(other)
    return {location: found.get(location, len(PLACE)) for location in PLACE}


def reward(match: Match) -> bool:
    """A holder of this full round gains crystals of the Isle, and so does the holder at the end of the last round of the countdown; after
    the third full round in a row it wins at once. Whether it has (WOC-RND-06, WOC-RND-07, WOC-RND-08, WOC-ISL-06, WOC-GEN-01, WOC-GEN-02,
    WOC-END-03)."""
    state = match.state
    held = state[ISLE]
    seat = held["holder"]
    if seat is None:
        return False
    rounds = held["full_rounds"]
    full = held["since"] < state["round"]
    if full:
        rounds += 1
        match.emit("isle_round_held", seat=seat, full_rounds=rounds)
    if full or state["countdown"] == 1:
        move_crystals(match, ISLE, seat, min(ISLE_REWARD, state["crystals"][ISLE]), ISLE if full else "isle_last")
    if rounds < ROUNDS_TO_WIN:
        return False
    end_match(match, [seat], "isle_held")
    return True
