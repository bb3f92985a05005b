"""Thoughts: the seeds of artificial players, and what an entry stores about the decision of an artificial player.

docs/auditing.md describes both for other languages.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from games.patterns import DIGEST, SAW, matches
from record.entries import Entry, canonical
from record.keyed import keyed

_MOST = (1 << 53) - 1


Decision = dict[str, Any]
"""What an entry stores about the decision of an artificial player, as its member `request`.

`level`: the level that decided. `players`, `weights`: the revision of the players and the digest of their plans and weights. `saw`: the
first 64 bits of the hash of what the level was shown (`thinking.put`). `budget`: the iterations that it was given. `spent`: the iterations
that it used.
"""

_NUMBERS, _HASHES = ("budget", "players", "spent"), {"saw": SAW, "weights": DIGEST}


def thought_key(secret: bytes, match: str, contributions: Mapping[str, str]) -> bytes:
    """Return the key of the seeds of all decisions of a match. It follows from the secret, and it is not the key of the dice.

    >>> from record.dice import dice_key
    >>> thought_key(bytes(32), "maaaaaaaaaaaaaaaa", {}) == dice_key(bytes(32), "maaaaaaaaaaaaaaaa", {})
    False
    """
    return keyed(secret)(canonical({"contributions": dict(contributions), "match": match, "use": "thoughts"}))


def seed_of(key: bytes, version: int, seat: str) -> int:
    """Return the seed of a seat's decision, a number of 256 bits. `version`: the version of the entry with its action.

    >>> seed_of(bytes(32), 3, "blue") % 1000
    20
    """
    return int.from_bytes(keyed(key)(f"{version}:{seat}".encode()), "big")


def request_in(entry: Entry) -> dict[str, str] | None:
    """Return the id and the fingerprint of the request for an entry. None if the request had no id, or if a level decided.

    >>> from record.example import ENTRIES
    >>> [request_in(entry) for entry in ENTRIES]
    [None, None, None, None]
    >>> request_in(ENTRIES[3]._replace(request={"id": "7c", "fingerprint": "51f"}))
    {'id': '7c', 'fingerprint': '51f'}
    """
    return entry.request if entry.request is not None and is_request(entry.request) else None


def fingerprint_of(who: str, action: dict[str, Any]) -> str:
    """Return the fingerprint of a request of somebody for one action: 128 bits in hex.

    >>> fingerprint_of("red", {"type": "resign"})
    '86d734abd90e2b139b6693a57a81ddc9'
    """
    return sha256(canonical([who, [action]])).hexdigest()[:32]


def decision_in(entry: Entry) -> Decision | None:
    """Return what an entry stores about the decision of a level. None if no level decided, or if nothing was stored.

    >>> from record.example import ENTRIES
    >>> [entry.version for entry in ENTRIES if decision_in(entry)]
    [3]
    >>> decision_in(ENTRIES[2])["level"]
    'greedy'
    """
    return entry.request if entry.request is not None and is_decision(entry.request) else None


def is_request(value: Mapping[str, Any]) -> bool:
    """Return True if the member `request` of an entry is the request of a caller.

    >>> is_request({"id": "7c", "fingerprint": "51f"}), is_request({"id": 7})
    (True, False)
    """
    return value.keys() == {"id", "fingerprint"} and all(isinstance(text, str) for text in value.values())


def is_decision(value: Mapping[str, Any]) -> bool:
    """Return True if the member `request` of an entry is the decision of a level.

    >>> decision = {"level": "greedy", "players": 1, "weights": "0" * 64, "saw": "0" * 16, "budget": 1, "spent": 1}
    >>> is_decision(decision), is_decision(decision | {"spent": -1}), is_decision(decision | {"saw": "?"})
    (True, False, False)
    """
    return (
        value.keys() == {"level", *_NUMBERS, *_HASHES}
        and isinstance(value["level"], str)
        and all(type(value[name]) is int and 0 <= value[name] <= _MOST for name in _NUMBERS)
        and all(isinstance(value[name], str) and matches(pattern, value[name]) for name, pattern in _HASHES.items())
    )
