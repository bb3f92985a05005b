"""The end of the round, which the system carries out: upkeep, reward, the win on the Isle, forecasts, countdown, round limit (CONTRACT
section 7)."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Event, Fact, Seat
from games.schema import Fields, whole
from games.war_of_civilizations import data
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.economy import cool_down
from games.war_of_civilizations.flow import lose_isle, move_crystals, move_ships, pay, start_round
from games.war_of_civilizations.outcome import end_by_crystals, end_match
from games.war_of_civilizations.state.control import controlled
from games.war_of_civilizations.state.fleets import room, ships_at
from games.war_of_civilizations.state.map import distances, neighbours
from games.war_of_civilizations.state.records import first_full_round, goods, isle_of, option, upkeep
from games.war_of_civilizations.state.shape import SEAT


def end_round(match: Match) -> None:
    """Carry out the end of a round in which all seats have had their turn (WOC-RND-01, WOC-RND-09, WOC-RND-10, WOC-RND-11, WOC-RND-12,
    WOC-DIS-09, WOC-ISL-05)."""
    pay_upkeep(match)
    if reward(match):
        return
    cool_down(match)
    countdown, limit = match.state["countdown"], option(match.state, "round_limit")
    if countdown == 1:
        end_by_crystals(match, data.CRYSTAL_WIN)
        return
    if countdown is not None:
        match.emit("countdown_set", value=countdown - 1)
    if match.state["round"] >= limit:
        end_by_crystals(match, data.ROUND_LIMIT_WIN)
        return
    start_round(match, match.state["round"] + 1)


def pay_upkeep(match: Match) -> None:
    """Let the holder pay for its fleet on the Isle. Ships that cannot be paid for leave, and with the capital ship the Isle is lost
    (WOC-RND-02, WOC-RND-03, WOC-RND-04, WOC-RND-05)."""
    state = match.state
    seat = isle_of(state)["holder"]
    if seat is None:
        return
    stock = goods(state["players"][seat])[data.MONEY]
    staying = dict(ships_at(state, seat, data.ISLE))
    leaving = []
    for ship in data.WEAKEST_FIRST:
        for _ in range(staying.get(ship, 0)):
            if upkeep(staying) > stock:
                staying[ship] -= 1
                leaving.append(ship)
    found = refuges(state, seat, leaving)
    lost = found.pop(None, None)
    for goal, ships in found.items():
        move_ships(match, seat, data.ISLE, str(goal), ships, "upkeep")
    if lost is not None:
        match.emit("ships_removed", seat=seat, at=data.ISLE, ships=lost, reason="upkeep")
    lose_isle(match, seat)
    if isle_of(match.state)["holder"] == seat:
        pay(match, seat, {data.MONEY: upkeep(staying)}, "upkeep")


def refuges(state: State, seat: Seat, ships: list[str]) -> dict[str | None, data.Counts]:
    """Return where ships go that leave the Isle one after another: to the nearest location under control with room, in map order among
    equals. Without such a location the capital ship still goes home, and others go to the reserve, which is None (WOC-RND-04,
    WOC-LIM-04)."""
    if not ships:
        return {}
    steps = distances(neighbours(state))
    own = [location for location in controlled(state, seat) if location != data.ISLE]
    nearest = sorted(own, key=steps.__getitem__)  # stable: equals stay in map order
    left = {location: room(state, location) for location in nearest}
    found: dict[str | None, data.Counts] = {}
    for ship in ships:
        goal = next((location for location in nearest if left[location] > 0), data.HOME[seat] if ship == data.FLAGSHIP else None)
        if goal in left:
            left[goal] -= 1
        there = found.setdefault(goal, {})
        there[ship] = there.get(ship, 0) + 1
    return found


def reward(match: Match) -> bool:
    """Give a holder of this full round crystals of the Isle, and also the holder at the end of the last round of the countdown. After the
    third full round in a row the holder wins at once. Return True if it has won (WOC-RND-06, WOC-RND-07, WOC-RND-08, WOC-ISL-06,
    WOC-ISL-07, WOC-GEN-01, WOC-GEN-02, WOC-END-03)."""
    state = match.state
    isle = isle_of(state)
    seat, first = isle["holder"], first_full_round(state)
    if seat is None or first is None:
        return False
    rounds = isle["full_rounds"]
    full = first <= state["round"]
    if full:
        rounds += 1
        match.emit("isle_round_held", seat=seat, full_rounds=rounds)
    if full or state["countdown"] == 1:
        move_crystals(match, data.ISLE, seat, min(data.ISLE_REWARD, state["crystals"][data.ISLE]), data.ISLE if full else "isle_last")
    if rounds < data.ROUNDS_TO_WIN:
        return False
    end_match(match, [seat], data.ISLE_WIN)
    return True


# ---------------------------------------------------------------- facts


def isle_round_held(state: State, event: Event, own: Own) -> None:
    """The holder has held the Isle for one more full round."""
    own(state, data.ISLE)["full_rounds"] = event["full_rounds"]


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "isle_round_held": (isle_round_held, {"seat": SEAT, "full_rounds": whole(1, data.ROUNDS_TO_WIN, "full rounds for which it was held")}),
}
