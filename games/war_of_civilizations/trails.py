"""Connected trails: which locations of a seat hang together."""

from __future__ import annotations

from collections.abc import Collection

from games.kernel import Seat, State
from games.war_of_civilizations.data import ISLE, PLACE
from games.war_of_civilizations.state import held, neighbours, points


def reached(state: State, seat: Seat, start: str, inside: Collection[str]) -> set[str]:
    """The locations reached from one of them through those `inside` that are adjacent or linked by the seat's teleporters, whatever
    continent they are on; the Isle of Myth may be an end but is never passed (WOC-CTL-05, WOC-CTL-06, WOC-TEL-08)."""
    near = neighbours(state)
    doors = [point for point in points(state, seat) if point == start or point in inside]
    found = {start}
    todo = [start]
    while todo:
        here = todo.pop()
        if here == ISLE != start:
            continue
        beside = [other for other in near[here] if other in inside]
        for other in [*beside, *doors] if here in doors else beside:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def trails(state: State, seat: Seat) -> list[list[str]]:
    """A seat's connected trails of two locations and more, each in map order; what it holds is enough, and the Isle may be an end of
    several (WOC-CTL-05, WOC-CTL-06, WOC-CTL-07, WOC-RED-06)."""
    own = held(state, seat)
    if len(own) < 2:
        return []
    inside = set(own)
    found: list[list[str]] = []
    seen: set[str] = set()
    for location in own:
        if location != ISLE and location not in seen:
            trail = reached(state, seat, location, inside)
            seen |= trail
            if len(trail) > 1:
                found.append(sorted(trail, key=PLACE.__getitem__))
    return found


def usable(state: State, seat: Seat) -> list[list[str]]:
    """The trails for the next step of a Redistribute: all before the first, then only the one that was fixed with it (WOC-RED-02)."""
    trail = state["turn"]["trail"]
    return trails(state, seat) if trail is None else [trail]


def reinforcements(state: State, seat: Seat, battle: str) -> list[str]:
    """The locations from which a defender may bring ships into a battle, in map order: on one trail with it, as if it were the defender's
    own (WOC-BAT-02)."""
    own = held(state, seat)
    if not own:
        return []
    found = reached(state, seat, battle, set(own))
    found.discard(battle)
    return sorted(found, key=PLACE.__getitem__)
