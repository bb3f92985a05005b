"""Count rated matches, in the order in which they were over (record/ratings.py). A worker does it a few matches at a time.

The ratings are a projection: they follow from the records of rated matches alone, and say up to which match they count. They may be lost,
and are then counted anew. So are they when a match turns up before others that are counted, or when a ruling changes a result.
"""

from __future__ import annotations

from collections.abc import Iterator

import structlog

from events import recall
from events.errors import NoMatch, StoreUnavailable
from events.platform import Platform
from events.standings import AMENDED, RATED
from events.store.lists import Place
from events.store.ratings import Mark, Rated
from record.ratings import Rating, Result, after, result_of

AT_ONCE = 50  # matches that are counted in one step
LAG_MS = 60_000
"""A match counts so long after it was over. An entry may be older than its append, so one that was over earlier may still turn up."""

log = structlog.get_logger(__name__)


def count(platform: Platform, game: str, now: int, *, renew: bool = True) -> bool:
    """Count the next rated matches of a game. Return True if there are more. Do nothing if another process was faster.

    `renew`: begin to count anew if that is needed. Raises StoreUnavailable.
    """
    (generations,) = platform.store.ratings.generations([game])
    until = now - LAG_MS
    growing = generations.growing
    before = generations.marks.get(growing)
    mark = before or Mark()
    places = _next(platform, game, mark, until)
    if places:
        changed = _counted(platform, game, growing, places)
        later = Mark(mark.matches + len(places), *places[-1], mark.amended)
        platform.store.ratings.store(game, growing, before, later, changed)
        return True
    if growing != generations.serving:
        platform.store.ratings.store(game, growing, mark, mark, [], serve=True)
        return True
    if renew and not _is_true(platform, game, mark, until):
        log.info("ratings_anew", game=game, matches=mark.matches)
        begin_anew(platform, game)
        return True
    return False


def begin_anew(platform: Platform, game: str) -> None:
    """Begin to count the rated matches of a game anew, beside the ratings that are served. Raises StoreUnavailable."""
    (generations,) = platform.store.ratings.generations([game])
    number = generations.growing + 1
    platform.store.ratings.store(game, number, None, Mark(amended=_amended(platform, game)), [])


def count_anew(platform: Platform, now: int) -> int:
    """Count all rated matches of every game anew, and serve that. Return how many they are. Raises StoreUnavailable."""
    counted = 0
    for game in platform.games:
        begin_anew(platform, game)
        while count(platform, game, now, renew=False):
            pass
        (generations,) = platform.store.ratings.generations([game])
        counted += generations.served.matches
    return counted


def _next(platform: Platform, game: str, mark: Mark, until: int) -> list[Place]:
    """Return the rated matches after those of a mark, in order, up to a moment."""
    place = (mark.at, mark.match) if mark.match else None
    found = platform.store.lists.stretch("earliest", {1: [f"{RATED}:{game}"]}, place, AT_ONCE).places
    return [(at, match) for at, match in found if at <= until]


def _counted(platform: Platform, game: str, generation: int, places: list[Place]) -> list[Rated]:
    """Return the ratings that change when some matches count after those of a generation."""
    results = list(_results(platform, places))
    players = sorted({player for result in results for player in result.places})
    known = platform.store.ratings.of(game, generation, players)
    changed: dict[str, Rating] = {}
    for result in results:
        changed |= after({**known, **changed}, result)
    return [Rated(player, rating) for player, rating in changed.items()]


def _results(platform: Platform, places: list[Place]) -> Iterator[Result]:
    """Yield the results of matches from their records. A match whose record cannot be read is skipped; the audit says why."""
    for _, match in places:
        try:
            result = result_of(recall.position(platform, match))
        except NoMatch:
            continue
        except StoreUnavailable:
            raise
        except Exception as reason:  # noqa: BLE001 - it is logged, by its type only
            log.error("match_unreadable", match=match, error=type(reason).__name__)
            continue
        if result is not None and result.rated:
            yield result


def _is_true(platform: Platform, game: str, mark: Mark, until: int) -> bool:
    """Return False if the ratings must be counted anew: a match has turned up late, or a ruling has changed a result."""
    (number,) = platform.store.lists.sizes([f"{RATED}:{game}"], until)
    return number == mark.matches and _amended(platform, game) == mark.amended


def _amended(platform: Platform, game: str) -> str:
    """Return what tells apart which results of a game rulings have changed: their number, and the newest one."""
    index = f"{AMENDED}:{game}"
    (number,) = platform.store.lists.sizes([index])
    newest = platform.store.lists.newest([index], None, 1) if number else []
    return f"{number} {newest[0][0]} {newest[0][1]}" if newest else ""
