"""Compare the entries with what the server has signed about a match: receipts, leaves of the log, and checkpoints."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple

from evidence import checkpoints, cosigning, leaves, notes, statements, tree
from evidence.checkpoints import Checkpoint
from evidence.leaves import DUE_MS, HOUR, MALFORMED, SEALED, SLOW_MS, Leaf
from evidence.notes import ED25519, Malformed, Note, VerifierKey
from evidence.statements import NotAStatement, Receipt
from record.dossiers.chains import Chain
from record.dossiers.findings import Findings
from record.entries import NotCanonical, blind_key, canonical

LONGEST_LEAF = 1000  # bytes


class Consistency(NamedTuple):
    """A proof that the log with `first` leaves is the beginning of the log with `second` leaves."""

    first: int
    second: int
    path: tuple[bytes, ...]


class Quorum(NamedTuple):
    """How many of the named witnesses must have cosigned a checkpoint, so that it counts."""

    least: int = 0
    witnesses: tuple[VerifierKey, ...] = ()


NO_QUORUM = Quorum()


Prove = Callable[[str, int, int], tuple[bytes, ...] | None]
"""Return the proof of consistency between two sizes of a log with this origin, or None."""


class Kept(NamedTuple):
    """What a reader has kept: keys, receipts and checkpoints (as notes), and proofs of consistency between checkpoints.

    `now`: the moment that no file may be written after, in ms since 1970, if the reader names one. `known`: the keys of the servers that
    the reader knows, by the name of the server; they count where no keys were given. `prove`: asks for proofs that were not given.
    `quorum`: for every checkpoint.
    """

    keys: tuple[VerifierKey, ...] = ()
    receipts: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()
    consistency: tuple[Consistency, ...] = ()
    now: int | None = None
    known: Mapping[str, tuple[VerifierKey, ...]] = MappingProxyType({})
    prove: Prove | None = None
    quorum: Quorum = NO_QUORUM


class File(NamedTuple):
    """A dossier or a record while it is verified: its entries and its other lines. `at`: when it was written, if it says so.

    `sidelog`: the lines about refused actions and reads.
    """

    chain: Chain
    keys: tuple[VerifierKey, ...]
    at: int | None
    versions: int
    receipts: list[str]
    sidelog: list[dict[str, Any]]
    disputes: list[dict[str, Any]]
    leaves: list[dict[str, Any]]
    signing_keys: list[dict[str, Any]]

    @property
    def findings(self) -> Findings:
        """The findings in the file."""
        return self.chain.findings


def read_note(findings: Findings, text: str, keys: Iterable[VerifierKey], what: str, version: int | None = None) -> Note | None:
    """Return a note that a known key has signed. Otherwise add a finding and return None.

    >>> findings = Findings()
    >>> read_note(findings, "no note", [], "A receipt", 7) is None
    True
    >>> findings.in_order()[0].code
    'signature_broken'
    """
    try:
        note = notes.parse(text)
    except Malformed as reason:
        findings.add("signature_broken", f"{what} is not a signed note: {reason}.", version)
        return None
    known = {(key.name, key.id): key for key in keys if key.kind == ED25519}
    ours = [(known[(by.name, by.key_id)], by.signature) for by in note.signatures if (by.name, by.key_id) in known]
    if not ours:
        findings.add("wrong_key", f"{what} is not signed by a known key.", version)
        return None
    if not all(key.signed(note.text.encode(), signature) for key, signature in ours):
        findings.add("signature_broken", f"The signature of {what[0].lower()}{what[1:]} does not fit its text.", version)
        return None
    return note


# ---------------------------------------------------------------- receipts


def check_receipts(file: File, given: Iterable[str]) -> list[Receipt]:
    """Compare receipts with the entries. Return those that were compared. `given`: more receipts; only those of this match count."""
    last, checked = file.versions, list[Receipt]()
    own = False
    for text in file.receipts:
        receipt = _receipt(file, text)
        if receipt is not None:
            checked.append(receipt)
            own = own or receipt.version == last
            _compare_receipt(file, receipt, given=False)
    if not own and file.at is not None:
        file.findings.add("receipt_differs", "The file has no receipt of its last version.", last)
    for text in given:
        receipt = _receipt(file, text, only=file.chain.opening.match)
        if receipt is not None:
            checked.append(receipt)
            _compare_receipt(file, receipt, given=True)
    return checked


def _receipt(file: File, text: str, only: str | None = None) -> Receipt | None:
    """Return the receipt in a note, if a known key has signed it. `only`: skip receipts of other matches."""
    try:
        claimed: Receipt | None = statements.parse_receipt(notes.parse(text).text)
    except (Malformed, NotAStatement):
        claimed = None
    if only is not None and claimed is not None and claimed.match != only:
        return None
    note = read_note(file.findings, text, file.keys, "A receipt", None if claimed is None else claimed.version)
    if note is not None and claimed is None:
        file.findings.add("receipt_differs", "A note that should be a receipt is another statement.", file.versions)
    return None if note is None else claimed


def _compare_receipt(file: File, receipt: Receipt, given: bool) -> None:
    match, version = file.chain.opening.match, receipt.version
    seen = file.chain.seen.get(version)
    if receipt.match != match:
        file.findings.add("receipt_differs", f"A receipt in the file is for the match {receipt.match}.", file.versions)
    elif seen is None and version > file.versions:
        if not given or (file.at is not None and receipt.at < file.at - SLOW_MS and not file.chain.is_behind):
            sentence = f"There is a receipt of version {version}, but the file ends at version {file.versions}."
            file.findings.add("truncated", sentence, file.versions + 1)
        else:
            file.chain.unchecked.append(f"a receipt of version {version}, which is later than the file")
    elif seen is None or (receipt.digest, receipt.at) != (seen.digest, seen.at):
        file.findings.add("receipt_differs", "The receipt of this version has another digest or another time than the entry.", version)


# ---------------------------------------------------------------- disputes


def check_disputes(file: File) -> None:
    """Check that the lines `dispute` follow from the entries."""
    if file.at is None:
        return  # a record has none
    said = [{name: member for name, member in line.items() if name != "line"} for line in file.disputes]
    for line, due in zip_longest(said, file.chain.disputes):
        if line != due:
            steps = (line or due)["steps"] or (due or line)["steps"]
            first = steps[0]["version"] if steps else None
            file.findings.add("dispute_differs", "The file and the entries disagree about a dispute.", first)
            return


# ---------------------------------------------------------------- the log


def check_leaves(file: File, kept: Kept) -> list[Checkpoint]:
    """Check the leaves of the log against the entries and their proofs. Return the checkpoints in the proofs."""
    found: list[Checkpoint] = []
    covered, sealed, kinds = 0, 0, set()
    for line in file.leaves:
        leaf = _opened(file, line)
        version = None if leaf is None else leaf["version"]
        kinds.add("" if leaf is None else leaf.get("kind", ""))
        if leaf is None:
            sealed += 1
        elif _compare_leaf(file, leaf):
            covered = max(covered, leaf["version"])
        checkpoint = check_inclusion(file, line, version, kept.quorum)
        if checkpoint is not None and checkpoint not in found:
            found.append(checkpoint)
    if sealed:
        file.chain.unchecked.append(f"{sealed} leaves of the log, which are sealed until the match is over")
    elif file.leaves or kept.checkpoints:
        _check_coverage(file, covered, kinds)
    else:
        file.chain.unchecked.append("the log of the server: the file has no leaf of it")
    return found


def _opened(file: File, line: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the leaf in a line, opened if it was sealed, or None if it is sealed and cannot be opened yet."""
    leaf: dict[str, Any] = line["leaf"]
    if leaf.get("kind") != SEALED:
        if not read_leaf(leaf).is_of_match or "opened" in line:
            file.findings.add("leaf_differs", "A leaf of the log does not have this format.")
            return {"version": None}
        return leaf
    opened: dict[str, Any] | None = line.get("opened")
    if opened is None and file.chain.is_behind:
        return None
    if opened is None:
        file.findings.add("leaf_differs", "A leaf of the log is sealed, though the viewer may know what is in it.")
        return {"version": None}
    if not _is_sealed(opened):
        file.findings.add("leaf_differs", "What is said to be in a sealed leaf does not have this format.")
        return {"version": None}
    blind = _blind_of(file)
    if blind is None:
        file.chain.unchecked.append(f"the seal of the leaf of version {opened['version']}: the file has no key of the salts")
        return opened
    key = hmac.digest(blind, b"log:%d" % opened["version"], "sha256")
    try:
        sealed = sha256(key + canonical(opened)).hexdigest()
    except NotCanonical:  # such as a number beyond 53 bits
        sealed = ""
    if leaf != {"kind": SEALED, "seal": sealed}:
        file.findings.add("leaf_differs", "What is said to be in a sealed leaf does not fit its seal.", opened["version"])
        return {"version": None}
    return opened


