"""Read the due index: a sorted set in each partition with members `kind|match|target`, scored by the moment (ms since 1970)."""

from __future__ import annotations

from typing import NamedTuple

from events.store.keys import OfMatches


class Counts(NamedTuple):
    """The number of all members of the index, and of those due before a moment."""

    all: int
    before: int


class DueIndex(OfMatches):
    """The due index over all partitions. The append script keeps it. Every method raises StoreUnavailable."""

    def earliest(self, until: int, limit: int) -> dict[str, int]:
        """Return the earliest members that are due at `until` or before, with their moments. At most `limit` of each partition."""
        return self._members([("ZRANGE", key, "-inf", until, "BYSCORE", "LIMIT", 0, limit, "WITHSCORES") for key in self._indexes()])

    def between(self, first: int, last: int, limit: int) -> dict[str, int]:
        """Return the earliest members that are due between two moments, with their moments. At most `limit` of each partition."""
        return self._members([("ZRANGE", key, first, last, "BYSCORE", "LIMIT", 0, limit, "WITHSCORES") for key in self._indexes()])

    def sample(self, size: int) -> dict[str, int]:
        """Return random members with their moments. At most `size` of each partition."""
        return self._members([("ZRANDMEMBER", key, size, "WITHSCORES") for key in self._indexes()])

    def counts(self, before: int) -> Counts:
        """Return the number of all members, and of those due before a moment."""
        spans: list[tuple[str | int, str | int]] = [("-inf", "+inf"), ("-inf", before)]
        found = self._client.ask_all([("ZCOUNT", key, *span) for span in spans for key in self._indexes()])
        size = len(found) // len(spans)
        return Counts(*[sum(found[start : start + size]) for start in range(0, len(found), size)])

    def _indexes(self) -> list[str]:
        return [f"{tag}:due" for tag in self._keys.tags()]

    def _members(self, commands: list[tuple[str | int, ...]]) -> dict[str, int]:
        return {member.decode(errors="replace"): int(moment) for answer in self._client.ask_all(commands) for member, moment in answer}
