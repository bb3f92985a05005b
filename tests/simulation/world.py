"""A simulated world: its time, its chance, its processes, and the order in which they act. All follow from a seed.

Each thread of a process is a greenlet. It runs until it waits: for an answer of a server, or for time to pass. What happens next is what
is earliest. So one schedule runs in one thread of one real process, and the same seed gives the same schedule.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from heapq import heappop, heappush
from math import log
from typing import Any

import greenlet

ROUND_MS = 250  # in which each thread that works in rounds begins one when all is well again
EPOCH = 1_900_000_000_000  # ms since 1970 when a world begins


class Killed(greenlet.GreenletExit):
    """The process of this thread was killed."""


class Host:
    """A process of the world. `frozen_until`: it does nothing before this moment."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dead = False
        self.frozen_until = 0.0
        self.threads: list[Thread] = []
        self.frozen: list[tuple[Thread, int]] = []  # those that would have acted meanwhile, and for which turn

    def ended(self) -> None:
        """Do what follows from the end of the process."""


class Thread(greenlet.greenlet):
    """A thread of a process."""

    def __init__(self, host: Host, run: Callable[[], Any], parent: greenlet.greenlet) -> None:
        super().__init__(run, parent)
        self.host = host
        self.turn = 0  # an entry of the queue for an earlier turn is void
        self.excused = False


