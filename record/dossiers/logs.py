"""Compare a file with a whole log: the log's leaves of the match are all in the file, and contradict neither it nor one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evidence import leaves
from evidence.checkpoints import Checkpoint
from evidence.leaves import DUE_MS, SLOW_MS, Leaf, Placed
from record.dossiers.statements import File, Quorum, read_checkpoint
from record.entries import NotCanonical, canonical


class WholeLog(Protocol):
    """All leaves of a log up to a checkpoint, which lead to its root. `latest`: the greatest time of a leaf, in ms since 1970."""

    note: str
    size: int
    latest: int

    def root(self, size: int) -> bytes:
        """Return the root of the first `size` leaves."""

    def of(self, subject: str) -> list[tuple[int, bytes]]:
        """Return the leaves of a match, each with its index."""


def check_log(file: File, heads: Sequence[Checkpoint], log: WholeLog, quorum: Quorum) -> bool:
    """Compare a file with a log. Return False if it cannot be compared. `heads`: the checkpoints in the file."""
    checkpoint = read_checkpoint(file.findings, log.note, file.keys, quorum=quorum) if file.keys else None
    origin = log.note.partition("\n")[0]
    mine = [head for head in heads if head.origin == origin]
    if heads and not mine:
        file.chain.unchecked.append(f"the log {origin} that was given: the file shows nothing of that log")
        return False
    if checkpoint is None and file.keys:
        return False
    if not file.keys:
        file.chain.unchecked.append(f"whether the log {origin} that was given is that of the server: give a key that you have noted")
    for head in mine:
        if head.size > log.size:
            file.chain.unchecked.append(f"whether the log of {head.size} leaves, which the file shows, continues that of {log.size}")
        elif log.root(head.size) != head.root:
            file.findings.add("checkpoint_forked", f"The first {head.size} leaves of the log {origin} have another root than in the file.")
    placed = [(number, leaves.read(raw)) for number, raw in log.of(file.chain.opening.match)]
    for finding in leaves.contradictions(placed):
        if finding.is_alarm:
            file.findings.add(finding.code, finding.sentence, finding.version)
        else:
            file.chain.unchecked.append(f"why the log is so: {finding.sentence}")
    _check_all_there(file, log, placed, min((head.size for head in mine), default=0))
    _check_covered(file, log, placed)
    return True


def _check_all_there(file: File, log: WholeLog, placed: Sequence[Placed], size: int) -> None:
    """Check that the file has the first `size` leaves of the log that are of its match, and that later ones fit its entries."""
    raws = dict(log.of(file.chain.opening.match))
    shown = set()
    for line in file.leaves:
        try:
            shown.add(canonical(line["leaf"]))
        except NotCanonical:
            continue  # this was found before
    for number, leaf in placed:
        if raws[number] not in shown:
            if number < size:
                file.findings.add("leaf_withheld", f"The log has a leaf of version {leaf.version} that the file lacks.", leaf.version)
            _compare(file, number, leaf)


def _compare(file: File, number: int, leaf: Leaf) -> None:
    """Compare a leaf that the file lacks with the entries."""
    seen = file.chain.seen.get(leaf.version)
    if seen is not None or leaf.version <= file.versions:
        if seen is None or (leaf.digest, leaf.at) != (seen.digest, seen.at):
            sentence = f"Leaf {number} of the log and the entry of version {leaf.version} disagree."
            file.findings.add("leaf_differs", sentence, leaf.version)
    elif file.at is not None and leaf.at < file.at - SLOW_MS and not file.chain.is_behind:
        sentence = f"The log has a leaf of version {leaf.version}, but the file ends at version {file.versions}."
        file.findings.add("truncated", sentence, file.versions + 1)
    else:
        file.chain.unchecked.append(f"version {leaf.version}, of which the log has a leaf: it is later than the file")


def _check_covered(file: File, log: WholeLog, placed: Sequence[Placed]) -> None:
    """Check that the log has the leaves that were due when its latest leaf was added. Those of hidden matches in between are sealed."""
    old = [version for version, seen in file.chain.seen.items() if seen.at < log.latest - DUE_MS]
    kinds = {leaf.kind for _, leaf in placed}
    covered = max((leaf.version for _, leaf in placed), default=0)
    due = max(old, default=0)
    if covered < due and not file.chain.hidden:
        file.findings.add("leaf_missing", f"The log has no leaf of version {due} or a later one, and two hours have passed in it.", due)
    for kind, version in (("begin", 1), ("end", file.chain.opened)):
        if version in old and kind not in kinds:
            sentence = f"The log has no leaf of the kind {kind} of the match, and two hours have passed in it."
            file.findings.add("leaf_missing", sentence, version)
