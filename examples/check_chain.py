"""Check the chain of digests of a running match, as anybody may: `python examples/check_chain.py URL MATCH [--viewer SEAT]`.

Standard library only, and nothing of the service: it is written from docs/auditing.md. Set WARLEDGER_KEY to check what your seat sees.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

START = bytes(32)


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a value. Entries hold no fractions, and their member names are ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def leaf(part: Any, proof: dict[str, str]) -> str:
    """Return the leaf of a part: from its salt if it is shown whole, else as the proof has it."""
    if "leaf" in proof:
        return proof["leaf"]
    return hashlib.sha256(bytes.fromhex(proof["salt"]) + canonical(part)).hexdigest()


def digest(previous: bytes, match: str, entry: dict[str, Any]) -> bytes:
    """Return the digest of an entry as its viewer can compute it."""
    proof = entry["proof"]
    leaves = [leaf(entry["action"], proof["action"]), leaf(None, proof["request"])]
    leaves += [leaf(event, one) for event, one in zip(entry["events"], proof["events"], strict=True)]
    frame = {
        "actor": entry["actor"],
        "at": entry["at"],
        "format": proof["format"],
        "leaves": leaves,
        "match": match,
        "revision": entry["revision"],
        "rules": proof["rules"],
        "version": entry["version"],
    }
    if "secret" in entry:
        frame["secret"] = entry["secret"]
    return hashlib.sha256(previous + canonical(frame)).digest()


def entries(url: str, match: str, viewer: str | None, key: str | None) -> Iterator[dict[str, Any]]:
    """Yield every entry of a match with its proof, page by page."""
    after = 0
    while True:
        query = f"after={after}&limit=500&proof=1" + (f"&viewer={viewer}" if viewer else "")
        request = urllib.request.Request(
            f"{url}/v1/matches/{match}/entries?{query}", headers={"Authorization": f"Bearer {key}"} if key else {}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            page = json.load(answer)
        if not page["entries"]:
            return
        yield from page["entries"]
        after = page["version"]


def main(arguments: list[str] | None = None) -> int:
    """Check every entry there is. Return 0 if each digest follows from the one before, else 1."""
    parser = argparse.ArgumentParser(description="Check the chain of digests of a match.")
    parser.add_argument("url", help="such as http://127.0.0.1:8000")
    parser.add_argument("match")
    parser.add_argument("--viewer", help="a seat, spectator or auditor (your seat, or spectator)")
    options = parser.parse_args(arguments)
    previous, version = START, 0
    for entry in entries(options.url, options.match, options.viewer, os.environ.get("WARLEDGER_KEY")):
        found = digest(previous, options.match, entry)
        if entry["version"] != version + 1 or found.hex() != entry["digest"]:
            print(f"version {entry['version']}: the digest does not follow from the entry before and what is shown of this one")
            return 1
        previous, version = found, entry["version"]
    print(f"{version} entries form one chain; the digest of version {version} is {previous.hex()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
