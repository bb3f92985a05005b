"""Allowances: how long an AI seat may search for a decision.

What a search answers follows from a number of iterations, never from a clock of this machine. A decision gets the iterations of its level,
or half of them, or a quarter, and so on: fewer late in a long turn, and fewer in a match with a quick clock. How often they are halved
follows from the entries before the decision alone, so an auditor comes to the same number (docs/decisions/0071).

The seconds of an allowance are a brake, for a machine that is too slow or too busy. A search that is stopped by it plays its best so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from record.entries import Entry
from table.clocks import at_start
from table.data import SEARCH_SECONDS, SECOND_MS
from table.document import Clock
from table.rules import is_table_action
from table.settings import BANK, PER_ACTION

FULL = 8  # decisions in a row of one seat with the same share of iterations
HALVINGS = 6  # the most
WINDOW = 64  # entries that are looked at for the decisions of a turn
TURNS = 32  # for which a bank has to last


class Allowance(NamedTuple):
    """The time of a level of play for a decision.

    After `seconds` the search is asked for its best so far. After `limit` seconds its step is ended, and nothing is written. Once a worker
    has taken the decision, nobody else begins it for `lease_ms`.
    """

    seconds: float
    limit: int
    lease_ms: int


ALLOWANCES: Mapping[str, Allowance] = {
    level: Allowance(seconds, seconds + 5, (seconds + 10) * SECOND_MS) for level, seconds in SEARCH_SECONDS.items()
}
"""The levels that search, each with its allowance. All other levels decide at once (table/data.json).

Whoever changes the seconds of a level changes how often its iterations are halved, and so raises the revision of `players`.
"""


class Turn(NamedTuple):
    """What a seat has done of its turn: the number of its decisions, and the milliseconds that they took."""

    decisions: int
    ms: int


def turn_of(before: Sequence[Entry], seat: str) -> Turn:
    """Return what a seat has done of its turn: its decisions at the end of some entries, without one of anybody else between them.

    `before`: the entries before a decision, the oldest first. Only the last `WINDOW` count. Those of the table are no decisions, and what
    passed before them took nobody's time: a pause, or a failure of the service.
    """
    decisions = ms = 0
    window = before[-WINDOW:]
    for place in range(len(window) - 1, -1, -1):
        entry = window[place]
        if is_table_action(entry.action):
            continue
        if entry.actor != seat:
            break
        decisions += 1
        ms += max(0, entry.at - window[place - 1].at) if place else 0
    return Turn(decisions, ms)


def halvings(level: str, clock: Clock, turn: Turn) -> int:
    """Return how often the iterations of a decision are halved, 0 to `HALVINGS`.

    `clock`: that of the match. `turn`: what the seat has done of its turn. A turn of `FULL * HALVINGS` decisions takes less than `2 * FULL`
    whole ones. In a match with clocks, the allowance of a decision is never more than the turn can spare.
    """
    times = min(HALVINGS, turn.decisions // FULL)
    left = spare(clock, turn.ms)
    if left is not None:
        while times < HALVINGS and ALLOWANCES[level].seconds * SECOND_MS > left << times:
            times += 1
    return times


def spare(clock: Clock, used: int) -> int | None:
    """Return how many milliseconds a decision may take in a match with clocks; None if there are none.

    No clock runs for an artificial player (TBL-CLK-02). It takes the time that a player could take at the start of the match: half of what
    is left of the free time, the increment and a small part of the bank, which has to last for many turns. `used`: the milliseconds of the
    turn so far.
    """
    start = at_start(clock, [""]).get("")
    if start is None:
        return None
    increment = clock["increment"] * SECOND_MS if clock["kind"] == BANK else 0
    return max(0, start["free"] + increment + start["bank"] // TURNS - (0 if clock["kind"] == PER_ACTION else used)) // 2
