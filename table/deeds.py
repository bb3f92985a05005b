"""A deed for every action that can be chosen at a table (CONTRACT section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from table import disputes
from table.abandoning import ABANDON, CLAIM
from table.continuing import BEGIN_CONTINUATION, CONTINUE_MATCH, OPEN_ORIGIN, OPEN_RECORD
from table.continuing import CONTINUE as CONTINUE
from table.creating import CREATE, CREATE_MATCH
from table.forks import FORK as FORK
from table.forks import FORK_MATCH
from table.handing import HAND_OVER, TAKE_OVER
from table.leaving import RESIGN, RETURN
from table.offers import ACCEPT, DECLINE, END_PAUSE, OFFER
from table.outages import RETURN_TIME
from table.rematch import REMATCH
from table.seats import CLOSE_MATCH, DECLINE_SEAT, LEAVE_SEAT, TAKE_SEAT
from table.session import TableDeed
from table.time_outs import TIME_OUT
from table.votes import END_VOTE, VOTE

BEGINNINGS = (CREATE, FORK, CONTINUE)
"""The actions by which a match begins. They are not sent to a match."""

DEEDS: Mapping[str, TableDeed] = {
    CREATE: CREATE_MATCH,
    FORK: FORK_MATCH,
    CONTINUE: CONTINUE_MATCH,
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
    "claim": CLAIM,
    "rematch": REMATCH,
    "dispute": disputes.DISPUTE,
    "withdraw_dispute": disputes.WITHDRAW_DISPUTE,
    "state_side": disputes.STATE_SIDE,
    "accept_ruling": disputes.ACCEPT_RULING,
    "appeal": disputes.APPEAL,
    "take_dispute": disputes.TAKE_DISPUTE,
    "rule_dispute": disputes.RULE_DISPUTE,
    "end_pause": END_PAUSE,
    "time_out": TIME_OUT,
    "end_vote": END_VOTE,
    "abandon": ABANDON,
    "return_time": RETURN_TIME,
    "attach_report": disputes.ATTACH_REPORT,
    "escalate_dispute": disputes.ESCALATE_DISPUTE,
    "lapse_dispute": disputes.LAPSE_DISPUTE,
    "close_appeal": disputes.CLOSE_APPEAL,
    "end_freeze": disputes.END_FREEZE,
    "begin_continuation": BEGIN_CONTINUATION,
    "open_record": OPEN_RECORD,
    "open_origin": OPEN_ORIGIN,
}
