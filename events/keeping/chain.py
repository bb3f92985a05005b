"""The continuous backup of a store: a chain of objects, each of which has a piece of a file and the SHA-256 of the object before it.

An object is created once and never changes: `chain/000000000042`. Its first line is the SHA-256 of all the rest. The second is a header in
JSON. Then comes the piece, compressed. Some objects complete a *point*: with the pieces up to here the store can be restored as it was at
a moment. So whoever writes the chain may be killed anywhere, and at most the pieces after the last point are of no use. Each header says
what was sent before, so the newest object is enough to go on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set
from hashlib import sha256
from typing import Any, NamedTuple

from events.archive.objects import Objects
from record.dictionaries import zstd

FORMAT = 1
PIECE = 2 << 20  # bytes of a file in an object, before compression
SMALL = "small"  # the piece with all small files, as JSON
FOLDER = "chain/"

_LEVEL = 3
_DIGITS = 12
_NAME = re.compile(rf"{FOLDER}([0-9]{{{_DIGITS}}})")
_MOST = 8 * PIECE  # bytes of an unpacked piece


class Damaged(Exception):
    """An object of a chain is missing or is not what was written. The text says which."""


class Taken(Exception):
    """Another process writes to this chain. The text says so, for an operator."""


class Sent(NamedTuple):
    """What the chain has of a file: how many bytes, the object where it begins, and the place and SHA-256 of its last piece."""

    size: int
    first: int
    place: int
    digest: str


class Point(NamedTuple):
    """The store at a moment (ms since 1970): every entry that was acknowledged before is in it.

    `lines`: of the manifest, one for each file. `generation`: files of the same name in another generation are other files. `first` and
    `last`: the objects that are needed; the last one completes it.
    """

    at: int
    generation: int
    lines: list[str]
    first: int = 0
    last: int = 0

    @property
    def files(self) -> list[str]:
        """The names of its files in the chain."""
        return [file_of(self.generation, line) for line in self.lines]


class Piece(NamedTuple):
    """Bytes of a file, from a place on. `file`: its name in the chain, or SMALL."""

    file: str
    place: int
    size: int
    digest: str


class Header(NamedTuple):
    """The header of an object.

    `before`: the SHA-256 of the object before it, or "". `at`: when it was written. `writer`: a random id of the process. `sent`: what the
    chain has of each file. `turns`: from which moment on which object was the first that the points needed. `point`: the newest one; it is
    completed here if its `last` is this object.
    """

    number: int
    before: str
    at: int
    writer: str
    piece: Piece
    sent: dict[str, Sent]
    turns: list[tuple[int, int]]
    point: Point | None


class Link(NamedTuple):
    """An object that was read: its header, the SHA-256 of its bytes, and its piece, unpacked."""

    header: Header
    digest: str
    content: bytes


def name_of(number: int) -> str:
    """Return the name of an object."""
    return f"{FOLDER}{number:0{_DIGITS}}"


def packed(header: Header, content: bytes) -> bytes:
    """Return the bytes of an object."""
    piece, point = header.piece._asdict(), header.point and header.point._asdict()
    rest = (
        json.dumps({"format": FORMAT, **header._asdict(), "piece": piece, "point": point}).encode() + b"\n" + zstd.compress(content, _LEVEL)
    )
    return sha256(rest).hexdigest().encode() + b"\n" + rest


def unpacked(number: int, raw: bytes) -> Link:
    """Return an object. Raises Damaged."""
    stated, _, rest = raw.partition(b"\n")
    line, newline, body = rest.partition(b"\n")
    if not newline or sha256(rest).hexdigest().encode() != stated:
        raise Damaged(f"{name_of(number)} is damaged.")
    try:
        told: Any = json.loads(line)
        if told.pop("format") != FORMAT:
            raise Damaged(f"{name_of(number)} has another format. This version of Warledger reads format {FORMAT}.")
        header = Header(**told)._replace(
            piece=Piece(**told["piece"]),
            sent={file: Sent(*sent) for file, sent in told["sent"].items()},
            turns=[(int(first), int(at)) for first, at in told["turns"]],
            point=told["point"] and Point(**told["point"]),
        )
        content = zstd.ZstdDecompressor().decompress(body, max_length=_MOST)
    except (ValueError, KeyError, TypeError, zstd.ZstdError) as reason:
        raise Damaged(f"{name_of(number)} cannot be read: {reason}.") from None
    if header.number != number or len(content) != header.piece.size or sha256(content).hexdigest() != header.piece.digest:
        raise Damaged(f"{name_of(number)} has another piece than it says.")
    return Link(header, sha256(raw).hexdigest(), content)


def read(objects: Objects, number: int) -> Link:
    """Return an object of a chain. Raises Damaged, ArchiveUnavailable."""
    raw = objects.read(name_of(number))
    if raw is None:
        raise Damaged(f"{name_of(number)} is missing.")
    return unpacked(number, raw)


def numbers(objects: Objects, after: int = 0) -> Iterator[int]:
    """Yield the numbers of the objects of a chain after one, in order. Raises ArchiveUnavailable."""
    for name in objects.names(FOLDER, name_of(after)):
        found = _NAME.fullmatch(name)
        if found:
            yield int(found[1])


class Writer:
    """Appends to a chain. One process does so, in one thread."""

    def __init__(self, objects: Objects, id: str) -> None:
        self._objects = objects
        self._id = id
        self._digest = ""
        self._begun = False
        self._oldest = 0
        self.number = 0
        self.at = 0
        self.sent: dict[str, Sent] = {}
        self.turns: list[tuple[int, int]] = []
        self.point: Point | None = None

    def find(self) -> bool:
        """Go to the end of the chain. Return False if its last object is damaged: then every file must be sent anew.

        Raises Taken, ArchiveUnavailable.
        """
        last = self.number
        for number in numbers(self._objects, self.number):
            last = number
        if last == self.number:
            self._begun = True
            return True
        raw = self._objects.read(name_of(last)) or b""
        try:
            found = unpacked(last, raw).header
        except Damaged:
            self._take(self._sound_before(last))
            self.sent = {}
        else:
            if self._begun and found.writer != self._id:
                raise _taken(last)
            self._take(found)
        self._begun, self.number, self._digest = True, last, sha256(raw).hexdigest()
        return bool(self.sent)

    def _take(self, found: Header | None) -> None:
        if found is None:
            self.turns, self.point = [(1, 0)], None  # nothing is known of what is older, so nothing of it is removed yet
        else:
            self.at, self.sent, self.turns, self.point = found.at, found.sent, found.turns, found.point

    def _sound_before(self, number: int) -> Header | None:
        """Return the header of the object before a damaged one, or None if that is damaged, too."""
        try:
            return read(self._objects, number - 1).header
        except Damaged:
            return None

    def write(self, now: int, file: str, place: int, content: bytes, kept: Set[str], point: Point | None = None) -> None:
        """Append an object with a piece of a file. Raises Taken, ArchiveUnavailable.

        `kept`: the files that are still sent or needed. `point`: what this piece completes.
        """
        number, at = self.number + 1, max(now, self.at)
        piece = Piece(file, place, len(content), sha256(content).hexdigest())
        first = self.sent[file].first if place else number
        sent = {name: what for name, what in self.sent.items() if name in kept}
        sent[file] = Sent(place + len(content), first, place, piece.digest)
        turns = self.turns
        if point is not None:
            first = min(sent[name].first for name in (SMALL, *point.files))
            point = point._replace(first=first, last=number)
            if not turns or turns[-1][0] != first:
                turns = [*turns, (first, at)]
        raw = packed(Header(number, self._digest, at, self._id, piece, sent, turns, point or self.point), content)
        if not self._objects.create(name_of(number), raw) and self._objects.read(name_of(number)) != raw:
            raise _taken(number)
        self.number, self.at, self._digest, self.sent, self.turns = number, at, sha256(raw).hexdigest(), sent, turns
        self.point = point or self.point

    def prune(self, until: int, most: int) -> int:
        """Remove what no point since a moment needs, at most some objects, and return how many. The newest point stays.

        Raises ArchiveUnavailable.
        """
        while len(self.turns) > 1 and self.turns[1][1] <= until:
            self.turns = self.turns[1:]
        removed = 0
        if self.turns and self._oldest < self.turns[0][0]:
            for number in numbers(self._objects):
                if number >= self.turns[0][0] or removed == most:
                    self._oldest = number
                    break
                self._objects.remove(name_of(number))
                removed += 1
        return removed


def _taken(number: int) -> Taken:
    return Taken(f"Another process has written {name_of(number)} to this backup. Each store needs a place of its own.")


def file_of(generation: int, line: str) -> str:
    """Return the name in the chain of the file in a line of a manifest."""
    return f"{generation}/{line.split()[1]}"
