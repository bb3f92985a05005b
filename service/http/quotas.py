"""Quotas: how many matches of one creator may be open, running or unfinished at the same time, and how many a player may dispute.

The store counts them: each quota is an index that the append script keeps (events/standings.py). It is read only when a match is created or
disputed.
Requests that create matches at the same moment count each other within a process, but not between processes. So several processes may
exceed a quota by the matches that they create at the same moment.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from events.platform import Platform
from events.play import was_created
from events.standings import AI_ONLY, DISPUTING, FORKED, OPEN, SEARCHING, SHORT, UNFINISHED, indexes, is_short
from record.allowances import ALLOWANCES
from record.positions import Position
from service.http.limits import BY_NAME, Used
from service.http.throttle import Limited
from table.state import AI, FREE, ME, PLAYER

LOOK_AGAIN_SECONDS = 30


class Asked(NamedTuple):
    """A match that a player asks for: what is asked for each seat, the settings as far as they are given, and whether it is practice."""

    seats: Collection[str]
    settings: Mapping[str, Any]
    practice: bool = False

    @property
    def searched(self) -> bool:
        """True if a level that searches may play: in a seat, or as a substitute."""
        levels = [seat.removeprefix(AI) for seat in self.seats if seat.startswith(AI)]
        substitute = (self.settings.get("time_out") or {}).get("level")
        return any(level == one for level in (*levels, substitute) for one in ALLOWANCES)

    def rates(self, player: str, address: str) -> list[tuple[str, str]]:
        """Return the limits on the rate of new matches that count this one, each with its subject."""
        counted = [("matches", player), ("address_matches", address)]
        return counted + [("address_searching_matches", address)] * self.searched + [("forks", player)] * self.practice

    def quotas(self) -> Iterator[tuple[str, str]]:
        """Yield the quotas that count this match, each with the first part of the name of its index."""
        yield "unfinished_matches", UNFINISHED
        if self.searched:
            yield "searching_matches", SEARCHING
        if self.practice:
            yield "practice_matches", FORKED
        with suppress(TypeError, AttributeError):  # the table refuses such settings
            if is_short(self.settings.get("clock") or {}, self.settings.get("time_out") or {}):
                yield "short_clock_matches", SHORT
        if any(seat == FREE or seat.startswith(PLAYER) for seat in self.seats):
            yield "open_matches", OPEN
        elif ME not in self.seats:
            yield "ai_matches", AI_ONLY


class Quotas:
    """The quotas of creators. Shared by the threads of a process. `amounts`: the amount of each limit, by name; 0 turns it off."""

    def __init__(self, platform: Platform, amounts: Mapping[str, int]) -> None:
        self._platform = platform
        self._amounts = amounts
        self._creating: Counter[str] = Counter()
        self._lock = threading.Lock()

    def amount(self, name: str) -> int | None:
        """Return the amount of a quota, or None if it is off."""
        return self._amounts[name] or None

    @contextmanager
    def creating(self, player: str, asked: Asked, request: str | None) -> Iterator[None]:
        """Let a player create a match within the block. Raise Problem `quota_reached`.

        A repeated request is let through: it creates nothing.
        """
        with self._lock:
            others = self._creating[player]
            self._creating[player] += 1
        try:
            reached = self._reached(player, asked.quotas(), others)
            if reached is not None and (request is None or not was_created(self._platform, player, request)):
                raise reached
            yield
        finally:
            with self._lock:
                self._creating[player] -= 1
                if not self._creating[player]:
                    del self._creating[player]

    def check_dispute(self, player: str, position: Position) -> None:
        """Raise Problem `quota_reached` if a player has disputed too many matches. One that the player disputes already counts once, so
        repeating a request is safe."""
        if f"{DISPUTING}:{player}" in indexes(position):
            return
        reached = self._reached(player, [("disputed_matches", DISPUTING)])
        if reached is not None:
            raise reached

    def _reached(self, player: str, asked: Iterable[tuple[str, str]], others: int = 0) -> Limited | None:
        """Return the refusal of a quota that is used up, or None. `others`: what this process adds at the same moment."""
        counted = [(name, index) for name, index in asked if self._amounts[name]]
        sizes = self._platform.store.lists.sizes([f"{index}:{player}" for _, index in counted]) if counted else []
        for (name, _), size in zip(counted, sizes, strict=True):
            amount = self._amounts[name]
            if size + others >= amount:
                return quota_reached(name, amount, size)
        return None


def quota_reached(name: str, amount: int, size: int) -> Limited:
    """Return the refusal of a quota."""
    return Limited("quota_reached", Used(BY_NAME[name], amount, max(0, amount - size), LOOK_AGAIN_SECONDS, refused=True))
