"""Options checked, the first document, and the set-up that the system carries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.documents import clone
from games.kernel import SYSTEM, Action, Match, Refusal, Refused, Seat, State, no
from games.schema import Malformed, beyond, optional, record
from games.war_of_the_worlds.data import (
    ALIENS,
    ARRIVALS,
    DEFAULTS,
    FIGURES,
    HAND_SIZE,
    LAND,
    OFFER_SIZE,
    SEATS,
    STARTING_BUILDINGS,
    STARTING_FIGURES,
    pile,
)
from games.war_of_the_worlds.data import OPTIONS as OPTION_ROWS
from games.war_of_the_worlds.state import OPTION_SHAPES

OPTIONS = record(
    {name: optional(shape) for name, shape in OPTION_SHAPES.items()}, about="the options of a match of War of the Worlds: The New Wave"
)


def begin(seats: Sequence[Seat], options: Mapping[str, Any]) -> State:
    """The first document of a match: an empty board and empty piles, the aliens written first whoever was named first. Raises Refused
    `bad_options` (WOW-CMP-01, WOW-SET-01, WOW-SET-10, WOW-OPT-01, WOW-OPT-02, WOW-OPT-03)."""
    if sorted(seats) != sorted(SEATS):
        raise Refused(no("bad_options", "WOW-CMP-01", reason=f"the seats are {' and '.join(SEATS)}"))
    refusal = options_refusal(options)
    if refusal is not None:
        raise Refused(refusal)
    chosen = {**DEFAULTS, **OPTIONS.clean(dict(options))}
    return {
        "game": "war_of_the_worlds",
        "options": chosen,
        "seats": list(SEATS),
        "round": 1,
        "phase": "setup",
        "active": None,
        "to_act": [SYSTEM],
        "outcome": None,
        "damage": 0,
        "resources": 0,
        "swapped": False,
        "fired": [],
        "strike": None,
        "evacuation": None,
        "regions": {region: {"civilians": 0, "fought": 0, "building": None, "balloons": False, "influence": []} for region in LAND},
        "units": {figure: {"region": None, "used": False} for figure in FIGURES},
        "sides": {seat: {"hand": [], "supply": [], "discard": [], "removed": [], "offer": [], "offer_deck": []} for seat in SEATS},
    }


def options_refusal(options: Mapping[str, Any]) -> Refusal | None:
    """Options are those that the game knows, each of its type and within its range (WOW-OPT-01, WOW-OPT-02, WOW-OPT-03)."""
    try:
        chosen = OPTIONS.clean(dict(options))
    except Malformed as reason:
        return no("bad_options", "WOW-OPT-03", reason=str(reason))
    wrong = beyond(chosen, OPTION_ROWS)
    return None if wrong is None else no("bad_options", "WOW-OPT-03", reason=wrong)


def setup_offers(state: State, seat: Seat) -> list[Action]:
    """The set-up is one action of the system."""
    return [{"type": "advance"}]


def setup_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Bad options do not start a match."""
    return options_refusal(state["options"])


def set_up(match: Match, seat: Seat, action: Action) -> None:
    """Civilians, ship and first figures on the board, the piles shuffled and dealt, and the aliens' first turn begun (WOW-SET-02,
    WOW-SET-03, WOW-SET-04, WOW-SET-05, WOW-SET-09, WOW-SET-10, WOW-SET-11, WOW-MAP-03, WOW-MAP-05)."""
    state = clone(match.state)
    for region, civilians in ARRIVALS.items():
        state["regions"][region]["civilians"] = civilians
    for region, building in STARTING_BUILDINGS.items():
        state["regions"][region]["building"] = building
    for figure, region in STARTING_FIGURES.items():
        state["units"][figure]["region"] = region
    for side in SEATS:
        state["sides"][side] = dealt(match, side)
    match.emit("match_started", state={**state, "phase": "play", "active": ALIENS, "to_act": [ALIENS]})


def dealt(match: Match, seat: Seat) -> dict[str, list[str]]:
    """A seat's piles: its starting cards shuffled and a hand drawn from them, its other cards shuffled and five turned up (WOW-SET-06,
    WOW-SET-07, WOW-SET-08, WOW-SET-09)."""
    supply = match.chance.shuffle(pile(seat, starting=True))
    offers = match.chance.shuffle(pile(seat, starting=False))
    return {
        "hand": supply[:HAND_SIZE],
        "supply": supply[HAND_SIZE:],
        "discard": [],
        "removed": [],
        "offer": offers[:OFFER_SIZE],
        "offer_deck": offers[OFFER_SIZE:],
    }
