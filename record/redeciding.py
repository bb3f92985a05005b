"""Decide every action of a file again, with the standard library alone, such as in a browser (docs/decisions/0069)."""

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
    """A file contains only what one viewer sees, and the rules need the whole match. The text is a sentence."""


def decide_again(file: bytes, progress: Callable[[int, int], object] | None = None) -> dict[str, Any]:
    r"""Return the report of an audit of a record or a whole dossier, as a JSON object. Raises NotWhole.

    `progress` is called with the number of decided entries and the number of all entries.

    >>> from record.example import RAWS
    >>> report = decide_again(b"\n".join(RAWS))
    >>> report["ok"], report["versions"], report["dice"]
    (True, 4, 'verified')
    """
    return as_json(audit_entries(GAMES, record_in(lines_of_record(file)), progress=progress))


def record_in(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of the record in a dossier, or the lines of a record unchanged. Raises NotWhole.

    A line that does not belong in a dossier is kept, so that the audit finds it where an entry should be.

    >>> from record.example import RAWS
    >>> list(record_in([RAWS[0], b"", RAWS[1]])) == RAWS[:2]
    True
    """
    filled = (line.strip() for line in lines if line.strip())
    first = next(filled, b"")
    header = _value(first)
    if kind_of(header) != "dossier":
        yield from (first, *filled)
        return
    if header["viewer"] != WHOLE:
        raise NotWhole(f"The file contains only what {header['viewer']} sees, and the rules need the whole match.")
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
