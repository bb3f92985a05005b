"""Find decisions of finished matches for puzzles, and choose the puzzle of each day.

A worker chooses it soon after the day has begun in UTC, or when there is the first puzzle.
"""

from __future__ import annotations

from hashlib import sha256

from events import recall
from events.platform import Platform
from record.decisions import Decision, decisions
from record.entries import parse
from record.positions import Position
from record.puzzles import LEAST

DAY_MS = 86_400_000


def is_open(position: Position) -> bool:
    """Return True if puzzles may be made of a match: it is over with a result, and hides nothing. `position`: its newest one."""
    return position.ended and position.document["outcome"] is not None


def decision(platform: Platform, match: str, at: int) -> Decision | None:
    """Return the decision of a seat after a version of a match, or None if there is none or the match is not over.

    Raises NoMatch, StoreUnavailable.
    """
    newest = recall.position(platform, match)
    if not is_open(newest) or not 1 <= at < newest.version:
        return None
    before = recall.state_at(platform, match, at)
    entries = map(parse, platform.store.log.read(match, at, 1))
    return next(decisions(platform.games, entries, before), None)


def choose(platform: Platform) -> str | None:
    """Choose the puzzle of today, unless there is one. Return its id, or None if there is no puzzle. Raises StoreUnavailable.

    Puzzles whose answer stands out come first (LEAST), then those that were chosen least lately. Among equal ones the day decides.
    """
    puzzles, day = platform.store.puzzles, platform.clock.now() // DAY_MS
    days = puzzles.days()
    if day in days and puzzles.get(days[day]) is not None:
        return days[day]
    there = {each.id: each for each in puzzles.all([each.id for each in puzzles.listed(platform.games)])}
    lately = {id: chosen for chosen, id in sorted(days.items())}

    def place(id: str) -> tuple[bool, int, bytes]:
        return there[id].gap < LEAST, lately.get(id, -1), sha256(f"{day} {id}".encode()).digest()

    return puzzles.choose(day, min(there, key=place)) if there else None


def today(platform: Platform) -> str | None:
    """Return the id of the puzzle of today, or None if none was chosen yet. Raises StoreUnavailable."""
    return platform.store.puzzles.days().get(platform.clock.now() // DAY_MS)
