"""Read matches from files: dossiers, records, archives, folders of them, and the archive of a service if that is a folder.

An archive holds whole matches in little space. It is an xz stream of lines in canonical JSON. The first line is `{"archive":1}`. Then, for
each match, follow its head and its entries in their lean form (record/lean.py).
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from record.dossiers.records import lines_of_record
from record.entries import Unreadable, canonical, parse
from record.json_text import loads
from record.lean import BadLean, whole
from record.packing import BadPacked, unpack
from record.trail import header_of, revealed

_XZ, _PACKED = b"\xfd7zXZ\x00", b'{"blocks":'
_MATCHES = "matches"  # in the folder of the archive of a service (events/archive/matches.py)
_SUFFIXES = (".xz", ".json", ".jsonl", ".ndjson", ".dossier", ".record")


class BadRecord(Exception):
    """A file has no match that can be decided again. The text says why, in a sentence."""


class Record(NamedTuple):
    """A whole match: its id, the bytes of its entries in the log, and its secret in hex, or None if that is not known."""

    match: str
    raws: list[bytes]
    secret: str | None


def read(paths: Iterable[Path]) -> Iterator[Record]:
    """Yield the matches in files, and in the files of folders with a known suffix. Raises BadRecord, OSError.

    The folder of a service's archive gives each match in it once, as it was last.
    """
    for path in paths:
        if (path / _MATCHES).is_dir():
            yield from _newest(path / _MATCHES)
        elif path.is_dir():
            yield from read(file for file in sorted(path.rglob("*")) if file.suffix in _SUFFIXES)
        else:
            yield from read_file(path)


def read_file(path: Path) -> Iterator[Record]:
    """Yield the matches in a file. Raises BadRecord, OSError."""
    with path.open("rb") as file:
        packed = file.read(len(_XZ)) == _XZ
    if packed:
        with lzma.open(path) as lines:
            yield from _of_archive(path, lines)
        return
    content = path.read_bytes()
    if content.startswith(_PACKED):
        yield _of_object(path, content)
        return
    if not content.strip():
        raise BadRecord(f"{path} is empty.")
    yield _of_record(path, [line for line in lines_of_record(content) if line.strip()])


def _newest(folder: Path) -> Iterator[Record]:
    """Yield each match of an archive: of several objects the one that goes on the latest."""
    for match in sorted(folder.glob("*/*")):
        found = [_of_object(file, file.read_bytes()) for file in sorted(match.iterdir())]
        yield max(found, key=lambda record: (parse(record.raws[-1]).at, len(record.raws)))


def _of_object(path: Path, content: bytes) -> Record:
    """Return the match in an object of the service's archive (record/packing.py). Dictionaries that are not here stand beside it."""
    folder = path.resolve().parents[min(3, len(path.resolve().parents) - 1)] / "dictionaries"
    try:
        found = unpack(content, lambda name: (folder / name).read_bytes() if (folder / name).is_file() else None)
    except BadPacked as reason:
        raise BadRecord(f"{path} is damaged: {reason}.") from None
    return Record(found.match, found.raws, found.secret)


def _of_archive(path: Path, lines: Iterable[bytes]) -> Iterator[Record]:
    remaining = iter(lines)
    try:
        if loads(next(remaining, b"")) != {"archive": 1}:
            raise BadRecord(f"{path} is not an archive of version 1.")
        yield from matches_in(path, remaining)
    except (lzma.LZMAError, EOFError, ValueError, KeyError, TypeError) as reason:
        raise BadRecord(f"{path} is damaged: {type(reason).__name__}: {reason}.") from None


def matches_in(path: Path, lines: Iterator[bytes]) -> Iterator[Record]:
    """Yield the matches of an archive. Raises BadRecord."""
    for line in lines:
        head = loads(line)
        try:
            found = whole(head, lines)
        except BadLean as reason:
            raise BadRecord(f"{path} is damaged: {head.get('match')}: {reason}.") from None
        yield Record(found.match, found.raws, found.secret)


def _of_record(path: Path, lines: list[bytes]) -> Record:
    """Return the match of a record or of a dossier."""
    try:
        first = loads(lines[0])
    except ValueError:
        raise BadRecord(f"{path} is not a record: its first line is not JSON.") from None
    if isinstance(first, dict) and first.get("line") == "dossier":
        if first.get("viewer") != "all":
            raise BadRecord(f"{path} is a redacted dossier. Only a whole dossier can be decided again.")
        parts = [loads(line) for line in lines]
        raws = [canonical(part["entry"]) for part in parts if part.get("line") == "entry"]
        return Record(str(first.get("match")), raws, first.get("secret"))
    header = header_of(lines[0])
    raws = lines if header is None else lines[1:]
    if not raws:
        raise BadRecord(f"{path} has no entries.")
    try:
        match = parse(raws[0]).match if header is None else header[0]
    except Unreadable as reason:
        raise BadRecord(f"{path} is not a record: {reason}.") from None
    return Record(match, raws, revealed(raws))
