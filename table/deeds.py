"""A deed for every action that can be chosen at a table (CONTRACT section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from table.creating import CREATE as CREATE
from table.creating import CREATE_MATCH
from table.leaving import RESIGN, RETURN
from table.outages import RETURN_TIME
from table.seats import CLOSE_MATCH, DECLINE_SEAT, LEAVE_SEAT, TAKE_SEAT
from table.session import TableDeed
from table.time_outs import TIME_OUT
from table.votes import END_VOTE, VOTE

DEEDS: Mapping[str, TableDeed] = {
    CREATE: CREATE_MATCH,
    "take_seat": TAKE_SEAT,
    "decline_seat": DECLINE_SEAT,
    "leave_seat": LEAVE_SEAT,
    "close_match": CLOSE_MATCH,
    "resign": RESIGN,
    "return": RETURN,
    "vote": VOTE,
    "time_out": TIME_OUT,
    "end_vote": END_VOTE,
    "return_time": RETURN_TIME,
}
