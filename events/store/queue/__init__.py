"""The queue: what is due waits here for a worker, on a server that may be emptied at any time.

It is the quick way to a worker and nothing more: the index of what is due, in the store, is certain. Work waits in a structure that is fair
among the creators of matches (exchange.lua). An RQ job is only a *ticket*: work for a while on whatever waits. So a backlog of any length
needs a ticket for each worker, and work that waits is never enqueued twice.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import structlog
from rq import Queue
from rq.serializers import JSONSerializer

from events.due import KINDS, Owed, split
from events.store.client import queue_client, queue_errors
from events.telemetry import metrics
from events.timing.clock import Clock

TICKET = "workers.jobs.work"
"""The function that a ticket calls, with its kind: the only one that RQ may call."""

LARGEST = 1 << 53  # integers from here on are not exact in Lua
LONGEST = max(kind.seconds for kind in KINDS.values())

log = structlog.get_logger(__name__)


class Done(NamedTuple):
    """A step that a worker hands in: the work, the milliseconds that it took, and whether it failed.

    Work that has failed rests: the sweep lets it wait again when its lease is over, and after twice as long with each attempt.
    """

    work: Owed
    ms: float
    failed: bool


class Jobs:
    """The queue of each kind of work. A lost queue delays work, and the sweep finds it in the index again."""

    def __init__(self, url: str, clock: Clock) -> None:
        self.url = url
        self._clock = clock
        self._connection = queue_client(url)
        self._queues = {kind: Queue(kind, connection=self._connection, serializer=JSONSerializer) for kind in KINDS}
        self._keys = {kind: queue.key for kind, queue in self._queues.items()}
        self._exchange_script = self._script("exchange")
        self._lost_script = self._script("lost")

    def push(self, works: Iterable[Owed]) -> None:
        """Let what is due at once wait for a worker. Never raises because of the queue: the sweep finds what is lost."""
        at_once = [work for work in works if KINDS[work.kind].at_once]
        if at_once:
            try:
                self._exchange(push=at_once)
            except queue_errors as reason:
                _note_failure(reason)

    def push_again(self, works: Iterable[Owed], now: int | None = None) -> int:
        """Let overdue work wait again unless it waits or a worker has it. Return how much is new. Never raises because of the queue.

        Also call for a worker if something waits and nobody was called, so call this even without any work.
        """
        try:
            return self._exchange(push=works, again=True, now=now)[0]
        except queue_errors as reason:
            _note_failure(reason)
            return 0

    def lost(self, moments: Mapping[str, int], now: int | None = None) -> list[str]:
        """Return which of these members of the index neither wait nor are in the hands of a worker; all if the queue is away.

        `moments`: of each member, since when it is due (ms since 1970). What a worker has taken before that was other work, which is past.
        """
        if not moments:
            return []
        now = self._clock.now() if now is None else now
        try:
            return [member.decode() for member in self._lost_script(args=[now, *chain.from_iterable(moments.items())])]
        except queue_errors as reason:
            _note_failure(reason)
            return list(moments)

    def take(self, kinds: Sequence[str], ticket: str | None = None, now: int | None = None) -> Owed | None:
        """Return the next work of these kinds, the first kind first, or None if none waits. `ticket`: the kind of a ticket that begins now.

        Never raises because of the queue.
        """
        return self.exchange(None, (), kinds, ticket=ticket, now=now)

    def exchange(
        self, done: Done | None, following: Sequence[Owed], kinds: Sequence[str], ticket: str | None = None, now: int | None = None
    ) -> Owed | None:
        """Hand in a step and what follows from it, and return the next work of these kinds: one round trip for each step.

        If the queue is away, what follows is the next work, so that a match goes on without the queue. Never raises because of the queue.
        """
        following = [work for work in following if KINDS[work.kind].at_once]
        try:
            return self._exchange(ticket, done, following, kinds, now=now)[1]
        except queue_errors as reason:
            _note_failure(reason)
            return next((work for work in following if work.kind in kinds), None)

    def depth(self, kind: str | None = None) -> int | None:
        """Return how much work waits, of one kind or of all; None if the queue does not answer."""
        try:
            return sum(int(self._connection.hlen(f"fair:{name}:versions")) for name in KINDS if kind in (None, name))
        except queue_errors:
            return None

    def workers(self, kind: str) -> int | None:
        """Return how many workers do work of a kind; None if the queue does not answer. One that was killed counts for 17 seconds more."""
        try:
            names = self._connection.smembers(f"rq:workers:{kind}")
            return int(self._connection.exists(*names)) if names else 0
        except queue_errors:
            return None

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def _exchange(
        self,
        ticket: str | None = None,
        done: Done | None = None,
        push: Iterable[Owed] = (),
        take: Sequence[str] = (),
        again: bool = False,
        now: int | None = None,
    ) -> tuple[int, Owed | None]:
        asked: dict[str, Any] = {
            "now": self._clock.now() if now is None else now,
            "kinds": self._keys,
            "push": [{**_named(work), "due": work.due, "lease": work.lease_ms, "again": again} for work in push],
            "take": [(kind, KINDS[kind].patience_ms) for kind in take],
        }
        if ticket is not None:
            asked["begun"] = ticket
        if done is not None:
            asked["done"] = {**_named(done.work), "ms": done.ms, "failed": done.failed}
        pushed, found, tickets = self._exchange_script(args=[orjson.dumps(asked)])
        for kind in tickets:
            self._call(kind.decode())
        return pushed, _work(*found) if found else None

    def _call(self, kind: str) -> None:
        """Enqueue a ticket. Never raises because of the queue: if no ticket comes, the next sweep calls for one."""
        name = f"{kind}-{secrets.token_hex(8)}"
        try:
            with self._connection.pipeline() as pipeline:  # one round trip; without it, RQ makes two
                self._queues[kind].enqueue_call(
                    TICKET,
                    args=(kind,),
                    job_id=name,
                    timeout=LONGEST + 1,
                    result_ttl=0,
                    failure_ttl=60,
                    description=name,
                    pipeline=pipeline,
                )
                pipeline.execute()
        except queue_errors as reason:
            _note_failure(reason)
        else:
            metrics.tickets.labels(kind).inc()

    def _script(self, name: str) -> Any:
        return self._connection.register_script((Path(__file__).parent / f"{name}.lua").read_text())


def _named(work: Owed) -> dict[str, Any]:
    return {"kind": work.kind, "creator": work.creator, "member": work.member, "version": work.version}


def _work(kind: bytes, creator: bytes, member: bytes, version: bytes, lease: bytes) -> Owed | None:
    """Return work as the queue has it, with its lease, so that work which is put back keeps it. Others may write there too, so a worker
    checks it against the store before it does anything."""
    try:
        _, match, target = split(member.decode())
        number = int(version)
        return Owed(kind.decode(), match, number, target, 0, creator.decode(), int(lease)) if number < LARGEST else None
    except ValueError:
        return None


def _note_failure(reason: Exception) -> None:
    metrics.queue_failures.inc()
    log.warning("queue_unreachable", error=type(reason).__name__)
