"""Abandonment: a match without a clock in which nothing happens for long is void (TIM-10)."""

from __future__ import annotations

from games.kernel import Action, Refusal, no, only
from table.data import ABANDONMENT_MS
from table.progress import not_going_on, void
from table.session import BY_SYSTEM, Session, TableDeed
from table.settings import NONE
from table.state import STARTED


def abandon_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why giving up a match is refused, or None (TBL-TIM-10)."""
    refusal = not_going_on(session)
    if refusal is not None:
        return refusal
    table = session.table
    early = session.now.at < session.now.last + ABANDONMENT_MS
    return no("not_due", "TBL-TIM-10") if early or table["phase"] != STARTED or table["clock"]["kind"] != NONE else None


def abandon(session: Session, system: str, action: Action) -> None:
    """End a match without a clock that all have left alone: it is void (TBL-TIM-10)."""
    void(session)


ABANDON = TableDeed({}, only("abandon"), abandon_refusal, abandon, BY_SYSTEM)
