"""Derive due work from entries. The due index in the store is reliable. The queue is only faster."""

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

    `seconds`: the time limit of a step. `patience_ms`: after this time without a result, the worker counts as lost and the sweep enqueues
    the work again. `at_once`: the work is due as soon as it is known. Its moment in the index is that of its entry; if it lies in the
    future, a clock is wrong. The moment of other work is a deadline, which may lie in the future. `slow`: a step may take long, so it needs
    workers of its own. `alone`: a step may take long, and one is done at a time, so that it never keeps all workers.
    """

    seconds: int
    patience_ms: int
    at_once: bool = True
    slow: bool = False
    alone: bool = False


ADVANCE = "advance"
DEADLINE = "deadline"
THINK = "think"
SEARCH = "search"
EXPIRE = "expire"
REPORT = "report"
HINT = "hint"
ANALYSIS = "analysis"
PUZZLE = "puzzle"

KINDS: Mapping[str, Kind] = {
    ADVANCE: Kind(10, 2000),
    DEADLINE: Kind(10, 300, at_once=False),
    THINK: Kind(30, 2000),
    SEARCH: Kind(max(allowance.limit for allowance in ALLOWANCES.values()), 2000, slow=True),
    EXPIRE: Kind(10, 60_000, at_once=False),
    REPORT: Kind(60, 3000, alone=True),
    HINT: Kind(25, 28_000, slow=True),
    ANALYSIS: Kind(25, 28_000, slow=True),
    PUZZLE: Kind(25, 28_000, slow=True),
}
"""Every kind of due work. Each has a queue of its own (events/store/queue). workers/jobs.py carries it out. The work of one creator is
done in this order. Creators share the time of workers, and each kind keeps a tenth of it (exchange.lua).

The last three are studies (events/store/queue/studies.py). They are not in the due index; their askers ask until the answer is there.
"""

REPORT_MS = 3  # of the lease of a report for each version: it audits the match, and nobody else begins it meanwhile
REVIEW_MS = 12_000  # and for the decisions of artificial players that it makes again

QUICK = tuple(name for name, kind in KINDS.items() if not kind.slow)
SLOW = tuple(name for name, kind in KINDS.items() if kind.slow)


class Owed(NamedTuple):
    """Work that is due for a match at `version`.

    `target`: a seat, the number of a dispute, or "". `due`: from when on it is due (ms since 1970). `creator`: the player who created the
    match; the queue is fair among creators. `lease_ms`: how long only the worker that took it may do it; 0: the patience of the kind.
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
        """The name of this work in the due index: `kind|match|target`."""
        return f"{self.kind}|{self.match}|{self.target}"


class NotDue(Exception):
    """The requested work is not due: the queue has old or foreign content, or it is not certain that a moment has passed."""

    code = "not_due"


def queue_list(text: str) -> tuple[str, ...]:
    """Return the queues in a comma-separated list.

    Raises ValueError for an unknown queue, and for a mix of slow and quick queues: quick work never waits for slow work.
    """
    kinds = tuple(text.split(","))
    if not set(kinds) <= KINDS.keys():
        raise ValueError(f"the queues are {', '.join(KINDS)}")
    if set(kinds) & set(QUICK) and set(kinds) & set(SLOW):
        raise ValueError(f"workers for {', '.join(SLOW)} do nothing else")
    return kinds


def split(member: str) -> tuple[str, str, str]:
    """Return the kind, the match and the target of a member of the index."""
    kind, match, target = member.split("|", 2)
    return kind, match, target


def owed(position: Position) -> tuple[Owed, ...]:
    """Return the work that is due for a match.

    Before it starts, that is its removal. Then it is one step of the system or of an AI seat (the system first), the first reports on
    disputes, and the action of the system at the earliest deadline of the table.
    """
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
    if table["disputes"]:
        decides = table["substitutes"] or any("ai" in occupant for occupant in table["roster"].values())
        lease = REPORT_MS * version + (REVIEW_MS if decides else 0)
        found += [
            Owed(REPORT, match, version, str(number), position.at, creator, lease)
            for number, dispute in enumerate(table["disputes"], 1)
            if not dispute["reported"] and dispute["state"] in UNDECIDED
        ]
    later = next_deed(table, position.document, position.at, position.played)
    if later is not None:
        found.append(Owed(DEADLINE, match, version, "", later[0], creator))
    return tuple(found)


def _decision(position: Position, thinking: Thinking) -> Owed:
    """Return the work for a decision of an AI seat: quick, or a search."""
    allowance = ALLOWANCES.get(thinking.level)
    kind, lease = (THINK, 0) if allowance is None else (SEARCH, allowance.lease_ms)
    return Owed(kind, position.match, position.version, thinking.seat, position.at, position.table["creator"], lease)


class Thinking(NamedTuple):
    """An artificial player who must decide: the seat, the level of play, and since when the decision is due (ms since 1970)."""

    seat: str
    level: str
    since: int


def thinking_of(position: Position) -> Thinking | None:
    """Return the AI seat that must decide next, or None. The system acts first. The result depends on the position only."""
    to_act = position.to_act
    if SYSTEM in to_act:
        return None
    found = ((seat, level_of(position, seat)) for seat in to_act)
    return next((Thinking(seat, level, position.at) for seat, level in found if level is not None), None)
