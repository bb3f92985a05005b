"""Outages: the time that the service lost is given back to every clock that ran (CLK-07)."""

from __future__ import annotations

from games.kernel import Action, Refusal, no
from games.schema import described
from table.clocks import deadlines
from table.progress import not_running
from table.session import BY_SYSTEM, Session, TableDeed, unlisted
from table.state import MOMENT


def return_time_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why giving time back is refused, or None (TBL-CLK-07)."""
    refusal = not_running(session)
    if refusal is not None:
        return refusal
    returned, start, end = session.table["clocks"]["returned"], action["from"], action["to"]
    if not (returned <= start < end <= session.now.at and deadlines(session.table)):
        return no("nothing_to_return", "TBL-CLK-07", start=start, end=end, returned=returned)
    return None


def return_time(session: Session, system: str, action: Action) -> None:
    """Let every clock that ran while the service did not run that much longer (TBL-CLK-07)."""
    session.emit("time_returned", **{"from": action["from"], "to": action["to"]})


RETURN_TIME = TableDeed(
    {
        "from": described(MOMENT, "when the outage began, in milliseconds since 1970"),
        "to": described(MOMENT, "when it ended, in milliseconds since 1970"),
    },
    unlisted,
    return_time_refusal,
    return_time,
    BY_SYSTEM,
)