def _blind_of(file: File) -> bytes | None:
    opening = file.chain.opening
    return opening.blind if opening.secret is None else blind_key(bytes.fromhex(opening.secret))


def read_leaf(leaf: Mapping[str, Any]) -> Leaf:
    """Return the leaf of a log in a value of JSON. Its kind is UNKNOWN or MALFORMED if it is none that docs/auditing.md describes."""
    try:
        return leaves.read(canonical(leaf))
    except NotCanonical:
        return Leaf(MALFORMED)


def _is_sealed(content: Mapping[str, Any]) -> bool:
    """Return True if a value can be in a sealed leaf: a leaf of an hour, with the hour of the seal besides."""
    hour = content.get("hour")
    return type(hour) is int and hour >= 0 and read_leaf({name: content[name] for name in content if name != "hour"}).kind == HOUR


def _compare_leaf(file: File, leaf: Mapping[str, Any]) -> bool:
    """Return True if a leaf agrees with the entries. Otherwise add a finding."""
    version = leaf["version"]
    if version is None:
        return False
    seen = file.chain.seen.get(version)
    if seen is None and version > file.versions:
        sentence = f"The log has a leaf of version {version}, but the file ends at version {file.versions}."
        file.findings.add("truncated", sentence, file.versions + 1)
        return False
    agrees = seen is not None and (leaf["match"], leaf["digest"], leaf["at"]) == (file.chain.opening.match, seen.digest, seen.at)
    if leaf["kind"] == "begin":
        agrees = agrees and version == 1 and leaf["commitment"] == file.chain.commitment
    if leaf["kind"] == "end":
        agrees = agrees and file.chain.ended is not None and version >= file.chain.ended
    if not agrees:
        file.findings.add("leaf_differs", f"The leaf of the log for version {version} and the entry disagree.", version)
    return agrees


