"""What an entry makes due, and the jobs that see to it.

The index of what is due is part of the store and certain; a job is only the quick way there, and may be lost or come twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import structlog
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

from events import metrics
from events.positions import Position
from events.wire import queue_client, queue_errors
from games.kernel import SYSTEM

QUEUE = "turns"
ADVANCE = "workers.jobs.advance"
THINK = "workers.jobs.think"
JOB_SECONDS = 10

log = structlog.get_logger(__name__)


class Owed(NamedTuple):
    """A step that a worker owes to a match at `version`: the system's, or that of the AI seat `actor`."""

    match: str
    version: int
    actor: str

    @property
    def job(self) -> str:
        """The function that does it."""
        return ADVANCE if self.actor == SYSTEM else THINK


def owed(position: Position) -> Owed | None:
    """The step that is owed next, if any: the system's before an AI's, one at a time."""
    to_act = position.to_act
    if SYSTEM in to_act:
        return Owed(position.match, position.version, SYSTEM)
    for actor in to_act:
        if "ai" in position.roster[actor]:
            return Owed(position.match, position.version, actor)
    return None


class Jobs:
    """The queue of what is owed, on a server of its own that may be emptied at any time."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._queue = Queue(QUEUE, connection=queue_client(url), serializer=JSONSerializer)

    def enqueue(self, step: Owed, again: str | None = None) -> bool:
        """Ask for a step; `again` numbers the attempts after the first. False where it is asked for already, or nobody could be told.

        Never raises for the queue's sake: what is owed stands in the store, and the sweep asks again.
        """
        name = f"{step.actor}-{step.match}-{step.version}" + (f"-{again}" if again is not None else "")
        try:
            self._queue.enqueue_call(
                step.job,
                args=(step.match, step.version) if step.actor == SYSTEM else (step.match, step.version, step.actor),
                job_id=name,
                timeout=JOB_SECONDS,
                result_ttl=0,
                failure_ttl=60,
                unique=again is not None,
                description=name,
            )
        except DuplicateJobError:
            return False
        except queue_errors as reason:
            metrics.queue_failures.inc()
            log.warning("queue_unreachable", match=step.match, version=step.version, error=type(reason).__name__)
            return False
        return True

    def depth(self) -> int | None:
        """How many jobs wait; None where the queue does not answer."""
        try:
            return int(self._queue.count)
        except queue_errors:
            return None

    def close(self) -> None:
        """Let go of the connections."""
        connection: Any = self._queue.connection
        connection.close()
