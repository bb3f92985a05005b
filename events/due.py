"""The work that entries make due. The index of what is due is part of the store, and certain; the queue is only the quick way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from games.kernel import SYSTEM
from record.allowances import ALLOWANCES
from record.positions import Position, level_of
from table.deadlines import next_deed
from table.state import UNDECIDED, removal


class Kind(NamedTuple):
    """A kind of due work.

    A step of it may take `seconds`. After `patience_ms` without a result a worker counts as lost, and the sweep lets the work wait again.
    `at_once`: the work is due as soon as it is known; its moment in the index is that of its entry, and if that lies in the future, a
    clock is wrong. The moment of other work is a deadline, which may well lie in the future. `slow`: a step may take so long that workers
    do it who do nothing else.
    """

    seconds: int
    patience_ms: int
    at_once: bool = True
    slow: bool = False


ADVANCE = "advance"
DEADLINE = "deadline"
THINK = "think"
SEARCH = "search"
EXPIRE = "expire"
REPORT = "report"
HINT = "hint"
ANALYSIS = "analysis"

KINDS: Mapping[str, Kind] = {
    ADVANCE: Kind(10, 2000),
    DEADLINE: Kind(10, 300, at_once=False),
    THINK: Kind(30, 2000),
    SEARCH: Kind(max(allowance.limit for allowance in ALLOWANCES.values()), 2000, slow=True),
    EXPIRE: Kind(10, 60_000, at_once=False),
    REPORT: Kind(60, 3000),
    HINT: Kind(25, 28_000, slow=True),
    ANALYSIS: Kind(25, 28_000, slow=True),
}
"""Every kind of due work, in order of priority. Each waits by itself in the queue (events/queue); workers/jobs.py knows who does it.

The last two are in no index: they are studies (events/store/queue/studies.py), and whoever wants the answer asks until it is there.
"""

QUICK = tuple(name for name, kind in KINDS.items() if not kind.slow)
SLOW = tuple(name for name, kind in KINDS.items() if kind.slow)


class Owed(NamedTuple):
    """Work that is due for a match at `version`: its kind, its target (a seat, the number of a dispute, or ""), and from when on it
    is due (ms since 1970).

    `creator` made the match, and the work waits in that player's name. `lease_ms`: how long a worker who has taken it has it alone; 0 for
    the patience of the kind.
    """

    kind: str
    match: str
    version: int
    target: str
    due: int
    creator: str
    lease_ms: int = 0

    @property
    def member(self) -> str:
        """The name of this work in the index of what is due: `kind|match|target`."""
        return f"{self.kind}|{self.match}|{self.target}"


class NotDue(Exception):
    """What was asked for is not due: the queue has old or foreign content, or a moment has not passed for sure."""

    code = "not_due"


def queue_list(text: str) -> tuple[str, ...]:
    """Return the queues that a comma-separated list names.

    Raise ValueError for a queue that does not exist, and for a slow one beside another: what is quick never waits for what is slow.
    """
    kinds = tuple(text.split(","))
    if not set(kinds) <= KINDS.keys():
        raise ValueError(f"the queues are {', '.join(KINDS)}")
    if set(kinds) & set(QUICK) and set(kinds) & set(SLOW):
        raise ValueError(f"workers for {', '.join(SLOW)} do nothing else")
    return kinds


def split(member: str) -> tuple[str, str, str]:
    """Return the kind, the match and the target that a member of the index names."""
    kind, match, target = member.split("|", 2)
    return kind, match, target


def owed(position: Position) -> tuple[Owed, ...]:
    """Return the work that is due for a match: its removal before it has started; then the step of the system before that of an AI seat,
    one at a time, the first reports on disputes, and what the system has to do at the table when the earliest deadline has passed."""
    match, version, table, creator = position.match, position.version, position.table, position.table["creator"]
    until = removal(table, position.created, position.at)
    if until is not None:
        return (Owed(EXPIRE, match, version, "", until, creator),)
    found: list[Owed] = []
    to_act = position.to_act
    if SYSTEM in to_act:
        found.append(Owed(ADVANCE, match, version, "", position.at, creator))
    else:
        thinking = thinking_of(position)
        if thinking is not None:
            found.append(_decision(position, thinking))
    found += [
        Owed(REPORT, match, version, str(number), position.at, creator)
        for number, dispute in enumerate(table["disputes"], 1)
        if not dispute["reported"] and dispute["state"] in UNDECIDED
    ]
    later = next_deed(table, position.document["outcome"] is not None, position.at)
    if later is not None:
        found.append(Owed(DEADLINE, match, version, "", later[0], creator))
    return tuple(found)


def _decision(position: Position, thinking: Thinking) -> Owed:
    """Return the decision of an AI seat as work: quick, or a search."""
    allowance = ALLOWANCES.get(thinking.level)
    kind, lease = (THINK, 0) if allowance is None else (SEARCH, allowance.lease_ms)
    return Owed(kind, position.match, position.version, thinking.seat, position.at, position.table["creator"], lease)


class Thinking(NamedTuple):
    """An artificial player at work: its seat, its level of play, and since when its decision is due (ms since 1970)."""

    seat: str
    level: str
    since: int


def thinking_of(position: Position) -> Thinking | None:
    """Return which AI seat is to decide, one at a time, after the system; None if none is. It follows from the position alone."""
    to_act = position.to_act
    if SYSTEM in to_act:
        return None
    found = ((seat, level_of(position, seat)) for seat in to_act)
    return next((Thinking(seat, level, position.at) for seat, level in found if level is not None), None)
