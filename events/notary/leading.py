"""Lead: hold the lease of the server's log. Of all processes that could add leaves and sign, one does (ADR 121)."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from events.errors import StoreRefused, StoreUnavailable
from events.store.server_logs import ServerLogs

LEASE_MS = 5000  # after which another process may take the lease of one that has stopped


class Lead:
    """The lease as a process has it. Processes with one folder of keys take it from each other at once, since they lock the folder first.

    The lease keeps no other process from signing by its time, which only says when to ask again: the store refuses leaves and checkpoints
    under an earlier number. `holder`: returns 16 hex digits. `seconds`: a clock that never goes back.
    """

    def __init__(self, logs: ServerLogs, holder: Callable[[], str], seconds: Callable[[], float] = time.monotonic) -> None:
        self._logs = logs
        self._holder = holder
        self._seconds = seconds
        self._leases: dict[str, tuple[str, float]] = {}  # by origin: the lease, and when it was taken

    def take(self, origin: str) -> str:
        """Return the lease of a server's log, or "" if somebody else holds it. Raises StoreUnavailable."""
        lease, taken = self._leases.get(origin, ("", 0.0))
        now = self._seconds()
        if not lease or now - taken > LEASE_MS / 2000:
            lease = self._logs.lead(origin, self._holder(), LEASE_MS, lease)
            self._leases[origin] = lease, now
        return lease

    def lost(self, origin: str) -> None:
        """Ask for the lease again, since the store has refused it."""
        self._leases.pop(origin, None)

    def give_up(self) -> None:
        """Let other processes lead at once."""
        while self._leases:
            origin, (lease, _) = self._leases.popitem()
            with suppress(StoreUnavailable, StoreRefused):  # then they wait until its time is over
                if lease:
                    self._logs.lead(origin, self._holder(), 0, lease)


def holder_of(folder: Path) -> str:
    """Return the holder that the processes with a folder of keys are. A copy of the folder is another one. The folder must exist."""
    found = folder.stat()
    return sha256(f"{socket.gethostname()} {found.st_dev} {found.st_ino}".encode()).hexdigest()[:16]
