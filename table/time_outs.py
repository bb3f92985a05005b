"""Time-outs: what happens to a seat whose time has run out is a setting of the match (TIM)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from games.kernel import Action, Refusal, no
from table.clocks import deadline_of, in_order
from table.progress import FINALLY, forfeit, not_going_on, skip, substitute
from table.seats import ANY_SEAT
from table.session import BY_SYSTEM, Session, TableDeed
from table.settings import FORFEIT, SKIP, SUBSTITUTE, WAIT
from table.votes import open_vote

_POLICIES: Mapping[str, Callable[[Session, str], None]] = {FORFEIT: forfeit, SUBSTITUTE: substitute, SKIP: skip, WAIT: open_vote}


def time_out_offers(session: Session, system: str) -> list[Action]:
    """Return one action for each seat whose time has run out (TBL-TIM-02)."""
    return [{"type": "time_out", "seat": seat} for _, seat in in_order(session.table, session.state["seats"])]


def time_out_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why a time-out is refused, or None (TBL-TIM-02, TBL-TIM-12)."""
    refusal = not_going_on(session)
    if refusal is not None:
        return refusal
    deadline = deadline_of(session.table, action["seat"])
    if deadline is None or session.now.at <= deadline:
        return no("not_late", "TBL-TIM-02", seat=action["seat"])
    first = in_order(session.table, session.state["seats"])[0][1]
    return None if first == action["seat"] else no("not_due", "TBL-TIM-12")


def time_out(session: Session, system: str, action: Action) -> None:
    """Say that the time of a seat has run out, and do what the match says: it forfeits, is substituted, is skipped, or the others vote.

    After some time-outs in a row it forfeits or is substituted in any case (TBL-TIM-02, TBL-TIM-03, TBL-TIM-04, TBL-TIM-07, TBL-TIM-08,
    TBL-TIM-09).
    """
    table, seat = session.table, action["seat"]
    settings, in_a_row = table["time_out"], table["clocks"]["seats"][seat]["late"] + 1
    session.emit("time_ran_out", seat=seat, deadline=deadline_of(table, seat), in_a_row=in_a_row)
    if in_a_row >= settings["in_a_row"]:
        FINALLY[settings["then"]](session, seat)
    else:
        _POLICIES[settings["policy"]](session, seat)


TIME_OUT = TableDeed({"seat": ANY_SEAT}, time_out_offers, time_out_refusal, time_out, BY_SYSTEM)
