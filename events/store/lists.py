"""Read the standings of matches, and the indexes behind the lists. The append script keeps both.

Matches that are filed away are in the same lists, at the same places: the functions read the ordinary indexes and the packed ones together
(filing.lua). So nobody outside this package sees which are which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import orjson

from events.store import filed
from events.store.filed import Filed, Packed
from events.store.keys import OfMatches
from events.store.library import script
from events.store.packed import listed
from events.store.projections import UPDATED

EXAMINED = 1000  # matches that one request examines
_FILE_AWAY = script("file_away")
_FIRST_SINCE = script("first_since")
_LIST = script("list")
_PAGE, _AGAIN = 1000, 100
_SIZES = script("sizes")
_STANDINGS = script("standings")
_UPDATES = script("updates")
_FILED = b"filed"

Place = tuple[int, str]  # the moment that orders a match in a list (ms since 1970), and the id of the match
# Indexes by the number of their filter: a match must be in one of the indexes of each filter from 1 on, and in none of those of filter 0.
# No match may be in two indexes of a filter.
Filters = Mapping[int, Sequence[str]]


class Stretch(NamedTuple):
    """A part of a list: the places of its matches, and the place after which it goes on, or None at the end of the list."""

    places: list[Place]
    more: Place | None


class Row(NamedTuple):
    """What lists show of a match. `standing`: in stored form, b"" if there is none. `entry`: the newest entry, b"" if it cannot be read.

    `filed`: what the store has of a match that is filed away, which has no entry here.
    """

    standing: bytes
    entry: bytes
    filed: Filed | None = None


class Lists(OfMatches):
    """Standings and indexes over all partitions. Every method raises StoreUnavailable."""

    def standings(self, matches: Sequence[str]) -> list[dict[str, Any] | None]:
        """Return the standing of each match, or None."""
        return [orjson.loads(row.standing) if row.standing else None for row in self.with_entries(matches)]

    def file_away(self, match: str, packed: Packed) -> bool:
        """File away a match that the archive has. Return False if its entries are in the store, or it is filed away at a later version, or
        with another digest.
        """
        return bool(self._client.run(_FILE_AWAY, [self._keys.stream(match)], [packed.game, packed.row, *packed.news]))

    def row(self, match: str) -> bytes:
        """Return the row of a match that is filed away (filed.py); b"" if it is none."""
        ((_, row, kind),) = self._client.run(_STANDINGS, [self._keys.stream(match)], [])
        return bytes(row) if kind == _FILED else b""

    def filed(self, matches: Sequence[str]) -> list[Filed | None]:
        """Return what the store has of each match that is filed away; None for all others."""
        return [row.filed for row in self.with_entries(matches)]

    def with_entries(self, matches: Sequence[str]) -> list[Row]:
        """Return what lists show of each match, in one round trip."""
        parts = self._parts(matches)
        calls = [(list(map(self._keys.stream, part)), ()) for part in parts]
        found: dict[str, Row] = {}
        for part, answer in zip(parts, self._client.run_all(_STANDINGS, calls), strict=True):
            for match, row in zip(part, answer, strict=True):
                found[match] = _row(match, row)
        return [found[match] for match in matches]

    def _parts(self, matches: Sequence[str]) -> list[Sequence[str]]:
        """Return matches in parts whose keys may be in one call: all of them, or in a cluster those of each partition."""
        if not self._client.clustered:
            return [matches] if matches else []
        parts: dict[str, list[str]] = {}
        for match in matches:
            parts.setdefault(self._keys.tag(match), []).append(match)
        return list(parts.values())

    def sizes(self, indexes: Sequence[str], until: int | None = None) -> list[int]:
        """Return the number of matches in each index, over all partitions. `until`: count only those up to a moment."""
        tags = self._keys.tags()
        parts = [[tag] for tag in tags] if self._client.clustered else [tags]
        words = ["" if until is None else until]
        calls = [([f"{tag}:i:{index}" for tag in part for index in indexes], words) for part in parts if indexes]
        sizes = [size for answer in self._client.run_all(_SIZES, calls) for size in answer]
        return [sum(sizes[place :: len(indexes)]) for place in range(len(indexes))]

    def newest(self, indexes: Sequence[str], after: Place | None, limit: int) -> list[Place]:
        """Return at most `limit` matches of several indexes after a place, newest first. No match may be in two of the indexes."""
        return self.stretch("newest", {1: indexes}, after, limit).places

    def stretch(self, order: Literal["newest", "earliest"], filters: Filters, after: Place | None, limit: int) -> Stretch:
        """Return at most `limit` matches that pass some filters, after a place.

        They are in the order of the indexes of the first filter, the newest or the earliest moment first.
        """
        numbered = [(number, index) for number, indexes in filters.items() for index in indexes]
        tags = self._keys.tags()
        parts = [[tag] for tag in tags] if self._client.clustered else [tags]
        calls = []
        for part in parts:
            keys = [f"{tag}:i:{index}" for tag in part for _, index in numbered]
            bounds = limit, max(1, EXAMINED // len(parts))
            calls.append((keys, [order, *(after or ("", "")), *bounds, *[number for _ in part for number, _ in numbered]]))
        found: list[Place] = []
        stops: list[Place] = []
        for matches, moment, match in self._client.run_all(_LIST, calls):
            found += [(int(at), id.decode()) for id, at in zip(matches[::2], matches[1::2], strict=True)]
            if match:
                stops.append((int(moment), match.decode()))
        reverse = order == "newest"
        # Where one part was not examined to its end, others may have places that come after places that it has not told yet.
        stop = (max if reverse else min)(stops, default=None)
        places = sorted((place for place in found if stop is None or place == stop or (place > stop) == reverse), reverse=reverse)
        return Stretch(places[:limit], places[limit - 1] if len(places) > limit else stop)

    def first_since(self, matches: Sequence[str], moment: int) -> list[int]:
        """Return the first version of each match since a moment (ms since 1970), or one more than its head.

        It is 0 for a match that is filed away if an entry has come since: the log has its entries.
        """
        parts = self._parts(matches)
        calls = [(list(map(self._keys.stream, part)), (moment,)) for part in parts]
        found: dict[str, int] = {}
        for part, versions in zip(parts, self._client.run_all(_FIRST_SINCE, calls), strict=True):
            found.update(zip(part, versions, strict=True))
        return [found[match] for match in matches]

    def updates(self, player: str, after: Sequence[int], mark: bool, limit: int) -> list[list[tuple[str, int]]]:
        """Return the matches in the list of updates of a player, in each partition at most `limit` after a moment, with their moments.

        `mark`: the moments are places that a reader was given. Otherwise matches come that have changed since, and maybe some that changed
        in the minute before.
        """
        calls = [
            ([f"{tag}:i:{UPDATED}:{player}"], (at, "mark" if mark else "", limit)) for tag, at in zip(self._keys.tags(), after, strict=True)
        ]
        found = self._client.run_all(_UPDATES, calls)
        return [[(id.decode(), int(at)) for id, at in zip(answer[::2], answer[1::2], strict=True)] for answer in found]

    def since(self, indexes: Sequence[str], moment: int) -> list[str]:
        """Return every match of several indexes from a moment on, once, in any order.

        A match whose moment changes meanwhile moves those after it by one place. So each page begins before the end of the last one.
        """
        found: dict[str, None] = {}
        keys, place = [f"{tag}:i:{index}" for index in indexes for tag in self._keys.tags()], 0
        while keys:
            pages = self._client.ask_all([("ZRANGE", key, moment, "+inf", "BYSCORE", "LIMIT", place, _PAGE) for key in keys])
            found.update((match.decode(), None) for page in pages for match in page)
            keys = [key for key, page in zip(keys, pages, strict=True) if len(page) == _PAGE]
            place += _PAGE - _AGAIN
        return list(found)


def _row(match: str, answer: Sequence[bytes]) -> Row:
    standing, item, id = answer
    if id != _FILED:
        return Row(*listed(standing, item, match, int(id.partition(b"-")[0] or 0)))
    found = filed.unpack(item)
    return Row(found.standing, b"", found)
