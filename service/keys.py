"""Keys: who sends a request.

The store has only the hash of a player's key. A process looks a key up once and then remembers its owner for a short time.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from cachetools import TTLCache

from service.problems import Problem

REMEMBERED = 10_000
LONGEST_KEY = 200
REFEREES = ("referee", "admin")


class Caller(NamedTuple):
    """The sender of a request: a player, the owner of the admin key (who is no player), or an anonymous caller."""

    id: str | None = None
    name: str | None = None
    role: str | None = None

    @property
    def referees(self) -> bool:
        """True if the caller may see everything."""
        return self.role in REFEREES

    def player(self) -> str:
        """Return the id of the calling player. Raise Problem `no_player` for the admin key."""
        if self.id is None:
            raise Problem("no_player")
        return self.id


NOBODY = Caller()
ADMIN = Caller(None, "admin", "admin")


class Keys:
    """The owners of keys, as this process remembers them. Shared by the threads of a process."""

    def __init__(self, find: Callable[[str], Any], admin_key: str | None, seconds: float) -> None:
        self._find = find
        self._admin_key = admin_key.encode() if admin_key else None
        self._callers: TTLCache[str, Caller] = TTLCache(REMEMBERED, seconds)
        self._lock = threading.Lock()

    def caller(self, header: str | None, key: str) -> Caller:
        """Return the caller who sent this Authorization header.

        Raise Problem `no_key` if a key is needed and missing, `bad_key` if nobody has the key.
        """
        if header is None:
            if key == "needed":
                raise Problem("no_key")
            return NOBODY
        scheme, _, given = header.partition(" ")
        given = given.strip()
        if scheme.lower() != "bearer" or not given or not given.isascii() or len(given) > LONGEST_KEY:
            raise Problem("bad_key")
        with self._lock:
            caller = self._callers.get(given)
        if caller is None:
            caller = self._look_up(given)
            with self._lock:
                self._callers[given] = caller
        return caller

    def _look_up(self, key: str) -> Caller:
        if self._admin_key is not None and hmac.compare_digest(key.encode(), self._admin_key):
            return ADMIN
        player = self._find(key)
        if player is None:
            raise Problem("bad_key")
        return Caller(player.id, player.name, player.role)
