"""A deed for every action that can be chosen at a table (CONTRACT section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from table.abandoning import ABANDON
from table.creating import CREATE as CREATE
from table.creating import CREATE_MATCH
from table.handing import HAND_OVER, TAKE_OVER
from table.leaving import RESIGN, RETURN
from table.offers import ACCEPT, DECLINE, END_PAUSE, OFFER
from table.outages import RETURN_TIME
from table.rematch import REMATCH
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
    "take_over": TAKE_OVER,
    "resign": RESIGN,
    "return": RETURN,
    "hand_over": HAND_OVER,
    "offer": OFFER,
    "accept": ACCEPT,
    "decline": DECLINE,
    "vote": VOTE,
    "rematch": REMATCH,
    "end_pause": END_PAUSE,
    "time_out": TIME_OUT,
    "end_vote": END_VOTE,
    "abandon": ABANDON,
    "return_time": RETURN_TIME,
}
