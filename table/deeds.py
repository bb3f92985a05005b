"""A deed for every action that a player may choose at a table (CONTRACT section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Action, Refusal, Refused, no
from games.schema import Shape, always, listing, mapping, optional, text
from table.data import MOST_DEPARTURES
from table.session import Session, TableDeed
from table.state import (
    CLOSED,
    CODE,
    GAME,
    GIVEN,
    NEW,
    SEAT,
    STARTED,
    invited_player,
    is_open,
    kept_seats,
    may_take_seats,
    needs_code,
    occupant,
    open_seats,
    seats_of,
)

CREATE = "create_match"

# What the options may be is for the game to say.
OPTIONS = mapping(text(), Shape({}, {}, lambda given: given), about="the options of the match")

# Any text is well formed. A seat that the match does not have is refused as `no_such_seat`.
ANY_SEAT = text(about="a seat of the match")


# ---------------------------------------------------------------- creating a match


def create_match_offers(session: Session, player: str) -> list[Action]:
    """Return nothing: what a new match may be is described by the game, not listed (TBL-CRE-01)."""
    return []


def create_match_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return the first rule that a new match breaks (TBL-CRE-01, TBL-CRE-03, TBL-CRE-04, TBL-CRE-07)."""
    if session.table["phase"] != NEW:
        return no("already_created", "TBL-CRE-01")
    for seat, seat_request in action["seats"].items():
        if occupant(seat_request, player) is None:
            return no("bad_seats", "TBL-CRE-03", seat=seat, request=seat_request)
    if "order" in action and sorted(action["order"]) != sorted(action["seats"]):
        return no("bad_order", "TBL-CRE-07", seats=", ".join(sorted(action["seats"])))
    try:
        session.game.begin(_order(session, action), action["options"])
    except Refused as refused:
        return refused.refusal
    return None


def create_match(session: Session, player: str, action: Action) -> None:
    """Publish the roster, the invitations, the commitment, the lock and the time to start, and prepare the game's first document.

    (TBL-CRE-02, TBL-CRE-05, TBL-CRE-06, TBL-CRE-07, TBL-SEA-06, TBL-INV-01, TBL-INV-05, TBL-EXP-01)
    """
    roster = {seat: occupant(seat_request, player) for seat, seat_request in action["seats"].items()}
    invited = {seat: id for seat, seat_request in action["seats"].items() if (id := invited_player(seat_request)) is not None}
    more = {"invited": invited or None, "lock": session.lock if "code" in action else None, "expires": session.expires}
    given = {name: value for name, value in more.items() if value is not None}
    session.emit("match_created", game=session.game.id, creator=player, commitment=session.commitment, roster=roster, **given)
    session.emit("match_prepared", document=session.game.begin(_order(session, action), action["options"]))
    _start_if_full(session)


def _order(session: Session, action: Action) -> list[str]:
    """Return the seats in their order around the board: the order that is named, or else that of the game's list (TBL-CRE-07).

    Seats that the game does not have come last, for the game to refuse.
    """
    seats: dict[str, str] = action["seats"]
    known = session.game.seats.ids
    return list(action.get("order") or [*(seat for seat in known if seat in seats), *sorted(seats.keys() - set(known))])


# ---------------------------------------------------------------- seats


def take_seat_offers(session: Session, player: str) -> list[Action]:
    """Return one action for each open seat, without a code; a contribution may be added to it (TBL-SEA-01, TBL-SEA-03)."""
    return [{"type": "take_seat", "seat": seat} for seat in open_seats(session.table)]


def take_seat_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return the first rule that taking a seat breaks (TBL-SEA-01, TBL-SEA-02, TBL-SEA-08, TBL-INV-01, TBL-INV-04, TBL-CLO-02)."""
    table, seat = session.table, action["seat"]
    if seat not in table["roster"]:
        return no("no_such_seat", "TBL-SEA-01", seat=seat, seats=", ".join(sorted(table["roster"])))
    if table["phase"] == CLOSED:
        return no("match_closed", "TBL-CLO-02")
    if not is_open(table["roster"][seat]):
        return no("seat_taken", "TBL-SEA-02", seat=seat)
    if table["invited"].get(seat, player) != player:
        return no("not_invited", "TBL-INV-01", seat=seat)
    if needs_code(table, player, seat) and action.get("code") != table["lock"]:
        return no("wrong_code", "TBL-INV-04")
    return None if may_take_seats(table, player) else no("left_too_often", "TBL-SEA-08", limit=MOST_DEPARTURES)


def take_seat(session: Session, player: str, action: Action) -> None:
    """Give the seat to the player, and start the match with the last open seat (TBL-SEA-01, TBL-SEA-03, TBL-SEA-06)."""
    session.emit("seat_taken", seat=action["seat"], player=player, contribution=action.get("contribution"))
    _start_if_full(session)


def leave_seat_offers(session: Session, player: str) -> list[Action]:
    """Return one action for each seat of the player (TBL-SEA-04)."""
    return [{"type": "leave_seat", "seat": seat} for seat in seats_of(session.table, player)]


def leave_seat_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return the first rule that leaving a seat breaks (TBL-SEA-04, TBL-SEA-05, TBL-CLO-02)."""
    seat, roster, phase = action["seat"], session.table["roster"], session.table["phase"]
    if seat not in roster:
        return no("no_such_seat", "TBL-SEA-04", seat=seat, seats=", ".join(sorted(roster)))
    if roster[seat].get("player") != player:
        return no("not_your_seat", "TBL-SEA-04", seat=seat)
    if phase == STARTED:
        return no("already_started", "TBL-SEA-05")
    return no("match_closed", "TBL-CLO-02") if phase == CLOSED else None


