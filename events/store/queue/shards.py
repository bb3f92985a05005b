"""The queue on several servers: each has the work of some partitions. Losing one loses no work (ADR 117).

A worker takes from all servers. It gives each of those that have work as much of its time. It waits at one of them, and listens there for
tickets. Work that comes to another wakes it there. While a server is away, its work waits at the next one.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from events.due import KINDS, Owed, split
from events.errors import AWAY, MEMORY
from events.store.client import queue_errors
from events.store.keys import partition_of
from events.store.queue import Done, Jobs, note_failure
from events.timing.clock import Clock

PAUSE = 2.0  # seconds until a server that did not answer is asked again


class Shards:
    """The queues on several servers. It has the methods of `Jobs`, and like those they never raise because of a queue."""

    def __init__(self, urls: Sequence[str], clock: Clock, partitions: int) -> None:
        self.url = ",".join(urls)
        self._partitions = partitions
        self._all = [Jobs(url, clock, is_shard=True) for url in urls]
        self._home = int(self._all[0].name, 16) % len(urls)  # where this worker waits
        self._away = [0.0] * len(urls)  # until when each server is not asked
        self._spent = [0.0] * len(urls)  # the milliseconds that this worker has given to the work of each
        self._taken: dict[tuple[str, int], int] = {}  # where work was taken, by its member and version
        for shard, jobs in enumerate(self._all):
            jobs.called = partial(self._call, shard)

    def push(self, works: Iterable[Owed]) -> None:
        """Enqueue work (Jobs)."""
        self._push([work for work in works if KINDS[work.kind].at_once])

    def push_again(self, works: Iterable[Owed], now: int | None = None) -> int:
        """Enqueue overdue work again (Jobs)."""
        return self._push(list(works), range(len(self._all)), again=True, now=now)

    def lost(self, moments: Mapping[str, int], now: int | None = None) -> list[str]:
        """Return the members of the index that neither wait nor are with a worker (Jobs)."""
        parts: dict[int, dict[str, int]] = defaultdict(dict)
        for member, moment in moments.items():
            parts[self._of(split(member)[1])][member] = moment
        found: list[str] = []
        for shard, part in parts.items():
            try:
                found += self._all[shard].ask_lost(part, now)
            except queue_errors as reason:
                self._note(shard, reason)
                found += part
        return found

    def take(self, kinds: Sequence[str], ticket: str | None = None, now: int | None = None) -> Owed | None:
        """Return the next work of these kinds (Jobs)."""
        return self.exchange(None, (), kinds, ticket=ticket, now=now)

    def exchange(
        self, done: Done | None, following: Sequence[Owed], kinds: Sequence[str], ticket: str | None = None, now: int | None = None
    ) -> Owed | None:
        """Hand in a step and what follows from it. Return the next work (Jobs).

        It takes one round trip if the next work is on the server of the step, and one more for each server that is asked.
        """
        following = [work for work in following if KINDS[work.kind].at_once]
        order = self._order()
        if done is not None:
            shard = self._place(done)
            self._spent[shard] += done.ms
            order = self._order()
            try:
                begins = bool(kinds) and order[:1] == [shard]
                mine = [work for work in following if self._of(work.match) == shard]
                found = self._all[shard].trade(ticket, done, mine, kinds if begins else (), now=now)[1]
                following = [work for work in following if work not in mine]
                if found is not None:
                    self._push(following)
                    return self._found(shard, found)
                order = order[begins:]
            except queue_errors as reason:
                self._note(shard, reason)
        self._push(following)
        taken = self._scan(order, kinds, ticket, now) if kinds else None
        return taken or (None if self._live() else next((work for work in following if work.kind in kinds), None))

    def wait(self, kinds: Sequence[str], seconds: float) -> Owed | None:
        """Return the next work of these kinds, or None if none comes within some seconds (Jobs)."""
        live = self._live()
        if not live:
            return None
        home = min(live, key=lambda shard: (shard - self._home) % len(self._all))
        jobs, others = self._all[home], [shard for shard in live if shard != home]
        member, elsewhere = " ".join([jobs.name, *kinds]), None
        try:
            found, woken = jobs.trade(take=kinds, idle=(member, round(seconds * 1000)))[1], ""
            if found is None and (elsewhere := self._scan(others, kinds)) is not None:
                jobs.trade(idle=(member, 0))
                return elsewhere
            if found is None:
                woken = jobs.sleep(member, seconds)
                found = jobs.trade(woken or None, take=kinds, idle=(member, 0))[1]
            return self._scan(others, kinds, woken or None) if found is None else self._found(home, found)
        except queue_errors as reason:
            self._note(home, reason)
            return elsewhere

    def home(self) -> str:
        """Return the address of the server at which this worker listens for tickets: another one while that is away."""
        live = self._live() or range(len(self._all))
        return self._all[min(live, key=lambda shard: (shard - self._home) % len(self._all))].url

    def leave(self, url: str) -> None:
        """Note that the server at an address does not answer."""
        self._away[[jobs.url for jobs in self._all].index(url)] = time.monotonic() + PAUSE

    def depth(self, kind: str | None = None) -> int | None:
        """Return the amount of waiting work on the servers that answer, or None if none does (Jobs)."""
        return _sum(jobs.depth(kind) for jobs in self._all)

    def workers(self, kind: str) -> int | None:
        """Return the number of workers for a kind on the servers that answer, or None if none does (Jobs)."""
        return _sum(jobs.workers(kind) for jobs in self._all)

    def trouble(self) -> str:
        """Return MEMORY if the memory of a server is full, AWAY if one does not answer, "" if all is well."""
        found = {jobs.trouble() for jobs in self._all}
        return next((trouble for trouble in (MEMORY, AWAY) if trouble in found), "")

    def close(self) -> None:
        """Close the connections."""
        for jobs in self._all:
            jobs.close()

    def mend(self) -> None:
        """Drop what cannot be read on the servers (Jobs)."""
        for jobs in self._all:
            jobs.mend()

    def _live(self) -> list[int]:
        """Return the servers that are asked now."""
        now = time.monotonic()
        return [shard for shard, until in enumerate(self._away) if until <= now]

    def _of(self, match: str) -> int:
        """Return the server for the work of a match: that of its partition, or the next one that is not away."""
        first, number = partition_of(match, self._partitions), len(self._all)
        return min(self._live() or range(number), key=lambda shard: (shard - first) % number)

    def _order(self) -> list[int]:
        """Return the servers in the order in which this worker asks for work: first the one to which it gave the least of its time."""
        return sorted(self._live(), key=lambda shard: self._spent[shard])

    def _place(self, done: Done) -> int:
        """Return where a step was taken."""
        key = done.work.member, done.work.version
        found = self._taken.get(key) if done.held else self._taken.pop(key, None)
        return self._of(done.work.match) if found is None else found

    def _found(self, shard: int, work: Owed) -> Owed:
        """Note where work was taken. Servers with a smaller account had no work: they save nothing up."""
        self._taken[work.member, work.version] = shard
        self._spent = [max(spent, self._spent[shard]) for spent in self._spent]
        return work

    def _scan(self, shards: Iterable[int], kinds: Sequence[str], ticket: str | None = None, now: int | None = None) -> Owed | None:
        """Return the next work of the first of these servers that has any."""
        for shard in shards:
            try:
                found = self._all[shard].trade(ticket, take=kinds, now=now)[1]
            except queue_errors as reason:
                self._note(shard, reason)
                continue
            if found is not None:
                return self._found(shard, found)
        return None

    def _push(self, works: Sequence[Owed], also: Iterable[int] = (), again: bool = False, now: int | None = None) -> int:
        """Enqueue work, each at its server or the next one. Return how much is new. `also`: servers that are asked anyway."""
        pushed, left = 0, list(works)
        asked = set(also) & set(self._live())
        for _ in self._all:
            parts: dict[int, list[Owed]] = {shard: [] for shard in asked}
            for work in left:
                parts.setdefault(self._of(work.match), []).append(work)
            left, asked = [], set()
            for shard, mine in parts.items():
                try:
                    pushed += self._all[shard].trade(push=mine, again=again, now=now)[0]
                except queue_errors as reason:
                    self._note(shard, reason)
                    left += mine
        return pushed

    def _call(self, shard: int, kind: str) -> None:
        """Wake a worker that waits at another server for this kind of work, or else call for one at all of them.

        Where nobody listens, a ticket waits for ever, which stops no other.
        """
        live = self._live()
        for other in live:
            try:
                if other != shard and self._all[other].trade(wake=kind)[0]:
                    return
            except queue_errors as reason:
                self._note(other, reason)
        for each in live:
            try:
                if not self._all[each].is_called(kind):
                    self._all[each].call(kind)
            except queue_errors as reason:
                self._note(each, reason)

    def _note(self, shard: int, reason: Exception) -> None:
        note_failure(reason)
        self._away[shard] = time.monotonic() + PAUSE


def _sum(numbers: Iterator[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