def check_inclusion(file: File, line: Mapping[str, Any], version: int | None, quorum: Quorum = NO_QUORUM) -> Checkpoint | None:
    """Check that a leaf is in the log where its proof says. Return the checkpoint in the proof if a known key has signed it.

    `line`: the leaf with its `index` and its `proof`. `version`: that of a finding.
    """
    try:
        proof = checkpoints.parse_proof(line["proof"])
        raw = canonical(line["leaf"])
    except (Malformed, NotCanonical):
        file.findings.add("inclusion_broken", "A leaf of the log has no proof.", version)
        return None
    checkpoint = read_checkpoint(file.findings, proof.note, file.keys, version, quorum)
    if checkpoint is None:
        return None
    if proof.leaf != line["index"] or len(raw) > LONGEST_LEAF or not checkpoints.includes(checkpoint, proof, raw):
        file.findings.add("inclusion_broken", f"The leaf {line['index']} is not in the log where its proof says.", version)
    return checkpoint


def read_checkpoint(
    findings: Findings, text: str, keys: Sequence[VerifierKey], version: int | None = None, quorum: Quorum = NO_QUORUM
) -> Checkpoint | None:
    """Return a checkpoint that a known key with the name of its log and a quorum have signed. Otherwise add a finding and return None."""
    try:
        origin = notes.parse(text).text.partition("\n")[0]
    except Malformed:
        origin = ""
    note = read_note(findings, text, [key for key in keys if key.name == origin], "A checkpoint", version)
    if note is None:
        return None
    try:
        found = checkpoints.parse(note.text)
    except Malformed as reason:
        findings.add("signature_broken", f"A note that should be a checkpoint is not one: {reason}.", version)
        return None
    return found if has_quorum(findings, found, note, quorum) else None


