"""Find the revisions of the rules that the matches in the store need, and those that this program lacks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from threading import Lock, Thread
from typing import NamedTuple

import structlog

from events.errors import StoreUnavailable
from events.platform import Platform

_AT_ONCE = 500
_AGAIN = 10.0  # seconds until the next try, if the store was away

log = structlog.get_logger(__name__)


class Need(NamedTuple):
    """A revision of a game. `where`: its rules are `newest`, `pinned` or `missing`. `running`, `over`: how many matches need it."""

    game: str
    revision: int
    where: str
    running: int
    over: int

    @property
    def matches(self) -> int:
        """The number of matches that need the revision."""
        return self.running + self.over


def needs(platform: Platform) -> list[Need]:
    """Return every revision that the program has or a match needs, by game and number. Raises StoreUnavailable.

    A finished match needs its rules to be shown.
    """
    known = {(id, number) for id, game in platform.games.items() for number in (*game.earlier, game.revision)}
    return _needs(platform, platform.store.log.matches(), known)


def missing(platform: Platform) -> list[Need]:
    """Return the revisions that running matches need and the program lacks. Raises StoreUnavailable."""
    running = platform.store.lists.since(("status:open", "status:playing"), 0)
    return [need for need in _needs(platform, running, ()) if need.where == "missing"]


class Missing:
    """The result of `missing`, found once in the background. It stays valid: rules of a process and revisions of matches never change."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._thread: Thread | None = None
        self._lock = Lock()
        self._found: list[Need] = []

    def known(self) -> list[Need]:
        """Return the revisions known to be missing; none before the search has ended."""
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._look, name="revisions", daemon=True)
                self._thread.start()
        return self._found

    def _look(self) -> None:
        while True:
            try:
                self._found = missing(self._platform)
                break
            except StoreUnavailable:
                pass
            except Exception as error:  # noqa: BLE001 - it is logged; if this thread ended, missing revisions would stay unknown
                log.error("revisions_not_looked_for", error=type(error).__name__)
            time.sleep(_AGAIN)
        for need in self._found:
            log.error("rules_missing", game=need.game, revision=need.revision, matches=need.running)


def _needs(platform: Platform, matches: Iterable[str], known: Iterable[tuple[str, int]]) -> list[Need]:
    counts: Counter[tuple[str, int, bool]] = Counter()
    remaining = iter(matches)
    while batch := list(islice(remaining, _AT_ONCE)):
        for standing in platform.store.lists.standings(batch):
            if standing is not None:
                counts[standing["game"], standing["revision"], standing["status"] in ("open", "playing")] += 1
    found = {(game, revision) for game, revision, _ in counts} | set(known)
    return [
        Need(game, revision, _where(platform, game, revision), counts[game, revision, True], counts[game, revision, False])
        for game, revision in sorted(found)
    ]


def _where(platform: Platform, id: str, revision: int) -> str:
    game = platform.games.get(id)
    if game is None or game.of_revision(revision) is None:
        return "missing"
    return "newest" if game.revision == revision else "pinned"
