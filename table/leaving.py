"""Leaving a match that goes on, and coming back: a seat resigns, or its owner takes it back from a substitute (RES, TIM)."""

from __future__ import annotations

from typing import Any

from games.kernel import Action, Refusal, no, only
from table.clocks import refill
from table.progress import held_refusal, lapse_offers, leave_game, not_in_play, not_running, out_of_play
from table.session import BY_SEAT, Session, TableDeed


def resign_refusal(session: Session, seat: str, action: Action) -> Refusal | None:
    """Return why resigning is refused, or None (TBL-RES-01, TBL-RES-02)."""
    return not_running(session) or out_of_play(session, seat)


def resign(session: Session, seat: str, action: Action) -> None:
    """Give up: the game takes the seat out of play, and the last seat in play wins (TBL-RES-01, TBL-RES-02)."""
    session.emit("seat_resigned", seat=seat)
    leave_game(session, seat)


def return_offers(session: Session, seat: str) -> list[Action]:
    """Return the action of a seat that an artificial player plays (TBL-TIM-05)."""
    return [{"type": "return"}] if seat in session.table["substitutes"] else []


def return_refusal(session: Session, seat: str, action: Action) -> Refusal | None:
    """Return why returning to a seat is refused, or None (TBL-TIM-05, TBL-TIM-09)."""
    refusal = not_in_play(session, seat)
    if refusal is not None:
        return refusal
    if seat not in session.table["substitutes"]:
        return no("not_substituted", "TBL-TIM-05", seat=seat)
    return held_refusal(session, seat, "TBL-TIM-05")


def return_(session: Session, seat: str, action: Action) -> None:
    """Take the seat back from the artificial player that plays it (TBL-TIM-05, TBL-TIM-11)."""
    session.emit("seat_returned", seat=seat, **refilled(session, seat))
    lapse_offers(session)


def refilled(session: Session, seat: str) -> dict[str, Any]:
    """Return the field with which an event says how the bank of a seat is refilled, if it is (TBL-TIM-11)."""
    given = refill(session.table, seat, session.state["round"])
    return {} if given is None else {"refill": given}


RESIGN = TableDeed({}, only("resign"), resign_refusal, resign, BY_SEAT)
RETURN = TableDeed({}, return_offers, return_refusal, return_, BY_SEAT)
