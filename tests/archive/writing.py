"""Write archives, in the format that tools/records.py reads."""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from typing import IO

from record.entries import canonical
from record.lean import BadLean, lean
from tools.records import BadRecord, Record

PRESET = 9 | lzma.PRESET_EXTREME


def write_archive(file: IO[bytes], records: Iterable[Record]) -> int:
    """Write matches to a new archive, and return how many. Entries that are read back have the same bytes. Raises BadRecord."""
    number = 0
    with lzma.open(file, "wb", preset=PRESET) as packed:
        packed.write(b'{"archive":1}\n')
        for record in records:
            try:
                head, lines = lean(record.match, record.raws, record.secret or "")
            except BadLean as reason:
                raise BadRecord(f"The match {record.match} cannot be archived: {reason}.") from None
            packed.write(b"".join(line + b"\n" for line in (canonical(head), *lines)))
            number += 1
    return number
