"""The verbs of data.json: what a turn card does when it is played."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from games.kernel import Match, Refusal, Seat, State, no
from games.war_of_civilizations.checks import no_room
from games.war_of_civilizations.data import ISLE, LOCATIONS, RING, Card
from games.war_of_civilizations.flow import change_resources, change_turn
from games.war_of_civilizations.state import controlled, controls, reserve


class Verb(NamedTuple):
    """What a turn card does. `places` gives the locations that it may name, as a seat sees them, and `known` are those of their kind; a
    card without them names none."""

    act: Callable[[Match, Seat, Card, str], None]
    places: Callable[[State, Seat], list[str]] | None = None
    known: Collection[str] = ()
    refusal: Callable[[State, Seat, Card, str], Refusal | None] | None = None


def gain(match: Match, seat: Seat, card: Card, at: str) -> None:
    """The seat gains resources (WOC-PWR-24, WOC-PWR-25, WOC-PWR-26)."""
    change_resources(match, seat, card.value, "card")


def step_further(match: Match, seat: Seat, card: Card, at: str) -> None:
    """The next Move this turn may go further (WOC-PWR-27)."""
    change_turn(match, extra_steps=match.state["turn"]["extra_steps"] + card.value)


def act_again(match: Match, seat: Seat, card: Card, at: str) -> None:
    """One more active action this turn (WOC-PWR-28)."""
    change_turn(match, extra_actions=match.state["turn"]["extra_actions"] + card.value)


def build_free(match: Match, seat: Seat, card: Card, at: str) -> None:
    """The next teleporter bonus this turn costs nothing (WOC-PWR-30)."""
    change_turn(match, free_teleporter=True)


def place_ship(match: Match, seat: Seat, card: Card, at: str) -> None:
    """A ship from the reserve is placed free of charge (WOC-PWR-29)."""
    match.emit("ships_placed", seat=seat, at=at, ships={card.value: 1}, reason="card")


def placing_refusal(state: State, seat: Seat, card: Card, at: str) -> Refusal | None:
    """The ship is in the reserve, and goes to a controlled location but the Isle, where there is room (WOC-PWR-29, WOC-LIM-03)."""
    if not reserve(state, seat, card.value):
        return no("reserve_empty", "WOC-PWR-29", ship=card.value, wanted=1, left=0)
    if not controls(state, seat, at):
        return no("not_controlled", "WOC-PWR-29", at=at)
    return no("isle_closed", "WOC-PWR-29") if at == ISLE else no_room(state, at, 1)


def look(match: Match, seat: Seat, card: Card, at: str) -> None:
    """The seat alone sees the token on an apex island (WOC-PWR-31)."""
    match.emit("expedition_seen", seat=seat, apex=at, expedition=match.state["apex"][at]["expedition"])


def unexplored(state: State, seat: Seat) -> list[str]:
    """The apex islands with a token."""
    return [apex for apex in RING if not state["apex"][apex]["explored"]]


def looking_refusal(state: State, seat: Seat, card: Card, at: str) -> Refusal | None:
    """Only an unexplored island has a token to look at (WOC-PWR-31)."""
    return no("already_done", "WOC-PWR-31", what=f"Exploring {at}") if state["apex"][at]["explored"] else None


VERBS: Mapping[str, Verb] = {
    "gain": Verb(gain),
    "extra_steps": Verb(step_further),
    "extra_actions": Verb(act_again),
    "free_teleporter": Verb(build_free),
    "free_ship": Verb(place_ship, controlled, LOCATIONS, placing_refusal),
    "look_at_expedition": Verb(look, unexplored, RING, looking_refusal),
}
