"""Drafts: a dossier as values that can be changed, and an owner of the store who computes digests and signs anew."""

from __future__ import annotations

import base64
import hmac
import pickle
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from hashlib import sha256
from typing import Any

import rfc8785

from evidence import checkpoints, tree
from evidence.checkpoints import Checkpoint
from evidence.notes import SigningKey
from evidence.running import EMPTY, Running
from evidence.statements import Dossier, Read, Receipt, SideLog, dossier_text, read_text, receipt_text
from record.entries import canonical
from record.json_text import loads
from tests.events import chain

WHOLE = "all"


class Draft:
    """A dossier whose lines are values. `lines` has every line, in order."""

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        self.lines = lines

    @classmethod
    def read(cls, file: bytes) -> Draft:
        """Return the dossier in a file."""
        return cls([loads(line) for line in file.splitlines()])

    def copy(self) -> Draft:
        """Return a draft of its own."""
        return Draft(pickle.loads(pickle.dumps(self.lines)))

    @property
    def first(self) -> dict[str, Any]:
        """The first line."""
        return self.lines[0]

    @property
    def match(self) -> str:
        """The id of the match."""
        return str(self.first["match"])

    @property
    def whole(self) -> bool:
        """Whether the entries are in full."""
        return bool(self.first["viewer"] == WHOLE)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The entries, which may be changed."""
        return [line["entry"] for line in self.lines if "entry" in line]

    @property
    def last(self) -> int:
        """The version of the last entry."""
        return int(self.entries[-1]["version"])

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the lines of a kind."""
        return [line for line in self.lines if line["line"] == kind]

    def refused(self, seat: str) -> Running:
        """Return the running hash of the refused actions of a seat, of which none was dropped."""
        items = [canonical(line) for line in self.of("refused") if line["seat"] == seat]
        return reduce(Running.after, items, EMPTY)

    def reads(self) -> Running:
        """Return the running hash of the reads by staff, of which none was dropped."""
        seen = [seen for line in self.of("reads") for seen in line["newest"]]
        return reduce(Running.after, [read_text(Read(self.match, **each)).encode() for each in seen], EMPTY)

    def place(self, version: int) -> int:
        """Return the place of the line of an entry."""
        return next(at for at, line in enumerate(self.lines) if "entry" in line and line["entry"]["version"] == version)

    def bytes(self) -> bytes:
        """Return the file, with the last line as it is."""
        return b"".join(canonical(line) + b"\n" for line in self.lines)

    def cut(self, version: int) -> None:
        """Take every entry after a version away, with what belongs to it."""
        self.lines = [line for line in self.lines if _version_of(line) <= version]


def _version_of(line: Mapping[str, Any]) -> int:
    if "entry" in line:
        return int(line["entry"]["version"])
    if line["line"] == "leaf":
        return int(inside(line)["version"])
    return int(line.get("taken", 0))


class Owner:
    """Who owns the store and its keys: computes every digest anew, and signs what must be signed."""

    def __init__(self, key: SigningKey, secret: str) -> None:
        self.key = key
        self.secret = secret

    def relink(self, draft: Draft, secret: str | None = None) -> None:
        """Compute every digest anew, in a whole dossier with all salts."""
        blind = chain.blind_key(secret or self.secret)
        digest = chain.START
        for entry in draft.entries:
            if draft.whole:
                digest = chain.digest(digest, entry, chain.part_hashes(entry, blind))
            else:
                frame = {**entry, "match": draft.match, "format": 3, "rules": entry["proof"]["rules"]}
                digest = chain.digest(digest, frame, chain.shown_hashes(entry, entry["proof"]))
            entry["digest"] = digest

    def sign(self, draft: Draft, key: SigningKey | None = None) -> None:
        """Sign the receipt of the last version and the file."""
        key = key or self.key
        if draft.entries:
            entry = draft.entries[-1]
            for line in draft.of("receipt"):
                line["note"] = key.sign(receipt_text(Receipt(draft.match, entry["version"], entry["digest"], entry["at"])))
        self.finish(draft, key)

    def finish(self, draft: Draft, key: SigningKey | None = None) -> None:
        """Sign the file, with everything else as it is."""
        del draft.lines[-1]
        first = draft.first
        signed = Dossier(draft.match, first["versions"], first["viewer"], sha256(draft.bytes()).hexdigest())
        draft.lines.append({"line": "end", "lines": len(draft.lines), "note": (key or self.key).sign(dossier_text(signed))})

    def receipt(self, draft: Draft, version: int, seat: str | None = None) -> str:
        """Return the receipt of a version. `seat`: that of a seat, which names the side log of the draft."""
        entry = draft.entries[version - 1]
        sidelog = None if seat is None else SideLog(seat, draft.refused(seat), draft.reads())
        return self.key.sign(receipt_text(Receipt(draft.match, version, entry["digest"], entry["at"], sidelog)))


