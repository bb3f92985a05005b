"""Who holds and controls which locations, and the connected trails between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from functools import lru_cache

from games.kernel import Seat
from games.war_of_civilizations.data import CONTINENT_OF, FLAGSHIP, HOME, ISLE, PLACE
from games.war_of_civilizations.document import Player, State
from games.war_of_civilizations.state.map import Links, links_of, map_of, neighbours


def points(state: State, seat: Seat) -> list[str]:
    """Return a seat's teleporters: its home base and its tokens. An eliminated seat has none (WOC-TEL-01, WOC-TEL-06, WOC-ELM-05)."""
    player = state["players"][seat]
    return [] if player["eliminated"] else [HOME[seat], *player["teleporters"]]


def linked(state: State, seat: Seat, one: str, other: str) -> bool:
    """Return True if two locations are different teleporters of a seat (WOC-TEL-06, WOC-TEL-07)."""
    own = points(state, seat)
    return one != other and one in own and other in own


def contested(state: State, seat: Seat) -> Set[str]:
    """Return the locations with ships of a seat that it does not hold, since another seat contests them (WOC-CTL-01)."""
    players = state["players"]
    places = players[seat]["fleets"].keys()
    found: set[str] = set()
    for other, player in players.items():
        if other != seat:
            add_contested(places, other, player, found)
    return found


def add_contested(places: Set[str], other: Seat, player: Player, found: set[str]) -> None:
    """Add the places that another seat contests: it has ships there too, or its privateer is there (WOC-CTL-01, WOC-CTL-03, WOC-PRV-05)."""
    taken, privateer = player["fleets"], player["privateer"]
    if not places.isdisjoint(taken):
        found |= places & taken.keys()
    if privateer is not None and privateer in places and privateer != HOME[other]:
        found.add(privateer)


def _held(state: State, seat: Seat) -> list[str]:
    """Return the locations that a seat holds, in any order (WOC-CTL-01)."""
    fleets, lost = state["players"][seat]["fleets"], contested(state, seat)
    return [location for location in fleets if location not in lost] if lost else list(fleets)


def occupied(state: State, seat: Seat) -> list[str]:
    """Return the locations that a seat holds, in map order: it has any ship there, no other seat has, and no other seat's privateer is
    there (WOC-CTL-01, WOC-CTL-03, WOC-CTL-08, WOC-PRV-05)."""
    own = _held(state, seat)
    own.sort(key=PLACE.__getitem__)
    return own


def occupies(state: State, seat: Seat, location: str) -> bool:
    """Return True if a seat holds a location (WOC-CTL-01)."""
    players = state["players"]
    if location not in players[seat]["fleets"]:
        return False
    for other, player in players.items():
        if other != seat and (location in player["fleets"] or (player["privateer"] == location and HOME[other] != location)):
            return False
    return True


def controls(state: State, seat: Seat, location: str) -> bool:
    """Return True if a seat controls a location: it holds it, and on the Isle of Myth has its capital ship (WOC-CTL-02, WOC-ISL-01)."""
    if not occupies(state, seat, location):
        return False
    return location != ISLE or FLAGSHIP in state["players"][seat]["fleets"][location]


def controlled(state: State, seat: Seat) -> list[str]:
    """Return the locations that a seat controls, in map order (WOC-CTL-02, WOC-MOV-06)."""
    here = occupied(state, seat)
    if here and here[0] == ISLE and FLAGSHIP not in state["players"][seat]["fleets"][ISLE]:
        return here[1:]
    return here


def controls_continent(state: State, seat: Seat) -> bool:
    """Return True if a seat controls all locations of its own continent (WOC-TRN-04)."""
    return fills_continent(seat, controlled(state, seat))


def fills_continent(seat: Seat, places: Collection[str]) -> bool:
    """Return True if all locations of a seat's continent are among some places."""
    for location in CONTINENT_OF[seat]:  # noqa: SIM110 - a loop is faster here
        if location not in places:
            return False
    return True


def reached(near: Mapping[str, tuple[str, ...]], teleporters: Collection[str], start: str, inside: Collection[str]) -> set[str]:
    """Return the locations reached from `start` through those `inside` that are adjacent or linked by teleporters, on any continent. The
    Isle of Myth may be an end of a trail but is never passed (WOC-CTL-05, WOC-CTL-06, WOC-TEL-08)."""
    joined = [point for point in teleporters if point == start or point in inside]
    found = {start}
    todo = [start]
    for here in todo:  # a location is appended once, when it is found
        if here == ISLE != start:
            continue
        beside = [other for other in near[here] if other in inside]
        for other in [*beside, *joined] if here in joined else beside:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


Trail = tuple[str, ...]


@lru_cache(maxsize=4096)
def _trails(links: Links, teleporters: tuple[str, ...], own: tuple[str, ...]) -> tuple[Trail, ...]:
    near, inside = map_of(links), frozenset(own)
    found: list[Trail] = []
    seen: set[str] = set()
    for location in sorted(own, key=PLACE.__getitem__):
        if location != ISLE and location not in seen:
            trail = reached(near, teleporters, location, inside)
            seen |= trail
            if len(trail) > 1:
                found.append(tuple(sorted(trail, key=PLACE.__getitem__)))
    return tuple(found)


def trails(state: State, seat: Seat) -> tuple[Trail, ...]:
    """Return a seat's connected trails of two locations and more, each in map order. It is enough to hold a location; the Isle may be an
    end of several trails (WOC-CTL-05, WOC-CTL-06, WOC-CTL-07, WOC-RED-06)."""
    own = _held(state, seat)
    return _trails(links_of(state), tuple(points(state, seat)), tuple(own)) if len(own) > 1 else ()


def reinforcements(state: State, seat: Seat, battle: str) -> list[str]:
    """Return the locations from which a defender may bring ships into a battle, in map order: those on one trail with it, as if it were
    the defender's own (WOC-BAT-02)."""
    own = _held(state, seat)
    if not own:
        return []
    found = reached(neighbours(state), points(state, seat), battle, set(own))
    found.discard(battle)
    return sorted(found, key=PLACE.__getitem__)
