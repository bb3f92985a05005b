"""Thoughts: the seeds by which artificial players decide, and what is kept of each of their decisions with its entry.

docs/auditing.md describes all of this for other languages.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from games.patterns import DIGEST, matches
from record.entries import Entry, canonical

_MOST = (1 << 53) - 1


Decision = dict[str, Any]
"""What is kept of a decision of an artificial player, as the member `request` of the entry of its action.

`level`: the level that decided. `players`, `weights`: the revision of the players and the digest of their plans and weights. `saw`: the
digest of what the level was shown (`thinking.put`). `budget`: the iterations that it had; `spent`: those that it did.
"""

_NUMBERS, _DIGESTS = ("budget", "players", "spent"), ("saw", "weights")


def thought_key(secret: bytes, match: str, contributions: Mapping[str, str]) -> bytes:
    """Return the key of the seeds of all decisions of a match. It follows from the secret, and has nothing to do with the dice."""
    return hmac.digest(secret, canonical({"contributions": dict(contributions), "match": match, "use": "thoughts"}), "sha256")


def seed_of(key: bytes, version: int, seat: str) -> int:
    """Return the seed of the decision of a seat whose action makes a version: a number of 256 bits."""
    return int.from_bytes(hmac.digest(key, f"{version}:{seat}".encode(), "sha256"), "big")


def request_in(entry: Entry) -> dict[str, str] | None:
    """Return the id and the fingerprint of the request that an entry answers, or None: nobody asked by an id, or a level decided."""
    return entry.request if entry.request is not None and is_request(entry.request) else None


def decision_in(entry: Entry) -> Decision | None:
    """Return what is kept of the decision that led to an entry, or None if no level decided, or nothing is kept of it."""
    return entry.request if entry.request is not None and is_decision(entry.request) else None


def is_request(value: Mapping[str, Any]) -> bool:
    """Return True if the member `request` of an entry is that of a caller."""
    return value.keys() == {"id", "fingerprint"} and all(isinstance(text, str) for text in value.values())


def is_decision(value: Mapping[str, Any]) -> bool:
    """Return True if the member `request` of an entry is a decision of a level."""
    return (
        value.keys() == {"level", *_NUMBERS, *_DIGESTS}
        and isinstance(value["level"], str)
        and all(type(value[name]) is int and 0 <= value[name] <= _MOST for name in _NUMBERS)
        and all(isinstance(value[name], str) and matches(DIGEST, value[name]) for name in _DIGESTS)
    )
