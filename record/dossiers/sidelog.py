"""Check the side log in a dossier: refused actions and reads of staff, also against the running hashes in receipts (docs/auditing.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from evidence import notes, statements
from evidence.notes import Malformed
from evidence.running import EMPTY, Running
from evidence.statements import NotAStatement, Read, Receipt, read_text
from record.dossiers.lines import WHOLE
from record.dossiers.statements import File, read_note
from record.entries import NotCanonical, canonical


def check_sidelog(file: File, receipts: Iterable[Receipt]) -> int:
    """Check the lines of the side log. Return how many receipts were compared with it. `receipts`: signed ones of this match."""
    if file.at is None:
        return 0  # a record has none
    refused, reads = _refused(file), _reads(file)
    compared = 0
    for receipt in receipts:
        named = receipt.sidelog
        if named is None or receipt.version > file.versions:
            continue
        if file.chain.opening.viewer in (WHOLE, named.seat):
            what = f"refused actions of {named.seat}"
            compared += _compare(file, "refusals_differ", what, refused.get(named.seat, [EMPTY]), named.refused, receipt.version)
        elif named.refused.number:
            file.chain.unchecked.append(f"the refused actions of {named.seat} that a receipt names: the viewer may not know them")
        if file.chain.is_behind:
            file.chain.unchecked.append("the reads of staff that a receipt names: the viewer may not know them while the match runs")
        else:
            compared += _compare(file, "reads_differ", "reads of staff", reads, named.reads, receipt.version)
    return compared


def _compare(file: File, code: str, what: str, had: Sequence[Running], named: Running, version: int) -> int:
    """Compare a running hash in a receipt with those of the file, oldest first. Return 1 if it could be compared."""
    place = named.number - had[0].number
    if named.number == 0:
        return 0
    if place < 0:
        file.chain.unchecked.append(f"the {what} that a receipt of version {version} names: newer ones are no longer kept")
        return 0
    if place >= len(had):
        file.findings.add(code, f"A receipt of this version names {named.number} {what}, and the file has had {had[-1].number}.", version)
    elif had[place] != named:
        file.findings.add(code, f"The {what} are not those that a receipt of this version names.", version)
    return 1


def _refused(file: File) -> dict[str, list[Running]]:
    """Return by seat the running hashes before and after each of its refused actions in the file."""
    found: dict[str, list[Running]] = {}
    for line in file.sidelog:
        if line["line"] == "refusals_dropped":
            if line["seat"] in found:
                file.findings.add("refusals_differ", f"The file says twice how many refused actions of {line['seat']} are not kept.")
            found[line["seat"]] = [Running(line["count"], line["hash"])]
            _tell_dropped(file, line["count"], f"refused actions of {line['seat']}")
    for line in file.sidelog:
        if line["line"] == "refused":
            had = found.setdefault(line["seat"], [EMPTY])
            had.append(had[-1].after(_bytes(line)))
    return found


def _tell_dropped(file: File, count: int, what: str) -> None:
    if count:
        file.chain.unchecked.append(f"the first {count} {what}: the file says that they are no longer kept")


def _reads(file: File) -> list[Running]:
    """Check the reads. Return the running hashes before and after each of the newest."""
    lines = [line for line in file.sidelog if line["line"] == "reads"]
    if len(lines) > 1:
        file.findings.add("reads_differ", "The file has more than one list of reads.")
    dropped, newest = (Running(lines[0]["count"], lines[0]["hash"]), lines[0]["newest"]) if lines else (EMPTY, [])
    _tell_dropped(file, dropped.number, "reads of staff")
    had, counts = [dropped], Counter[tuple[str, str]]()
    texts = {_text(file, seen) for seen in newest}
    for seen in newest:
        counts[seen["reader"], seen["what"]] += 1
        had.append(had[-1].after(_text(file, seen).encode()))
    for line in file.sidelog:
        if line["line"] == "read":
            _check_read(file, line, texts, counts, kept=not dropped.number)
    said = sum(line["count"] for line in file.sidelog if line["line"] == "read")
    if said != had[-1].number:
        file.findings.add("reads_differ", f"The file counts {said} reads by reader and kind, and {had[-1].number} in their order.")
    return had


def _check_read(file: File, line: dict[str, Any], texts: set[str], counts: Counter[tuple[str, str]], kept: bool) -> None:
    """Check that a recorded read is signed, and is one of this match and of the list of reads. `kept`: the list has all of them."""
    try:
        read: Read | None = statements.parse_read(notes.parse(line["note"]).text)
    except (Malformed, NotAStatement):
        read = None
    version = None if read is None else read.version
    if read_note(file.findings, line["note"], file.keys, "A read", version) is None:
        return
    if read is None or read.match != file.chain.opening.match or not 1 <= read.version <= file.versions or line["count"] < 1:
        file.findings.add("read_broken", "A note that should be a read does not name this match and one of its versions.", version)
        return
    number = counts.pop((read.reader, read.what), 0)
    if line["count"] < number or (kept and (line["count"] != number or read_text(read) not in texts)):
        file.findings.add("reads_differ", f"The reads of {read.what} by {read.reader} are not those in the list of reads.", version)


def _bytes(line: dict[str, Any]) -> bytes:
    """Return the bytes of a line; none if it has no canonical JSON, which is a finding of its own."""
    try:
        return canonical(line)
    except NotCanonical:
        return b""


def _text(file: File, seen: dict[str, Any]) -> str:
    """Return the statement of a read in the list of reads; an empty text if it cannot be one."""
    try:
        return read_text(Read(file.chain.opening.match, seen["version"], seen["reader"], seen["what"], seen["at"]))
    except NotAStatement:
        return ""
