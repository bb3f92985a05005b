"""Read the files of records: NDJSON, or the JSON answer of `GET …/record`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from record.entries import NotCanonical, canonical


def lines_of(file: Path) -> Iterable[bytes]:
    """Return the lines of a file, with their line feeds. A record in one JSON object is split into lines. Raises OSError."""
    with file.open("rb") as opened:
        first, more = opened.readline(), opened.read(1)
    if not more and first.startswith(b'{"'):
        found = lines_of_record(first)
        if found != [first]:
            return [line + b"\n" for line in found]
    return _lines(file)


def _lines(file: Path) -> Iterable[bytes]:
    with file.open("rb") as opened:
        yield from opened


def lines_of_record(record: bytes) -> list[bytes]:
    r"""Return the lines of a record in NDJSON or in one JSON object.

    >>> lines_of_record(b'{"version":1}\n{"version":2}\n')
    [b'{"version":1}', b'{"version":2}']
    >>> lines_of_record(b'{"match": "maaaaaaaaaaaaaaaa", "blind": null, "entries": [{"version": 1}]}')
    [b'{"blind":null,"match":"maaaaaaaaaaaaaaaa"}', b'{"version":1}']
    """
    lines = record.splitlines()
    if len(lines) == 1:
        try:
            whole = json.loads(record)
        except (ValueError, RecursionError):
            return lines
        if isinstance(whole, dict) and isinstance(whole.get("entries"), list):
            header = [{"blind": whole["blind"], "match": whole["match"]}] if {"blind", "match"} <= whole.keys() else []
            return [_line(line) for line in [*header, *whole["entries"]]]
    return lines


def _line(entry: object) -> bytes:
    """Return an entry of a JSON answer as a line. An entry without a canonical form stays as it is; the audit finds it."""
    try:
        return canonical(entry)
    except NotCanonical:
        return json.dumps(entry).encode()
