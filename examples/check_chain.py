"""Check the chain of digests of a running match: `python examples/check_chain.py URL MATCH [--viewer SEAT]`.

Anybody may do this. The program uses only the standard library and no code of the service: it is written from docs/auditing.md. Set
WARLEDGER_KEY to check what your seat sees. `--receipts FILE` also checks receipts that you have kept, one JSON text a line, as the Python
bot keeps them; this needs the package PyNaCl. `--key` names a key of the server that you have noted.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

START = bytes(32)


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a value. Entries have no fractions, and the names of members are ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def part_hash(part: Any, proof: dict[str, str]) -> str:
    """Return the hash of a part: computed from its salt if the part is shown whole, else from the proof."""
    if "leaf" in proof:
        return proof["leaf"]
    return hashlib.sha256(bytes.fromhex(proof["salt"]) + canonical(part)).hexdigest()


def digest(previous: bytes, match: str, entry: dict[str, Any]) -> bytes:
    """Return the digest of an entry as its viewer can compute it."""
    proof = entry["proof"]
    hashes = [
        part_hash(entry["action"], proof["action"]),
        part_hash(None, proof["request"]),
        part_hash(entry.get("signed"), proof["signed"]),
    ]
    hashes += [part_hash(event, one) for event, one in zip(entry["events"], proof["events"], strict=True)]
    digested = {
        "actor": entry["actor"],
        "at": entry["at"],
        "format": proof["format"],
        "leaves": hashes,
        "match": match,
        "revision": entry["revision"],
        "rules": proof["rules"],
        "version": entry["version"],
    }
    if "secret" in entry:
        digested["secret"] = entry["secret"]
    return hashlib.sha256(previous + canonical(digested)).digest()


def entries(url: str, match: str, viewer: str | None, key: str | None) -> Iterator[dict[str, Any]]:
    """Yield every entry of a match with its proof, page by page."""
    after = 0
    while True:
        query = f"after={after}&limit=500&proof=true" + (f"&viewer={viewer}" if viewer else "")
        request = urllib.request.Request(
            f"{url}/v1/matches/{match}/entries?{query}", headers={"Authorization": f"Bearer {key}"} if key else {}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            page = json.load(answer)
        if not page["entries"]:
            return
        yield from page["entries"]
        after = page["version"]


class Receipt(NamedTuple):
    """What the server has signed: the digest of a match at a version, and the time of that entry."""

    match: str
    version: int
    digest: str
    at: int


class Worthless(Exception):
    """A receipt that proves nothing. The text says why."""


def opened(note: str, vkeys: list[str]) -> Receipt:
    """Return the content of a receipt that one of the keys has signed. Raises Worthless."""
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    text, _, signatures = note.rpartition("\n\n")
    first, match, version, noted, at, *_ = text.split("\n")  # that of a seat also names what was refused to it, and reads of staff
    if first != "warledger.org/receipt/v1":
        raise Worthless("it is not a receipt")
    for line in signatures.splitlines():
        mark, name, encoded = line.split(" ")
        signature = base64.b64decode(encoded)
        for vkey in vkeys:
            key_name, key_id, key = vkey.split("+", 2)
            if (mark, name, signature[:4].hex()) == ("—", key_name, key_id):
                try:
                    VerifyKey(base64.b64decode(key)[1:]).verify((text + "\n").encode(), signature[4:])
                except BadSignatureError:
                    raise Worthless("its signature does not fit its text") from None
                return Receipt(match, int(version), noted, int(at))
    raise Worthless("no key that you know has signed it")


def kept(file: Path, match: str, vkeys: list[str]) -> dict[int, Receipt]:
    """Return the receipts of a match in a file, by version. Raises Worthless for a bad receipt, and for two that disagree."""
    found: dict[int, Receipt] = {}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        try:
            receipt = opened(json.loads(line), vkeys)
        except Worthless as reason:
            raise Worthless(f"the receipt in line {number} is worthless: {reason}") from None
        if receipt.match == match and found.setdefault(receipt.version, receipt) != receipt:
            raise Worthless(f"the server has signed two histories: its receipts of version {receipt.version} disagree")
    return found


def keys_of(url: str) -> list[str]:
    """Return the keys that the server publishes. If you have not noted a key before, you have to trust these."""
    with urllib.request.urlopen(f"{url}/.well-known/warledger-keys", timeout=30) as answer:
        return [key["vkey"] for key in json.load(answer)["keys"]]


def main(arguments: list[str] | None = None) -> int:
    """Check every entry. Return 0 if each digest follows from the one before and every receipt agrees, else 1."""
    parser = argparse.ArgumentParser(description="Check the chain of digests of a match.")
    parser.add_argument("url", help="such as http://127.0.0.1:8000")
    parser.add_argument("match")
    parser.add_argument("--viewer", help="a seat, spectator or auditor (your seat, or spectator)")
    parser.add_argument("--receipts", type=Path, metavar="FILE", help="receipts that you have kept, one JSON text a line")
    parser.add_argument("--key", action="append", metavar="VKEY", help="a key of the server that you have noted (those that it has)")
    options = parser.parse_args(arguments)
    try:
        receipts = kept(options.receipts, options.match, options.key or keys_of(options.url)) if options.receipts else {}
    except Worthless as reason:
        print(reason)
        return 1
    previous, version = START, 0
    for entry in entries(options.url, options.match, options.viewer, os.environ.get("WARLEDGER_KEY")):
        found = digest(previous, options.match, entry)
        if entry["version"] != version + 1 or found.hex() != entry["digest"]:
            print(f"version {entry['version']}: the digest does not follow from the entry before and what is shown of this one")
            return 1
        previous, version = found, entry["version"]
        receipt = receipts.pop(version, None)
        if receipt is not None and (receipt.digest, receipt.at) != (entry["digest"], entry["at"]):
            print(f"version {version}: the server has signed another entry before; its digest was {receipt.digest}")
            return 1
    if receipts:
        print(f"the server has signed version {min(receipts)}, but does not show it")
        return 1
    print(f"{version} entries form one chain; the digest of version {version} is {previous.hex()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
