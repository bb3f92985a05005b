"""Abandonment: in a match without a clock those who must act and do not forfeit at last (TIM-10, TIM-13)."""

from __future__ import annotations

from games.kernel import Action, Refusal, no, only
from table.data import ABANDONMENT_MS, DAY_MS
from table.progress import awaited, forfeit, is_over, not_going_on, not_taking_part, void
from table.session import BY_SEAT, BY_SYSTEM, Session, TableDeed, unlisted
from table.settings import NONE
from table.state import STARTED


def abandon_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why giving up a match is refused, or None (TBL-TIM-10)."""
    refusal = not_going_on(session)
    if refusal is not None:
        return refusal
    return None if _is_still(session, ABANDONMENT_MS) else no("not_due", "TBL-TIM-10")


def abandon(session: Session, system: str, action: Action) -> None:
    """Let the seats forfeit that have not acted for long. The match is void if nobody has waited for them (TBL-TIM-10)."""
    late = awaited(session)
    if not late or len(late) == len(session.playing):
        void(session)
    for seat in late:
        if not is_over(session):
            forfeit(session, seat)


def claim_refusal(session: Session, seat: str, action: Action) -> Refusal | None:
    """Return why a seat that waits cannot claim that the others forfeit, or None (TBL-TIM-13)."""
    refusal = not_taking_part(session, seat)
    if refusal is not None:
        return refusal
    days = session.table["clock"].get("claim_days")
    late = awaited(session)
    if days is None or seat in late or not late or not _is_still(session, days * DAY_MS):
        return no("not_due", "TBL-TIM-13")
    return None


def claim(session: Session, seat: str, action: Action) -> None:
    """Claim that those forfeit who must act and have not for long (TBL-TIM-13)."""
    abandon(session, seat, action)


def _is_still(session: Session, length: int) -> bool:
    """Return True if a match without a clock goes on, and nobody has played for so many milliseconds."""
    table, now = session.table, session.now
    return table["phase"] == STARTED and table["clock"]["kind"] == NONE and now.at >= now.played + length


ABANDON = TableDeed({}, only("abandon"), abandon_refusal, abandon, BY_SYSTEM)
CLAIM = TableDeed({}, unlisted, claim_refusal, claim, BY_SEAT)
