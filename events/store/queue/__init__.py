"""Queue due work for workers, on a server that may lose everything at any time.

The queue only makes things fast; the due index in the store is reliable. Waiting work is shared fairly among the creators of matches
(exchange.lua). An RQ job is only a *ticket*: it lets a worker do waiting work for a while. So a backlog of any length needs one ticket for
each worker, and waiting work is never enqueued twice.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import orjson
import structlog
from rq import Queue
from rq.serializers import JSONSerializer

from events.due import KINDS, Kind, Owed, split
from events.modules import full_name
from events.store.client import queue_errors
from events.store.queue.server import QueueServer
from events.telemetry import metrics
from events.timing.clock import Clock

TICKET = full_name("workers.jobs.work")
"""The function that a ticket calls, with its kind. RQ may call no other function."""

LARGEST = 1 << 53  # integers from here on are not exact in Lua
LONGEST = max(kind.seconds for kind in KINDS.values())

log = structlog.get_logger(__name__)


class Done(NamedTuple):
    """A step that has ended: the work, the milliseconds that it took, and whether it failed.

    Failed work rests until its lease ends. Then the sweep enqueues it again. Each further attempt doubles the rest. `held`: the worker has
    decided and will write later, so the work stays with it.
    """

    work: Owed
    ms: float
    failed: bool
    held: bool = False


class Jobs:
    """The queue of each kind of work, on one server. If a queue is lost, the sweep finds its work in the due index, with a delay.

    shards.py spreads work over several servers. `ask`, `ask_lost`, `is_called` and `call` are for it. `called`: is told of a kind that
    needs a worker. `is_shard`: workers may listen elsewhere, so tickets that wait here do not count.
    """

    def __init__(self, url: str, clock: Clock, is_shard: bool = False) -> None:
        self.url = url
        self._is_shard = is_shard
        self.called: Callable[[str], None] = self.call
        self._clock = clock
        self.name = secrets.token_hex(8)
        self._server = QueueServer(url)
        self._connection = self._server.connection
        self._queues = {kind: Queue(kind, connection=self._connection, serializer=JSONSerializer) for kind in KINDS}
        kinds = ", ".join(self._told(*each) for each in KINDS.items())
        self._exchange_script = self._server.script("exchange", f"local KINDS = {{{kinds}}}\n")
        self._lost_script = self._server.script("lost")

    def push(self, works: Iterable[Owed]) -> None:
        """Enqueue the work that is due at once. Never raises because of the queue: the sweep finds lost work."""
        at_once = [work for work in works if KINDS[work.kind].at_once]
        if at_once:
            try:
                self.trade(push=at_once)
            except queue_errors as reason:
                note_failure(reason)

    def push_again(self, works: Iterable[Owed], now: int | None = None) -> int:
        """Enqueue overdue work again, unless it waits or a worker has it. Return how much is new. Never raises because of the queue.

        This also calls a worker if work waits and no worker was called, so it is useful even without any work.
        """
        try:
            return self.trade(push=works, again=True, now=now)[0]
        except queue_errors as reason:
            note_failure(reason)
            return 0

    def lost(self, moments: Mapping[str, int], now: int | None = None) -> list[str]:
        """Return the members of the index that neither wait nor are with a worker; all of them if the queue is away.

        `moments`: since when each member is due (ms since 1970). Work that a worker took before this moment was earlier work.
        """
        if not moments:
            return []
        try:
            return self.ask_lost(moments, now)
        except queue_errors as reason:
            note_failure(reason)
            return list(moments)

    def take(self, kinds: Sequence[str], ticket: str | None = None, now: int | None = None) -> Owed | None:
        """Return the next work of these kinds, the first kind first, or None. `ticket`: the kind of a ticket that begins now.

        Never raises because of the queue.
        """
        return self.exchange(None, (), kinds, ticket=ticket, now=now)

    def exchange(
        self, done: Done | None, following: Sequence[Owed], kinds: Sequence[str], ticket: str | None = None, now: int | None = None
    ) -> Owed | None:
        """Hand in a step and the work that follows from it. Return the next work of these kinds. It takes one round trip.

        If the queue is away, the work that follows is next, so a match goes on without the queue. Never raises because of the queue.
        """
        following = [work for work in following if KINDS[work.kind].at_once]
        try:
            return self.trade(ticket, done, following, kinds, now=now)[1]
        except queue_errors as reason:
            note_failure(reason)
            return next((work for work in following if work.kind in kinds), None)

    def wait(self, kinds: Sequence[str], seconds: float) -> Owed | None:
        """Return the next work of these kinds, or None if none comes within some seconds. Work that comes wakes this worker and needs no
        ticket. Never raises because of the queue.
        """
        member = " ".join([self.name, *kinds])
        try:
            found = self.trade(take=kinds, idle=(member, round(seconds * 1000)))[1]
            if found is None:
                self.sleep(member, seconds)
                found = self.trade(take=kinds, idle=(member, 0))[1]
            return found
        except queue_errors as reason:
            note_failure(reason)
            return None

    def depth(self, kind: str | None = None) -> int | None:
        """Return the amount of waiting work, of one kind or of all, or None if the queue does not answer."""
        try:
            return sum(int(self._connection.hlen(f"fair:{name}:versions")) for name in KINDS if kind in (None, name))
        except queue_errors:
            return None

    def workers(self, kind: str) -> int | None:
        """Return the number of workers for a kind, or None if the queue does not answer. A killed worker counts for 17 more seconds."""
        try:
            names = self._connection.smembers(f"rq:workers:{kind}")
            return int(self._connection.exists(*names)) if names else 0
        except queue_errors:
            return None

    def trouble(self) -> str:
        """Return MEMORY if the memory of the queue's server is full, AWAY if it does not answer, "" if all is well."""
        return self._server.trouble()

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def mend(self) -> None:
        """Drop what cannot be read on the queue's server. It looks at all keys there. Never raises because of the queue."""
        try:
            self._server.mend()
        except queue_errors as reason:
            note_failure(reason)

    def sleep(self, member: str, seconds: float) -> str:
        """Wait until a worker that is idle is woken, for some seconds at most. Return the kind of work, or "". Raises `queue_errors`."""
        found = self._connection.blpop([f"fair:wake:{member}"], seconds)
        return found[1].decode() if found else ""

    def ask_lost(self, moments: Mapping[str, int], now: int | None = None) -> list[str]:
        """Return the members of the index that neither wait nor are with a worker (`lost`). Raises `queue_errors`."""
        now = self._clock.now() if now is None else now
        return [member.decode() for member in self._lost_script(args=[now, *chain.from_iterable(moments.items())])]

    def trade(
        self,
        ticket: str | None = None,
        done: Done | None = None,
        push: Iterable[Owed] = (),
        take: Sequence[str] = (),
        again: bool = False,
        idle: tuple[str, int] | None = None,
        wake: str | None = None,
        now: int | None = None,
    ) -> tuple[int, Owed | None]:
        """Exchange work with the server, as exchange.lua describes it. Raises `queue_errors`."""
        asked: dict[str, Any] = {
            "now": self._clock.now() if now is None else now,
            "push": [{**_named(work), "due": work.due, "lease": work.lease_ms, "again": again} for work in push],
            "take": take,
        }
        if ticket is not None:
            asked["begun"] = ticket
        if idle is not None:
            asked["idle"] = idle
        if wake is not None:
            asked["wake"] = wake
        if done is not None:
            asked["done"] = {**_named(done.work), "ms": done.ms, "kept": done.failed or done.held}
        pushed, found, tickets = self._exchange_script(args=[orjson.dumps(asked)])
        for kind in tickets:
            self.called(kind.decode())
        return pushed, _work(*found) if found else None

    def is_called(self, kind: str) -> bool:
        """Return True if a ticket for a kind waits at this server. Raises `queue_errors`."""
        return bool(self._connection.llen(self._queues[kind].key))

    def call(self, kind: str) -> None:
        """Enqueue a ticket. Never raises because of the queue: the next sweep replaces a lost ticket."""
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
            note_failure(reason)
        else:
            metrics.tickets.labels(kind).inc()

    def _told(self, name: str, kind: Kind) -> str:
        """Return what exchange.lua must know about a kind, in Lua."""
        pool, alone = "slow" if kind.slow else "quick", str(kind.alone).lower()
        tickets = "fair:none" if self._is_shard else self._queues[name].key
        return f"{name} = {{queue = '{tickets}', pool = '{pool}', patience = {kind.patience_ms}, alone = {alone}}}"


def _named(work: Owed) -> dict[str, Any]:
    return {"kind": work.kind, "creator": work.creator, "member": work.member, "version": work.version}


def _work(kind: bytes, creator: bytes, member: bytes, version: bytes, lease: bytes) -> Owed | None:
    """Return work from its fields in the queue, or None. It keeps its lease, also if it is put back. Others may write to the queue, too, so
    a worker checks the work against the store first."""
    try:
        _, match, target = split(member.decode())
        number = int(version)
        return Owed(kind.decode(), match, number, target, 0, creator.decode(), int(lease)) if number < LARGEST else None
    except ValueError:
        return None


def note_failure(reason: Exception) -> None:
    """Count and log that a server of the queue did not answer."""
    metrics.queue_failures.inc()
    log.warning("queue_unreachable", error=type(reason).__name__)
