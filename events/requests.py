"""Requests: actions that are submitted to a match, how the same request is known when it comes again, and the id of a match it creates."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, TypedDict

import orjson

from events.store.log import Claim
from record.positions import Position, match_id

Request = dict[str, str]
"""The id of a request, and the fingerprint of what it asked for."""


class Given(TypedDict, total=False):
    """What a caller may say with actions.

    `expected`: the version that the match must be at. `request`: an id of the caller's own, so that the same request is carried out once.
    `player`: who must have the seat that acts; without it the caller is trusted. `received`: when the request was received, in milliseconds
    since 1970; without it, now. `role`: `referee` or `admin` if the actor is one.
    """

    expected: int | None
    request: str | None
    player: str | None
    received: int | None
    role: str | None


@dataclass(frozen=True)
class Submission:
    """Actions of one actor that are submitted to a match, to be carried out all or none. The rest is as in `Given`.

    `actor`: a seat or `system`; for actions of the table also a player. `at_table`: whether they are actions of the table, not of the game.
    """

    match: str
    actor: str
    actions: Sequence[Any]
    at_table: bool = False
    expected: int | None = None
    request: str | None = None
    player: str | None = None
    received: int | None = None
    role: str | None = None

    @cached_property
    def asked(self) -> Request | None:
        """The request as entries have it, or None without an id."""
        return request_of(self.request, self.actor, list(self.actions))

    def claim(self, before: Position) -> Claim | None:
        """Return the request as the store knows it, in the name of the player who has the seat, or else of the actor."""
        if self.asked is None:
            return None
        owner = self.player or before.roster.get(self.actor, {}).get("player", self.actor)
        return Claim(f"{owner}/{self.asked['id']}", self.asked["fingerprint"])


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
