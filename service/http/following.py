"""Following: one thread of a process sends everybody who waits what they wait for, as it comes (docs/decisions/0086).

A follower is a stream or a long poll. What it is sent comes from a generator of steps. It yields bytes to send, or the moment (of the
monotonic clock) until which it waits unless it is woken, and gets the `Round` of its next step. A step looks things up, but never waits.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable
from itertools import count
from typing import Any, Protocol, TypeVar

import structlog
from flask import Response

from events.archive import reading
from events.errors import ArchiveUnavailable, PlatformError, StoreUnavailable
from service.http.places import Place

COMMENT = b":"  # how what keeps a silent stream open begins
FOLLOWER = "warledger.follower"  # in the environ of a request: the follower that is its answer
LEAST_CHARGED = 0.001  # seconds of CPU time

log = structlog.get_logger("service")

T = TypeVar("T")
Wake = Callable[[], None]
Steps = Generator[bytes | float, "Round", None]


class Round:
    """What has been looked up in a round of the loop. Followers that need the same share it.

    Once the store could not be reached, nothing else is looked up in the round: each try may take seconds.
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}
        self._failure: StoreUnavailable | None = None

    def look(self, look: Callable[[], T]) -> T:
        """Return what `look` returns. Raises what it raises, and StoreUnavailable."""
        if self._failure is not None:
            raise self._failure
        try:
            return look()
        except ArchiveUnavailable:  # which says nothing of the store, and took no time
            raise
        except StoreUnavailable as failure:
            self._failure = failure
            raise

    def share(self, key: Hashable, look: Callable[[], T], serves: Callable[[T], bool] | None = None) -> T:
        """Return what `look` has returned for the key in this round if it `serves`, or what it returns now. Raises as `look` does."""
        if key in self._found:
            known: T = self._found[key]
            if serves is None or serves(known):
                return known
        found = self._found[key] = self.look(look)
        return found


class Line(Protocol):
    """What a follower is sent over."""

    def send(self, data: bytes) -> bool:
        """Send bytes without waiting. Return False if the client should first read what it was sent."""

    def lag(self) -> float:
        """Return 0 if the client has read nearly all that it was sent, or else in how many seconds to look again."""

    def end(self) -> None:
        """End the answer."""


class Displaced(Exception):
    """Raised in the steps of a follower that has to end early: its place is wanted more by somebody else. They may yield a last time."""


class Follower:
    """A client that is sent something step by step. It keeps a place until it is closed, or until somebody else gets the place.

    `steps` returns its steps, given a function that wakes it. Their first `yield` is for their first round alone. A server with a loop
    serves the follower there. Any other iterates over it, and keeps a thread meanwhile.
    """

    __slots__ = (
        "_charge", "_displaced", "_place", "_rests", "_ring", "_steps", "_worked", "behind", "due", "gone", "line", "queued", "timed"
    )  # fmt: skip

    def __init__(self, place: Place, steps: Callable[[Wake], Steps]) -> None:
        self._place = place
        self._displaced = False
        self._ring: Callable[[Follower], None] = _nothing
        self._steps = steps(self.wake)
        next(self._steps)
        self._charge: Callable[[float], float] = _for_nothing
        self._worked = 0.0  # seconds of CPU time that nobody was charged for yet
        self._rests = 0.0  # until when it takes no step, because its caller has used too much
        self.line: Line | None = None
        self.queued = False  # it takes a step in the next round
        self.due = 0.0  # when it takes a step unless it is woken
        self.timed = 0.0  # when the loop looks whether it is due
        self.behind = False  # its client should first read what it was sent
        self.gone = False
        place.ends_by(self._leave_place)

    def wake(self) -> None:
        """Let it take a step soon."""
        self._ring(self)

    def rung_by(self, ring: Callable[[Follower], None]) -> None:
        """Set what is called when it is woken."""
        self._ring = ring

    def _leave_place(self) -> None:
        self._displaced = True
        self.gone = self.behind  # a client that does not read would not read the last bytes either
        self.wake()

    def charged_by(self, charge: Callable[[float], float]) -> None:
        """Set what counts its CPU time in seconds, and returns for how many seconds it rests."""
        self._charge = charge

    def worked(self, seconds: float) -> None:
        """Count CPU time of its steps. Only what adds up to a millisecond is charged, and the rest when it ends."""
        self._worked += seconds
        if self._worked >= LEAST_CHARGED or self.line is None:
            worked, self._worked = self._worked, 0.0
            self._rest_for(self._charge(worked))

    def rest(self) -> float:
        """Return for how many seconds it takes no step."""
        if not self._rests:
            return 0.0
        left = self._rests - time.monotonic()
        if left <= 0.0:
            self._rest_for(left := self._charge(0.0))  # others of its caller may have used up what is back
        return left

    def _rest_for(self, seconds: float) -> None:
        self._rests = time.monotonic() + seconds if seconds else 0.0

    def step(self, round: Round) -> bytes | float:
        """Return the next bytes, or the moment until which it waits. Raises StopIteration at the end, and Displaced."""
        if self._displaced:
            self._displaced = False
            return self._steps.throw(Displaced())
        step = self._steps.send(round)
        if isinstance(step, bytes) and not step.startswith(COMMENT):
            self._place.use()
        return step

    def __iter__(self) -> Follower:
        return self

    def __next__(self) -> bytes:
        bell, began = threading.Event(), time.thread_time()
        self._ring = lambda _: bell.set()
        try:
            while not isinstance(step := self.step(Round()), bytes):
                bell.wait(max(0.0, step - time.monotonic()))
                bell.clear()
        except Displaced:
            self.close()
            raise StopIteration from None
        except BaseException:
            self.close()
            raise
        finally:
            self.worked(time.thread_time() - began)
        return step

    def close(self) -> None:
        """End it, and give its place back. Doing that twice does no harm."""
        self._place.give_back()
        self._steps.close()


