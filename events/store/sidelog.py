"""Store the side logs: refused actions of the seats of a match, and reads by staff. They are not derived from anything.

The refused actions of each seat, and the reads of a match, have a running hash each (evidence/running.py). It counts what is dropped, too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import orjson

from events.errors import StoreUnavailable
from events.store.keys import OfMatches
from events.store.library import script
from evidence.running import EMPTY, Running

BYTES_OF_SEAT = 4000  # that the kept refused actions of a seat of a match have at most
MOST = 200  # refused actions of a match in one call
LONGEST = 2000  # bytes of a refused action with all its fields
_ATTEMPTS = 100  # to write before other processes do

_NOTE_REFUSALS = script("note_refusals")
_NOTE_READ = script("note_read")


class StoredRefusals(NamedTuple):
    """The refused actions of a match as JSON, oldest first. `dropped`: by seat, the running hash of those that are no longer kept."""

    refused: list[bytes]
    dropped: dict[str, Running]


class StoredRead(NamedTuple):
    """The reads of one kind by one reader: how many there were, and the signed notes of the first and the newest."""

    reader: str
    what: str
    number: int
    first: str
    newest: str


class Seen(NamedTuple):
    """One of the newest reads of a match: the version that was seen, when (ms since 1970), by whom, and what."""

    version: int
    at: int
    reader: str
    what: str


class StoredReads(NamedTuple):
    """The reads of a match by reader and kind, the newest of all in their order, and the running hash of those before the newest."""

    reads: list[StoredRead]
    newest: list[Seen]
    dropped: Running


class RawSideLog(NamedTuple):
    """The side log of a match in stored form: the fields of its refused actions, and those of its reads."""

    refused: Mapping[bytes, bytes] = {}
    reads: Mapping[bytes, bytes] = {}

    @property
    def heads(self) -> dict[str, str]:
        """The running hashes, by field. They change with each refused action and each read."""
        return {field.decode(): value.decode() for field, value in self.reads.items() if field.startswith(b"head")}


class SideLog(OfMatches):
    """The side logs of matches. Every method raises StoreUnavailable.

    `away`: returns the side log of a match that is not in the store (events/archive).
    """

    away: Callable[[str], RawSideLog] | None = None

    def add_refusals(self, match: str, refused: Sequence[tuple[str, bytes]]) -> None:
        """Store at most MOST refused actions: the seat of each, and the rest in JSON.

        Afterwards the limits for a seat and for the match hold. A match that no longer exists gets nothing.
        """
        mark, heads = secrets.token_hex(8), dict.fromkeys([seat for seat, _ in refused], EMPTY)
        for _ in range(_ATTEMPTS):
            words: list[str | bytes | int] = [mark, orjson.dumps({seat: _text(head) for seat, head in heads.items()})]
            for seat, text in refused:
                heads[seat] = heads[seat].after(text)
                words += [seat, text, heads[seat].hash]
            answer = self._client.run(_NOTE_REFUSALS, [self._keys.stream(match)], words)
            if not isinstance(answer, list):
                return
            heads = {seat.decode(): running(head) for seat, head in zip(answer[::2], answer[1::2], strict=True)}
        raise StoreUnavailable("others were faster each time")

    def refusals(self, match: str) -> StoredRefusals:
        """Return the kept refused actions."""
        stored, beside = self.raw(match)
        numbers = sorted(int(field) for field in stored if field.isdigit())
        dropped = {field[5:].decode(): running(value) for field, value in stored.items() if field.startswith(b"base:")}
        kept = {seat.decode() for seat in stored.get(b"order", b"").split(b" ")[1::3]}
        for field, value in beside.items():
            seat = field.decode().removeprefix("head:")
            if field.startswith(b"head:") and seat not in kept:
                dropped[seat] = running(value)
        return StoredRefusals([stored[b"%d" % number][64:] for number in numbers], dropped)

    def add_read(self, match: str, read: Seen, text: str, note: str) -> None:
        """Store a read: its text and its signed note. A match that no longer exists gets nothing."""
        head = EMPTY
        for _ in range(_ATTEMPTS):
            after = head.after(text.encode())
            words: list[str | bytes | int] = [read.reader, read.what, note, read.version, read.at, _text(head), _text(after)]
            answer = self._client.run(_NOTE_READ, [self._keys.stream(match)], words)
            if isinstance(answer, int):
                return
            head = running(answer)
        raise StoreUnavailable("others were faster each time")

    def reads(self, match: str) -> StoredReads:
        """Return the reads of a match."""
        stored = self.raw(match).reads
        found = {field.decode(): value.decode() for field, value in stored.items()}
        starts = sorted(field.removesuffix("count") for field in found if field.endswith("|count"))
        reads = []
        for start in starts:
            reader, what, _ = start.split("|")
            reads.append(StoredRead(reader, what, int(found[f"{start}count"]), found[f"{start}first"], found[f"{start}newest"]))
        newest = [_seen(line) for line in found.get("newest", "").splitlines()]
        head = running(stored.get(b"head"))
        return StoredReads(reads, newest, Running(head.number - len(newest), found.get("base", EMPTY.hash)))

    def raw(self, match: str) -> RawSideLog:
        """Return the side log of a match in stored form. For a match in the store it is one round trip."""
        keys = self._keys.of(match)
        refused, reads, head = self._client.ask_all([("HGETALL", keys.refusals), ("HGETALL", keys.reads), ("XLEN", keys.stream)])
        return RawSideLog(refused, reads) if head or self.away is None else self.away(match)

    def keys(self) -> Iterator[tuple[str, str]]:
        """Yield every key of this kind with its match, whether the match exists or not."""
        return self._named("fw")

    def strays(self) -> Iterator[str]:
        """Yield the keys whose matches have no log or are in another partition."""
        return self._strays("fw")


def running(stored: bytes | None) -> Running:
    """Return a running hash from its text in the store; EMPTY if there is none."""
    if not stored:
        return EMPTY
    count, _, hashed = stored.decode().partition(" ")
    return Running(int(count), hashed)


def _text(head: Running) -> str:
    return f"{head.number} {head.hash}" if head.number else ""


def _seen(line: str) -> Seen:
    _, version, at, reader, what = line.split(" ")
    return Seen(int(version), int(at), reader, what)
