"""The table's document, and the questions asked of it."""

from __future__ import annotations

from typing import Any

from games import patterns
from games.patterns import anchored, matches
from games.schema import Malformed, Shape, always, either, ids, mapping, record, text, whole
from table.data import LEVELS, MOST_DEPARTURES
from table.document import Occupant, Table

NEW = "new"
OPEN = "open"
STARTED = "started"

ME = "me"
FREE = "open"
AI = "ai:"


def matching(pattern: str, about: str) -> Shape:
    """Return the shape of a string that has a pattern as a whole."""
    shape = text(anchored(pattern), about)

    def clean(given: Any) -> Any:
        if not matches(pattern, shape.clean(given)):
            raise Malformed(f"the value must be {about}")
        return given

    return shape._replace(clean=clean)


SEAT = text(anchored(patterns.SEAT), "a seat of the match's game")
PLAYER_ID = text(anchored(patterns.PLAYER), "the id of a player")
GAME = text(anchored(patterns.GAME), "the id of a game")
COMMITMENT = text(anchored(patterns.DIGEST), "SHA-256 of the match's secret, in hex")
GIVEN = matching(patterns.CONTRIBUTION, "1 to 64 bytes in lower-case hex; they enter the key of the dice")

OCCUPANT = either(
    record({"player": PLAYER_ID}, "A player."),
    record({"ai": ids(LEVELS, "the level of play")}, "An artificial player."),
    record({"open": always(True, "the seat is open")}, "Nobody yet."),
    about="who has a seat",
)
OCCUPANT.schema["title"] = "Occupant"
ROSTER = mapping(SEAT, OCCUPANT, about="who has each seat")

DOCUMENT = record(
    {
        "phase": ids([NEW, OPEN, STARTED], "`open` while a seat is free; play is possible from `started` on"),
        "game": GAME,
        "creator": PLAYER_ID,
        "commitment": COMMITMENT,
        "roster": ROSTER,
        "departures": mapping(PLAYER_ID, whole(1), about="how often each player has left a seat of the match"),
        "contributions": mapping(SEAT, GIVEN, about="what seats have added to the dice; seats that gave nothing are left out"),
    },
    about="the state of the table of a match",
)

BLANK: Table = {"phase": NEW, "game": "", "creator": "", "commitment": "", "roster": {}, "departures": {}, "contributions": {}}
"""The table before the match is created."""


def occupant(seat_request: str, player: str) -> Occupant | None:
    """Return who has a seat that was requested as "me", "open" or "ai:<level>"; None for any other request (TBL-CRE-03)."""
    if seat_request == ME:
        return {"player": player}
    if seat_request == FREE:
        return {"open": True}
    level = seat_request.removeprefix(AI)
    return {"ai": level} if seat_request.startswith(AI) and level in LEVELS else None


def is_open(one: Occupant) -> bool:
    """Return True if nobody has the seat yet."""
    return "open" in one


def open_seats(table: Table) -> list[str]:
    """Return the seats that nobody has yet, in alphabetical order (TBL-SEA-01)."""
    return sorted(seat for seat, one in table["roster"].items() if is_open(one))


def may_take_seats(table: Table, player: str) -> bool:
    """Return False for a player who has left seats of the match too often (TBL-SEA-08)."""
    return table["departures"].get(player, 0) < MOST_DEPARTURES


def seats_of(table: Table, player: str) -> list[str]:
    """Return the seats of a player, in alphabetical order."""
    return sorted(seat for seat, one in table["roster"].items() if one.get("player") == player)
