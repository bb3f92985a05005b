"""Recognize repeated requests, and derive the id of a match from the request that creates it."""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from typing import Any

import orjson

from record.positions import match_id

Request = dict[str, str]
"""The id and the fingerprint of a request."""


def request_of(id: str | None, who: str, what: Any) -> Request | None:
    """Return a request with its fingerprint, or None without an id. `who` asks for `what`, which can be any JSON."""
    return None if id is None else {"id": id, "fingerprint": _fingerprint(who, what)}


def _fingerprint(who: str, what: Any) -> str:
    """Return 128 bits in hex that identify a request. `what` can be any JSON, legal or not."""
    try:
        encoded = orjson.dumps([who, what], option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a number beyond 64 bits, or a lone surrogate
        encoded = json.dumps([who, what], sort_keys=True).encode()
    return sha256(encoded).hexdigest()[:32]


def with_integers(value: Any) -> Any:
    """Return JSON with whole floats as integers: 2 for 2.0. Records store numbers in this form."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: with_integers(item) for key, item in value.items()}
    return [with_integers(item) for item in value] if isinstance(value, list) else value


def id_for(player: str, request: str | None) -> str:
    """Return a new id. The same request of the same player always gets the same id."""
    bits = secrets.token_bytes(10) if request is None else sha256(f"{player}/{request}".encode()).digest()[:10]
    return match_id(bits)
