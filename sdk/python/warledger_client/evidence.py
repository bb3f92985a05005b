"""What the server has said of a match, held against what it says now: the chain of digests, and receipts (docs/auditing.md).

This is written from the description of the formats, with the standard library. PyNaCl is needed only to check signatures.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .problems import BadReceipt, BrokenChain, TwoHistories

KEYS = "server-keys.txt"
START = "0" * 64


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a value (RFC 8785). Entries have no fractions, and the names of members are ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


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
        first, match, version, digest, at = note.partition("\n\n")[0].split("\n")
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

    def entry(self, entry: Mapping[str, Any]) -> None:
        """Check the next entry, or an earlier one again. It has its proof. Raises BrokenChain or TwoHistories."""
        version = entry["version"]
        if not 1 <= version <= self.version + 1:
            raise BrokenChain(self.match, entry, None, f"the entry after version {self.version} should come next")
        try:
            expected = digest_of(self._checked[version - 2][0] if version > 1 else START, self.match, entry)
        except (KeyError, ValueError, TypeError):
            raise BrokenChain(self.match, entry, None, "the proof does not fit the entry") from None
        if expected != entry["digest"]:
            raise BrokenChain(self.match, entry, expected, "the digest does not follow from the entry before and what is shown of this one")
        if version > self.version:
            self._checked.append((expected, entry["at"]))
        elif self._checked[version - 1][0] != expected:
            raise BrokenChain(self.match, entry, self._checked[version - 1][0], "this is not the entry that was shown before")
        if version in self._notes:
            self._compare(Receipt.of(self._notes[version]))

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


class Receipts:
    """A folder of receipts: a file for each match, `<match>.jsonl`, with one JSON text a line, and the keys of the server.

    `keys`: keys of the server that you have noted (vkeys). Without them the folder notes the keys that the server publishes when it gives
    its first receipt, and later ones as they come. Signatures are checked if PyNaCl is installed (`warledger-client[signatures]`).
    """

    def __init__(self, folder: str | Path, keys: Iterable[str] = ()) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._given = list(keys)

    @property
    def keys(self) -> list[str]:
        """The keys that are trusted."""
        noted = self.folder / KEYS
        return self._given or (noted.read_text(encoding="utf-8").split() if noted.exists() else [])

    def note(self, published: Iterable[str]) -> None:
        """Note keys that the server publishes, unless keys were given."""
        if not self._given and (new := [key for key in published if key not in self.keys]):
            with (self.folder / KEYS).open("a", encoding="utf-8") as file:
                file.writelines(f"{key}\n" for key in new)

    def knows(self, note: str) -> bool:
        """Return whether a line of a note names a key that is trusted."""
        return any(_signatures(note, self.keys))

    def of(self, match: str) -> dict[int, str]:
        """Return the receipts of a match by version. Raises TwoHistories if two of them differ."""
        found: dict[int, str] = {}
        file = self.folder / f"{match}.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            note = str(json.loads(line))
            receipt = Receipt.of(note)
            if Receipt.of(found.setdefault(receipt.version, note)) != receipt:
                raise TwoHistories(match, receipt.version, found[receipt.version], note)
        return found

    def keep(self, note: str) -> None:
        """Check the signature of a receipt, and append it to the file of its match. Raises BadReceipt."""
        receipt = Receipt.of(note)
        if not any(check() for check in _signatures(note, self.keys)):
            raise BadReceipt(receipt.match, receipt.version, note, "no key of the server that is trusted has signed the receipt")
        with (self.folder / f"{receipt.match}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")


def _signatures(note: str, vkeys: Iterable[str]) -> Iterator[Callable[[], bool]]:
    """Yield, for each line that names one of the keys, a function that says whether the signature is right."""
    text, _, lines = note.rpartition("\n\n")
    for line in lines.splitlines():
        mark, name, encoded = (*line.split(" "), "", "")[:3]
        for vkey in vkeys:
            key_name, key_id, key = (*vkey.split("+", 2), "", "")[:3]
            signature = _decoded(encoded)
            if (mark, name, signature[:4].hex()) == ("—", key_name, key_id):
                yield partial(_verifies, _decoded(key)[1:], f"{text}\n".encode(), signature[4:])


def _verifies(key: bytes, text: bytes, signature: bytes) -> bool:
    """Return whether an Ed25519 signature is right. Without PyNaCl it is taken as right."""
    try:
        from nacl.exceptions import CryptoError
        from nacl.signing import VerifyKey
    except ModuleNotFoundError:
        return True
    try:
        VerifyKey(key).verify(text, signature)
    except (CryptoError, ValueError):
        return False
    return True


def _decoded(text: str) -> bytes:
    """Return what a text in base64 stands for; nothing if it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
