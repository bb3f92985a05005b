"""Presence: who is at each match, and how many watch it, in all web processes (docs/decisions/0140).

A process counts the streams that ask for it, and tells the others what has changed. What it has heard of the others ends by itself: a
process that dies is forgotten. Nothing is stored, so all of this is approximate.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from events.errors import StoreUnavailable
from events.store.heads import Here, Row
from service.http.following import Wake

PACE_SECONDS = 3.0  # those who follow a match are woken once in that time at most
AGAIN_SECONDS = 20.0  # until a process repeats what has not changed
LASTS_SECONDS = 3 * AGAIN_SECONDS  # for which what another process has told counts


class Found(NamedTuple):
    """Who is at a match: the players who have a seat there, and how many others watch."""

    players: frozenset[str]
    watching: int


class Visit:
    """A stream that is counted. `player`: the id of its caller, if that player has a seat. `found`: who is there, once it is known."""

    __slots__ = ("found", "player", "wake")

    def __init__(self, player: str | None, wake: Wake) -> None:
        self.player = player
        self.found: Found | None = None
        self.wake = wake


class _Room:
    """A match that somebody follows here. `told`: what the others know of it. `again`: when it is repeated."""

    __slots__ = ("again", "others", "told", "visits")

    def __init__(self) -> None:
        self.visits: set[Visit] = set()
        self.others: dict[str, tuple[float, Row]] = {}  # by process, with the moment until which it counts
        self.told: Row | None = None
        self.again = 0.0

    def row(self, match: str) -> Row:
        """Return who follows the match in this process."""
        players = {visit.player for visit in self.visits if visit.player is not None}
        return Row(match, self.told is None, sum([visit.player is None for visit in self.visits]), tuple(sorted(players)))

    def found(self, row: Row) -> Found:
        """Return who follows the match in all processes. `row`: who does here."""
        rows = [row, *[other for _, other in self.others.values()]]
        return Found(frozenset().union(*[each.players for each in rows]), sum([each.watching for each in rows]))


class Presence:
    """Who follows matches. Shared by the threads of a process.

    `tell`: tells the other processes; it may raise StoreUnavailable. `notify`: asks for a call of `settle` soon.
    """

    def __init__(
        self, tell: Callable[[str, Sequence[Row]], None], notify: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell = tell
        self._notify = notify
        self._clock = clock
        self._process = secrets.token_hex(8)
        self._rooms: dict[str, _Room] = {}
        self._next = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def visit(self, match: str, player: str | None, wake: Wake) -> Iterator[Visit]:
        """Count a stream until the end of the block. `player`: as `Visit` has it."""
        visit = Visit(player, wake)
        with self._lock:
            self._rooms.setdefault(match, _Room()).visits.add(visit)
        self._notify()
        try:
            yield visit
        finally:
            with self._lock:
                self._rooms[match].visits.discard(visit)

    def hear(self, here: Here) -> None:
        """Note what another process tells."""
        if here.process == self._process:
            return
        until = self._clock() + LASTS_SECONDS
        with self._lock:
            for row in here.rows:
                room = self._rooms.get(row.match)
                if room is None:
                    continue
                room.again = 0.0 if row.asks else room.again
                room.others.pop(here.process, None)
                if row.watching or row.players:
                    room.others[here.process] = (until, row)

    def settle(self) -> bool:
        """Tell the others what has changed here, and wake those for whom something has. Return False if nobody follows a match."""
        now = self._clock()
        if now < self._next:
            return bool(self._rooms)
        self._next = now + PACE_SECONDS
        rows: list[Row] = []
        woken: list[Visit] = []
        with self._lock:
            for match, room in list(self._rooms.items()):
                row = room.row(match)
                if now >= room.again or room.told is None or row[2:] != room.told[2:]:
                    rows.append(row)
                    room.told, room.again = row, now + AGAIN_SECONDS
                room.others = {process: (until, other) for process, (until, other) in room.others.items() if now < until}
                found = room.found(row)
                for visit in room.visits:
                    if visit.found != found:
                        visit.found = found
                        woken.append(visit)
                if not room.visits:
                    del self._rooms[match]
        for visit in woken:
            visit.wake()
        with suppress(StoreUnavailable):  # it is told again
            self._tell(self._process, rows)
        return True
