"""Keep the leaves of a log in a file of SQLite, so that they can be looked up by match, and prove them without the server.

A scan takes the leaves in their order and grows the Merkle tree over them. All leaves up to a signed checkpoint are kept, or none: they are
one transaction. Memory does not depend on the size of the log.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from evidence import checkpoints, leaves, tiles, tree
from evidence.checkpoints import Checkpoint
from evidence.leaves import Finding, Leaf, Placed
from evidence.notes import Malformed
from evidence.tiles import WIDTH, Edge
from tools.logs import Signed, Unable

AT_ONCE = 8192  # leaves that are taken together
MOST = 1000  # findings that are kept of a log
MOST_TOLD = 20  # findings of a round that are no alarms
MOST_LASTS = 50_000  # last leaves of matches in memory
MOST_SUSPECTS = 10_000  # leaves of a round at which a closer look is taken

_HEADER = b'{"checkpoint":'
_SCHEMA = """
CREATE TABLE IF NOT EXISTS log (id INTEGER PRIMARY KEY CHECK (id = 1), origin TEXT, note TEXT, size INTEGER, latest INTEGER, place INTEGER);
CREATE TABLE IF NOT EXISTS leaves (number INTEGER PRIMARY KEY, leaf BLOB);
CREATE TABLE IF NOT EXISTS places (subject TEXT, number INTEGER, PRIMARY KEY (subject, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hashes (level INTEGER, number INTEGER, hash BLOB, PRIMARY KEY (level, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS keys (key TEXT, number INTEGER, PRIMARY KEY (key, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS found (code TEXT, subject TEXT, version INTEGER, places TEXT, sentence TEXT, PRIMARY KEY (code, places));
CREATE TABLE IF NOT EXISTS running (subject TEXT PRIMARY KEY, asked INTEGER) WITHOUT ROWID;
"""


class Scan:
    """The leaves of a log up to a checkpoint. `file`: where they are kept; without one, they are gone in the end. Raises Unable."""

    def __init__(self, file: Path | None = None, readonly: bool = False) -> None:
        self.file = file
        try:
            if readonly and file is not None:
                self._database = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            else:
                self._database = sqlite3.connect(file or "", isolation_level=None, timeout=1.0)
                self._database.executescript(f"PRAGMA page_size = 8192; PRAGMA cache_size = -65536; {_SCHEMA}")
            row = self._database.execute("SELECT origin, note, size, latest, place FROM log").fetchone()
        except sqlite3.Error as reason:
            raise Unable(f"{file} cannot be read ({reason}).") from None
        self.origin: str = row[0] if row else ""
        self.note: str = row[1] if row else ""
        self.size: int = row[2] if row else 0  # leaves
        self.latest: int = row[3] if row else 0  # the greatest time of a leaf
        self.place: int = row[4] if row else 0  # the index of that leaf

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint up to which the scan has the leaves."""
        return checkpoints.of_note(self.note)[0]

    # ------------------------------------------------------------ taking leaves

    def grow(self, to: Signed, fresh: Iterable[bytes]) -> Iterator[Finding]:
        """Take the leaves from `size` up to a checkpoint. Yield what they show. Nothing is kept if they do not lead to its root.

        The caller reads all findings; while it does so, `path` proves leaves for the new checkpoint. Raises Unable.
        """
        before = (self.origin, self.note, self.size, self.latest, self.place)
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield from self._grow(to, iter(fresh))
            self._database.execute("COMMIT")
        except sqlite3.Error as reason:
            raise Unable(f"{self.file} cannot be written ({reason}).") from None
        finally:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
                self.origin, self.note, self.size, self.latest, self.place = before

    def _grow(self, to: Signed, fresh: Iterator[bytes]) -> Iterator[Finding]:
        edge, look, since = self._edge(self.size), _Look(self), self.size
        if self.origin not in ("", to.checkpoint.origin):
            raise Unable(f"{self.file} is of the log {self.origin}, not of {to.checkpoint.origin}.")
        while edge.size < to.checkpoint.size:
            raws = list(islice(fresh, min(AT_ONCE, to.checkpoint.size - edge.size)))
            if not raws:
                break
            edge = self._take(edge, raws, look)
        if (edge.size, edge.root) != (to.checkpoint.size, to.checkpoint.root):
            raise Unable(f"The entries of {to.checkpoint.origin} are not those of its tree of {to.checkpoint.size} leaves.")
        self.origin, self.note, self.size = to.checkpoint.origin, to.note, edge.size
        self.latest, self.place = look.latest, look.place
        row = (self.origin, self.note, self.size, self.latest, self.place)
        self._database.execute("INSERT OR REPLACE INTO log VALUES (1, ?, ?, ?, ?, ?)", row)
        for finding in look.findings(since):
            if self.keep(finding):
                yield finding

    def _take(self, edge: Edge, raws: Sequence[bytes], look: _Look) -> Edge:
        """Take some leaves. Return the edge of the tree after them."""
        first = edge.size
        edge, added = tiles.grow(edge, tiles.leaf_hashes(raws))
        placed = list(enumerate(map(leaves.read, raws), first))
        look.take(placed)
        write = self._database.executemany
        write("INSERT INTO leaves VALUES (?, ?)", enumerate(raws, first))
        write("INSERT INTO places VALUES (?, ?)", sorted((leaf.subject, number) for number, leaf in placed if leaf.subject))
        for level, row in enumerate(added[1:], 1):
            start = edge.size // WIDTH**level - len(row)
            write("INSERT INTO hashes VALUES (?, ?, ?)", ((level, start + place, each) for place, each in enumerate(row)))
        write("INSERT OR IGNORE INTO keys VALUES (?, ?)", ((leaf.digest, n) for n, leaf in placed if leaf.kind == leaves.REGISTERED))
        write("INSERT OR IGNORE INTO running VALUES (?, 0)", ((subject,) for subject in sorted(look.begun - look.ended)))
        write("DELETE FROM running WHERE subject = ?", ((subject,) for subject in sorted(look.ended - look.begun)))
        return edge

    def lasts(self, subjects: Iterable[str]) -> dict[str, Placed]:
        """Return the last leaf of each of these subjects that has one."""
        text = "SELECT (SELECT max(number) FROM places WHERE subject = value) FROM json_each(?)"
        rows = self._database.execute(f"SELECT number, leaf FROM leaves WHERE number IN ({text})", (json.dumps(list(subjects)),))
        placed = [(number, leaves.read(raw)) for number, raw in rows]
        return {leaf.subject: (number, leaf) for number, leaf in placed}

    def keep(self, finding: Finding) -> bool:
        """Keep a finding. Return False if it was kept before, or if there are too many."""
        if self._database.execute("SELECT count(*) FROM found").fetchone()[0] >= MOST:
            return False
        row = (finding.code, finding.subject, finding.version, json.dumps(finding.leaves), finding.sentence)
        return self._database.execute("INSERT OR IGNORE INTO found VALUES (?, ?, ?, ?, ?)", row).rowcount == 1

    # ------------------------------------------------------------ looking up

    def found(self) -> list[Finding]:
        """Return the findings that were kept."""
        rows = self._database.execute("SELECT code, subject, version, places, sentence FROM found ORDER BY rowid")
        return [Finding(code, subject, version, tuple(json.loads(places)), text) for code, subject, version, places, text in rows]

    def of(self, subject: str) -> list[tuple[int, bytes]]:
        """Return the leaves of a match, of a player's keys, or of a bulk file, each with its index."""
        text = "SELECT number, leaf FROM places JOIN leaves USING (number) WHERE subject = ? ORDER BY number"
        return self._database.execute(text, (subject,)).fetchall()

    def covered(self, match: str, size: int) -> int:
        """Return the last version of a match that one of the first `size` leaves names; 0 if there is none."""
        return max((leaves.read(raw).version for number, raw in self.of(match) if number < size), default=0)

    def raw(self, number: int) -> bytes:
        """Return the bytes of a leaf."""
        found: bytes = self._database.execute("SELECT leaf FROM leaves WHERE number = ?", (number,)).fetchone()[0]
        return found

    def of_key(self, key: str, before: int) -> list[Placed]:
        """Return the registrations of a signing key before an index."""
        rows = self._database.execute("SELECT number FROM keys WHERE key = ? AND number < ? ORDER BY number LIMIT 100", (key, before))
        return [(number, leaves.read(self.raw(number))) for (number,) in rows.fetchall()]

    def root(self, size: int) -> bytes:
        """Return the root of the first `size` leaves."""
        return tree.hash_of_span(tree.Span(0, size), self.node) if size else tree.EMPTY

    def path(self, number: int) -> list[bytes]:
        """Return the path of the proof that the tree of `size` leaves has a leaf."""
        return tree.proof(tree.inclusion_spans(number, self.size), self.node)

    def quiet(self, count: int, now: int) -> list[str]:
        """Return matches that begin in the log and do not end, the longest unasked first. Note that they were asked about `now`."""
        rows = self._database.execute("SELECT subject FROM running ORDER BY asked, subject LIMIT ?", (count,)).fetchall()
        self._database.executemany("UPDATE running SET asked = ? WHERE subject = ?", ((now, subject) for (subject,) in rows))
        return [subject for (subject,) in rows]

    def forget(self, subject: str) -> None:
        """Do not return a match as quiet any more."""
        self._database.execute("DELETE FROM running WHERE subject = ?", (subject,))

    def write(self, output: BinaryIO) -> None:
        """Write the whole log: a line with the checkpoint, and then the leaves, each after its length in two bytes."""
        output.write(b'%b%b,"log":1}\n' % (_HEADER, json.dumps(self.note, ensure_ascii=False).encode()))
        rows = self._database.execute("SELECT leaf FROM leaves WHERE number < ? ORDER BY number", (self.size,))
        output.writelines(len(raw).to_bytes(2) + raw for (raw,) in rows)

    def _edge(self, size: int) -> Edge:
        rows = [self._hashes(tile.level, tile.number, tile.width) if tile.width else [] for tile in tiles.edge_tiles(size)]
        return Edge(size, tuple(map(tuple, rows)))

    def node(self, level: int, number: int) -> bytes:
        """Return the hash of a whole subtree."""
        return tiles.node_of(self._hashes)(level, number)

    def _hashes(self, level: int, number: int, width: int) -> list[bytes]:
        """Return the first hashes of a tile."""
        table, where = ("leaves", "") if level == 0 else ("hashes", f"level = {level:d} AND")
        column = "leaf" if level == 0 else "hash"
        text = f"SELECT {column} FROM {table} WHERE {where} number >= ? ORDER BY number LIMIT ?"
        rows = [row[0] for row in self._database.execute(text, (number * WIDTH, width))]
        return tiles.leaf_hashes(rows) if level == 0 else rows


class _Look:
    """A first look at leaves as they are taken: which of them need a closer one, and which came late."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self.latest, self.place = scan.latest, scan.place
        self.begun: set[str] = set()  # the matches that began in the leaves that were taken last
        self.ended: set[str] = set()  # and those that ended
        self._alarmed = {finding.subject for finding in scan.found() if finding.is_alarm}
        self._lasts: dict[str, Placed] = {}  # the last leaves of matches that run
        self._suspects: dict[str, int] = {}  # by subject, the first leaf at which to look
        self._keys: list[Placed] = []
        self._late: list[Finding] = []
        self._strange: list[Finding] = []

    def take(self, placed: Sequence[Placed]) -> None:
        """Look at some leaves."""
        lasts = self._lasts
        for subject in list(lasts) if len(lasts) > MOST_LASTS else self.ended:
            lasts.pop(subject, None)  # it is in the file by now
        self.begun, self.ended = set(), set()
        lasts.update(self._scan.lasts({leaf.subject for _, leaf in placed if leaf.subject and leaf.subject not in lasts}))
        for number, leaf in placed:
            subject = leaf.subject
            if not subject:
                if leaf.kind != leaves.SEALED and len(self._strange) < MOST_TOLD:
                    self._strange.append(_strange(number, leaf))
                continue
            last = lasts.get(subject)
            lasts[subject] = (number, leaf)
            if leaf.kind == leaves.BEGIN:
                self.begun.add(subject)
            elif leaf.kind == leaves.END:
                self.ended.add(subject)
            if not leaves.follows(last and last[1], leaf) or subject in self._alarmed:
                self._suspect(subject, number)
            if leaf.kind == leaves.REGISTERED and len(self._keys) < MOST_SUSPECTS:
                self._keys.append((number, leaf))
            if leaf.at > self.latest:
                self.latest, self.place = leaf.at, number
            elif last is not None and leaf.at + leaves.DUE_MS < self.latest and len(self._late) < MOST_TOLD:
                later = (self.place, Leaf(leaves.HOUR, at=self.latest))
                self._late += [found] if (found := leaves.late(last, later, (number, leaf))) else []

    def findings(self, since: int) -> Iterator[Finding]:
        """Yield what the leaves show, from the index `since` on."""
        for subject, first in self._suspects.items():
            every = [(number, leaves.read(raw)) for number, raw in self._scan.of(subject)]
            yield from islice(leaves.contradictions(every, first), MOST)
        for number, leaf in self._keys:
            yield from leaves.key_findings((number, leaf), self._scan.of_key(leaf.digest, number))
        yield from self._late
        yield from self._strange

    def _suspect(self, subject: str, number: int) -> None:
        if len(self._suspects) < MOST_SUSPECTS:
            self._suspects.setdefault(subject, number)


def _strange(number: int, leaf: Leaf) -> Finding:
    what = "is of a kind that this program does not know" if leaf.kind == leaves.UNKNOWN else "is not of the form of its kind"
    return Finding(f"leaf_{leaf.kind}", "", None, (number,), f"The leaf {number} {what}.")


# ---------------------------------------------------------------- the file of a whole log


def is_log(file: Path) -> bool:
    """Return True if a file has a whole log, as `Scan.write` writes it. Raises OSError."""
    with file.open("rb") as opened:
        return opened.read(len(_HEADER)) == _HEADER


def is_scan(file: Path) -> bool:
    """Return True if a file is one of a Scan. Raises OSError."""
    with file.open("rb") as opened:
        return opened.read(16) == b"SQLite format 3\0"


def note_in(file: Path) -> str:
    """Return the checkpoint of a whole log in a file. Raises Unable, OSError."""
    with file.open("rb") as opened:
        try:
            note: Any = json.loads(opened.readline(1_000_000))["checkpoint"]
            if isinstance(note, str):
                checkpoints.of_note(note)
                return note
        except (ValueError, KeyError, TypeError, Malformed):
            pass
    raise Unable(f"The file {file} has no checkpoint in its first line.")


def leaves_in(file: Path) -> Iterator[bytes]:
    """Yield the leaves of a whole log in a file. Raises Unable, OSError."""
    with file.open("rb") as opened:
        opened.readline(1_000_000)
        while length := opened.read(2):
            raw = opened.read(int.from_bytes(length))
            if len(length) < 2 or len(raw) < int.from_bytes(length):
                raise Unable(f"The file {file} ends within a leaf.")
            yield raw


@contextmanager
def scanned(to: Signed, fresh: Callable[[], Iterable[bytes]]) -> Iterator[Scan]:
    """Read a whole log into a scan for a block. Raises Unable."""
    scan = Scan()
    try:
        for _ in scan.grow(to, fresh()):
            pass
        yield scan
    finally:
        scan.close()
