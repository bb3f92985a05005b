"""The work that entries make due. The index of what is due is part of the store, and certain; the queue is only the quick way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from events.positions import Position
from games.kernel import SYSTEM
from table.deadlines import next_deed
from table.state import removal


class Kind(NamedTuple):
    """A kind of due work.

    A step of it may take `seconds`. After `patience_ms` without a result a worker counts as lost, and the sweep lets the work wait again.
    `at_once`: the work is due as soon as it is known; its moment in the index is that of its entry, and if that lies in the future, a
    clock is wrong. The moment of other work is a deadline, which may well lie in the future.
    """

    seconds: int
    patience_ms: int
    at_once: bool = True


ADVANCE = "advance"
DEADLINE = "deadline"
THINK = "think"
EXPIRE = "expire"

KINDS: Mapping[str, Kind] = {
    ADVANCE: Kind(10, 2000),
    DEADLINE: Kind(10, 300, at_once=False),
    THINK: Kind(30, 2000),
    EXPIRE: Kind(10, 60_000, at_once=False),
}
"""Every kind of due work, in order of priority. Each waits by itself in the queue (events/queue); workers/jobs.py knows who does it."""


class Owed(NamedTuple):
    """Work that is due for a match at `version`: its kind, its target (a seat, or ""), and from when on it is due (ms since 1970).

    `creator` made the match, and the work waits in that player's name.
    """

    kind: str
    match: str
    version: int
    target: str
    due: int
    creator: str

    @property
    def member(self) -> str:
        """The name of this work in the index of what is due: `kind|match|target`."""
        return f"{self.kind}|{self.match}|{self.target}"


class NotDue(Exception):
    """What was asked for is not due: the queue has old or foreign content, or a moment has not passed for sure."""

    code = "not_due"


def queue_list(text: str) -> tuple[str, ...]:
    """Return the queues that a comma-separated list names. Raise ValueError for a queue that does not exist."""
    kinds = tuple(text.split(","))
    if not set(kinds) <= KINDS.keys():
        raise ValueError(f"the queues are {', '.join(KINDS)}")
    return kinds


def split(member: str) -> tuple[str, str, str]:
    """Return the kind, the match and the target that a member of the index names."""
    kind, match, target = member.split("|", 2)
    return kind, match, target


def owed(position: Position) -> tuple[Owed, ...]:
    """Return the work that is due for a match: its removal before it has started; then the step of the system before that of an AI seat,
    one at a time, and what the system has to do at the table when the earliest deadline has passed."""
    match, version, table, creator = position.match, position.version, position.table, position.table["creator"]
    until = removal(table, position.created, position.at)
    if until is not None:
        return (Owed(EXPIRE, match, version, "", until, creator),)
    found: list[Owed] = []
    to_act = position.to_act
    if SYSTEM in to_act:
        found.append(Owed(ADVANCE, match, version, "", position.at, creator))
    else:
        thinking = next((seat for seat in to_act if level_of(position, seat) is not None), None)
        if thinking is not None:
            found.append(Owed(THINK, match, version, thinking, position.at, creator))
    later = next_deed(table, position.document["outcome"] is not None, position.at)
    if later is not None:
        found.append(Owed(DEADLINE, match, version, "", later[0], creator))
    return tuple(found)


def level_of(position: Position, seat: str) -> str | None:
    """Return the level at which an artificial player plays a seat, also for a player who is away; None if a player plays it."""
    return position.table["substitutes"].get(seat) or position.roster[seat].get("ai")
