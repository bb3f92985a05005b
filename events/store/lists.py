"""Read the standings of matches, and the indexes behind the lists. The append script keeps both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from events.store.keys import OfMatches

_PAGE = 1000

Place = tuple[int, str]  # the moment that orders a match in a list (ms since 1970), and the id of the match


class Lists(OfMatches):
    """Standings and indexes over all partitions. Every method raises StoreUnavailable."""

    def standing_bytes(self, match: str) -> bytes | None:
        """Return the stored standing of a match, or None."""
        found: bytes | None = self._client.ask("GET", self._keys.of(match).standing)
        return found

    def standings(self, matches: Sequence[str]) -> list[dict[str, Any] | None]:
        """Return the standing of each match, or None."""
        found = self._client.ask_all([("GET", self._keys.of(match).standing) for match in matches])
        return [orjson.loads(one) if one else None for one in found]

    def sizes(self, indexes: Sequence[str]) -> list[int]:
        """Return the number of matches in each index, over all partitions."""
        tags = self._keys.tags()
        sizes = self._client.ask_all([("ZCARD", f"{tag}:i:{index}") for index in indexes for tag in tags])
        return [sum(sizes[start : start + len(tags)]) for start in range(0, len(sizes), len(tags))]

    def newest(self, indexes: Sequence[str], after: Place | None, limit: int) -> list[Place]:
        """Return at most `limit` matches of several indexes after a place, newest first. No match may be in two of the indexes."""
        start = "+inf" if after is None else f"({after[0]}"
        found = self._places(indexes, (start, "-inf", "BYSCORE", "REV"), after, limit)
        return sorted((place for place in found if after is None or place < after), reverse=True)[:limit]

    def earliest(self, indexes: Sequence[str], after: Place | None, limit: int) -> list[Place]:
        """Return at most `limit` matches of several indexes after a place, the earliest moment first."""
        start = "-inf" if after is None else f"({after[0]}"
        found = self._places(indexes, (start, "+inf", "BYSCORE"), after, limit)
        return sorted(place for place in found if after is None or place > after)[:limit]

    def _places(self, indexes: Sequence[str], stretch: tuple[str, ...], after: Place | None, limit: int) -> list[Place]:
        """Return the first places of each index in a range of moments, and all places with the same moment as `after`."""
        keys = [f"{tag}:i:{index}" for index in indexes for tag in self._keys.tags()]
        commands: list[tuple[str | int, ...]] = [("ZRANGE", key, *stretch, "LIMIT", 0, limit, "WITHSCORES") for key in keys]
        if after is not None:
            commands += [("ZRANGE", key, after[0], after[0], "BYSCORE", "WITHSCORES") for key in keys]
        return [(int(score), match.decode()) for answer in self._client.ask_all(commands) for match, score in answer]

    def since(self, indexes: Sequence[str], moment: int) -> list[str]:
        """Return every match of several indexes from a moment on, in any order."""
        found: list[str] = []
        keys, place = [f"{tag}:i:{index}" for index in indexes for tag in self._keys.tags()], 0
        while keys:
            pages = self._client.ask_all([("ZRANGE", key, moment, "+inf", "BYSCORE", "LIMIT", place, _PAGE) for key in keys])
            found += [match.decode() for page in pages for match in page]
            keys = [key for key, page in zip(keys, pages, strict=True) if len(page) == _PAGE]
            place += _PAGE
        return found
