"""The work that entries make due. The index of what is due is part of the store, and certain; the queue is only the quick way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from events.positions import Position
from games.kernel import SYSTEM
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
THINK = "think"
EXPIRE = "expire"

KINDS: Mapping[str, Kind] = {ADVANCE: Kind(10, 2000), THINK: Kind(30, 2000), EXPIRE: Kind(10, 60_000, at_once=False)}
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
    one at a time."""
    to_act, creator = position.to_act, position.table["creator"]
    until = removal(position.table, position.created, position.at)
    if until is not None:
        return (Owed(EXPIRE, position.match, position.version, "", until, creator),)
    if SYSTEM in to_act:
        return (Owed(ADVANCE, position.match, position.version, "", position.at, creator),)
    for actor in to_act:
        if "ai" in position.roster[actor]:
            return (Owed(THINK, position.match, position.version, actor, position.at, creator),)
    return ()
