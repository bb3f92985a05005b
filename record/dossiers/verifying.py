"""Verify dossiers and records offline, also against what a reader has kept (docs/auditing.md).

This needs the rules of the games, but no clock, no store and no network.

>>> from games import GAMES
>>> from record.example import RAWS
>>> verdict, = verify([Source("a record", lambda: RAWS)], GAMES)
>>> verdict.ok, verdict.kind, verdict.checked
(True, 'record', {'entries': 4})
>>> verdict.unchecked[-1]
'the log of the server: the file has no leaf of it'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from evidence import checkpoints, notes, statements
from evidence.notes import Malformed, VerifierKey, made_by, parse_vkey
from evidence.statements import NotAStatement
from games.kernel import Game
from record.dossiers.chains import Chain, Opening, ShownChain, WholeChain
from record.dossiers.findings import Finding, Findings
from record.dossiers.keys import check_keys
from record.dossiers.lines import LONGEST, WHOLE, entry_in, kind_of
from record.dossiers.logs import WholeLog, check_log
from record.dossiers.sidelog import check_sidelog
from record.dossiers.signers import Signer
from record.dossiers.statements import (
    File,
    Heads,
    Kept,
    check_disputes,
    check_leaves,
    check_receipts,
    has_quorum,
    read_checkpoint,
    read_note,
)
from record.entries import Entry, NotCanonical, Unreadable, blind_key, canonical, parse
from record.json_text import loads
from record.positions import Position
from record.shown import shown
from record.signatures import Verifies
from record.trail import Watch, at_version, header_of, revealed

DOSSIER = "dossier"
RECORD = "record"

Lines = Iterable[bytes]


class Source(NamedTuple):
    """A file to verify: its name, and a function that returns its lines with their line feeds. The function is called more than once."""

    name: str
    lines: Callable[[], Lines]


class Verdict(NamedTuple):
    """The result of the verification of one file.

    `at`: when it was written, in ms since 1970, as it says itself; None for a record.
    `kind`: `dossier` or `record`. `versions`: the version of the last entry. `digest`: its digest. `checked`: counts of what was checked.
    `unchecked`: what was not checked; each text completes the sentence "It was not checked: …". `signers`: who signed entries, and with
    which keys. `unsigned`: how many entries of which seat nobody signed. `by_server`: and of the system and of artificial players.
    """

    name: str
    kind: str
    match: str
    game: str
    viewer: str
    versions: int
    digest: str
    at: int | None
    findings: list[Finding]
    checked: dict[str, int]
    unchecked: list[str]
    signers: list[Signer]
    unsigned: dict[str, int]
    by_server: int

    @property
    def ok(self) -> bool:
        """True if there are no findings."""
        return not self.findings


class NotAFile(ValueError):
    """A file is neither a dossier nor a record."""


def verify(
    sources: Sequence[Source],
    games: Mapping[str, Game],
    kept: Kept | None = None,
    watches: Sequence[Watch] | None = None,
    logs: Sequence[WholeLog] = (),
    verifies: Verifies = made_by,
) -> list[Verdict]:
    """Verify files, each by itself and against the others of the same match. Raises NotAFile, OSError, and Malformed for what was kept.

    `watches`: for each file, a function that is called with each action of an artificial player. `logs`: whole logs, with which each file
    is compared. `verifies`: checks the signatures of moves in whole entries.
    """
    kept = kept or Kept()
    readers = [_read(source, games, kept, watches[place] if watches else None, verifies) for place, source in enumerate(sources)]
    receipts = [text for reader in readers for text in reader.receipts]
    heads = _heads(kept)
    for reader in readers:
        file = reader.file()
        others = [text for text in receipts if text not in file.receipts]
        checked = check_receipts(file, [*kept.receipts, *others])
        reader.checked["receipts"] = len(checked)
        reader.checked["running hashes"] = check_sidelog(file, checked)
        check_disputes(file)
        shown = check_leaves(file, kept)
        reader.signers = check_keys(file, shown, kept.quorum)
        heads.check(file, shown)
        reader.checked["logs"] = sum(check_log(file, shown, log, kept.quorum) for log in logs)
        for head in heads.forked:
            file.findings.add(
                "checkpoint_forked", f"You have two checkpoints of {head.origin} with {head.size} leaves and different roots."
            )
        if kept.now is not None and file.at is not None and file.at > kept.now:
            file.findings.add("time_backwards", "The file says that it was written later than now.")
        if reader.brought_keys:
            reader.chain.unchecked.insert(0, "whether the keys in the file are those of the server: give a key that you have noted")
    for match in sorted(_matches_of(kept.receipts) - {reader.chain.opening.match for reader in readers}):
        readers[0].chain.unchecked.append(f"a receipt of the match {match}: no file of it was given")
    _compare_files(sources, readers, games)
    _compare_origins(sources, readers, games)
    return [reader.verdict() for reader in readers]


def _matches_of(receipts: Iterable[str]) -> set[str]:
    """Return the matches that receipts name, whoever signed them. Other texts are skipped."""
    found = set()
    for text in receipts:
        try:
            found.add(statements.parse_receipt(notes.parse(text).text).match)
        except (Malformed, NotAStatement):
            continue
    return found


def _heads(kept: Kept) -> Heads:
    """Return the checkpoints that the reader has kept. Raises Malformed."""
    findings = Findings()
    keys = kept.keys
    found = []
    for text in kept.checkpoints:
        if keys:
            head = read_checkpoint(findings, text, keys, quorum=kept.quorum)
        else:  # the reader vouches for it
            head, note = checkpoints.of_note(text)
            has_quorum(findings, head, note, kept.quorum)
        if head is None or findings.in_order():
            raise Malformed(f"a checkpoint that was given: {findings.in_order()[-1].sentence}")
        found.append(head)
    return Heads(found, kept.consistency, kept.prove)


def _read(source: Source, games: Mapping[str, Game], kept: Kept, watch: Watch | None, verifies: Verifies) -> _Reader:
    """Read a file to its end and return its reader. Raises NotAFile, OSError."""
    lines = iter(source.lines())
    first = next(lines, b"")
    if len(first) > LONGEST:
        raise NotAFile(f"{source.name} has a line that is too long.")
    if kind_of(_value(first)) == "dossier":
        return _Dossier(source.name, games, kept, watch, verifies, first, lines)
    return _Record(source.name, games, kept, watch, verifies, [first, *lines])


class _Reader:
    """The reader of a file: the chain of its entries, and its other lines."""

    kind = RECORD

    def __init__(
        self,
        name: str,
        opening: Opening,
        games: Mapping[str, Game],
        keys: tuple[VerifierKey, ...],
        watch: Watch | None,
        verifies: Verifies,
    ) -> None:
        self.name = name
        self.findings = Findings()
        self.keys = keys
        self.at: int | None = None
        self.chain: Chain = (
            WholeChain(opening, self.findings, games, watch, verifies) if opening.viewer == WHOLE else ShownChain(opening, self.findings)
        )
        self.receipts: list[str] = []
        self.sidelog: list[dict[str, Any]] = []
        self.disputes: list[dict[str, Any]] = []
        self.leaves: list[dict[str, Any]] = []
        self.signing_keys: list[dict[str, Any]] = []
        self.signers: list[Signer] = []
        self.checked: dict[str, int] = {}
        self.brought_keys = False  # whether the keys are those that the file names

    def file(self) -> File:
        """Return the file for the checks of signed statements."""
        chain, lines = self.chain, (self.receipts, self.sidelog, self.disputes, self.leaves, self.signing_keys)
        return File(chain, self.keys, self.at, chain.version, *lines)

    def _expect_blind(self) -> None:
        """Add a finding if a whole file keeps the key of the salts back, which it may do only while a seat is open."""
        chain = self.chain
        if chain.opening.viewer == WHOLE and chain.opening.blind is None and chain.filled is not None and chain.revealed is None:
            self.findings.add(
                "salt_differs", f"The file has no key of the salts, though the last seat was taken at version {chain.filled}."
            )

    def verdict(self) -> Verdict:
        """Return the verdict on the file."""
        chain = self.chain
        last = chain.seen.get(chain.version)
        moves, leaves = chain.signatures.checked, len(self.leaves)
        reads = sum(line["line"] == "read" for line in self.sidelog)
        counts = {"entries": len(chain.seen), **self.checked, "moves": moves, "reads": reads, "leaves": leaves}
        return Verdict(
            self.name,
            self.kind,
            chain.opening.match,
            chain.game,
            chain.opening.viewer,
            chain.version,
            last.digest if last else "",
            self.at,
            self.findings.in_order(),
            {name: count for name, count in counts.items() if count},
            chain.unchecked,
            self.signers,
            dict(chain.signers.unsigned),
            chain.signers.by_server,
        )


class _Record(_Reader):
    """A record: whole entries, perhaps after a line with the key of their salts."""

    def __init__(
        self, name: str, games: Mapping[str, Game], kept: Kept, watch: Watch | None, verifies: Verifies, lines: Iterable[bytes]
    ) -> None:
        raws = [line.strip() for line in lines if line.strip()]
        header = header_of(raws[0]) if raws else None
        raws = raws if header is None else raws[1:]
        if not raws:
            raise NotAFile(f"{name} is neither a dossier nor a record.")
        match, blind = header or (_match_of(raws[0]), None)
        super().__init__(name, Opening(match, WHOLE, _secret_of(raws), blind), games, kept.keys, watch, verifies)
        for raw in raws:
            self.chain.read(raw, None)
        self.chain.close()
        if header is not None:
            self._expect_blind()
        self.chain.unchecked.append("signatures of the server: a record has none, a dossier has")


def _match_of(raw: bytes) -> str:
    value = _value(raw)
    return str(value.get("match", "")) if isinstance(value, dict) else ""


def _secret_of(raws: Sequence[bytes]) -> str | None:
    """Return the secret that entries reveal, or None if they reveal none or something else."""
    secret = revealed(raws)
    try:
        return secret if secret is not None and len(bytes.fromhex(secret)) == 32 else None
    except ValueError:
        return None


class _Dossier(_Reader):
    """A dossier: its first line says what it is, and its last line signs all others."""

    kind = DOSSIER

    def __init__(
        self,
        name: str,
        games: Mapping[str, Game],
        kept: Kept,
        watch: Watch | None,
        verifies: Verifies,
        first: bytes,
        lines: Iterator[bytes],
    ) -> None:
        header = _value(first)
        opening = Opening(
            header["match"], header["viewer"], header["secret"], None if header["blind"] is None else bytes.fromhex(header["blind"])
        )
        super().__init__(name, opening, games, kept.keys, watch, verifies)
        self._header = header
        if not kept.keys:
            self.keys = kept.known.get(header["name"], ())
        if not self.keys:
            self.keys, self.brought_keys = tuple(self._own_keys()), True
        self.at = header["at"]
        self._named: set[tuple[int, str]] = set()  # the pairs of the lines `rules`
        self._ended = False
        self._hashed = sha256()  # of all lines before the present one
        self._read(first, lines)
        self._expect_no_seat()
        self.chain.close()
        self._check_around()

    def file(self) -> File:
        """Return the file for the checks of signed statements."""
        return super().file()._replace(versions=self._header["versions"])

    def _own_keys(self) -> Iterator[VerifierKey]:
        """Yield the keys that the file names."""
        for vkey in self._header["vkeys"]:
            try:
                yield parse_vkey(vkey)
            except Malformed as reason:
                self.findings.add("line_unknown", f"A key in the first line is not valid: {reason}.")

    def _read(self, first: bytes, lines: Iterator[bytes]) -> None:
        """Read every line. The signature covers the hash of all lines before the last."""
        count, line = 0, first
        self._check_canonical(first, self._header)
        while line:
            following = next(lines, b"")
            if not line.endswith(b"\n") or len(line) > LONGEST:
                self.findings.add("truncated", "The file ends within a line.")
            if count:
                self._take(line.removesuffix(b"\n"), count, last=not following)
            self._hashed.update(line)
            count, line = count + 1, following
        if not self._ended:
            self.findings.add("truncated", "The last line of a dossier is missing.")

    def _take(self, line: bytes, count: int, last: bool) -> None:
        """Read a line after the first."""
        raw = entry_in(line)
        if raw is not None and self.chain.opening.viewer == WHOLE:
            entry = _parsed(raw)
            if entry is not None or _value(raw) is not None:
                self._take_entry(raw, entry)
                return
        value = _value(line)
        kind = kind_of(value)
        if kind == "entry" and self.chain.opening.viewer == WHOLE:
            self._take_entry(_encoded(value["entry"]), None)
            self.findings.add("not_canonical", "The line of the entry is not canonical JSON.", self.chain.version)
        elif kind == "shown" and self.chain.opening.viewer != WHOLE:
            self._take_entry(b"", value["entry"])
            if _encoded(value) != line:
                self.findings.add("not_canonical", "The line of the entry is not canonical JSON.", self.chain.version)
        else:
            self._check_canonical(line, value)
            self._take_other(kind, value, count, last)

    def _take_entry(self, raw: bytes, value: Any) -> None:
        self._expect_no_seat()
        self.chain.read(raw, value)

    def _take_other(self, kind: str | None, value: Any, count: int, last: bool) -> None:
        if kind == "rules" and value["game"] == self._header["game"]:
            self._named.add((value["revision"], value["rules"]))
        elif kind == "rules":
            self.findings.add("rules_unknown", f"A line names the rules of another game, {value['game']}.")
        elif kind == "seat":
            self._take_seat(value)
        elif kind == "end" and last:
            self._check_end(value, count)
        elif kind == "end":
            self.findings.add("truncated", "There are lines after the last one.")
        elif kind == "receipt":
            self.receipts.append(value["note"])
        elif kind in ("dispute", "leaf", "signing_key"):
            {"dispute": self.disputes, "leaf": self.leaves, "signing_key": self.signing_keys}[kind].append(value)
        elif kind in ("refused", "refusals_dropped", "read", "reads"):
            self.sidelog.append(value)
        else:
            self.findings.add("line_unknown", f"Line {count + 1} does not belong in a dossier, or not in this one.")

    def _take_seat(self, value: dict[str, Any]) -> None:
        due = self.chain.seats
        line = {name: member for name, member in value.items() if name != "line"}
        if due and due[0] == line:
            del due[0]
        else:
            sentence = f"The file and the entries disagree about who had the seat {value['seat']}."
            self.findings.add("seat_differs", sentence, self.chain.version or None)
            self.chain.seats = [holder for holder in due if holder["seat"] != value["seat"]]

    def _expect_no_seat(self) -> None:
        """Add a finding for each line `seat` that is missing after the last entry."""
        for holder in self.chain.seats:
            self.findings.add("seat_differs", f"No line says who had the seat {holder['seat']}.", self.chain.version)
        self.chain.seats = []

    def _check_canonical(self, line: bytes, value: Any) -> None:
        if value is None or _encoded(value) != line.removesuffix(b"\n"):
            self.findings.add("line_unknown", "A line is not canonical JSON.")

    def _check_end(self, value: dict[str, Any], count: int) -> None:
        """Check the last line: the number of lines before it, and the signature over them."""
        self._ended = True
        if value["lines"] != count:
            self.findings.add("truncated", f"The last line says that {value['lines']} lines are before it, but there are {count}.")
        note = read_note(self.findings, value["note"], self.keys, "The file")
        if note is None:
            return
        header = self._header
        try:
            signed = statements.parse_dossier(note.text)
        except NotAStatement as reason:
            self.findings.add("signature_broken", f"The signed statement is not about a dossier: {reason}.")
            return
        if signed != (header["match"], header["versions"], header["viewer"], self._hashed.hexdigest()):
            self.findings.add("signature_broken", "The signature is for another file, or the lines were changed after signing.")

    def _check_around(self) -> None:
        """Check the first line and the lines `rules` against the entries."""
        header, chain = self._header, self.chain
        later = min((version for version, seen in chain.seen.items() if seen.at > header["at"]), default=None)
        if later is not None:
            self.findings.add("time_backwards", "The file says that it was written before this entry.", later)
        self._expect_blind()
        if header["game"] != chain.game and chain.game:
            self.findings.add("line_unknown", f"The first line names the game {header['game']}, but the entries are of {chain.game}.")
        if header["secret"] != chain.revealed and chain.version >= header["versions"]:
            self.findings.add("secret_differs", "The secret in the first line is not the one that the entries reveal.", chain.version)
        if header["secret"] is not None and header["blind"] not in (None, blind_key(bytes.fromhex(header["secret"])).hex()):
            self.findings.add("salt_differs", "The key of the salts does not follow from the secret.")
        if chain.version < header["versions"]:
            sentence = f"The file should end at version {header['versions']}, but ends at {chain.version}."
            self.findings.add("truncated", sentence, chain.version + 1)
        elif chain.version > header["versions"]:
            self.findings.add("wrong_version", f"The file should end at version {header['versions']}.", header["versions"] + 1)
        for (revision, rules), version in chain.pairs.items():
            if (revision, rules) not in self._named:
                sentence = f"No line says that the entries name revision {revision} with the content hash {rules}."
                self.findings.add("rules_unknown", sentence, version)
        for revision, rules in sorted(self._named - chain.pairs.keys()):
            self.findings.add("rules_unknown", f"No entry names revision {revision} with the content hash {rules}.")


def _compare_files(sources: Sequence[Source], readers: Sequence[_Reader], games: Mapping[str, Game]) -> None:
    """Compare the files of each match: the digests of every version, and what was shown with the whole entries."""
    for place, reader in enumerate(readers):
        match = reader.chain.opening.match
        for before, other in enumerate(readers[:place]):
            if other.chain.opening.match != match:
                continue
            _compare_digests(reader, other)
            wholes = [at for at in (place, before) if readers[at].chain.opening.viewer == WHOLE]
            if len(wholes) == 1:
                redacted = before if wholes[0] == place else place
                _compare_shown(sources[wholes[0]], sources[redacted], readers[redacted], games)


def _compare_digests(one: _Reader, other: _Reader) -> None:
    mine, theirs = one.chain.seen, other.chain.seen
    for version in sorted(mine.keys() & theirs.keys()):
        if mine[version].digest != theirs[version].digest:
            for reader, beside in ((one, other), (other, one)):
                reader.findings.add("files_differ", f"{beside.name} has another digest for this version.", version)
            return


def _compare_shown(whole: Source, redacted: Source, reader: _Reader, games: Mapping[str, Game]) -> None:
    """Check that each entry of a redacted dossier is what its viewer may see of the whole entry."""
    game = games.get(reader.chain.game)
    viewer = reader.chain.opening.viewer
    if game is None:
        return
    entries = entries_of(whole)
    values = (value["entry"] for line in redacted.lines() if kind_of(value := _value(line)) == "shown")
    for raw, value in zip(entries, values, strict=False):
        try:
            entry = parse(raw)
            due = shown(game, entry, viewer)
            differs = {name: member for name, member in value.items() if name != "proof"} != loads(canonical(due))
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # an unreadable entry was found before
        if differs and entry.version == value.get("version"):
            sentence = f"What {viewer} was shown of the entry does not follow from the whole entry."
            reader.findings.add("shown_differs", sentence, entry.version)
            return


def _compare_origins(sources: Sequence[Source], readers: Sequence[_Reader], games: Mapping[str, Game]) -> None:
    """For each match that begins from a position of another match, compare the two positions, if a whole file of the other was given."""
    for reader in readers:
        chain = reader.chain
        origin = chain.origin if isinstance(chain, WholeChain) else None
        if origin is None or not isinstance(chain, WholeChain):
            continue
        for source, other in zip(sources, readers, strict=True):
            if other.chain.opening.match == origin["match"] and isinstance(other.chain, WholeChain):
                position = _position_of(source, games, origin["version"])
                if position is not None:
                    chain.compare_origin(position)
                    break
        else:
            missing = f"the position from which the match begins: give the dossier of {origin['match']}, too"
            chain.unchecked.append(missing)


def _position_of(source: Source, games: Mapping[str, Game], version: int) -> Position | None:
    """Return the position at a version of the match in a whole file, or None if the file ends before it or cannot be replayed."""
    try:
        return at_version(games, entries_of(source), version)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None


def entries_of(source: Source) -> Iterator[bytes]:
    """Yield the bytes of the entries in a whole dossier or a record."""
    for line in source.lines():
        raw = entry_in(line.removesuffix(b"\n")) or line.strip()
        if raw.startswith(b'{"action"'):
            yield raw


def _value(line: bytes) -> Any:
    """Return the value of a line, or None if it is not JSON."""
    try:
        return loads(line)
    except (ValueError, RecursionError):
        return None


def _parsed(raw: bytes) -> Entry | None:
    """Return the entry in some bytes, or None if they are not an entry."""
    try:
        return parse(raw)
    except Unreadable:
        return None


def _encoded(value: Any) -> bytes:
    """Return the canonical JSON of a value, or no bytes if it has none."""
    try:
        return canonical(value)
    except NotCanonical:
        return b""
