"""The verbs of data.json: the effect of each turn card when it is played."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from games.documents import Own
from games.kernel import Event, Fact, Refusal, Seat, no
from games.schema import Fields, whole
from games.sentences import say
from games.war_of_civilizations.checks import no_room
from games.war_of_civilizations.data import ISLE, LOCATIONS, RING, Card
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.flow import change_resources
from games.war_of_civilizations.state.control import controlled, controls
from games.war_of_civilizations.state.fleets import reserve
from games.war_of_civilizations.state.records import own_turn
from games.war_of_civilizations.state.shape import SEAT


class Verb(NamedTuple):
    """The effect of a turn card. `places` gives the locations that a seat may name with it, and `known` all locations of their kind. A card
    without them names no location."""

    act: Callable[[Match, Seat, Card, str], None]
    places: Callable[[State, Seat], list[str]] | None = None
    known: Collection[str] = ()
    refusal: Callable[[State, Seat, Card, str], Refusal | None] | None = None


def gain(match: Match, seat: Seat, card: Card, at: str) -> None:
    """Give the seat resources (WOC-PWR-24, WOC-PWR-25, WOC-PWR-26)."""
    change_resources(match, seat, card.value, "card")


def step_further(match: Match, seat: Seat, card: Card, at: str) -> None:
    """Let the next Move of this turn go further (WOC-PWR-27)."""
    match.emit("steps_granted", seat=seat, count=card.value)


def act_again(match: Match, seat: Seat, card: Card, at: str) -> None:
    """Grant one more active action in this turn (WOC-PWR-28)."""
    match.emit("actions_granted", seat=seat, count=card.value)


def build_free(match: Match, seat: Seat, card: Card, at: str) -> None:
    """Make the next teleporter bonus of this turn free (WOC-PWR-30)."""
    match.emit("teleporter_granted", seat=seat)


def place_ship(match: Match, seat: Seat, card: Card, at: str) -> None:
    """Place a ship from the reserve free of charge (WOC-PWR-29)."""
    match.emit("ships_placed", seat=seat, at=at, ships={card.value: 1}, reason="card")


def placing_refusal(state: State, seat: Seat, card: Card, at: str) -> Refusal | None:
    """Return why a card cannot place its ship, or None. It is in the reserve, and goes to a controlled location with room, except the Isle
    (WOC-PWR-29, WOC-LIM-03)."""
    if not reserve(state, seat, card.value):
        return no("reserve_empty", "WOC-PWR-29", ship=card.value, wanted=1, left=0)
    if not controls(state, seat, at):
        return no("not_controlled", "WOC-PWR-29", at=at)
    return no("isle_closed", "WOC-PWR-29") if at == ISLE else no_room(state, at, 1)


def look(match: Match, seat: Seat, card: Card, at: str) -> None:
    """Show the token on an apex island to the seat alone (WOC-PWR-31)."""
    match.emit("expedition_seen", seat=seat, apex=at, expedition=match.state["apex"][at]["expedition"])


def unexplored(state: State, seat: Seat) -> list[str]:
    """Return the apex islands with a token."""
    return [apex for apex in RING if not state["apex"][apex]["explored"]]


def looking_refusal(state: State, seat: Seat, card: Card, at: str) -> Refusal | None:
    """Return why a card cannot look at an island, or None: only an unexplored one has a token (WOC-PWR-31)."""
    return no("already_done", "WOC-PWR-31", what=say("Exploring {at}", at=at)) if state["apex"][at]["explored"] else None


VERBS: Mapping[str, Verb] = {
    "gain": Verb(gain),
    "extra_steps": Verb(step_further),
    "extra_actions": Verb(act_again),
    "free_teleporter": Verb(build_free),
    "free_ship": Verb(place_ship, controlled, LOCATIONS, placing_refusal),
    "look_at_expedition": Verb(look, unexplored, RING, looking_refusal),
}


# ---------------------------------------------------------------- facts


def steps_granted(state: State, event: Event, own: Own) -> None:
    """The next Move may go further."""
    own_turn(state, own)["extra_steps"] += event["count"]


def actions_granted(state: State, event: Event, own: Own) -> None:
    """The seat may begin more active actions in this turn."""
    own_turn(state, own)["extra_actions"] += event["count"]


def teleporter_granted(state: State, event: Event, own: Own) -> None:
    """The next teleporter bonus is free."""
    own_turn(state, own)["free_teleporter"] = True


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "steps_granted": (steps_granted, {"seat": SEAT, "count": whole(1, about="how many steps")}),
    "actions_granted": (actions_granted, {"seat": SEAT, "count": whole(1, about="how many active actions")}),
    "teleporter_granted": (teleporter_granted, {"seat": SEAT}),
}
