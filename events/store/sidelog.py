"""Store the side logs: refused actions of the seats of a match, and reads by staff. They are not derived from anything."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from events.store.keys import OfMatches
from events.store.library import script

BYTES_OF_SEAT = 4000  # that the kept refused actions of a seat of a match have at most
MOST = 200  # refused actions of a match in one call
LONGEST = 2000  # bytes of a refused action with all its fields

_NOTE_REFUSALS = script("note_refusals")
_NOTE_READ = script("note_read")


class StoredRefusals(NamedTuple):
    """The refused actions of a match as JSON, oldest first. `dropped`: how many are no longer kept."""

    refused: list[bytes]
    dropped: int


class StoredRead(NamedTuple):
    """The reads of one kind by one reader: how many there were, and the signed notes of the first and the newest."""

    reader: str
    what: str
    number: int
    first: str
    newest: str


class SideLog(OfMatches):
    """The side logs of matches in the store. Every method raises StoreUnavailable."""

    def add_refusals(self, match: str, refused: Sequence[tuple[str, bytes]], dropped: int = 0) -> None:
        """Store at most MOST refused actions: the seat of each, and the rest in JSON. `dropped`: how many earlier ones were not kept.

        Afterwards the limits for a seat and for the match hold. A match that no longer exists gets nothing.
        """
        pairs = [part for pair in refused for part in pair]
        self._client.run(_NOTE_REFUSALS, [self._keys.stream(match)], [secrets.token_hex(8), dropped, *pairs])

    def refusals(self, match: str) -> StoredRefusals:
        """Return the kept refused actions."""
        fields: dict[bytes, bytes] = self._client.ask("HGETALL", self._keys.of(match).refusals)
        numbers = sorted(int(field) for field in fields if field.isdigit())
        return StoredRefusals([fields[b"%d" % number] for number in numbers], int(fields.get(b"gone", 0)))

    def add_read(self, match: str, reader: str, what: str, note: str) -> None:
        """Store the signed note of a read. A match that no longer exists gets nothing."""
        self._client.run(_NOTE_READ, [self._keys.stream(match)], [reader, what, note])

    def reads(self, match: str) -> list[StoredRead]:
        """Return the reads of a match, by reader and kind."""
        fields: dict[bytes, bytes] = self._client.ask("HGETALL", self._keys.of(match).reads)
        found = {field.decode(): value.decode() for field, value in fields.items()}
        starts = sorted(field.removesuffix("count") for field in found if field.endswith("|count"))
        reads = []
        for start in starts:
            reader, what, _ = start.split("|")
            reads.append(StoredRead(reader, what, int(found[f"{start}count"]), found[f"{start}first"], found[f"{start}newest"]))
        return reads

    def keys(self) -> Iterator[tuple[str, str]]:
        """Yield every key of this kind with its match, whether the match exists or not."""
        return self._named("fw")

    def strays(self) -> Iterator[str]:
        """Yield the keys whose matches have no log or are in another partition."""
        return self._strays("fw")
