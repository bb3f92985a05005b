"""Write archives, in the format that tools/records.py reads."""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from record.entries import Unreadable, canonical, parse
from tools.records import BadRecord, Record, matches_in

PRESET = 9 | lzma.PRESET_EXTREME


def write_archive(file: IO[bytes], records: Iterable[Record]) -> int:
    """Write matches to a new archive, and return how many. Entries that are read back have the same bytes. Raises BadRecord."""
    number = 0
    with lzma.open(file, "wb", preset=PRESET) as packed:
        packed.write(b'{"archive":1}\n')
        for record in records:
            lines = list(_packed(record))
            packed.write(b"".join(line + b"\n" for line in lines))
            if next(matches_in(Path("the archive"), iter(lines))) != record:
                raise BadRecord(f"The match {record.match} cannot be archived: its entries do not follow from its secret.")
            number += 1
    return number


def _packed(record: Record) -> Iterator[bytes]:
    """Yield the lines of a match. Raises BadRecord."""
    try:
        entries = list(map(parse, record.raws))
    except Unreadable as reason:
        raise BadRecord(f"The match {record.match} cannot be archived: {reason}.") from None
    if record.secret is None or not entries:
        raise BadRecord(f"The match {record.match} cannot be archived: its secret is not known, or it has no entries.")
    last, at = entries[-1], 0
    shared = {"revision": entries[0].revision, "rules": entries[0].rules}
    yield canonical({"digest": last.digest, "entries": len(entries), "match": record.match, "secret": record.secret, **shared})
    for entry in entries:
        line: dict[str, Any] = {"action": entry.action, "actor": entry.actor, "at": entry.at - at, "events": entry.events}
        line |= {name: value for name, value in (("revision", entry.revision), ("rules", entry.rules)) if value != shared[name]}
        line |= {name: value for name, value in (("request", entry.request), ("signed", entry.signed)) if value is not None}
        if entry.secret is not None:
            line["secret_revealed"] = True
        at = entry.at
        yield canonical(line)
