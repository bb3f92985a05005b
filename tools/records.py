"""Read matches from files: dossiers, records, archives, and folders of them.

An archive holds whole matches in little space. It is an xz stream of lines in canonical JSON. The first line is `{"archive":1}`. Each match
then begins with a line `{"digest","entries","match","revision","rules","secret"}`: the last digest, the number of entries, and the members
that its entries share. A line for each entry follows, with `action`, `actor`, `events`, `request` and `signed` if there are any, and `at`:
the milliseconds since the entry before, or, for the first entry, since 1970. It also has `revision` or `rules` if they differ from those of
the match. Everything that follows from these members is left out: format, version, digest, and the secret. `secret_revealed` marks the
entry that reveals the secret.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from record.dossiers.records import lines_of_record
from record.entries import START, Entry, Unreadable, blind_key, canonical, link, parse
from record.json_text import loads
from record.trail import header_of, revealed

_XZ = b"\xfd7zXZ\x00"
_SUFFIXES = (".xz", ".json", ".jsonl", ".ndjson", ".dossier", ".record")


class BadRecord(Exception):
    """A file has no match that can be decided again. The text says why, in a sentence."""


class Record(NamedTuple):
    """A whole match: its id, the bytes of its entries in the log, and its secret in hex, or None if that is not known."""

    match: str
    raws: list[bytes]
    secret: str | None


def read(paths: Iterable[Path]) -> Iterator[Record]:
    """Yield the matches in files, and in the files of folders with a known suffix. Raises BadRecord, OSError."""
    for path in paths:
        if path.is_dir():
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
    if not content.strip():
        raise BadRecord(f"{path} is empty.")
    yield _of_record(path, [line for line in lines_of_record(content) if line.strip()])


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
        about = loads(line)
        match, secret, digest, at = about["match"], about["secret"], START, 0
        blind, raws = blind_key(bytes.fromhex(secret)), []
        for version in range(1, about["entries"] + 1):
            part = loads(next(lines, b""))
            at += part["at"]
            revision, rules = part.get("revision", about["revision"]), part.get("rules", about["rules"])
            shown = secret if "secret_revealed" in part else None
            parts = part["actor"], part["action"], part["events"]
            entry = Entry(match, version, *parts, revision, rules, at, part.get("request"), "", shown, part.get("signed"))
            linked, raw = link(digest, entry, blind)
            digest = linked.digest
            raws.append(raw)
        if digest != about["digest"]:
            raise BadRecord(f"{path} is damaged: the entries of {match} do not lead to its digest.")
        yield Record(match, raws, secret)


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