def follow(response: Response, environ: dict[str, Any], follower: Follower) -> Response:
    """Return the response with a follower as its body."""
    environ[FOLLOWER] = follower
    response.response = follower
    response.call_on_close(follower.close)
    return response


def _nothing(_: Follower) -> None:
    """Wake nobody: the follower has not begun, or has ended."""


def _for_nothing(_: float) -> float:
    """Charge nobody."""
    return 0.0


class Loop:
    """The thread that serves the followers of a process. It starts with the first of them."""

    def __init__(self) -> None:
        self._ready: deque[Follower] = deque()
        self._timers: list[tuple[float, int, Follower]] = []
        self._numbers = count()
        self._bell = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._woken = True

    def goes_on(self) -> bool:
        """Return False if the loop has not woken up since this was last asked. This wakes it up."""
        went_on = self._woken or self._thread is None
        self._woken = False
        self._bell.set()
        return went_on

    def serve(self, follower: Follower, line: Line) -> None:
        """Send a client over a line what it follows, from now on."""
        follower.line = line
        follower.rung_by(self._queue)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="followers", daemon=True)
                self._thread.start()
        self._queue(follower)

    def leave(self, follower: Follower) -> None:
        """End a follower whose client has gone."""
        follower.gone = True
        self._queue(follower)

    def _queue(self, follower: Follower) -> None:
        if not follower.queued:
            follower.queued = True
            self._ready.append(follower)
            self._bell.set()

    def _run(self) -> None:
        reading.hurry()
        while True:
            self._bell.wait(max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None)
            self._bell.clear()
            self._woken = True
            self.take_round(time.monotonic())

    def take_round(self, now: float) -> None:
        """Let everybody take steps who was woken or is due."""
        ready = self._due(now)
        while self._ready:
            ready.append(self._ready.popleft())
        for follower in ready:
            follower.queued = False  # what wakes it from here on, before anything is looked up, counts for the next round
        round, worked = Round(), time.thread_time()
        for follower in ready:
            if follower.line is not None:
                self._serve(follower, follower.line, round)
                before, worked = worked, time.thread_time()
                follower.worked(worked - before)

    def _due(self, now: float) -> list[Follower]:
        found = []
        while self._timers and self._timers[0][0] <= now:
            moment, _, follower = heapq.heappop(self._timers)
            if moment != follower.timed:  # it had to be looked at earlier, and was
                continue
            follower.timed = 0.0
            if follower.due <= now:
                found.append(follower)
            elif follower.line is not None:
                self._wait(follower, follower.due)
        return found

    def _serve(self, follower: Follower, line: Line, round: Round) -> None:
        """Send what there is for a follower, until it waits or its client does not keep up."""
        try:
            if not follower.gone:
                self._serve_until_waiting(follower, line, round)
                return
        except (StopIteration, Displaced):
            pass
        except PlatformError as error:
            log.warning("follower_ended", code=error.code)
        except Exception as error:  # noqa: BLE001 - it is logged by its kind alone: its text may contain hidden information
            log.error("follower_broken", error=type(error).__name__)
        follower.line = None
        follower.rung_by(_nothing)
        line.end()
        follower.close()

    def _serve_until_waiting(self, follower: Follower, line: Line, round: Round) -> None:
        """Let a follower take steps until it waits. Raises StopIteration at its end, and what its steps raise."""
        while not (lag := follower.rest() or (follower.behind and line.lag())):
            follower.behind = False
            step = follower.step(round)
            if isinstance(step, float):
                self._wait(follower, step)
                return
            follower.behind = bool(step) and not line.send(step)
        self._wait(follower, time.monotonic() + lag)

    def _wait(self, follower: Follower, until: float) -> None:
        follower.due = until
        if not follower.timed or until < follower.timed:
            follower.timed = until
            heapq.heappush(self._timers, (until, next(self._numbers), follower))
