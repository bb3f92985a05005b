"""Seats before the match starts: players take them, leave them and decline them, and the creator may close the match (SEA, INV, CLO)."""

from __future__ import annotations

from games.kernel import Action, Refusal, no, only
from games.schema import optional, text
from games.sentences import joined
from table import state
from table.creating import start_if_full
from table.data import MOST_DEPARTURES
from table.session import Session, TableDeed

# Any text is well formed. A seat that the match does not have is refused as `no_such_seat`.
ANY_SEAT = text(about="a seat of the match")


def take_seat_offers(session: Session, player: str) -> list[Action]:
    """Return one action for each open seat, without a code; a contribution may be added to it (TBL-SEA-01, TBL-SEA-03)."""
    return [{"type": "take_seat", "seat": seat} for seat in state.open_seats(session.table)]


def take_seat_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why taking a seat is refused, or None (TBL-CRE-06, TBL-SEA-01, TBL-SEA-02, TBL-SEA-08, TBL-INV-01, TBL-INV-04,
    TBL-CLO-02)."""
    table, seat = session.table, action["seat"]
    if seat not in table["roster"]:
        return no("no_such_seat", "TBL-SEA-01", seat=seat, seats=joined(sorted(table["roster"])))
    if table["phase"] == state.CLOSED:
        return no("match_closed", "TBL-CLO-02")
    if not state.is_open(table["roster"][seat]):
        return no("seat_taken", "TBL-SEA-02", seat=seat)
    if table["invited"].get(seat, player) != player:
        return no("not_invited", "TBL-INV-01", seat=seat)
    if state.needs_code(table, player, seat) and action.get("code") != table["lock"]:
        return no("wrong_code", "TBL-INV-04")
    if state.has_another(table, player, seat):
        return no("one_seat_each", "TBL-CRE-06", player=player)
    return None if state.may_take_seats(table, player) else no("left_too_often", "TBL-SEA-08", limit=MOST_DEPARTURES)


def take_seat(session: Session, player: str, action: Action) -> None:
    """Give the seat to the player, and start the match with the last open seat (TBL-SEA-01, TBL-SEA-03, TBL-SEA-06)."""
    session.emit("seat_taken", seat=action["seat"], player=player, contribution=action.get("contribution"))
    start_if_full(session)


def leave_seat_offers(session: Session, player: str) -> list[Action]:
    """Return one action for each seat of the player (TBL-SEA-04)."""
    return [{"type": "leave_seat", "seat": seat} for seat in state.seats_of(session.table, player)]


def leave_seat_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why leaving a seat is refused, or None (TBL-SEA-04, TBL-SEA-05, TBL-CLO-02)."""
    seat, roster, phase = action["seat"], session.table["roster"], session.table["phase"]
    if seat not in roster:
        return no("no_such_seat", "TBL-SEA-04", seat=seat, seats=joined(sorted(roster)))
    if roster[seat].get("player") != player:
        return no("not_your_seat", "TBL-SEA-04", seat=seat)
    if phase in (state.STARTED, state.PAUSED, state.DISPUTED):
        return no("already_started", "TBL-SEA-05")
    return no("match_closed", "TBL-CLO-02") if phase == state.CLOSED else None


def leave_seat(session: Session, player: str, action: Action) -> None:
    """Open the seat again; what its player added to the dice is gone (TBL-SEA-04, TBL-SEA-07, TBL-SEA-08)."""
    session.emit("seat_left", seat=action["seat"], player=player)


# ---------------------------------------------------------------- invitations


def decline_seat_offers(session: Session, player: str) -> list[Action]:
    """Return one action for each open seat that is kept for the player (TBL-INV-02)."""
    return [{"type": "decline_seat", "seat": seat} for seat, invited in state.kept_seats(session.table).items() if invited == player]


def decline_seat_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why declining a seat is refused, or None (TBL-INV-02, TBL-CLO-02)."""
    table, seat = session.table, action["seat"]
    if seat not in table["roster"]:
        return no("no_such_seat", "TBL-INV-02", seat=seat, seats=joined(sorted(table["roster"])))
    if table["invited"].get(seat) != player:
        return no("not_invited", "TBL-INV-02", seat=seat)
    if table["phase"] == state.CLOSED:
        return no("match_closed", "TBL-CLO-02")
    return None if state.is_open(table["roster"][seat]) else no("seat_taken", "TBL-INV-02", seat=seat)


def decline_seat(session: Session, player: str, action: Action) -> None:
    """Keep the seat for the creator of the match, or for nobody if the creator declines (TBL-INV-02)."""
    creator = session.table["creator"]
    session.emit("invitation_declined", seat=action["seat"], player=player, kept_for=None if player == creator else creator)


# ---------------------------------------------------------------- closing a match


def close_match_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why closing a match is refused, or None (TBL-CLO-01, TBL-CLO-02)."""
    phase = session.table["phase"]
    if session.table["creator"] != player:
        return no("not_creator", "TBL-CLO-01")
    if phase in (state.STARTED, state.PAUSED, state.DISPUTED):
        return no("already_started", "TBL-CLO-01")
    return no("match_closed", "TBL-CLO-02") if phase == state.CLOSED else None


def close_match(session: Session, player: str, action: Action) -> None:
    """Close the match for good; the secret is revealed, since nothing follows from it any more (TBL-CLO-01, TBL-CLO-03)."""
    session.emit("match_closed")


TAKE_SEAT = TableDeed(
    {"seat": ANY_SEAT, "contribution": optional(state.GIVEN), "code": optional(state.CODE)}, take_seat_offers, take_seat_refusal, take_seat
)
DECLINE_SEAT = TableDeed({"seat": ANY_SEAT}, decline_seat_offers, decline_seat_refusal, decline_seat)
LEAVE_SEAT = TableDeed({"seat": ANY_SEAT}, leave_seat_offers, leave_seat_refusal, leave_seat)
CLOSE_MATCH = TableDeed({}, only("close_match"), close_match_refusal, close_match)
