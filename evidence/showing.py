"""Write and check files that show what a log has done wrong, to somebody who trusts neither the server nor who wrote the file.

Such a file is one JSON object with the member `finding` (docs/auditing.md, "What a monitor finds"). It has what the server has signed. Two
checkpoints and a path of hashes show a fork. Leaves that contradict one another each have their proof. A receipt and a leaf that is so much
later show that a leaf is overdue.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from evidence import checkpoints, leaves, notes, statements, tree
from evidence.checkpoints import Checkpoint, Proof
from evidence.leaves import Finding, Placed
from evidence.notes import ED25519, Malformed, Unverified, VerifierKey
from evidence.statements import NotAStatement, Receipt

FORMAT = 1
FORKED, OVERDUE = "checkpoint_forked", "leaf_overdue"
LONGEST = 1_000_000  # bytes

_MEMBERS = {"checkpoints", "code", "finding", "leaves", "path", "receipts", "vkeys"}
_MOST = 8  # leaves


class ShowsNothing(ValueError):
    """A file does not show what it says. The text says why, in a sentence."""


class Shown(NamedTuple):
    """What a file shows: a finding, and the checkpoints that the server has signed. `noted`: the keys are those that the reader noted.

    `absent`: the match and the version of which the log must not have a leaf, up to the checkpoint, for the finding to be true. The file
    does not show that; whoever has the log can.
    """

    finding: Finding
    checkpoints: tuple[Checkpoint, ...]
    noted: bool
    absent: tuple[str, int] | None = None


def of_leaves(
    code: str, note: str, found: Sequence[tuple[int, bytes, Sequence[bytes]]], vkeys: Sequence[str], receipts: Sequence[str] = ()
) -> str:
    """Return the file for leaves: for each its index, its bytes, and the path of its proof. `note`: the signed checkpoint.

    `receipts`: the receipt of the version that has no leaf, if that is what is shown.

    >>> json.loads(of_leaves("begin_twice", "(a note)", [(9, b'{"kind":"news"}', [])], []))["leaves"][0]["index"]
    9
    """
    shown = [
        {"index": number, "leaf": json.loads(raw), "proof": checkpoints.proof_text(Proof(number, tuple(path), note))}
        for number, raw, path in found
    ]
    return _file(code, [], shown, [], vkeys, receipts)


def of_fork(first: str, second: str, path: Sequence[bytes], vkeys: Sequence[str]) -> str:
    """Return the file for a fork: two signed checkpoints, the smaller one first, and the hashes of `tree.consistent_roots`.

    >>> json.loads(of_fork("(a note)", "(another)", [], []))["code"]
    'checkpoint_forked'
    """
    return _file(FORKED, [first, second], [], path, vkeys, [])


def is_finding(text: str) -> bool:
    """Return True if a text is meant as such a file.

    >>> is_finding(of_fork("(a note)", "(another)", [], [])), is_finding('{"line":"dossier"}')
    (True, False)
    """
    return text.startswith("{") and len(text) <= LONGEST and isinstance(_value(text), dict) and "finding" in _value(text)


def check(text: str, keys: Sequence[VerifierKey] = ()) -> Shown:
    """Return what a file shows. `keys`: those that the reader has noted; without any, those that the file names. Raises ShowsNothing.

    >>> check(of_fork("(a note)", "(another)", [], []))
    Traceback (most recent call last):
        ...
    evidence.showing.ShowsNothing: A checkpoint in it is not a signed note.
    """
    value = _value(text)
    if not isinstance(value, dict) or set(value) != _MEMBERS or value["finding"] is True or value["finding"] != FORMAT or not _fits(value):
        raise ShowsNothing("It is not a finding of this format.")
    try:
        known = list(keys) or [notes.parse_vkey(vkey) for vkey in value["vkeys"]]
    except Malformed as reason:
        raise ShowsNothing(f"A key in it is not valid: {reason}.") from None
    if value["code"] == FORKED:
        return Shown(*_fork(value, known), bool(keys))
    placed, checkpoint = _proven(value, known)
    if value["code"] == OVERDUE:
        receipt = _receipt(value, known)
        if not leaves.is_overdue(receipt.at, placed[-1][1]):
            raise ShowsNothing("Its leaf does not show that two hours had passed.")
        finding = overdue(receipt, placed[-1][0])
        return Shown(finding, (checkpoint,), bool(keys), (receipt.match, receipt.version))
    found = leaves.shown_by(value["code"], placed)
    if found is None or value["receipts"]:
        raise ShowsNothing(f"Its leaves do not show {value['code']}.")
    return Shown(found, (checkpoint,), bool(keys))


def overdue(receipt: Receipt, place: int) -> Finding:
    """Return the finding that the log has no leaf of a version, of which there is a receipt. `place`: of a leaf that is so much later.

    >>> overdue(Receipt("m", 12, 64 * "0", 5), 41).code
    'leaf_overdue'
    """
    sentence = f"The log has no leaf of version {receipt.version} of the match {receipt.match}, and two hours have passed in leaf {place}."
    return Finding(OVERDUE, receipt.match, receipt.version, (place,), sentence)


def _receipt(value: dict[str, Any], keys: Sequence[VerifierKey]) -> Receipt:
    try:
        (note,) = value["receipts"]
        return statements.parse_receipt(notes.opened(note, keys).text)
    except (ValueError, Malformed, Unverified, NotAStatement):
        raise ShowsNothing("It has no receipt that a known key has signed.") from None


def _fork(value: dict[str, Any], keys: Sequence[VerifierKey]) -> tuple[Finding, tuple[Checkpoint, ...]]:
    if len(value["checkpoints"]) != 2 or value["leaves"] or value["receipts"]:
        raise ShowsNothing("A fork is shown by two checkpoints.")
    first, second = (_checkpoint(note, keys) for note in value["checkpoints"])
    if first.origin != second.origin or not 0 < first.size <= second.size:
        raise ShowsNothing("The two checkpoints are not of one log, the smaller one first.")
    if first.size == second.size:
        forked = first.root != second.root and not value["path"]
        sentence = f"The log {first.origin} has two trees of {first.size} leaves."
    else:
        try:
            roots = tree.consistent_roots(first.size, second.size, checkpoints.hashes_of(value["path"]))
        except Malformed as reason:
            raise ShowsNothing(f"A hash in it is not valid: {reason}.") from None
        forked = roots is not None and roots[1] == second.root and roots[0] != first.root
        sentence = f"The log {first.origin} with {second.size} leaves does not continue that with {first.size}."
    if not forked:
        raise ShowsNothing("The two checkpoints do not contradict each other.")
    return Finding(FORKED, first.origin, None, (), sentence), (first, second)


def _proven(value: dict[str, Any], keys: Sequence[VerifierKey]) -> tuple[list[Placed], Checkpoint]:
    """Return the leaves in a file, and the checkpoint that has all of them. Raises ShowsNothing."""
    if value["checkpoints"] or value["path"] or not value["leaves"]:
        raise ShowsNothing("It has no leaves.")
    placed: list[Placed] = []
    signed: list[tuple[str, Checkpoint]] = []
    for each in value["leaves"]:
        raw = json.dumps(each["leaf"], sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass")
        try:
            proof = checkpoints.parse_proof(each["proof"])
        except Malformed:
            raise ShowsNothing("A leaf in it has no proof.") from None
        if not signed:
            signed.append((proof.note, _checkpoint(proof.note, keys)))
        if proof.note != signed[0][0]:
            raise ShowsNothing("Its leaves are not proven by one checkpoint.")
        if proof.leaf != each["index"] or not checkpoints.includes(signed[0][1], proof, raw):
            raise ShowsNothing(f"The leaf {each['index']} is not in the log where its proof says.")
        placed.append((proof.leaf, leaves.read(raw)))
    return placed, signed[0][1]


def _checkpoint(note: str, keys: Sequence[VerifierKey]) -> Checkpoint:
    """Return a checkpoint that a key with the name of its log has signed. Raises ShowsNothing."""
    try:
        found, parsed = checkpoints.of_note(note)
    except Malformed:
        raise ShowsNothing("A checkpoint in it is not a signed note.") from None
    try:
        notes.opened(parsed, [key for key in keys if key.kind == ED25519 and key.name == found.origin])
    except (Unverified, Malformed):
        raise ShowsNothing(f"A checkpoint of {found.origin} in it is not signed by a known key.") from None
    return found


def _fits(value: dict[str, Any]) -> bool:
    """Return True if the members of a file have their types."""
    lists = ("checkpoints", "leaves", "path", "receipts", "vkeys")
    if not all(isinstance(value[name], list) for name in lists) or not isinstance(value["code"], str):
        return False
    texts = all(isinstance(each, str) for name in lists if name != "leaves" for each in value[name])
    return texts and len(value["leaves"]) <= _MOST and all(map(_is_proven_leaf, value["leaves"]))


def _is_proven_leaf(each: Any) -> bool:
    kinds = {"index": int, "leaf": dict, "proof": str}
    return isinstance(each, dict) and each.keys() == kinds.keys() and all(type(each[name]) is kind for name, kind in kinds.items())


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _file(
    code: str, signed: Sequence[str], shown: Sequence[dict[str, Any]], path: Sequence[bytes], vkeys: Sequence[str], receipts: Sequence[str]
) -> str:
    members = {
        "checkpoints": list(signed),
        "code": code,
        "finding": FORMAT,
        "leaves": list(shown),
        "path": [base64.b64encode(each).decode() for each in path],
        "receipts": list(receipts),
        "vkeys": list(vkeys),
    }
    return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
