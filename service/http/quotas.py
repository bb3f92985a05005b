"""Quotas: how many matches of one creator may be open, running or unfinished at the same time.

The store counts them: each quota is an index that the append script keeps (events/standings.py). It is read only when a match is created.
Requests that create matches at the same moment count each other within a process, but not between processes. So several processes may
exceed a quota by the matches that they create at the same moment.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from events.platform import Platform
from events.play import was_created
from events.standings import AI_ONLY, OPEN, SEARCHING, UNFINISHED
from record.allowances import ALLOWANCES
from service.http.limits import BY_NAME, Used
from service.http.throttle import Limited
from table.state import AI, FREE, ME, PLAYER

LOOK_AGAIN_SECONDS = 30

_OPEN, _AI_ONLY, _UNFINISHED = ("open_matches", OPEN), ("ai_matches", AI_ONLY), ("unfinished_matches", UNFINISHED)
_SEARCHING = ("searching_matches", SEARCHING)


def is_searched(seats: Collection[str], settings: Mapping[str, Any]) -> bool:
    """Return True if a level that searches may play in a new match: in a seat, or as a substitute."""
    levels = [seat.removeprefix(AI) for seat in seats if seat.startswith(AI)] + [(settings.get("time_out") or {}).get("level")]
    return any(level == one for level in levels for one in ALLOWANCES)


def subjects(player: str, address: str, searched: bool) -> list[tuple[str, str]]:
    """Return the limits on the rate of new matches, each with its subject. `searched`: as in `Quotas.creating`."""
    counted = [("matches", player), ("address_matches", address)]
    return [*counted, ("address_searching_matches", address)] if searched else counted


class Quotas:
    """The quotas of creators. Shared by the threads of a process. `amounts`: the amount of each limit, by name; 0 turns it off."""

    def __init__(self, platform: Platform, amounts: Mapping[str, int]) -> None:
        self._platform = platform
        self._amounts = amounts
        self._creating: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def creating(self, player: str, seats: Collection[str], searched: bool, request: str | None) -> Iterator[None]:
        """Let a player create a match with these seats within the block. Raise Problem `quota_reached`.

        `searched`: whether a level that searches may play in the match (`is_searched`). A repeated request is let through: it creates
        nothing.
        """
        with self._lock:
            others = self._creating[player]
            self._creating[player] += 1
        try:
            self._check(player, seats, searched, others, request)
            yield
        finally:
            with self._lock:
                self._creating[player] -= 1
                if not self._creating[player]:
                    del self._creating[player]

    def _check(self, player: str, seats: Collection[str], searched: bool, others: int, request: str | None) -> None:
        asked = [_UNFINISHED, *([_SEARCHING] if searched else [])]
        if any(seat == FREE or seat.startswith(PLAYER) for seat in seats):
            asked.append(_OPEN)
        elif ME not in seats:
            asked.append(_AI_ONLY)
        asked = [(name, index) for name, index in asked if self._amounts[name]]
        sizes = self._platform.store.lists.sizes([f"{index}:{player}" for _, index in asked]) if asked else []
        for (name, _), size in zip(asked, sizes, strict=True):
            amount = self._amounts[name]
            if size + others < amount or (request is not None and was_created(self._platform, player, request)):
                continue
            raise Limited("quota_reached", Used(BY_NAME[name], amount, max(0, amount - size), LOOK_AGAIN_SECONDS, refused=True))
