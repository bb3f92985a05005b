"""Watch the log of a server: that it only grows, and that its leaves do not contradict one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evidence import leaves, showing, statements, tiles, tree
from evidence.checkpoints import Checkpoint
from evidence.leaves import Finding
from evidence.notes import Malformed, Unverified, VerifierKey, opened
from evidence.statements import NotAStatement, Receipt
from evidence.tree import Node
from tools.asking import Server
from tools.logs import Missing, Signed, Unable, signed
from tools.scans import Scan

ROUNDS = 3  # how often a server may show an older log before it counts, because a cache may do so
ASKED = 10  # matches of a round that are asked about

Say = Callable[[str], object]
Keep = Callable[[str, str], Path]
"""Keep the text of a file under a name."""


class Forked(Exception):
    """A log has two histories. `proof`: the file that shows it."""

    heading, suffix = "FORK.", "json"

    def __init__(self, sentence: str, proof: str) -> None:
        super().__init__(sentence)
        self.proof = proof


class Older(Forked):
    """A log stays at an older tree than was seen. The store may come from a backup, or this may be the beginning of a second history.

    `proof` has both checkpoints. It proves nothing: somebody could show an old checkpoint again.
    """

    heading, suffix = "OLDER.", "txt"


class Watch:
    """The watch over the log of a server. `scan`: returns the scan of the log with a name.

    `keys`: the keys of the log; without any, those that the server publishes at each round. `keep`: stores what is found.
    """

    def __init__(self, server: Server, scan: Callable[[str], Scan], keep: Keep, keys: list[VerifierKey], say: Say = print) -> None:
        self._server = server
        self._scan = scan
        self._keep = keep
        self._keys = keys
        self._say = say
        self._older = 0

    def look(self, now: int = 0) -> Checkpoint | None:
        """Check the log once. Return its newest checkpoint, or None if the server shows an older one. Raises Forked, Unable.

        `now`: a number that grows, by which matches are asked about in turn.
        """
        keys = self._keys or self._server.keys()
        found = self._server.signed(keys)
        scan = self._scan(found.checkpoint.origin)
        if scan.note == "" or self._grew(scan, found, keys):
            for finding in scan.grow(found, self._server.fresh(scan.size, found.checkpoint.size)):
                self._tell(scan, finding, keys)
        if self._older:
            return None
        for finding, receipt in self._overdue(scan, keys, now):
            if scan.keep(finding):
                self._tell(scan, finding, keys, [receipt])
        return found.checkpoint

    def compare_with(self, note: str) -> Signed:
        """Compare the log with a checkpoint that somebody has seen, and return the newest one. Raises Forked, Unable."""
        keys = self._keys or self._server.keys()
        other, found = signed(note, keys, "The file"), self._server.signed(keys)
        if other.checkpoint.origin != found.checkpoint.origin:
            raise Unable(f"The checkpoint is of the log {other.checkpoint.origin}, but the server shows {found.checkpoint.origin}.")
        if other.checkpoint.size <= found.checkpoint.size:
            self._check(other, found, keys, None)
        else:
            self._say(f"{self._server.url} shows fewer leaves than the checkpoint has: {found.checkpoint.size}.")
            self._check(found, other, keys, None)
        return found

    def _grew(self, scan: Scan, found: Signed, keys: list[VerifierKey]) -> bool:
        """Return True if the log has grown since the scan. Raises Forked, Unable."""
        seen = Signed(scan.checkpoint, scan.note)
        old, new = seen.checkpoint.size, found.checkpoint.size
        if new < old:
            self._older += 1
            sentence = f"{self._server.url} shows {new} leaves of the log {found.checkpoint.origin}, but {old} were seen."
            self._say(sentence)
            self._check(found, seen, keys, scan.node)
            if self._older >= ROUNDS:
                raise Older(sentence, f"{seen.note}\n{found.note}")
            return False
        self._older = 0
        self._check(seen, found, keys, None)
        return new > old

    def _check(self, old: Signed, new: Signed, keys: list[VerifierKey], node: Node | None) -> None:
        """Check that the tree of the `new` checkpoint begins with that of the `old` one. `node`: of the new tree; else tiles of the server.

        Raises Forked, Unable.
        """
        origin, first, second = new.checkpoint.origin, old.checkpoint.size, new.checkpoint.size
        path: list[bytes] = []
        if first == 0:
            if old.checkpoint.root != tree.EMPTY:
                raise Unable(f"The checkpoint of {origin} without leaves does not have the root of the empty tree.")
            return
        if first == second:
            if old.checkpoint.root == new.checkpoint.root:
                return
            sentence = f"The log {origin} has two trees of {first} leaves."
        else:
            whole = [tree.Span(0, first)] if tree.is_whole(first) else []
            spans = [*whole, *tree.consistency_spans(first, second)]
            path = tree.proof(spans, node or self._node(spans, second))
            roots = tree.consistent_roots(first, second, path)
            if roots is None or roots[1] != new.checkpoint.root:
                raise Unable(f"The tiles of {self._server.url} do not lead to the root of its checkpoint of {second} leaves.")
            if roots[0] == old.checkpoint.root:
                return
            sentence = f"The log {origin} with {second} leaves does not continue that with {first}."
        raise Forked(sentence, showing.of_fork(old.note, new.note, path, [key.vkey for key in keys]))

    def _node(self, spans: list[tree.Span], size: int) -> Node:
        known = {(tile.level, tile.number): self._server.tile(tile) for tile in tiles.tiles_of(spans, size)}
        return tiles.node_of(lambda level, number, width: known[level, number])

    def _tell(self, scan: Scan, finding: Finding, keys: list[VerifierKey], receipts: list[str] | None = None) -> None:
        """Say what was found, and keep the file that shows it, if there is one."""
        heading = "ALARM" if finding.is_alarm else "Note"
        placed = [(number, leaves.read(scan.raw(number))) for number in finding.leaves]
        if not receipts and leaves.shown_by(finding.code, placed) is None:
            self._say(f"{heading}: {finding.code}: {finding.sentence}")
            return
        proven = [(number, scan.raw(number), scan.path(number)) for number in finding.leaves]
        text = showing.of_leaves(finding.code, scan.note, proven, [key.vkey for key in keys], receipts or [])
        name = "-".join([finding.code, *([finding.subject] if receipts else map(str, finding.leaves))])
        self._say(f"{heading}: {finding.code}: {finding.sentence} {self._keep(name, text)} shows it.")

    def _overdue(self, scan: Scan, keys: list[VerifierKey], now: int) -> Iterator[tuple[Finding, str]]:
        """Yield some matches of which the server shows a version that should have a leaf and has none, each with the receipt."""
        for match in scan.quiet(ASKED, now):
            last = leaves.read(scan.of(match)[-1][1])
            try:
                note = self._server.receipt(match, last.version + 1)
                receipt = _receipt(note, keys)
                if receipt is None or receipt[:2] != (match, last.version + 1) or receipt.at + leaves.DUE_MS >= scan.latest:
                    continue
                if _is_hidden(self._server.first_entry(match)):
                    scan.forget(match)  # its leaves are sealed
                    continue
            except Missing:
                continue
            scan.forget(match)  # it is told once
            yield showing.overdue(receipt, scan.place), note


def _receipt(note: str, keys: list[VerifierKey]) -> Receipt | None:
    """Return the receipt in a note, or None if it is none that one of the keys has signed."""
    try:
        return statements.parse_receipt(opened(note, keys).text)
    except (Malformed, Unverified, NotAStatement):
        return None


def _is_hidden(entry: Any) -> bool:
    """Return True if a match is hidden from spectators while it runs, by its first entry."""
    try:
        return any(event.get("spectators", "all") != "all" for event in entry["events"] if event["type"] == "match_created")
    except (KeyError, TypeError, AttributeError):
        return True
