"""Keep the journal: a list, outside the store, of all entries that the store has had. It shows what the store has lost.

Each line has a match, a version, the digest of that entry, a hash of its bytes, and a checksum of the line. A separate process writes lines
soon after each append (workers/journal.py). The files `newest` and `older` have the newest lines, and `heads` the last line of each match.
A line whose version is not above the last one replaces the lines from that version on. Version 0 means that there is no match, or that it
is filed away: the archive has its entries.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
import zlib
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

from events.keeping import durable, losses
from events.keeping.losses import DAMAGED, FOLDER, GONE, REPLACED, Loss
from events.store import Store
from events.store.archiving import Away
from events.store.log import PAGE
from games.patterns import MATCH, matches

GENERATION = 4_000_000  # bytes of the newest file before the next one begins
_CHUNK = 200
_NONE = "-"
_LINE = re.compile(rb"(%b) (0|[1-9][0-9]{0,14}) ([0-9a-f]{64}|-) ([0-9a-f]{16}) ([0-9a-f]{8})" % MATCH.encode())
_DIGEST = re.compile(rb'"at":[0-9]+,"digest":"([0-9a-f]{64})"')
_LAST = (1 << 53) - 1

T = TypeVar("T")


class Mark(NamedTuple):
    """An entry in the journal: its digest, and the first 64 bits of the SHA-256 of its bytes, in hex."""

    digest: str
    check: str


class Known(NamedTuple):
    """A match in the journal: its last version, and the marks of the versions that the journal still has."""

    version: int
    marks: dict[int, Mark]


class Found(NamedTuple):
    """The result of a comparison: how many matches and entries the journal has, and which of them the store has lost."""

    matches: int
    entries: int
    lost: list[Loss]


def mark_of(raw: bytes) -> Mark:
    """Return the mark of the bytes of an entry."""
    digest = _DIGEST.search(raw)
    return Mark(digest[1].decode() if digest else _NONE, sha256(raw).hexdigest()[:16])


class Busy(Exception):
    """Another process keeps the journal."""


class Journal:
    """The journal of a data folder. One process keeps it at a time. Raises Busy, OSError."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._folder = data / FOLDER
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = (self._folder / ".lock").open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise Busy from None
        self._newest: IO[bytes] | None = None
        self._versions = {match: known.version for match, known in read(self._folder).items()}

    def close(self) -> None:
        """Sync everything to disk, and let another process keep the journal."""
        self.sync()
        if self._newest is not None:
            self._newest.close()
        self._lock.close()

    def forget(self, match: str) -> None:
        """Drop a match that was removed from the store on purpose. Raises OSError."""
        if self.version(match):
            self._write([_nothing(match)])
            del self._versions[match]

    def version(self, match: str) -> int:
        """Return the last version of a match in the journal, or 0."""
        return self._versions.get(match, 0)

    def add(self, store: Store, wanted: Iterable[str]) -> int:
        """Write the new entries of some matches to the journal. Return how many. Raises StoreUnavailable, OSError."""
        written = 0
        for chunk in _batched(wanted, _CHUNK):
            spans = store.live.spans([(match, self.version(match) + 1, _LAST) for match in chunk])
            lines = [(match, version, mark_of(raw)) for match, found in zip(chunk, spans, strict=True) for version, raw in found]
            self._write(lines)
            written += len(lines)
            again = [match for match, found in zip(chunk, spans, strict=True) if len(found) == PAGE]
            written += self.add(store, again) if again else 0
        return written

    def compare(self, store: Store) -> Found:
        """Compare the journal with the store, record losses, and write new entries.

        Afterwards the journal agrees with the store. Raises StoreUnavailable, OSError.
        """
        had = read(self._folder)
        removed = losses.removals(self._data)
        lost: list[Loss] = []
        now = int(time.time() * 1000)
        for chunk in _batched(sorted(had), _CHUNK):
            stored = _stored(store, {match: had[match] for match in chunk})
            missing = [match for match in chunk if not stored[match][0]]
            if missing:
                removed |= losses.removals(self._data) & set(missing)  # a removal is noted before it is done, maybe since the beginning
            away = {match: where.away for match, where in zip(missing, store.archiving.where(missing), strict=True)}
            found, again = [], {}
            for match in chunk:
                head, entries = stored[match]
                where = away.get(match)
                if where is not None:
                    found += _lost_of_filed(match, had[match], where, now)
                if where is not None or (not head and match in removed):
                    self.forget(match)
                    continue
                first, some = _lost(match, had[match], head, entries, now)
                found += some
                if some:
                    again[match] = first
            losses.add(self._data, found)
            lost += found
            for match, first in again.items():
                self._write_anew(store, match, first, stored[match][0])
            self.add(store, [match for match in chunk if match not in again])
            removed -= {match for match in chunk if stored[match][0]}
        losses.forget_removals(self._data, removed)
        fresh = (match for match in store.live.matches() if match not in self._versions and matches(MATCH, match))
        for chunk in _batched(fresh, _CHUNK):
            newest = zip(chunk, store.live.newest(chunk), strict=True)
            self._write([(match, version, mark_of(raw)) for match, (version, raw) in newest if version])
        self.sync()
        return Found(len(self._versions), sum(self._versions.values()), lost)

    def _write_anew(self, store: Store, match: str, first: int, head: int) -> None:
        """Replace the lines of a match from version `first` on by those of the store, so that a loss is found only once."""
        self._versions.pop(match, None)
        place, lines = first, []
        while place <= head and (entries := store.live.spans([(match, place, head)])[0]):
            lines += [(match, version, mark_of(raw)) for version, raw in entries]
            place = entries[-1][0] + 1
        if not lines and head:
            lines = [(match, head, mark_of(store.live.spans([(match, head, head)])[0][0][1]))]
        self._write(lines or [_nothing(match)])

    def _write(self, lines: Iterable[tuple[str, int, Mark]]) -> None:
        """Append lines. They survive the end of this process. After `sync` they also survive a power cut."""
        lines = list(lines)
        if not lines:
            return
        text = b"".join(_line(*line) for line in lines)
        if self._newest is None:
            self._newest = self._opened()
        try:
            self._newest.write(text)
        except OSError:  # half a line may be there, so the next write begins with a newline
            self._newest.close()
            self._newest = None
            raise
        for match, version, _ in lines:
            self._versions[match] = version
        if self._newest.tell() > GENERATION:
            self._turn_over()

    def sync(self) -> None:
        """Wait until everything is on disk. Raises OSError."""
        if self._newest is not None:
            os.fsync(self._newest.fileno())

    def _opened(self) -> IO[bytes]:
        file = os.fdopen(os.open(self._folder / "newest", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0)
        if os.pread(file.fileno(), 1, max(0, file.seek(0, os.SEEK_END) - 1)) not in (b"", b"\n"):
            file.write(b"\n")
        return file

    def _turn_over(self) -> None:
        """Keep the last line of each match in the older file, drop its other lines, and begin a new file."""
        assert self._newest is not None
        heads = read(self._folder, ("heads", "older"))
        lines = [_line(match, known.version, known.marks[known.version]) for match, known in sorted(heads.items())]
        durable.write(self._folder / "heads", b"".join(lines))
        self.sync()
        (self._folder / "newest").replace(self._folder / "older")
        self._newest.close()
        self._newest = None


def _nothing(match: str) -> tuple[str, int, Mark]:
    """Return the line for a match that does not exist."""
    return match, 0, Mark(_NONE, "0" * 16)


def read(folder: Path, files: Iterable[str] = ("heads", "older", "newest")) -> dict[str, Known]:
    """Return the content of the journal by match. Torn or damaged lines are skipped. Raises OSError."""
    found: dict[str, Known] = {}
    for name in files:
        for match, version, mark in _lines(folder / name):
            known = found.get(match)
            if known is None or version == 0:
                marks: dict[int, Mark] = {}
            elif version > known.version:
                marks = known.marks
            else:
                marks = {old: mark for old, mark in known.marks.items() if old < version}
            if version:
                marks[version] = mark
                found[match] = Known(version, marks)
            else:
                found.pop(match, None)
    return found


def _lines(file: Path) -> Iterator[tuple[str, int, Mark]]:
    try:
        opened = file.open("rb")
    except FileNotFoundError:
        return
    with opened:
        for line in opened:
            fields = _LINE.fullmatch(line.rstrip(b"\n"))
            if fields is not None and int(fields[5], 16) == zlib.crc32(line[: fields.start(5)]):
                yield fields[1].decode(), int(fields[2]), Mark(fields[3].decode(), fields[4].decode())


def _line(match: str, version: int, mark: Mark) -> bytes:
    text = f"{match} {version} {mark.digest} {mark.check} ".encode()
    return text + b"%08x\n" % zlib.crc32(text)


def _stored(store: Store, had: dict[str, Known]) -> dict[str, tuple[int, dict[int, bytes]]]:
    """Return the head of each match in the store, and the bytes of its entries that have marks."""
    found: dict[str, tuple[int, dict[int, bytes]]] = {}
    for match, (head, raw) in zip(had, store.live.newest(list(had)), strict=True):
        found[match] = head, {head: raw} if head else {}
    wanted = [(match, version, version) for match, known in had.items() for version in known.marks if version != found[match][0]]
    for some in _batched(wanted, _CHUNK):
        for (match, _, _), entries in zip(some, store.live.spans(some), strict=True):
            found[match][1].update(entries)
    return found


def _lost_of_filed(match: str, known: Known, away: Away, now: int) -> list[Loss]:
    """Return what is lost of a match that is filed away: later entries than it has, or the one at its head if that has another digest."""
    mark = known.marks.get(away.head)
    found = [] if mark is None or mark.digest == away.digest else [Loss(match, away.head, away.head, REPLACED, mark.digest, now)]
    if known.version > away.head:
        found.append(Loss(match, away.head + 1, known.version, GONE, known.marks[known.version].digest, now))
    return found


def _lost(match: str, known: Known, head: int, stored: dict[int, bytes], now: int) -> tuple[int, list[Loss]]:
    """Return the first version that the store has lost of a match, and the losses.

    Each digest covers all entries before. So no entry before an intact one was replaced, and every entry after a replaced one was.
    """
    now_stored = {version: mark_of(stored[version]) for version in known.marks if version in stored}
    intact = max((version for version, mark in now_stored.items() if mark == known.marks[version]), default=0)
    what: dict[int, str] = dict.fromkeys(range(head + 1, known.version + 1), GONE)
    for version, mark in sorted(known.marks.items()):
        if version not in now_stored:
            what[version] = GONE
        elif now_stored[version] == mark:
            continue
        elif version < intact or now_stored[version].digest == mark.digest:
            what[version] = DAMAGED
        else:
            what = dict.fromkeys(range(version, min(head, known.version) + 1), REPLACED) | what
    found: list[Loss] = []
    for version in sorted(what):
        digest = known.marks[version].digest if version in known.marks else ""
        if found and found[-1].last == version - 1 and found[-1].what == what[version]:
            found[-1] = found[-1]._replace(last=version, digest=digest)
        else:
            found.append(Loss(match, version, version, what[version], digest, now))
    return min(what, default=0), found


def _batched(values: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Yield tuples of at most `size` values."""
    rest = iter(values)
    while some := tuple(islice(rest, size)):
        yield some
