"""Keys: who a request comes from.

A player's key is looked up once and then remembered in this process for a short while; the store has only its hash.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from service.problems import Problem

REMEMBERED = 10_000
LONGEST_KEY = 200
REFEREES = ("referee", "admin")


class Caller(NamedTuple):
    """Who asks: a player, the holder of the admin key (who is no player), or somebody unknown."""

    id: str | None = None
    name: str | None = None
    role: str | None = None

    @property
    def referees(self) -> bool:
        """Whether the caller may see everything."""
        return self.role in REFEREES

    def player(self) -> str:
        """The id of the player who asks. Raises Problem `no_player` for the admin key."""
        if self.id is None:
            raise Problem("no_player")
        return self.id


NOBODY = Caller()
ADMIN = Caller(None, "admin", "admin")


class Keys:
    """Keys and their holders, as this process remembers them."""

    def __init__(self, find: Callable[[str], Any], admin_key: str | None, seconds: float) -> None:
        self._find = find
        self._admin_key = admin_key.encode() if admin_key else None
        self._seconds = seconds
        self._known: dict[str, tuple[float, Caller]] = {}

    def caller(self, header: str | None, key: str) -> Caller:
        """Who sent this Authorization header. Raises Problem `no_key` where one is needed, `bad_key` for a key that nobody has."""
        if header is None:
            if key == "needed":
                raise Problem("no_key")
            return NOBODY
        scheme, _, given = header.partition(" ")
        given = given.strip()
        if scheme.lower() != "bearer" or not given or not given.isascii() or len(given) > LONGEST_KEY:
            raise Problem("bad_key")
        known = self._known.get(given)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        caller = self._looked_up(given)
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[given] = (time.monotonic() + self._seconds, caller)
        return caller

    def _looked_up(self, key: str) -> Caller:
        if self._admin_key is not None and hmac.compare_digest(key.encode(), self._admin_key):
            return ADMIN
        player = self._find(key)
        if player is None:
            raise Problem("bad_key")
        return Caller(player.id, player.name, player.role)