class TestLog:
    """A Merkle log in memory."""

    __test__ = False

    def __init__(self, key: SigningKey, leaves: Sequence[bytes]) -> None:
        self.key = key
        self.leaves = list(leaves)

    def checkpoint(self, size: int | None = None) -> str:
        """Return the signed checkpoint of the first `size` leaves."""
        hashes = [tree.leaf_hash(leaf) for leaf in self.leaves[:size]]
        return self.key.sign(Checkpoint(self.key.verifier.name, len(hashes), tree.hash_of(hashes)).text)

    def whole(self) -> bytes:
        """Return the whole log in one file."""
        head = canonical({"checkpoint": self.checkpoint(), "log": 1}) + b"\n"
        return head + b"".join(len(leaf).to_bytes(2, "big") + leaf for leaf in self.leaves)

    def proof(self, index: int) -> str:
        """Return the proof that a leaf is in the log."""
        path = tree.proof(tree.inclusion_spans(index, len(self.leaves)), self._node)
        return checkpoints.proof_text(checkpoints.Proof(index, tuple(path), self.checkpoint()))

    def consistency(self, first: int, second: int) -> dict[str, Any]:
        """Return the answer of `GET /log/consistency`."""
        path = tree.proof(tree.consistency_spans(first, second), self._node)
        return {"from": first, "to": second, "hashes": [base64.b64encode(one).decode() for one in path]}

    def _node(self, level: int, number: int) -> bytes:
        begin = number << level
        return tree.hash_of([tree.leaf_hash(leaf) for leaf in self.leaves[begin : begin + (1 << level)]])


def leaves_of(draft: Draft, secret: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of the leaves that the log has of a match: of its beginning, of its middle, and of its end, without their proofs."""
    entries = draft.entries
    created = next(event for event in entries[0]["events"] if event["type"] == "match_created")
    for version in sorted({1, (draft.last + 1) // 2, draft.last}):
        entry = entries[version - 1]
        leaf = {"at": entry["at"], "digest": entry["digest"], "kind": "hour", "match": draft.match, "version": version}
        if version == 1:
            yield {"leaf": {**leaf, "kind": "begin", "commitment": created["commitment"]}}
        elif version == draft.last and "secret" in entry:
            yield {"leaf": {**leaf, "kind": "end"}}
        elif "spectators" in created:
            yield sealed({**leaf, "hour": entry["at"] + 3_600_000}, secret)
        else:
            yield {"leaf": leaf}


def sealed(inside: dict[str, Any], secret: str) -> dict[str, Any]:
    """Return the line of a sealed leaf, opened."""
    salt = hmac.digest(chain.blind_key(secret), f"log:{inside['version']}".encode(), "sha256")
    return {"leaf": {"kind": "sealed", "seal": sha256(salt + rfc8785.dumps(inside)).hexdigest()}, "opened": inside}


def inside(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the leaf of a line as it can be read."""
    leaf: dict[str, Any] = line.get("opened") or line["leaf"]
    return leaf


def with_leaves(draft: Draft, log: TestLog, secret: str) -> None:
    """Put the leaves of a match into a log, with others around them, and into the draft."""
    places = []
    for line in leaves_of(draft, secret):
        log.leaves += [canonical(line["leaf"]), b"another leaf"]
        places.append((line, len(log.leaves) - 2))
    draft.lines[-1:-1] = [{"line": "leaf", **line, "index": index, "proof": log.proof(index)} for line, index in places]
