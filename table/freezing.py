"""How disputes freeze a match, and for how long (DIS-02, DIS-14, DIS-15)."""

from __future__ import annotations

from typing import Any

from table.clocks import deadline_of
from table.data import DAY_MS
from table.document import Dispute, Table
from table.progress import is_over, present
from table.session import Session
from table.state import APPEALED, NO_REMEDY, OPEN, RULED, UPHELD

Seat = str


def tell(session: Session, kind: str, number: int, **facts: Any) -> None:
    """Record an event about a dispute that is there, with the version of its entry."""
    session.emit(kind, dispute=number, entry=session.now.version + 1, **facts)


def patience(table: Table) -> int:
    """Return for how many milliseconds, at most, a match is frozen for the disputes of one seat (TBL-DIS-14)."""
    return table["dispute_days"] * DAY_MS


def freezes(session: Session, seat: Seat) -> dict[str, int] | None:
    """Return since when and until when a new dispute of a seat freezes the match, or None if it does not (TBL-DIS-02, TBL-DIS-14).

    Only a seat in play does that which its player plays, and only as long as the match waits for its disputes.
    """
    left = patience(session.table) - session.table["waited"].get(seat, 0)
    if is_over(session) or left <= 0 or seat not in present(session):
        return None
    return {"since": session.now.at, "until": session.now.at + left}


def clock_now(session: Session, seat: Seat) -> dict[str, int] | None:
    """Return what a seat in play that must act has left at this moment, in the bank and before it; None if its clock would not run if
    nobody had disputed."""
    table = session.table
    clock = table["clocks"]["seats"].get(seat)
    if clock is None or table["paused_until"] is not None or seat not in session.state["to_act"] or seat in table["votes"]:
        return None
    used = 0 if clock["since"] is None else max(0, session.now.at - clock["since"])
    return {"bank": max(0, clock["bank"] - max(0, used - clock["free"])), "free": max(0, clock["free"] - used)}


def cost(session: Session, one: Dispute) -> int:
    """Return the milliseconds that a dispute has taken by now from the clock of its seat, which goes on until a referee takes the case
    (TBL-DIS-15)."""
    kept, due = one["left"], deadline_of(session.table, one["seat"])
    if kept is None or one["freezes"] is None or one["taken"] is not None or due is None:
        return one["cost"]
    return kept["bank"] + kept["free"] - max(0, due - session.now.at)


def settle_freezes(session: Session) -> None:
    """End the freezes that have no reason any more, and let the match go on if none is left (TBL-DIS-02, TBL-DIS-14)."""
    for number, one in enumerate(session.table["disputes"], 1):
        since = one["freezes"]
        if since is not None and not _still(session, one):
            upheld = bool(one["rulings"]) and one["rulings"][-1]["verdict"] == UPHELD
            waited = 0 if upheld else session.now.at - since["since"]
            tell(session, "freeze_ended", number, waited=waited, cost=cost(session, one))
    frozen = session.table["disputed_since"]
    if frozen is not None and not any(one["freezes"] for one in session.table["disputes"]):
        session.emit("match_unfrozen", frozen=session.now.at - frozen)


def _still(session: Session, one: Dispute) -> bool:
    """Return True if a dispute still has a reason to freeze the match: it waits for a referee, or a ruling is about to change something."""
    if is_over(session) or one["seat"] not in session.playing or one["freezes"] is None:
        return False
    if session.now.at > one["freezes"]["until"] and one["state"] != RULED:
        return False
    return one["state"] == OPEN or (one["state"] in (RULED, APPEALED) and one["rulings"][-1]["remedy"] != NO_REMEDY)
