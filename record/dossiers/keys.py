"""Check that the keys that signed entries were keys of the actors: by the leaves of the server's log (docs/auditing.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from evidence import checkpoints
from evidence.checkpoints import Checkpoint
from evidence.leaves import DUE_MS, REGISTERED, REVOKED, SLOW_MS, is_proven
from evidence.notes import Malformed
from record.dossiers.signers import Owner, Signer
from record.dossiers.statements import NO_QUORUM, File, Quorum, check_inclusion, read_leaf


class Registered(NamedTuple):
    """What the leaves of a key say: when it was registered and revoked, in ms since 1970, or None, and which leaf of which log says the
    former."""

    registered: int | None = None
    revoked: int | None = None
    log: str = ""
    place: int = 0


def check_keys(file: File, found: list[Checkpoint], quorum: Quorum = NO_QUORUM) -> list[Signer]:
    """Check the keys that signed the entries of a file. Return who signed, in the order of the first entries.

    The checkpoints in the proofs are added to those that were `found`.
    """
    owners = file.chain.signers.versions
    lines = {Owner(line["player"], line["key"]): line for line in file.signing_keys}
    for owner in lines.keys() - owners.keys():
        file.findings.add("key_differs", f"The key {owner.key} of {owner.player}, which has a line, has signed nothing.")
    if len(lines) < len(file.signing_keys):
        file.findings.add("key_differs", "A key has two lines.")
    signers = []
    for owner, by_actor in owners.items():
        known = Registered()
        if file.at is not None:
            known = _registered(file, owner, lines.get(owner), found, quorum)
            _compare(file, owner, known)
        first = file.chain.seen.get(file.chain.filled or 1)
        late = first is not None and known.registered is not None and known.registered > first.at
        for actor, versions in by_actor.items():
            signers.append(Signer(actor, *owner, versions, known.registered, known.revoked, late))
    if signers and file.at is None:
        file.chain.unchecked.append("whose keys signed the moves: a record does not say, a dossier does")
    return sorted(signers, key=lambda signer: signer.versions[0])


def _registered(file: File, owner: Owner, line: Mapping[str, Any] | None, found: list[Checkpoint], quorum: Quorum) -> Registered:
    """Return what the leaves in the line of a key say. Add findings."""
    known, first = Registered(), _first(file, owner)
    for leaf in [] if line is None else line["leaves"]:
        if not _is_leaf(leaf["leaf"], owner):
            file.findings.add("key_differs", f"A leaf of the key {owner.key} is not one of this key and {owner.player}.", first)
            continue
        checkpoint = check_inclusion(file, leaf, first, quorum)
        if checkpoint is None:
            continue
        if checkpoint not in found:
            found.append(checkpoint)
        at = leaf["leaf"]["at"]
        if leaf["leaf"]["kind"] == REVOKED:
            known = known._replace(revoked=at if known.revoked is None else min(at, known.revoked))
        elif known.registered is None:
            known = known._replace(registered=at, log=checkpoint.origin, place=leaf["index"])
    if known.registered is None:
        _tell_missing(file, owner, first)
    return known


def _tell_missing(file: File, owner: Owner, first: int) -> None:
    """Add that the log does not say whose a key is: a finding, if it should say so by now."""
    seen = file.chain.seen.get(first)
    if file.at is not None and seen is not None and seen.at < file.at - DUE_MS:
        sentence = f"The file has no leaf of the log that says that the key {owner.key} is one of {owner.player}."
        file.findings.add("key_missing", sentence, first)
    else:
        file.chain.unchecked.append(f"whether the key {owner.key} is one of {owner.player}: the log did not say so yet")


def _compare(file: File, owner: Owner, known: Registered) -> None:
    """Compare what the log says of a key with the entries that it signed: the first one that does not fit is a finding."""
    if known.registered is None:
        return
    versions = sorted(version for versions in file.chain.signers.versions[owner].values() for version in versions)
    for version in versions:
        at = file.chain.seen[version].at
        if at < known.registered - SLOW_MS:
            file.findings.add("key_invalid", f"The key that signed this version was registered later, by {owner.player}.", version)
            break
        if known.revoked is not None and at > known.revoked + SLOW_MS:
            file.findings.add("key_invalid", f"The key that signed this version was revoked before, by {owner.player}.", version)
            break
    for log, index, version in _covering(file):
        if log == known.log and index < known.place and version >= versions[0]:
            sentence = f"The log had version {version} before it had the key that signed this one."
            file.findings.add("key_invalid", sentence, versions[0])
            break


def _covering(file: File) -> Iterator[tuple[str, int, int]]:
    """Yield the log, the index and the version of each leaf of the match that says what it covers."""
    for line in file.leaves:
        leaf = line.get("opened") or line["leaf"]
        try:
            origin = checkpoints.of_note(checkpoints.parse_proof(line["proof"]).note)[0].origin
        except Malformed:
            continue  # which was found before
        if type(version := leaf.get("version")) is int:
            yield origin, line["index"], version


def _first(file: File, owner: Owner) -> int:
    return min(versions[0] for versions in file.chain.signers.versions[owner].values()) if owner in file.chain.signers.versions else 0


def _is_leaf(leaf: Mapping[str, Any], owner: Owner) -> bool:
    """Return True if a value is a leaf of a key of this owner. A registration has the signature that shows who has the key."""
    found = read_leaf(leaf)
    return (found.subject, found.digest) == owner and (found.kind == REVOKED or (found.kind == REGISTERED and is_proven(found)))
