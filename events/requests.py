"""Requests: how the same request is known when it comes again, and the id of the match that it creates."""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from typing import Any

import orjson

from record.positions import match_id

Request = dict[str, str]
"""The id of a request, and the fingerprint of what it asked for."""


def request_of(id: str | None, who: str, what: Any) -> Request | None:
    """Return the request of a caller who gave it an id, or None without an id. `who` asked for `what`, which can be any JSON."""
    return None if id is None else {"id": id, "fingerprint": _fingerprint(who, what)}


def _fingerprint(who: str, what: Any) -> str:
    """Return 128 bits in hex that tell two requests apart. `what` can be any JSON, legal or not."""
    try:
        encoded = orjson.dumps([who, what], option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a number beyond 64 bits, or half a character
        encoded = json.dumps([who, what], sort_keys=True).encode()
    return sha256(encoded).hexdigest()[:32]


def with_integers(value: Any) -> Any:
    """Return JSON with 2 for 2.0: the same number, in the form that is kept."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: with_integers(item) for key, item in value.items()}
    return [with_integers(item) for item in value] if isinstance(value, list) else value


def id_for(player: str, request: str | None) -> str:
    """Return a new id; for a request of a player always the same."""
    bits = secrets.token_bytes(10) if request is None else sha256(f"{player}/{request}".encode()).digest()[:10]
    return match_id(bits)
