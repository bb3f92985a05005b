"""Entries in JSON, as viewers see them. Recent entries are cached, since many viewers see the same."""

from __future__ import annotations

import threading
from typing import NamedTuple

from cachetools import TTLCache

from events import recall
from events.platform import Platform
from games.kernel import Game
from record.entries import parse
from service import sight
from service.http.responses import sorted_json
from table.rules import players_in

PAGE = 200
CACHED = 8192
SECONDS = 60.0


class ShownEntry(NamedTuple):
    """An entry in JSON, as a viewer sees it. `ends_match`: whether the match ended with it. `players`: the players that it names."""

    version: int
    json: bytes
    ends_match: bool
    players: frozenset[str]


class ShownEntries:
    """Reads entries for viewers, and caches recent ones. Shared by the threads of a process."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        # Not for long: a match that never began may be removed, and another match may get its id.
        self._cache: TTLCache[tuple[str, int, str, bool], ShownEntry] = TTLCache(CACHED, SECONDS)
        self._lock = threading.Lock()

    def read(self, game: Game, match: str, after: int, limit: int, viewer: str, proof: bool) -> list[ShownEntry]:
        """Return the entries after a version from the store. `proof`: with their proofs."""
        prover = recall.prover(self._platform, match) if proof else None
        found = []
        for stored in self._platform.store.log.read(match, after, limit):
            entry = parse(stored)
            shown = sorted_json(sight.shown(game, entry, viewer, prover))
            found.append(ShownEntry(entry.version, shown, entry.secret is not None, players_in(entry.events)))
        return found

    def read_new(self, game: Game, match: str, after: int, version: int, viewer: str, proof: bool) -> list[ShownEntry]:
        """Return a page of the entries after a version. The store is not read if the cache has all of them up to `version`."""
        wanted = range(after + 1, min(version, after + PAGE) + 1)
        with self._lock:
            cached = [entry for number in wanted if (entry := self._cache.get((match, number, viewer, proof))) is not None]
        if wanted and len(cached) == len(wanted):
            return cached
        found = self.read(game, match, after, PAGE, viewer, proof)
        if len(found) < PAGE:
            with self._lock:
                self._cache.update({(match, entry.version, viewer, proof): entry for entry in found})
        return found
