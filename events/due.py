"""The work that entries make due, and the jobs that do it.

The index of what is due is part of the store and certain. A job is only the quick way there; it may be lost or come twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import structlog
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

from events import metrics
from events.positions import Position
from events.store.client import queue_client, queue_errors
from games.kernel import SYSTEM

log = structlog.get_logger(__name__)


class Kind(NamedTuple):
    """A kind of due work.

    `function` does it. A job may take `seconds`. After `patience_ms` without a result a job counts as lost, and the sweep enqueues another.
    `at_once`: the work is due as soon as it is known; its moment in the index is that of its entry, and if that lies in the future, a
    clock is wrong. The moment of other work is a deadline, which may well lie in the future.
    """

    function: str
    seconds: int
    patience_ms: int
    at_once: bool = True


ADVANCE = "advance"
THINK = "think"

KINDS: Mapping[str, Kind] = {ADVANCE: Kind("workers.jobs.advance", 10, 2000), THINK: Kind("workers.jobs.think", 30, 2000)}
"""Every kind of due work, in order of priority. Each has a queue of its own, with its name."""


class Owed(NamedTuple):
    """Work that is due for a match at `version`: its kind, its target (a seat, or ""), and from when on it is due (ms since 1970)."""

    kind: str
    match: str
    version: int
    target: str
    due: int

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
    """Return the work that is due for a match: the step of the system before that of an AI seat, one at a time."""
    to_act = position.to_act
    if SYSTEM in to_act:
        return (Owed(ADVANCE, position.match, position.version, "", position.at),)
    for actor in to_act:
        if "ai" in position.roster[actor]:
            return (Owed(THINK, position.match, position.version, actor, position.at),)
    return ()


class Jobs:
    """The queues of due work, one for each kind, on a server that may be emptied at any time."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection = queue_client(url)
        self._queues = {kind: Queue(kind, connection=self._connection, serializer=JSONSerializer) for kind in KINDS}

    def enqueue(self, work: Owed, again: str | None = None) -> bool:
        """Enqueue a job for due work; `again` names an attempt after the first. Return False if it is queued already or the queue is away.

        Never raises because of the queue: the index in the store is certain, and the sweep enqueues again.
        """
        kind = KINDS[work.kind]
        name = f"{work.kind}-{work.match}-{work.version}" + (f"-{work.target}" if work.target else "")
        name += f"-{again}" if again is not None else ""
        try:
            self._queues[work.kind].enqueue_call(
                kind.function,
                args=(work.match, work.version, work.target) if work.target else (work.match, work.version),
                job_id=name,
                timeout=kind.seconds,
                result_ttl=0,
                failure_ttl=60,
                unique=again is not None,
                description=name,
            )
        except DuplicateJobError:
            return False
        except queue_errors as reason:
            metrics.queue_failures.inc()
            log.warning("queue_unreachable", match=work.match, version=work.version, error=type(reason).__name__)
            return False
        return True

    def enqueue_all(self, works: Iterable[Owed]) -> None:
        """Enqueue a job for everything that is due at once."""
        for work in works:
            if KINDS[work.kind].at_once:
                self.enqueue(work)

    def depth(self, kind: str | None = None) -> int | None:
        """Return how many jobs wait, of one kind or of all; None if the queue does not answer."""
        try:
            return sum(int(queue.count) for name, queue in self._queues.items() if kind in (None, name))
        except queue_errors:
            return None

    def close(self) -> None:
        """Close the connections."""
        connection: Any = self._connection
        connection.close()
