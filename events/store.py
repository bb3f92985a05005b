"""The event store: one Redis stream for each match, appended to in one atomic step.

The entry of version 42 has the stream id `42-0`, and the length of a stream is the version of its match. Keys of a match lie in one
slot of a cluster: matches are spread over partitions, and every key of partition 3 carries the hash tag `{p3}`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

from events.wire import Item, Wire, script

PAGE = 500

Fields = tuple[bytes, list[bytes]]

_APPEND = script("append")
_SINCE = script("since")
_LOAD = script("load")


class Keys(NamedTuple):
    """The keys of one match."""

    stream: str
    requests: str
    due: str
    standing: str
    snapshots: str
    secret: str
    channel: str
    lists: str  # how the names of its partition's indexes begin


class Changes(NamedTuple):
    """What an append changes beside the stream. Blank values change nothing.

    `due`: milliseconds since which something is owed, or "-" for nothing any more. `indexes`: by name, whether the match belongs there.
    `snapshot`: a version and its document, and which older one it replaces, if any.
    """

    due: str = ""
    standing: bytes = b""
    indexes: Mapping[str, bool] = {}
    created: int = 0
    snapshot: tuple[int, bytes, int | None] | None = None
    secret: str = ""


class Claim(NamedTuple):
    """A request as the store knows it: whose, and what was asked."""

    name: str
    fingerprint: str


class Appended(NamedTuple):
    """The entries stand in the stream; `mine` is always true of an answer to one's own append."""


class Conflict(NamedTuple):
    """Nothing was written: the match has moved on to `head`. `tail` holds the entries after the expected version, the first of them."""

    head: int
    tail: list[bytes]


class Known(NamedTuple):
    """Nothing was written: the request has been carried out before, as the versions `first` to `last`."""

    first: int
    last: int
    fingerprint: str
    entries: list[bytes]


class Since(NamedTuple):
    """What is new after a version: the head, the first entries of the tail, and the request if it has been carried out."""

    head: int
    tail: list[bytes]
    known: Known | None


class Loaded(NamedTuple):
    """A snapshot (or none), the first entries after it, the head, and the match's secret in hex (or none)."""

    head: int
    snapshot: bytes | None
    tail: list[bytes]
    secret: str | None


class Store:
    """All that is remembered of matches, over one server or a cluster."""

    def __init__(self, wire: Wire, partitions: int = 16) -> None:
        self.wire = wire
        self.partitions = partitions

    def tags(self) -> list[str]:
        """The hash tag of every partition."""
        return [f"{{p{number}}}" for number in range(self.partitions)]

    def tag(self, match: str) -> str:
        """The hash tag of a match's partition."""
        return f"{{p{crc32(match.encode()) % self.partitions}}}"

    def keys(self, match: str) -> Keys:
        """The keys of a match."""
        tag = self.tag(match)
        return Keys(
            f"{tag}:s:{match}",
            f"{tag}:r:{match}",
            f"{tag}:due",
            f"{tag}:m:{match}",
            f"{tag}:d:{match}",
            f"{tag}:x:{match}",
            f"{tag}:heads",
            f"{tag}:i:",
        )

    def append(
        self, match: str, expected: int, entries: Sequence[bytes], changes: Changes, claim: Claim | None = None, digest: str = ""
    ) -> Appended | Conflict | Known:
        """Append `entries` after version `expected`, with everything that follows from them, or nothing at all. Raises StoreUnavailable.

        Sent again by a lost connection, it neither writes twice nor takes its own entries for somebody else's: each attempt bears a mark.
        `digest` is that of the expected version: where another entry stands there by now, the conflict has the head -1.
        """
        keys = self.keys(match)
        mark = os.urandom(8)
        snapshot = changes.snapshot
        answer = self.wire.run(
            _APPEND,
            [*keys[:6], *[keys.lists + name for name in changes.indexes]],
            [
                expected,
                mark,
                claim.name if claim else "",
                f"{expected + 1}:{expected + len(entries)}:{claim.fingerprint}" if claim else "",
                changes.due,
                changes.standing,
                snapshot[0] if snapshot else "",
                snapshot[1] if snapshot else "",
                snapshot[2] if snapshot and snapshot[2] is not None else "",
                changes.secret,
                keys.channel,
                match,
                changes.created,
                PAGE,
                len(entries),
                *entries,
                *["+" if belongs else "-" for belongs in changes.indexes.values()],
                digest,
            ],
        )
        if answer[0] == 1 or _mine(answer[2], mark):
            return Appended()
        if answer[0] == 0:
            return Conflict(answer[1], _wires(answer[2]))
        return _known(answer[1], answer[2])

    def since(self, match: str, version: int, claim: str = "", digest: str = "") -> Since:
        """What is new after `version`, and what became of the request of that name; the head is -1 where another entry than that of the
        digest stands at the version. Raises StoreUnavailable."""
        keys = self.keys(match)
        head, tail, answer, entries = self.wire.run(_SINCE, [keys.stream, keys.requests], [version, claim, PAGE, digest])
        return Since(head, _wires(tail), _known(answer, entries) if answer else None)

    def load(self, match: str, version: int | None = None) -> Loaded:
        """What is needed to stand at `version`, or at the head: the rest of a long tail is for `read`. Raises StoreUnavailable."""
        keys = self.keys(match)
        most = "" if version is None else version
        head, snapshot, tail, secret = self.wire.run(_LOAD, [keys.stream, keys.snapshots, keys.secret], [most, PAGE])
        return Loaded(head, snapshot or None, _wires(tail), secret.decode() if secret else None)

    def secret(self, match: str) -> str | None:
        """The secret of a match in hex, for the audit's eyes. Raises StoreUnavailable."""
        found = self.wire.ask("GET", self.keys(match).secret)
        return found.decode() if found else None

    def head(self, match: str) -> int:
        """The version of a match; 0 for one that does not exist. Raises StoreUnavailable."""
        return int(self.wire.ask("XLEN", self.keys(match).stream))

    def read(self, match: str, after: int = 0, limit: int = PAGE) -> list[bytes]:
        """The entries after a version, at most `limit`. Raises StoreUnavailable."""
        return [fields[b"e"] for _, fields in self.items(match, after, limit)]

    def items(self, match: str, after: int = 0, limit: int = PAGE) -> list[Item]:
        """The same as they stand in the stream, with their ids and all their fields. Raises StoreUnavailable."""
        return self.wire.items(self.keys(match).stream, f"{after + 1}-0", "+", limit)

    def read_all(self, match: str, after: int = 0) -> Iterator[bytes]:
        """Every entry after a version, fetched page by page. Raises StoreUnavailable."""
        while page := self.read(match, after):
            yield from page
            after += len(page)

    def matches(self) -> Iterator[str]:
        """The id of every match that has a stream, in no order. Raises StoreUnavailable."""
        seen = set()
        for tag in self.tags():
            start = f"{tag}:s:"
            for key in self.wire.keys(start + "*"):
                match = key[len(start) :]
                if match not in seen:
                    seen.add(match)
                    yield match


def _known(answer: bytes, entries: Iterable[Fields]) -> Known:
    first, last, fingerprint = answer.decode().split(":")
    return Known(int(first), int(last), fingerprint, _wires(entries))


def _wires(entries: Iterable[Fields]) -> list[bytes]:
    """The bytes of entries as scripts give them: an id, and names and values in turn, `e` before `m`."""
    return [fields[1] for _, fields in entries]


def _mine(entries: Sequence[Fields], mark: bytes) -> bool:
    """Whether the first of these entries bears the mark of this attempt."""
    return bool(entries) and entries[0][1][3:4] == [mark]
