"""What the server has said of a match, held against what it says now: the chain of digests, and receipts (docs/auditing.md).

This is written from the description of the formats alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .canonical import canonical
from .problems import BadReceipt, BrokenChain, TwoHistories
from .signing import Move, is_signed

if TYPE_CHECKING:
    from .receipts import Receipts

START = "0" * 64


def part_hash(part: Any, proof: Mapping[str, str]) -> str:
    """Return the hash of a part of an entry: from its salt if the part is shown whole, else from the proof."""
    return proof["leaf"] if "leaf" in proof else hashlib.sha256(bytes.fromhex(proof["salt"]) + canonical(part)).hexdigest()


def digest_of(previous: str, match: str, entry: Mapping[str, Any]) -> str:
    """Return the digest of an entry with its proof, after the digest of the entry before; that of version 1 follows 64 zeros."""
    proof = entry["proof"]
    hashes = [
        part_hash(entry["action"], proof["action"]),
        part_hash(None, proof["request"]),
        part_hash(entry.get("signed"), proof["signed"]),
    ]
    hashes += [part_hash(event, one) for event, one in zip(entry["events"], proof["events"], strict=True)]
    names = ("actor", "at", "revision", "version", *(("secret",) if "secret" in entry else ()))
    digested = {name: entry[name] for name in names}
    digested |= {"format": proof["format"], "leaves": hashes, "match": match, "rules": proof["rules"]}
    return hashlib.sha256(bytes.fromhex(previous) + canonical(digested)).hexdigest()


class Receipt(NamedTuple):
    """What the server has signed: the digest of a match at a version, and the time of that entry in ms."""

    match: str
    version: int
    digest: str
    at: int

    @classmethod
    def of(cls, note: str) -> Receipt:
        """Read a receipt, and leave its signature unchecked. Raises ValueError."""
        first, match, version, digest, at, *_ = note.partition("\n\n")[0].split("\n")  # for a seat it also names the side log
        if first != "warledger.org/receipt/v1":
            raise ValueError(first)
        return cls(match, int(version), digest, int(at))


class Evidence:
    """The chain of a match as far as it was checked, and its receipts.

    `version`, `digest`: the last entry that was checked; 0 and 64 zeros at first.
    """

    def __init__(self, match: str, receipts: Receipts | None = None) -> None:
        self.match = match
        self._receipts = receipts
        self._notes: dict[int, str] = receipts.of(match) if receipts is not None else {}
        self._checked: list[tuple[str, int]] = []  # digest and time of version 1, 2, 3, …

    @property
    def version(self) -> int:
        """The last version that was checked."""
        return len(self._checked)

    @property
    def digest(self) -> str:
        """The digest of that version."""
        return self._checked[-1][0] if self._checked else START

    def digest_at(self, version: int) -> str:
        """Return the digest of a version that was checked; 64 zeros for version 0 and for what was not."""
        return self._checked[version - 1][0] if 1 <= version <= self.version else START

    @property
    def kept(self) -> list[str]:
        """The receipts that were kept, by version."""
        return [self._notes[version] for version in sorted(self._notes)]

    def receipt_at(self, version: int) -> str | None:
        """Return the receipt that was kept of a version."""
        return self._notes.get(version)

    def entry(self, entry: Mapping[str, Any]) -> None:
        """Check the next entry, or an earlier one again. It has its proof. Raises BrokenChain or TwoHistories.

        A signature of its actor is checked, too. Its actor was shown the same history, or the signature is not right here.
        """
        version = entry["version"]
        if not 1 <= version <= self.version + 1:
            raise BrokenChain(self.match, entry, None, f"the entry after version {self.version} should come next")
        try:
            expected = digest_of(self._checked[version - 2][0] if version > 1 else START, self.match, entry)
        except (KeyError, ValueError, TypeError):
            raise BrokenChain(self.match, entry, None, "the proof does not fit the entry") from None
        if expected != entry["digest"]:
            raise BrokenChain(self.match, entry, expected, "the digest does not follow from the entry before and what is shown of this one")
        if "signed" in entry and not self._is_signed(entry):
            raise BrokenChain(
                self.match, entry, expected, f"{entry['actor']} has not signed this action after the history that is shown here"
            )
        if version > self.version:
            self._checked.append((expected, entry["at"]))
        elif self._checked[version - 1][0] != expected:
            raise BrokenChain(self.match, entry, self._checked[version - 1][0], "this is not the entry that was shown before")
        if version in self._notes:
            self._compare(Receipt.of(self._notes[version]))

    def _is_signed(self, entry: Mapping[str, Any]) -> bool:
        """Return whether the actor of an entry has signed its action, at a version before it and with the digest that this has here."""
        signed = entry["signed"]
        try:
            seen = signed["seen"]
            move = Move(self.match, entry["actor"], seen, self.digest_at(seen))
            return 1 <= seen <= entry["version"] - signed["place"] and is_signed(move, entry["action"], signed)
        except (KeyError, TypeError):
            return False

    def receipt(self, note: str) -> None:
        """Keep a receipt that the server has just given. Raises TwoHistories or BadReceipt."""
        try:
            receipt = Receipt.of(note)
        except ValueError:
            raise BadReceipt(self.match, self.version, note, "this is no receipt") from None
        if receipt.match != self.match:
            raise BadReceipt(self.match, receipt.version, note, f"the receipt is for the match {receipt.match}")
        kept = self._notes.get(receipt.version)
        if kept is not None and Receipt.of(kept) == receipt:
            return
        if self._receipts is not None:
            self._receipts.keep(note)  # also the second one, if it differs
        if kept is not None:
            raise TwoHistories(self.match, receipt.version, kept, note)
        self._notes[receipt.version] = note
        self._compare(receipt)

    def _compare(self, receipt: Receipt) -> None:
        """Hold a receipt against the entry of its version, if that has come."""
        if receipt.version <= self.version and self._checked[receipt.version - 1] != (receipt.digest, receipt.at):
            raise TwoHistories(self.match, receipt.version, self._notes[receipt.version], self._checked[receipt.version - 1][0])
