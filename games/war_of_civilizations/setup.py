"""Options checked, the first document, and the set-up that the system carries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.documents import clone
from games.kernel import SYSTEM, Action, Match, Refusal, Refused, Seat, State, no
from games.schema import Malformed, beyond, optional, record
from games.war_of_civilizations.data import (
    ATTACHED,
    COVERED,
    CRYSTALS,
    DEFAULTS,
    DISPLAY_SIZE,
    EXPEDITION_CRYSTALS,
    EXPEDITIONS,
    HOME,
    HOME_SHIPS,
    ISLE,
    ISLE_CRYSTALS,
    LEAST_SEATS,
    MOST_SEATS,
    RING,
    SEATS,
    START,
    TURN,
    deck,
)
from games.war_of_civilizations.data import OPTIONS as OPTION_ROWS
from games.war_of_civilizations.state import OPTION_SHAPES, option

OPTIONS = record({name: optional(shape) for name, shape in OPTION_SHAPES.items()}, about="the options of a match of War of Civilizations")


def begin(seats: Sequence[Seat], options: Mapping[str, Any]) -> State:
    """The first document of a match: two to six different clans in the order given, with nothing yet. Raises Refused `bad_options`
    (WOC-SET-01)."""
    if not LEAST_SEATS <= len(seats) <= MOST_SEATS or any(seat not in SEATS for seat in seats) or len(set(seats)) < len(seats):
        reason = f"{LEAST_SEATS} to {MOST_SEATS} different seats out of {', '.join(SEATS)} play"
        raise Refused(no("bad_options", "WOC-SET-01", reason=reason))
    refusal = options_refusal(options)
    if refusal is not None:
        raise Refused(refusal)
    return {
        "game": "war_of_civilizations",
        "options": {**DEFAULTS, **OPTIONS.clean(dict(options))},
        "seats": list(seats),
        "round": 1,
        "phase": "setup",
        "active": None,
        "to_act": [SYSTEM],
        "outcome": None,
        "players": {seat: empty_player() for seat in seats},
        "attached": {},
        "covered": [],
        "apex": {apex: {"explored": True, "expedition": None, "known_to": [], "pirate": False} for apex in RING},
        ISLE: {"holder": None, "since": None, "full_rounds": 0},
        "crystals": {"supply": 0, ISLE: 0},
        "countdown": None,
        "power": {"display": [], "deck": [], "discard": []},
        "marks": {},
        "turn": None,
        "battle": None,
        "blockade": None,
        "ransom": None,
        "offers": 0,
    }


def empty_player() -> dict[str, Any]:
    """A seat that has nothing."""
    return {
        **dict.fromkeys(START, 0),
        "cards": [],
        "fleets": {},
        "teleporters": [],
        "mounted": {},
        "entered_central": False,
        "privateer": None,
        "eliminated": False,
    }


def options_refusal(options: Mapping[str, Any]) -> Refusal | None:
    """Options are those that the game knows, each of its type and within its range (WOC-RND-10, WOC-SET-09, WOC-SET-10)."""
    try:
        chosen = OPTIONS.clean(dict(options))
    except Malformed as reason:
        return no("bad_options", reason=str(reason))
    wrong = beyond(chosen, OPTION_ROWS)
    return None if wrong is None else no("bad_options", reason=wrong)


def setup_offers(state: State, seat: Seat) -> list[Action]:
    """The set-up is one action of the system."""
    return [{"type": "advance"}]


def setup_refusal(state: State, seat: Seat, action: Action) -> Refusal | None:
    """Bad options do not start a match."""
    return options_refusal(state["options"])


def set_up(match: Match, seat: Seat, action: Action) -> None:
    """The board is laid out: apex islands next to the north islands, tokens with a crystal on them, pirates, crystals, the power deck, and
    each seat's first goods and capital ship; then the first seat deploys (WOC-SET-02, WOC-SET-03, WOC-SET-04, WOC-SET-05, WOC-SET-06,
    WOC-SET-07, WOC-SET-08, WOC-SET-09, WOC-SET-10, WOC-MAP-01, WOC-MAP-09, WOC-MAP-10)."""
    state = clone(match.state)
    seats = state["seats"]
    state["covered"] = list(COVERED[len(seats)])
    state["attached"] = dict(zip(seats, ATTACHED[len(seats)], strict=True))
    islands = [apex for apex in RING if apex not in state["covered"]]
    for apex, token in zip(islands, match.chance.sample(list(EXPEDITIONS), len(islands)), strict=True):
        state["apex"][apex] = {"explored": False, "expedition": token, "known_to": [], "pirate": bool(option(state, "pirates"))}
    cards = match.chance.shuffle(deck(len(seats)))
    state["power"] = {"display": cards[:DISPLAY_SIZE], "deck": cards[DISPLAY_SIZE:], "discard": []}
    state["crystals"] = {"supply": CRYSTALS - ISLE_CRYSTALS - EXPEDITION_CRYSTALS * len(islands), ISLE: ISLE_CRYSTALS}
    for clan in seats:
        state["players"][clan] |= {**START, "fleets": {HOME[clan]: dict(HOME_SHIPS)}}
    match.emit(
        "match_started", state={**state, "phase": "deploy", "active": seats[0], "to_act": [seats[0]], "round": 1, "turn": clone(TURN)}
    )
