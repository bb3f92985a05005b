"""The events of the table: how each changes the document (CONTRACT section 4), and its fields."""

from __future__ import annotations

from collections.abc import Mapping

from games.documents import Own
from games.kernel import Event, Fact
from games.schema import Fields, nullable, optional
from table.document import Table
from table.state import CLOSED, COMMITMENT, GAME, GIVEN, INVITED, LOCK, MOMENT, OPEN, PLAYER_ID, ROSTER, SEAT, STARTED


def match_created(table: Table, event: Event, own: Own) -> None:
    """There is a match, with its roster, the commitment to its dice, and how its open seats can be taken."""
    table["phase"] = OPEN
    table["game"] = event["game"]
    table["creator"] = event["creator"]
    table["commitment"] = event["commitment"]
    table["roster"] = {seat: occupant.copy() for seat, occupant in event["roster"].items()}
    table["invited"] = dict(event.get("invited", {}))
    table["lock"] = event.get("lock")
    table["expires"] = event.get("expires")
    table["departures"] = {}
    table["contributions"] = {}


def seat_taken(table: Table, event: Event, own: Own) -> None:
    """A player has the seat. What the player adds to the dice is kept."""
    own(table, "roster")[event["seat"]] = {"player": event["player"]}
    if event["contribution"] is not None:
        own(table, "contributions")[event["seat"]] = event["contribution"]


def seat_left(table: Table, event: Event, own: Own) -> None:
    """The seat is open again. What its player added to the dice is gone, and the departure is counted."""
    departures = own(table, "departures")
    departures[event["player"]] = departures.get(event["player"], 0) + 1
    own(table, "roster")[event["seat"]] = {"open": True}
    own(table, "contributions").pop(event["seat"], None)


def invitation_declined(table: Table, event: Event, own: Own) -> None:
    """The player does not want the seat. It is kept for somebody else, or for nobody."""
    invited = own(table, "invited")
    if event["kept_for"] is None:
        del invited[event["seat"]]
    else:
        invited[event["seat"]] = event["kept_for"]


def seats_filled(table: Table, event: Event, own: Own) -> None:
    """Every seat is taken. Play begins."""
    table["phase"] = STARTED


def match_closed(table: Table, event: Event, own: Own) -> None:
    """The match will never begin."""
    table["phase"] = CLOSED


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    "match_created": (
        match_created,
        {
            "game": GAME,
            "creator": PLAYER_ID,
            "commitment": COMMITMENT,
            "roster": ROSTER,
            "invited": optional(INVITED),
            "lock": optional(LOCK),
            "expires": optional(MOMENT),
        },
    ),
    "seat_taken": (seat_taken, {"seat": SEAT, "player": PLAYER_ID, "contribution": nullable(GIVEN)}),
    "seat_left": (seat_left, {"seat": SEAT, "player": PLAYER_ID}),
    "invitation_declined": (invitation_declined, {"seat": SEAT, "player": PLAYER_ID, "kept_for": nullable(PLAYER_ID)}),
    "seats_filled": (seats_filled, {}),
    "match_closed": (match_closed, {}),
}
