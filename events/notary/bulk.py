"""Bulk files: the records of all finished matches, by game and month, in the order in which the server's log names their ends.

A file consists of parts of about a mebibyte. The bytes of its parts, one after the other, are whole records, as `GET …/record` gives them
in lines. A part never changes. Its row says which entries of which matches it has, so its bytes are read from their logs again: nothing is
stored twice. The digest of a file covers its parts in their order. When its month is over, a leaf of the server's log names that digest.

events/notary/collecting.py makes the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from events.errors import NoBulk
from events.notary import server_log
from events.platform import Platform
from record.entries import canonical

PAGE = 100  # parts
NO_PARTS = bytes(32).hex()  # the digest of a file without parts
OPEN, FILE = "open:", "file:"  # the beginnings of the names of fields, of a file that grows and of one that is complete


class Span(NamedTuple):
    """Entries of a match in a part: its versions from `first` to `last`. Before version 1 comes the first line of the record, which has
    `blind`, the key of the salts."""

    match: str
    first: int
    last: int
    blind: str | None


class Part(NamedTuple):
    """A complete part of a file. `matches`: how many records end in it."""

    number: int
    matches: int
    bytes: int
    sha256: str
    spans: list[Span]


class File(NamedTuple):
    """A file. `digest`: of its complete parts. `since`, `until`: the leaves of the server's log from which it comes; `until` is None while
    the file grows. `origin`: the name of that log. `matches` and `bytes`: those in complete parts."""

    game: str
    month: str
    since: int
    until: int | None
    parts: int
    matches: int
    bytes: int
    digest: str
    origin: str = ""

    @property
    def name(self) -> str:
        """The name of the file in the store: its game and its month."""
        return f"{self.game}/{self.month}"


def files(platform: Platform) -> list[File]:
    """Return every file that has a part, by game and month, also those of logs that the server had under earlier names.

    Raises StoreUnavailable.
    """
    found: dict[str, File] = {}
    for origin in server_log.origins(platform):
        for name, value in platform.store.bulks.state(origin).items():
            if value and name.startswith((OPEN, FILE)):
                file = _file(value, origin)
                if file.parts:
                    found.setdefault(file.name, file)
    return [found[name] for name in sorted(found)]


def file_of(platform: Platform, game: str, month: str) -> File:
    """Return a file. Raises NoBulk, StoreUnavailable."""
    for origin in server_log.origins(platform):
        for field in (f"{FILE}{game}/{month}", f"{OPEN}{game}"):
            value = platform.store.bulks.field(origin, field)
            if value and (file := _file(value, origin)).month == month and file.parts:
                return file
    raise NoBulk(game=game, month=month)


def parts(platform: Platform, file: File, first: int, limit: int) -> list[Part]:
    """Return complete parts of a file from number `first` on, at most `limit`. Raises StoreUnavailable."""
    last = min(file.parts, first + limit - 1)
    return [part_of(row) for row in platform.store.bulks.parts(file.origin, file.name, first, max(1, limit))][: max(0, last - first + 1)]


def part(platform: Platform, file: File, number: int) -> Part:
    """Return a complete part of a file. Raises NoBulk, StoreUnavailable."""
    found = parts(platform, file, number, 1)
    if not found:
        raise NoBulk(game=file.game, month=file.month)
    return found[0]


def content(platform: Platform, spans: Sequence[Span]) -> bytes:
    """Return the bytes of a part: lines of records. It takes one round trip. Raises StoreUnavailable."""
    entries = platform.store.log.spans([(span.match, span.first, span.last) for span in spans])
    return b"".join(line + b"\n" for line in _lines(spans, entries))


def leaf_of(platform: Platform, file: File) -> dict[str, Any] | None:
    """Return the leaf that names the digest of a file, with its proof, or None if the log that the server serves has none.

    Raises NotInLog before the first checkpoint, StoreUnavailable.
    """
    return next(iter(server_log.leaves(platform, leaf_key(file.name), log=server_log.shown(platform, file.origin))), None)


def leaf_key(name: str) -> str:
    """Return what the server's log has a leaf of a file under, in place of the id of a match."""
    return f"bulk/{name}"


def extended(digest: str, sha256_of_part: str) -> str:
    """Return the digest of a file with one part more."""
    return sha256(bytes.fromhex(digest) + bytes.fromhex(sha256_of_part)).hexdigest()


def row_of(part: Part) -> bytes:
    """Return a part in stored form."""
    return orjson.dumps({**part._asdict(), "spans": [list(span) for span in part.spans]})


def part_of(row: bytes) -> Part:
    """Return a part from its stored form."""
    stored = orjson.loads(row)
    return Part(**{**stored, "spans": [Span(*span) for span in stored["spans"]]})


def _lines(spans: Iterable[Span], entries: Iterable[list[tuple[int, bytes]]]) -> Iterator[bytes]:
    for span, found in zip(spans, entries, strict=True):
        if span.first == 1:
            yield header_of(span)
        yield from (raw for _, raw in found)


def header_of(span: Span) -> bytes:
    """Return the first line of a record (events/audit.py)."""
    return canonical({"blind": span.blind, "match": span.match})


def _file(value: bytes, origin: str) -> File:
    stored = orjson.loads(value)
    return File(**{name: stored[name] for name in File._fields if name in stored})._replace(origin=origin)