def leave_seat(session: Session, player: str, action: Action) -> None:
    """Open the seat again; what its player added to the dice is gone (TBL-SEA-04, TBL-SEA-07, TBL-SEA-08)."""
    session.emit("seat_left", seat=action["seat"], player=player)


# ---------------------------------------------------------------- invitations


def decline_seat_offers(session: Session, player: str) -> list[Action]:
    """Return one action for each open seat that is kept for the player (TBL-INV-02)."""
    return [{"type": "decline_seat", "seat": seat} for seat, invited in kept_seats(session.table).items() if invited == player]


def decline_seat_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return the first rule that declining a seat breaks (TBL-INV-02, TBL-CLO-02)."""
    table, seat = session.table, action["seat"]
    if seat not in table["roster"]:
        return no("no_such_seat", "TBL-INV-02", seat=seat, seats=", ".join(sorted(table["roster"])))
    if table["invited"].get(seat) != player:
        return no("not_invited", "TBL-INV-02", seat=seat)
    if table["phase"] == CLOSED:
        return no("match_closed", "TBL-CLO-02")
    return None if is_open(table["roster"][seat]) else no("seat_taken", "TBL-INV-02", seat=seat)


def decline_seat(session: Session, player: str, action: Action) -> None:
    """Keep the seat for the creator of the match, or for nobody if the creator declines (TBL-INV-02)."""
    creator = session.table["creator"]
    session.emit("invitation_declined", seat=action["seat"], player=player, kept_for=None if player == creator else creator)


# ---------------------------------------------------------------- closing a match


def close_match_offers(session: Session, player: str) -> list[Action]:
    """Return the only action of its kind (TBL-CLO-01)."""
    return [{"type": "close_match"}]


def close_match_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return the first rule that closing a match breaks (TBL-CLO-01, TBL-CLO-02)."""
    phase = session.table["phase"]
    if session.table["creator"] != player:
        return no("not_creator", "TBL-CLO-01")
    if phase == STARTED:
        return no("already_started", "TBL-CLO-01")
    return no("match_closed", "TBL-CLO-02") if phase == CLOSED else None


def close_match(session: Session, player: str, action: Action) -> None:
    """Close the match for good; the secret is revealed, since nothing follows from it any more (TBL-CLO-01, TBL-CLO-03)."""
    session.emit("match_closed")


def _start_if_full(session: Session) -> None:
    """Start the match when no seat is open (TBL-SEA-06)."""
    if not open_seats(session.table):
        session.emit("seats_filled")


DEEDS: Mapping[str, TableDeed] = {
    CREATE: TableDeed(
        {
            "game": GAME,
            "seats": mapping(SEAT, text(about="`me`, `open`, `ai:<level>` or `player:<id>`"), about="who takes which seat"),
            "options": OPTIONS,
            "order": optional(listing(SEAT, about="the seats in their order around the board")),
            "code": optional(always(True, "the match asks for a code")),
        },
        create_match_offers,
        create_match_refusal,
        create_match,
    ),
    "take_seat": TableDeed(
        {"seat": ANY_SEAT, "contribution": optional(GIVEN), "code": optional(CODE)}, take_seat_offers, take_seat_refusal, take_seat
    ),
    "decline_seat": TableDeed({"seat": ANY_SEAT}, decline_seat_offers, decline_seat_refusal, decline_seat),
    "leave_seat": TableDeed({"seat": ANY_SEAT}, leave_seat_offers, leave_seat_refusal, leave_seat),
    "close_match": TableDeed({}, close_match_offers, close_match_refusal, close_match),
}
