"""Deadlines: what the system does next at the table of a match, and when. So every match ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from games.kernel import Action, State
from table.clocks import in_order
from table.data import ABANDONMENT_MS
from table.document import Table
from table.settings import NONE
from table.state import APPEALED, OPEN, PAUSED, RULED, STARTED, is_sealed


def next_deed(table: Table, state: State, last: int, played: int) -> tuple[int, Action] | None:
    """Return the moment after which the system has something to do at the table, and the action; None if there is nothing to come.

    `state`: the game's document. `last`: the latest moment of all entries. `played`: when play last went on (record.positions). Moments are
    in milliseconds since 1970. Of several actions at the same moment the first is that about the dispute with the lowest number; then come
    those about pauses, clocks, votes and abandonment; and of several seats TBL-TIM-12 says the order (TBL-TIM-02, TBL-TIM-10, TBL-PAU-04,
    TBL-VOT-05).
    """
    over = state["outcome"] is not None
    deeds = list(_after_the_end(table, last) if over else _deeds(table, state["seats"], played))
    if table["disputes"]:
        deeds[:0] = _about_disputes(table)
    return min(deeds, key=itemgetter(0), default=None)


def _about_disputes(table: Table) -> Iterator[tuple[int, Action]]:
    """Yield what the system will have to do about disputes (TBL-DIS-09, TBL-DIS-11, TBL-DIS-12, TBL-DIS-14)."""
    for number, one in enumerate(table["disputes"], 1):
        if one["freezes"] is not None and one["state"] != RULED:
            yield one["freezes"]["until"], {"type": "end_freeze", "dispute": number}
        if one["until"] is not None:
            unanswered = "lapse_dispute" if one["escalated"] else "escalate_dispute"
            yield one["until"], {"type": {OPEN: unanswered, APPEALED: unanswered, RULED: "close_appeal"}[one["state"]], "dispute": number}


def _after_the_end(table: Table, last: int) -> Iterator[tuple[int, Action]]:
    """Yield what the system has to do in a match that is over: to begin the one that goes on, or to open the one before (TBL-DIS-13)."""
    if table["continued"] is not None and not table["continued"]["begun"]:
        yield last, {"type": "begin_continuation"}
    origin = table["origin"]
    if origin is not None and "dispute" in origin and "opened" not in origin and not is_sealed(table):
        yield last, {"type": "open_origin"}


def _deeds(table: Table, seats: Sequence[str], played: int) -> Iterator[tuple[int, Action]]:
    """Yield everything that the system will have to do, with its moment."""
    if table["phase"] == PAUSED:
        assert table["paused_until"] is not None
        yield table["paused_until"], {"type": "end_pause"}
    if table["phase"] != STARTED:
        return
    for moment, seat in in_order(table, seats):
        yield moment, {"type": "time_out", "seat": seat}
    for seat in seats:
        if seat in table["votes"]:
            yield table["votes"][seat]["until"], {"type": "end_vote", "seat": seat}
    if table["clock"]["kind"] == NONE:
        yield played + ABANDONMENT_MS, {"type": "abandon"}