class Promise:
    """An answer that a thread waits for."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._waiting: Thread | None = None
        self.value: Any = None
        self.done = False

    def keep(self, value: Any) -> None:
        """Give the answer. Only the first counts."""
        if not self.done:
            self.value, self.done = value, True
            if self._waiting is not None:
                self._world.wake(self._waiting)

    def wait(self, ms: float) -> bool:
        """Wait for the answer for some ms. Return False if there is none."""
        if not self.done:
            self._waiting = self._world.thread
            self._world.sleep(ms)
            self._waiting = None
        return self.done


class World:
    """A world. `skip`: numbers of faults that do not happen, to find out which matter."""

    def __init__(self, seed: int, skip: frozenset[int] = frozenset()) -> None:
        self.chance = random.Random(seed)
        self.now = self.zero = self._until = 0.0  # ms; stories count from `zero`
        self.calm = True  # no fault happens
        self.harshness = 1.0  # by which faults are more probable
        self.story: list[str] = []
        self.faults: list[int] = []
        self.of_objects: list[tuple[str, float]] = []  # the weather of the archive
        self._skip = skip
        self._tried = 0
        self._queue: list[tuple[float, int, Thread, int]] = []
        self._number = 0
        self._hub = greenlet.getcurrent()
        self.thread: Thread | None = None
        self._threads: list[Thread] = []
        self._unanswered: list[Thread] = []
        self._resting: list[Thread] = []

    # ------------------------------------------------------------ threads and time

    def spawn(self, host: Host, run: Callable[[], Any], after: float = 0.0) -> Thread:
        """Start a thread of a process after some ms."""
        thread = Thread(host, run, self._hub)
        host.threads.append(thread)
        self._threads.append(thread)
        self._push(self.now + after, thread)
        return thread

    def _push(self, moment: float, thread: Thread) -> None:
        self._number += 1
        heappush(self._queue, (moment, self._number, thread, thread.turn))

    def wake(self, thread: Thread) -> None:
        """Let a thread that waits go on now."""
        self._push(self.now, thread)

    def sleep(self, ms: float) -> None:
        """Let this thread wait. The preparation of a world has no threads, so time only passes."""
        thread = self.thread
        if thread is None:
            self.now += ms
            return
        if thread.host.dead:
            raise Killed
        queue, moment = self._queue, self.now + ms
        if (not queue or moment < queue[0][0]) and thread.host.frozen_until <= moment <= self._until:
            thread.turn += 1  # nobody else acts before it does
            self.now = moment
            return
        self._number += 1
        heappush(queue, (moment, self._number, thread, thread.turn))
        self._hub.switch()
        if thread.host.dead:
            raise Killed

    def sleep_unanswered(self, ms: float) -> None:
        """Let this thread wait for what never comes. It waits no longer when all is well again: its connection is reset then."""
        if not self.calm and self.thread is not None:
            self._unanswered.append(self.thread)
            self.sleep(ms)
            if self.thread in self._unanswered:
                self._unanswered.remove(self.thread)

    def thaw(self, host: Host) -> None:
        """Let a process go on that was frozen."""
        host.frozen_until = 0.0
        for thread, turn in host.frozen:
            if turn == thread.turn:
                self.wake(thread)
        host.frozen.clear()

    def rest(self, ms: float) -> None:
        """Let this thread wait for its next round. It comes sooner when all is well again, so that less else happens until then."""
        if self.calm or self.thread is None:
            self.sleep(ms)
            return
        self._resting.append(self.thread)
        self.sleep(ms)
        self._resting.remove(self.thread)

    def heal(self) -> None:
        """Let no fault happen from now on."""
        self.calm = True
        for thread in self._resting:
            self._push(self.now + self.between(0, ROUND_MS), thread)
        for thread in self._unanswered:
            self.wake(thread)
        self._unanswered.clear()

    def soon(self, most: float) -> float:
        """Return some ms, at most so many: a few as often as many, since one who comes very late often comes too late to matter."""
        return float(most ** self.chance.random())

    def run(self, until: float) -> None:
        """Let time pass until a moment."""
        self._until = until
        queue = self._queue
        while queue and queue[0][0] <= until:
            moment, _, thread, turn = heappop(queue)
            if turn != thread.turn or thread.dead:
                continue
            host = thread.host
            if moment < host.frozen_until:
                self._push(host.frozen_until, thread)
                host.frozen.append((thread, turn))
                continue
            if moment > self.now:
                self.now = moment
            thread.turn = turn + 1
            self.thread = thread
            try:
                thread.switch()
            finally:
                self.thread = None
        self.now = max(self.now, until)

    def kill(self, host: Host) -> None:
        """End a process at once. If this is one of its threads, it ends, too."""
        if not host.dead:
            host.dead = True
            host.ended()
        for thread in host.threads:
            if thread is not self.thread and not thread.dead:
                self._end(thread)
        if self.thread is not None and self.thread.host is host:
            raise Killed

    def _end(self, thread: Thread) -> None:
        thread.turn += 1
        if not thread:  # it has not begun
            thread.run = lambda: None
        before, self.thread = self.thread, thread
        parent, thread.parent = thread.parent, greenlet.getcurrent()
        try:
            thread.throw(Killed)
        finally:
            self.thread = before
            if not thread.dead:
                thread.parent = parent

    def end(self) -> None:
        """End all threads."""
        for thread in self._threads:
            thread.host.dead = True
        for thread in self._threads:
            if not thread.dead:
                self._end(thread)
        self._threads.clear()
        self._queue.clear()

    # ------------------------------------------------------------ chance

    def between(self, low: float, high: float) -> float:
        """Return a number between two."""
        return low + (high - low) * self.chance.random()

    def delay(self) -> float:
        """Return how many ms a message takes."""
        return 0.05 - log(1.0 - self.chance.random())

    def weather(self, rates: dict[str, float]) -> list[tuple[str, float]]:
        """Return how probable each fault is in this schedule: each kind is absent, rare or common. One happens at a time."""
        found, total = [], 0.0
        for name, rate in rates.items():
            total += self.harshness * rate * self.chance.choice((0, 0, 0.3, 1, 3))
            found.append((name, total))
        return found

    def trouble(self, weather: list[tuple[str, float]], about: Callable[[], str]) -> str:
        """Return the fault that happens now, or "" if none does."""
        if self.calm or not weather:
            return ""
        drawn = self.chance.random()
        if drawn >= weather[-1][1]:
            return ""
        name = next(name for name, limit in weather if drawn < limit)
        self._tried += 1
        if self._tried in self._skip:
            return ""
        self.faults.append(self._tried)
        self.tell(f"fault {self._tried}: {about()}: {name}")
        return name

    def tell(self, what: str) -> None:
        """Add a line to the story of the schedule."""
        self.story.append(f"{self.now - self.zero:9.1f}  {what}")


class Time:
    """What stands for the module `time`."""

    def __init__(self) -> None:
        self.world: World | None = None

    def monotonic(self) -> float:
        """Return the seconds since the world began."""
        assert self.world is not None
        return self.world.now / 1000

    perf_counter = monotonic

    def sleep(self, seconds: float) -> None:
        """Wait."""
        assert self.world is not None
        self.world.sleep(seconds * 1000)
