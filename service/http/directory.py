"""The directory: a short-lived cache of players and names in each process.

A thread hears of every change of a player in any process. So revoked keys, lost roles and new names take effect at once. If the thread may
have missed a change, everything is forgotten. Nothing is remembered for longer than `seconds`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from cachetools import TTLCache

from events import accounts, signing_keys
from events.accounts import Account
from events.platform import Platform
from events.store.heads import Lost

REMEMBERED = 10_000
LOOK_SECONDS = 5.0
SIGNING_SECONDS = 30.0  # less than the minute after which verifiers find that a key had been revoked (record/dossiers/keys.py)

Wake = Callable[[int], None]


class Company(NamedTuple):
    """The players of an answer with their names, by id, and the total number of changes of these names."""

    players: dict[str, dict[str, str | None]]
    changes: int

    def tag(self, version: int) -> str:
        """Return the ETag of an answer with these names: the version, and the number of changes if it is not 0."""
        return f"{version}.{self.changes}" if self.changes else str(version)

    def name(self, player: str) -> str | None:
        """Return the name of a player. Return None for a deleted player."""
        return self.players[player]["name"]


class Remembered(NamedTuple):
    """An account, until when it may be remembered (by the monotonic clock), and the number of changes of players that it was read after."""

    account: Account
    until: float
    changes: int


class Directory:
    """The cached players and names. Shared by the threads of a process. A thread listens for changes while something is cached."""

    def __init__(self, platform: Platform, seconds: float) -> None:
        self._platform = platform
        self._seconds = seconds
        self._accounts: TTLCache[str, Remembered] = TTLCache(REMEMBERED, seconds)
        self._names: TTLCache[str, tuple[str | None, int]] = TTLCache(REMEMBERED, seconds)
        self._signing: TTLCache[str, str] = TTLCache(REMEMBERED, min(seconds, SIGNING_SECONDS))  # by player, the key used last if valid
        self._wakes: dict[str, set[Wake]] = {}
        self._changes = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._needed = 0.0

    def account(self, id: str) -> Account | None:
        """Return the account with this id: the player and all keys. Return None if there is none. Raise StoreUnavailable."""
        found = self.remembered(id)
        return None if found is None else found.account

    def remembered(self, id: str) -> Remembered | None:
        """Return the account with this id, and how long it holds. Return None if there is none. Raise StoreUnavailable."""
        with self._lock:
            known = self._accounts.get(id)
            before = self._changes
        if known is not None:
            return known if known.changes == before else known._replace(changes=before)
        until = time.monotonic() + self._seconds
        account = accounts.get(self._platform, id)
        if account is None:
            return None
        found = Remembered(account, until, before)
        with self._lock:
            self._listen()
            if self._changes == before:  # otherwise the account may be older than a change
                self._accounts[id] = found
        return found

    def holds(self, remembered: Remembered) -> bool:
        """Return True if nobody has changed since this account was returned, and it is not too old."""
        return remembered.changes == self._changes and time.monotonic() < remembered.until

    def company(self, ids: Iterable[str]) -> Company:
        """Return the names of players. Names that are not cached are looked up together. Raise StoreUnavailable."""
        wanted = sorted(set(ids))
        with self._lock:
            known = {id: name for id in wanted if (name := self._names.get(id)) is not None}
            before = self._changes
        missing = [id for id in wanted if id not in known]
        if missing:
            found = dict(zip(missing, self._platform.store.accounts.names(missing), strict=True))
            known |= found
            with self._lock:
                self._listen()
                if self._changes == before:
                    self._names.update(found)
        return Company({id: {"name": known[id][0]} for id in wanted}, sum(known[id][1] for id in wanted))

    def signs_with(self, id: str, key: str) -> bool:
        """Return True if a player has a signing key that is not revoked. `key`: in base64. Raise StoreUnavailable."""
        with self._lock:
            known = self._signing.get(id)
            before = self._changes
        if key == known:
            return True
        valid = signing_keys.is_valid(self._platform, id, key)
        if valid:
            with self._lock:
                self._listen()
                if self._changes == before:
                    self._signing[id] = key
        return valid

    def forget(self, id: str) -> None:
        """Forget a player who has changed. Wake the streams of that player."""
        with self._lock:
            self._changes += 1
            self._accounts.pop(id, None)
            self._names.pop(id, None)
            self._signing.pop(id, None)
            wakes = list(self._wakes.get(id, ()))
        for wake in wakes:
            wake(0)

    @contextmanager
    def waking(self, id: str | None, wake: Wake) -> Iterator[None]:
        """Call `wake` with 0 whenever a player has changed, until the end of the block."""
        if id is None:
            yield
            return
        with self._lock:
            self._wakes.setdefault(id, set()).add(wake)
            self._listen()
        try:
            yield
        finally:
            with self._lock:
                wakes = self._wakes[id]
                wakes.discard(wake)
                if not wakes:
                    del self._wakes[id]

    def _listen(self) -> None:
        self._needed = time.monotonic()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._hear, name="directory", daemon=True)
            self._thread.start()

    def _hear(self) -> None:
        for heard in self._platform.store.accounts.changed(LOOK_SECONDS):
            if isinstance(heard, str):
                self.forget(heard)
            elif isinstance(heard, Lost):
                self._forget_all()
            elif self._may_end():
                return

    def _forget_all(self) -> None:
        with self._lock:
            self._changes += 1
            self._accounts.clear()
            self._names.clear()
            self._signing.clear()

    def _may_end(self) -> bool:
        """Return True if the cache is empty, no stream is open, and nobody has asked lately. The next caller starts a new thread."""
        with self._lock:
            self._accounts.expire()
            self._names.expire()
            self._signing.expire()
            if self._accounts or self._names or self._signing or self._wakes or time.monotonic() < self._needed + LOOK_SECONDS:
                return False
            self._thread = None
            return True
