"""Ships and privateers: where they are, how strong, and how many more there can be."""

from __future__ import annotations

from collections.abc import Mapping

from games.choices import Ranges
from games.kernel import Seat
from games.war_of_civilizations.data import CAPACITY, CENTRAL, FLAGSHIP, HOME, LIMIT, OWNER_OF_HOME, PLACE, SHIPS, STRENGTH, Counts
from games.war_of_civilizations.document import State


def room(state: State, location: str) -> int:
    """Return how many more ships a location takes: its capacity less all ships there, of any seat. Pirates, privateers and teleporters
    take no room; hostages do (WOC-MAP-08, WOC-MAP-13, WOC-MAP-14)."""
    left = CAPACITY[location]
    for player in state["players"].values():
        fleets = player["fleets"]
        if location in fleets:
            left -= sum(fleets[location].values())
    return max(0, left)


def ships_at(state: State, seat: Seat, location: str) -> Counts:
    """Return a seat's ships on a location."""
    return state["players"][seat]["fleets"].get(location) or {}


def fleet_strength(fleet: Mapping[str, int]) -> int:
    """Return the strength of some ships (WOC-BAT-07)."""
    strength = 0
    for ship, number in fleet.items():
        strength += STRENGTH[ship] * number
    return strength


def occupants(state: State, location: str, excluded: Seat | None = None) -> list[Seat]:
    """Return the seats with ships on a location, in seat order, without the seat `excluded`."""
    players = state["players"]
    return [seat for seat in state["seats"] if seat != excluded and location in players[seat]["fleets"]]


def foreign_privateer(state: State, seat: Seat, location: str) -> Seat | None:
    """Return the other seat whose privateer is on a location, unless it is at home there (WOC-PRV-01, WOC-PRV-05)."""
    players = state["players"]
    for other in state["seats"]:
        if players[other]["privateer"] == location and other != seat and HOME[other] != location:
            return other
    return None


def hostages(state: State, seat: Seat) -> list[str]:
    """Return the locations where another seat's privateer keeps ships of a seat, in map order (WOC-PRV-06)."""
    fleets = state["players"][seat]["fleets"]
    players = state["players"]
    found = [
        at
        for other in state["seats"]
        if other != seat and (at := players[other]["privateer"]) is not None and at in fleets and at != HOME[other]
    ]
    return sorted(found, key=PLACE.__getitem__) if len(found) > 1 else found


def opponent(state: State, seat: Seat, at: str) -> Seat | None:
    """Return the opponent that a seat meets on a location: the owner of a privateer, the seat with ships there, or the seat whose home base
    it is, even an empty one (WOC-CTL-04, WOC-PRV-12, WOC-BAT-01, WOC-BAT-11, WOC-ELM-05)."""
    owner = foreign_privateer(state, seat, at)
    if owner is not None:
        return owner
    there = occupants(state, at, seat)
    if there:
        return there[0]
    controller = OWNER_OF_HOME.get(at)
    if controller is None or controller == seat or controller not in state["players"] or state["players"][controller]["eliminated"]:
        return None
    return controller


def reserve(state: State, seat: Seat, ship: str) -> int:
    """Return the number of ships of a kind that a seat may still buy: the limit less those on the board; never the capital ship
    (WOC-BUY-03, WOC-BUY-04, WOC-LIM-03)."""
    if ship == FLAGSHIP:
        return 0
    left = LIMIT[ship]
    for fleet in state["players"][seat]["fleets"].values():
        left -= fleet.get(ship, 0)
    return max(0, left)


def needs_flagship(state: State, seat: Seat, source: str, goal: str) -> bool:
    """Return True if the capital ship must be among the ships of a step: into the central continent for the first time (WOC-MOV-03)."""
    return goal in CENTRAL and source not in CENTRAL and not state["players"][seat]["entered_central"]


def some_ships(ships: Mapping[str, int], most: int, flagship: bool = False) -> Ranges:
    """Return the ranges for some ships of a fleet: at least one and at most `most`, with the capital ship if it must come along."""
    each = {ship: [1 if flagship and ship == FLAGSHIP else 0, ships[ship]] for ship in SHIPS if ships.get(ship)}
    return {"ships": {"each": each, "total": [1, min(most, sum(ships.values()))]}}
