"""Allowances: how long an AI seat may search for a decision.

The number of iterations determines what a search answers. The clock of the machine does not. A decision gets the iterations of its level,
or half of them, or a quarter, and so on: fewer late in a long turn, and fewer in a match with a quick clock. The number of halvings follows
from the earlier entries alone, so an auditor computes the same number (docs/decisions/0071).

The seconds of an allowance are a brake for a slow or busy machine. When they run out, the search plays its best action so far.

The moment of a decision tells nothing of the hand that it was about, if a player has a seat in the match. A search then takes its pace,
however soon it has ended, and is stopped when that is over. A level that decides at once takes no time (docs/decisions/0096).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from record.entries import Entry
from table.clocks import at_start
from table.data import SEARCHING, SECOND_MS
from table.document import Clock, Table
from table.rules import is_table_action
from table.settings import BANK, PER_ACTION
from table.state import players_of

FULL = 8  # decisions of one seat in a row before the iterations are halved
HALVINGS = 6  # the most
WINDOW = 64  # entries to search for the decisions of a turn
TURNS = 32  # a bank should last for so many turns
LEAST_PACE = 0.1  # seconds that a search takes late in a long turn, too
QUICK_MS = 250  # how far the moment of a quick decision may lie before its append


class Allowance(NamedTuple):
    """The time that a level may take for a decision.

    After `seconds` the search must answer with its best action so far. After `limit` seconds its step is ended, and nothing is written.
    Once a worker has taken the decision, no other worker begins it for `lease_ms`. `pace`: the seconds that each decision takes where a
    player watches; 0 if it takes as long as it needs.
    """

    seconds: float
    limit: int
    lease_ms: int
    pace: float = 0.0


ALLOWANCES: Mapping[str, Allowance] = {
    level: Allowance(seconds, seconds + 5, (seconds + 10) * SECOND_MS, pace) for level, (seconds, pace) in SEARCHING.items()
}
"""The allowance of each level that searches (table/data.json). All other levels decide at once.

The seconds of a level also determine how often its iterations are halved. If you change them, raise the revision of `players`.
"""


class Turn(NamedTuple):
    """The part of its turn that a seat has played: the number of its decisions, and the milliseconds that they took."""

    decisions: int
    ms: int


def turn_of(before: Sequence[Entry], seat: str) -> Turn:
    """Return the part of its turn that a seat has played: its decisions since another seat decided.

    `before`: the entries before a decision, the oldest first. Only the last `WINDOW` count. Entries of the table are skipped: they are not
    decisions, and the time before them is a pause or an outage.

    >>> from record.example import ENTRIES
    >>> turn_of(ENTRIES[:3], "blue")
    Turn(decisions=1, ms=1000)
    >>> turn_of(ENTRIES[:3], "red")
    Turn(decisions=0, ms=0)
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

    `clock`: the clock of the match. `turn`: the part of its turn that the seat has played. A turn of `FULL * HALVINGS` decisions costs less
    than `2 * FULL` whole ones. In a match with clocks, a decision never gets more time than the turn can spare.

    >>> never = {"kind": "none"}
    >>> [halvings("strong", never, Turn(decisions, 0)) for decisions in (0, 8, 16, 100)]
    [0, 1, 2, 6]
    >>> halvings("strong", {"kind": "per_action", "seconds": 2}, Turn(0, 0))
    2
    """
    times = min(HALVINGS, turn.decisions // FULL)
    left = spare(clock, turn.ms)
    if left is not None:
        while times < HALVINGS and ALLOWANCES[level].seconds * SECOND_MS > left << times:
            times += 1
    return times


def spare(clock: Clock, used: int) -> int | None:
    """Return how many milliseconds a decision may take, or None in a match without clocks.

    No clock runs for an artificial player (TBL-CLK-02). It gets half of what a player would have left at the start of the match: the free
    time, the increment, and a small part of the bank, which has to last for many turns. `used`: the milliseconds of the turn so far.

    >>> spare({"kind": "none"}, 0) is None
    True
    >>> spare({"kind": "per_action", "seconds": 60}, 0)
    30000
    """
    start = at_start(clock, [""]).get("")
    if start is None:
        return None
    increment = clock["increment"] * SECOND_MS if clock["kind"] == BANK else 0
    return max(0, start["free"] + increment + start["bank"] // TURNS - (0 if clock["kind"] == PER_ACTION else used)) // 2


def pace_of(allowance: Allowance, times: int, table: Table) -> float:
    """Return the seconds that a search takes from its beginning to its entry: its pace, halved like its iterations.

    It is 0 where no player has a seat: nobody gains by watching. It follows from what everybody sees.
    """
    return max(LEAST_PACE, allowance.pace / 2**times) if allowance.pace and players_of(table) else 0.0


def moment_of_quick(due: int, now: int, table: Table) -> int:
    """Return the moment that the entry of a level gets that decides at once, in milliseconds since 1970.

    Where a player has a seat, that is the moment at which the decision was due, so it does not tell how long the level thought. If a busy
    service comes to it late, whole steps of `QUICK_MS` are added: no clock of a player pays for more than one.

    >>> from table.state import BLANK
    >>> watched = {**BLANK, "roster": {"red": {"player": "paaaaaaaaaaaaaaaa"}, "blue": {"ai": "greedy"}}}
    >>> [moment_of_quick(1000, now, watched) for now in (1000, 1003, 1249, 1700)], moment_of_quick(1000, 1003, BLANK)
    ([1000, 1000, 1000, 1500], 1003)
    """
    return due + max(0, now - due) // QUICK_MS * QUICK_MS if players_of(table) else now