def has_quorum(findings: Findings, checkpoint: Checkpoint, note: Note, quorum: Quorum) -> bool:
    """Return True if enough of the witnesses have cosigned a checkpoint. Otherwise add a finding."""
    count = len(cosigning.cosignatures(note, quorum.witnesses))
    if count < quorum.least:
        about = f"The checkpoint of {checkpoint.size} leaves of {checkpoint.origin} has {count} of the {quorum.least} cosignatures"
        findings.add("quorum_missed", f"{about} that you ask for. A file that is fetched some seconds later may have more.")
    return count >= quorum.least


def _check_coverage(file: File, covered: int, kinds: set[str]) -> None:
    """Check that the log has a leaf that covers every entry older than two hours, one of the beginning, and one of the end.

    `covered`: the last version that has a leaf. `kinds`: those of the leaves.
    """
    if file.at is None:
        return
    old = [version for version, seen in file.chain.seen.items() if seen.at < file.at - DUE_MS]
    due = max(old, default=0)
    if covered < due:
        file.findings.add("leaf_missing", f"The log should have a leaf of version {due} or a later one, and the file has none.", due)
    for kind, version in (("begin", 1), ("end", file.chain.opened)):
        if version in old and kind not in kinds:
            file.findings.add("leaf_missing", f"The log should have a leaf of the kind {kind}, and the file has none.", version)
    if max(covered, due) < file.versions:
        so = "no leaf of it was due when the file was written, as it says: get the file again two hours later"
        file.chain.unchecked.append(f"whether the log has version {file.versions}: {so}")


class Heads:
    """The checkpoints of one verification: those that the reader has kept, and those of every file."""

    def __init__(self, kept: Sequence[Checkpoint], consistency: Iterable[Consistency], prove: Prove | None = None) -> None:
        self._kept = kept
        self._prove = prove
        self._roots: dict[tuple[str, int], bytes] = {}
        self._proofs: dict[tuple[int, int], list[tuple[bytes, ...]]] = {}
        for proof in consistency:
            self._proofs.setdefault((proof.first, proof.second), []).append(proof.path)
        self.forked = [head for head in kept if self._roots.setdefault((head.origin, head.size), head.root) != head.root]

    def check(self, file: File, found: Sequence[Checkpoint]) -> None:
        """Compare the checkpoints of a file with all others."""
        for head in found:
            if self._roots.setdefault((head.origin, head.size), head.root) != head.root:
                self._find_fork(file, f"Two checkpoints of {head.origin} have {head.size} leaves and different roots.")
            for other in self._kept:
                if other.origin == head.origin and other.size != head.size:
                    self._compare(file, head, other)
        origins = {head.origin for head in found}
        for origin in sorted({other.origin for other in self._kept} - origins):
            file.chain.unchecked.append(f"the checkpoint of the log {origin} that you have: the file shows nothing of that log")

    def _compare(self, file: File, head: Checkpoint, other: Checkpoint) -> None:
        first, second = sorted((head, other), key=lambda each: each.size)
        paths = self._proofs.get((first.size, second.size), [])
        if not paths and self._prove is not None:
            path = self._prove(head.origin, first.size, second.size)
            paths = [] if path is None else [path]
        if any(tree.is_consistent(first.size, first.root, second.size, second.root, path) for path in paths):
            return
        if paths:
            self._find_fork(file, f"The log of {second.size} leaves does not continue that of {first.size}.")
        else:
            proof = f"GET /log/consistency?from={first.size}&to={second.size}"
            about = "which you have" if other is first else "which the file shows"
            file.chain.unchecked.append(f"whether the log of {second.size} leaves continues that of {first.size}, {about}: give {proof}")

    def _find_fork(self, file: File, sentence: str) -> None:
        file.findings.add("checkpoint_forked", sentence)
