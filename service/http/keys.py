"""Keys: who sends a request, and what the key may do.

The store has only hashes of players' keys. The directory caches accounts for a short time (service/http/directory.py).
"""

from __future__ import annotations

import hmac
import threading
import time
from functools import lru_cache
from typing import Any, NamedTuple

from cachetools import TTLCache

from events import accounts
from events.accounts import SCOPES, Account, Key, Seals
from events.errors import PlatformError
from events.platform import Platform
from events.store.accounts import ADMIN as ADMIN_SIGNER
from events.store.accounts import Signer
from games.sentences import say
from service.http.directory import REMEMBERED, Directory, Remembered
from service.http.problems import Problem
from service.http.settings import LONGEST_KEY

REFEREES = ("referee", "admin")

_DAY = 86_400


CALLER = "warledger.caller"  # in the environ of a request: who has sent it, or why nobody knows


class Caller(NamedTuple):
    """The sender of a request: a player with a key, the owner of the admin key (who is no player), or an anonymous caller.

    `payer`: the player for whom the request counts. None: it counts for its address.
    """

    id: str | None = None
    name: str | None = None
    role: str | None = None
    key: Key | None = None
    payer: str | None = None

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of the key. The admin key has all."""
        if self.key is None:
            return () if self.role is None else SCOPES
        return self.key.scopes

    @property
    def referees(self) -> bool:
        """True if the caller may act as a referee: the role and the key allow it."""
        return self.role in REFEREES and "referee" in self.scopes

    @property
    def signer(self) -> Signer:
        """The key that asks for a change of an account, as the store checks it."""
        if self.key is None:
            return ADMIN_SIGNER
        assert self.key.hash is not None
        return Signer(self.key.id, self.key.hash)

    def player(self) -> str:
        """Return the id of the calling player. Raise Problem `no_player` for the admin key."""
        if self.id is None:
            raise Problem("no_player")
        return self.id

    def check(self, by: str) -> None:
        """Raise Problem `no_player` or `role_needed` unless the caller may ask. `by`: `player`, `referee`, `admin` or `anybody`."""
        if by == "player":
            self.player()
        elif by == "referee" and not self.referees:
            raise Problem("role_needed", needed=say("referees"))
        elif by == "admin" and self != ADMIN:
            raise Problem("role_needed", needed=say("the owner of the admin key"))


class _Known(NamedTuple):
    """A caller whose header was looked up on a day. It is valid on that day, while the account stays the same."""

    caller: Caller
    owner: Remembered
    day: int


NOBODY = Caller()
ADMIN = Caller(None, "admin", "admin")


class Keys:
    """Finds the owners of keys. Shared by the threads of a process."""

    def __init__(self, platform: Platform, directory: Directory, admin_key: str | None) -> None:
        self._platform = platform
        self._directory = directory
        self._seals = Seals(platform)
        self._admin_key = admin_key.encode() if admin_key else None
        self._noted: TTLCache[tuple[str, str], int] = TTLCache(REMEMBERED, _DAY)
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def identify(self, environ: dict[str, Any]) -> Caller:
        """Find out who has sent a request, once. Return the caller, or NOBODY if nobody has the key or the store is away.

        What a process remembers costs no round trip. A key that this service has not made costs none either.
        """
        try:
            caller = environ[CALLER] = self.sender(environ.get("HTTP_AUTHORIZATION"))
        except (Problem, PlatformError) as unknown:
            environ[CALLER] = unknown.with_traceback(None)
            return NOBODY
        return caller

    def caller(self, environ: dict[str, Any], key: str = "optional", scope: str | None = "read") -> Caller:
        """Return the caller whom `identify` has found.

        Raise Problem `no_key` if a key is needed and missing, `bad_key` if nobody has it, or `scope_needed` if it lacks the scope.
        """
        if CALLER not in environ:
            self.identify(environ)
        if isinstance(environ[CALLER], Exception):
            raise environ.pop(CALLER)  # its traceback keeps this frame, and so the environ
        return _checked(environ[CALLER], key, scope)

    def caller_now(self, header: str | None) -> Caller:
        """Return who sends this Authorization header now, as `caller` does for a key that is optional and may read."""
        return _checked(self.sender(header), "optional", "read")

    def renewed(self, header: str | None) -> Caller | None:
        """Return the present caller with this header, perhaps with another role. Return None if the key is no longer valid."""
        try:
            return self.caller_now(header)
        except Problem:
            return None

    def sender(self, header: str | None) -> Caller:
        """Return who sends this Authorization header. Raise Problem `bad_key`. Raises StoreUnavailable."""
        if header is None:
            return NOBODY
        known, today = self._known.get(header), int(time.time()) // _DAY
        if known is None:
            return self._found(header, today, None)
        if known.day == today and self._directory.holds(known.owner):
            return known.caller
        owner = self._directory.remembered(known.owner.account.player.id)
        if owner is not None and known.day == today and known.owner.account == owner.account:
            self._known[header] = known._replace(owner=owner)
            return known.caller
        return self._found(header, today, None if owner is None else owner.account)

    def _found(self, header: str, today: int, account: Account | None) -> Caller:
        """Return the caller with this header. `account`: the owner's, if known. Raise Problem `bad_key`."""
        given = _key_in(header)
        if given is None:
            raise Problem("bad_key")
        if self._is_admin(given):
            return ADMIN
        held = self._seals.holder(given, self._directory.account if account is None else lambda _: account)
        if held is None:
            raise Problem("bad_key")
        account, key = held
        self._note_use(account, key, today)
        player = account.player
        caller = Caller(player.id, player.name, player.role, key, player.id if "play" in key.scopes else None)
        if len(header) <= 2 * LONGEST_KEY:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[header] = _Known(caller, Remembered(account, 0.0, 0), today)
        return caller

    def _note_use(self, account: Account, key: Key, today: int) -> None:
        """Record the day on which a key is used, once a day. If the store cannot write, only the day is lost."""
        if key.used == today:
            return
        place = account.player.id, key.id
        with self._lock:
            if self._noted.get(place) == today:
                return
        try:
            accounts.note_use(self._platform, account.player.id, key, today)
        except PlatformError:
            return
        with self._lock:
            self._noted[place] = today

    def _is_admin(self, key: str) -> bool:
        return self._admin_key is not None and hmac.compare_digest(key.encode(), self._admin_key)


def _checked(caller: Caller, key: str, scope: str | None) -> Caller:
    """Return the caller. Raise Problem `no_key` if a key is needed and missing, or `scope_needed`."""
    if caller is NOBODY:
        if key == "needed":
            raise Problem("no_key")
        return NOBODY
    if scope is not None and scope not in caller.scopes:
        raise Problem("scope_needed", scope=scope)
    return caller


@lru_cache(maxsize=1024)
def _key_in(header: str) -> str | None:
    """Return the key in an Authorization header, or None if it cannot be one."""
    scheme, _, given = header.partition(" ")
    given = given.strip()
    return given if scheme.lower() == "bearer" and given and given.isascii() and len(given) <= LONGEST_KEY else None
