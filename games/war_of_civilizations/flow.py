"""How play passes on: phases, active actions and turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.documents import clone
from games.kernel import SYSTEM, Match, Seat, State
from games.war_of_civilizations.data import (
    ACTIONS_A_TURN,
    ACTIONS_FOR_ALL_ISLANDS,
    CONTINENT_OF,
    FLAGSHIP,
    ISLE,
    OF_AN_ACTION,
    TURN,
)
from games.war_of_civilizations.state import ability, controls, ships_at

_CLEARED: dict[str, Any] = {name: TURN[name] for name in OF_AN_ACTION}


def pass_to(match: Match, phase: str, to_act: list[str], active: Seat | None = None) -> None:
    """Another decision is awaited, or another actor; the last thing that an action brings about. In every phase with a turn the seat whose
    turn it is stays active while others decide (WOC-TRN-12)."""
    state = match.state
    active = active or state["active"]
    if state["phase"] != phase or state["to_act"] != to_act or state["active"] != active:
        match.emit("phase_changed", phase=phase, active=active, to_act=to_act)


def to_turn(match: Match) -> None:
    """The active seat goes on."""
    pass_to(match, "turn", [match.state["active"]])


def change_turn(match: Match, **changes: Any) -> None:
    """What a step changes in the record of the turn is written down."""
    match.emit("turn_changed", turn={**match.state["turn"], **changes})


def change_resources(match: Match, seat: Seat, changes: Mapping[str, int], reason: str) -> None:
    """A seat gains or pays; nothing is told where nothing changes."""
    told = {name: number for name, number in changes.items() if number}
    if told:
        match.emit("resources_changed", seat=seat, changes=told, reason=reason)


def pay(match: Match, seat: Seat, price: Mapping[str, int], reason: str) -> None:
    """A seat pays."""
    change_resources(match, seat, {name: -number for name, number in price.items()}, reason)


def move_crystals(match: Match, source: str, goal: str, count: int, reason: str) -> None:
    """Crystals change hands, if there are any to move."""
    if count > 0:
        match.emit("crystals_moved", **{"from": source, "to": goal}, count=count, reason=reason)


def move_ships(match: Match, seat: Seat, source: str, goal: str, ships: Mapping[str, int], reason: str) -> None:
    """Ships go from one location to another."""
    match.emit("ships_moved", seat=seat, **{"from": source, "to": goal}, ships=ships, reason=reason)


# ---------------------------------------------------------------- active actions


def may_begin(state: State, seat: Seat) -> bool:
    """Whether an active action is left: two a turn, those that cards grant, and one more for a seat that controls its whole continent when
    it begins it (WOC-TRN-02, WOC-TRN-04, WOC-PWR-28)."""
    turn = state["turn"]
    left = ACTIONS_A_TURN + turn["extra_actions"] - turn["actions_used"]
    if left > 0:
        return True
    return left + ACTIONS_FOR_ALL_ISLANDS > 0 and all(controls(state, seat, location) for location in CONTINENT_OF[seat])


def begin_action(match: Match, seat: Seat, action: str) -> None:
    """An active action counts as used from now on, and its bonus is open (WOC-TRN-03, WOC-TRN-05, WOC-TRN-06, WOC-ABL-07)."""
    turn = match.state["turn"]
    begun = {
        **turn,
        **_CLEARED,
        "actions_used": turn["actions_used"] + 1,
        "action": action,
        "bonus_open": True,
        "discount_left": ability(match.state, seat, "ship_discount") if action == "buy" else 0,
    }
    match.emit("action_begun", seat=seat, action=action, turn=begun)


def end_action(match: Match) -> None:
    """The active action is over; what was fixed for it is forgotten (WOC-TRN-10)."""
    state = match.state
    turn = state["turn"]
    ended = {**turn, **_CLEARED, "action": None, "bonus_open": False}
    match.emit("action_ended", seat=state["active"], action=turn["action"], turn=ended)


# ---------------------------------------------------------------- turns


def start_turn(match: Match, seat: Seat) -> None:
    """A seat has its turn (WOC-TRN-01)."""
    match.emit("turn_started", seat=seat, turn=clone(TURN))
    pass_to(match, "turn", [seat], seat)


def lose_isle(match: Match, seat: Seat) -> None:
    """The Isle is lost if its holder's capital ship is not there any more; the countdown goes on (WOC-ISL-03, WOC-ISL-05)."""
    state = match.state
    if state[ISLE]["holder"] == seat and FLAGSHIP not in ships_at(state, seat, ISLE):
        match.emit("isle_lost", seat=seat)


def end_turn(match: Match, seat: Seat) -> None:
    """The next seat that is not eliminated has its turn; after the last one the round is over, and the system ends it (WOC-TRN-01,
    WOC-ELM-06, WOC-ISL-03, WOC-RND-01)."""
    lose_isle(match, seat)
    match.emit("turn_ended", seat=seat)
    state = match.state
    seats = state["seats"]
    for other in seats[seats.index(seat) + 1 :]:
        if not state["players"][other]["eliminated"]:
            start_turn(match, other)
            return
    match.emit("phase_changed", phase="round_end", active=None, to_act=[SYSTEM])
