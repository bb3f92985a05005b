"""Dossiers of the small match of record/example.py, with leaves in a log that a test has made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evidence.notes import SigningKey
from evidence.statements import Receipt, receipt_text
from record.dice import commitment
from record.dossiers import writing
from record.dossiers.lines import WHOLE, line
from record.dossiers.signers import Signers
from record.entries import blind_key, canonical
from record.example import BEGAN, ENTRIES, GAME, MATCH, POSITIONS, RAWS, SECRET
from record.json_text import loads
from tests.tools.served import HOUR, LOG, Log


def leaf_of(kind: str, version: int, **changed: Any) -> bytes:
    """Return the leaf of an entry of the example."""
    entry = ENTRIES[version - 1]
    more = {"commitment": commitment(SECRET)} if kind == "begin" else {}
    return canonical({"at": entry.at, "digest": entry.digest, "kind": kind, "match": MATCH, "version": version, **more, **changed})


BEGIN, END = leaf_of("begin", 1), leaf_of("end", 4)


def dossier(log: Log, places: Sequence[int], versions: int = 4, hours: float = 1, key: SigningKey = LOG) -> bytes:
    """Return the dossier of the example, with the leaves at these places of a log. `hours`: when it was written after the beginning."""
    position = POSITIONS[versions - 1]
    lines = [writing.first_line(position, WHOLE, BEGAN + round(hours * HOUR), LOG.verifier.name, [key.verifier.vkey], blind_key(SECRET))]
    named, signers = set[tuple[int, str]](), Signers()
    for entry, raw in zip(ENTRIES[:versions], RAWS, strict=False):
        lines += writing.lines_of_entry(GAME, entry, raw, WHOLE, None, named, signers)
    last = ENTRIES[versions - 1]
    lines.append(line("receipt", note=key.sign(receipt_text(Receipt(MATCH, versions, last.digest, last.at)))))
    lines += [line("leaf", index=place, leaf=loads(log.leaves[place]), proof=log.inclusion(place)) for place in places]
    return b"".join(writing.signed([lines], position, WHOLE, key.sign))
