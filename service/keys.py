"""Keys: who sends a request.

The store has only the hash of a player's key. A process looks a key up once and then remembers its owner for a short time.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from cachetools import TTLCache

from service.problems import Problem
from service.throttle import Throttle

REMEMBERED = 10_000
LONGEST_KEY = 200
REFEREES = ("referee", "admin")
EXEMPT = "admin"


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

    def __init__(self, find: Callable[[str], Any], admin_key: str | None, seconds: float, throttle: Throttle) -> None:
        self._find = find
        self._throttle = throttle
        self._admin_key = admin_key.encode() if admin_key else None
        self._callers: TTLCache[str, Caller] = TTLCache(REMEMBERED, seconds)
        self._lock = threading.Lock()

    def owner(self, header: str | None) -> str | None:
        """Return the id of the player whose key an Authorization header has, or EXEMPT for the admin key, without asking anybody.

        None if this process does not know the key. It may have been revoked since it was known.
        """
        key = None if header is None else _key_in(header)
        if key is None:
            return None
        player = self._throttle.known_keys.owner(key)
        return EXEMPT if player is None and self._is_admin(key) else player

    def caller(self, header: str | None, key: str, address: str) -> Caller:
        """Return the caller who sent this Authorization header from an address.

        Raise Problem `no_key` if a key is needed and missing, `bad_key` if nobody has the key, `too_many_requests` after many wrong keys
        from that address, unless the key is known.
        """
        if header is None:
            if key == "needed":
                raise Problem("no_key")
            return NOBODY
        given = _key_in(header)
        if given is None:
            raise Problem("bad_key")
        with self._lock:
            caller = self._callers.get(given)
        if caller is None:
            caller = self._look_up(given, address)
            with self._lock:
                self._callers[given] = caller
        return caller

    def _look_up(self, key: str, address: str) -> Caller:
        if self._is_admin(key):
            return ADMIN
        self._throttle.check_key(key, address)
        player = self._find(key)
        if player is None:
            self._throttle.count_wrong_key(address)
            raise Problem("bad_key")
        self._throttle.known_keys.add(key, player.id)
        return Caller(player.id, player.name, player.role)

    def _is_admin(self, key: str) -> bool:
        return self._admin_key is not None and hmac.compare_digest(key.encode(), self._admin_key)


@lru_cache(maxsize=1024)
def _key_in(header: str) -> str | None:
    """Return the key in an Authorization header, or None if it cannot be one."""
    scheme, _, given = header.partition(" ")
    given = given.strip()
    return given if scheme.lower() == "bearer" and given and given.isascii() and len(given) <= LONGEST_KEY else None
