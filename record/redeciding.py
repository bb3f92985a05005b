"""Decide every action of a file again, with nothing at hand but the standard library, such as in a browser (docs/decisions/0069)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from games import GAMES
from record.dossiers.lines import WHOLE, entry_in, kind_of
from record.dossiers.records import lines_of_record
from record.entries import canonical
from record.json_text import loads
from record.trail import as_json, audit_entries


class NotWhole(ValueError):
    """A file holds what one viewer sees of a match, and the rules need all of it. The text says so, in a sentence."""


def decide_again(file: bytes, progress: Callable[[int, int], object] | None = None) -> dict[str, Any]:
    """Return the report of an audit of a file, a record or a whole dossier, as a JSON object. Raises NotWhole.

    `progress` is called with the number of entries that were decided and of all.
    """
    return as_json(audit_entries(GAMES, record_in(lines_of_record(file)), progress=progress))


def record_in(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of the record that is in a dossier; those of a record are as they were. Raises NotWhole.

    A line that is none of a dossier is left in, so that it is found where an entry should be.
    """
    filled = (line.strip() for line in lines if line.strip())
    first = next(filled, b"")
    header = _value(first)
    if kind_of(header) != "dossier":
        yield from (first, *filled)
        return
    if header["viewer"] != WHOLE:
        raise NotWhole(f"The file holds what {header['viewer']} sees, and the rules need the whole match.")
    yield canonical({"blind": header["blind"], "match": header["match"]})
    for line in filled:
        entry = entry_in(line)
        if entry is not None:
            yield entry
        elif kind_of(_value(line)) in (None, "entry", "shown"):
            yield line


def _value(line: bytes) -> Any:
    try:
        return loads(line)
    except ValueError:
        return None
