"""Store everything in Redis. No other code sends commands to it.

`log` is the only access to the streams of matches. The append script keeps `lists` and `due`. `projections` has everything that is derived
from the logs. `accounts` has the players, `sidelog` the side logs of matches, `pulses` the running processes, and `server_logs` the Merkle
log of the whole server. `removal` removes matches that never started.
"""

from __future__ import annotations

from collections.abc import Iterator

from events.errors import StoreUnavailable
from events.store.accounts import Accounts
from events.store.client import RedisClient
from events.store.due import DueIndex
from events.store.heads import Head, heads
from events.store.keys import Keys
from events.store.library import FORMAT, other_format, script
from events.store.lists import Lists
from events.store.log import Log, RedisLog
from events.store.projections import Projections
from events.store.pulses import Pulses
from events.store.removal import Removal
from events.store.server_logs import ServerLogs
from events.store.sidelog import SideLog

_BEGUN = "{store}:begun"
_BEGIN = script("begin")


class WrongStore(StoreUnavailable):
    """The store was created in another format or with other settings. The text says which, and what to do."""

    def __str__(self) -> str:
        return self.reason


class Store:
    """The store on one server or a cluster. The threads of a process share it."""

    def __init__(self, client: RedisClient, partitions: int = 16) -> None:
        self.client = client
        self.keys = Keys(partitions)
        self.log: Log = RedisLog(client, self.keys)
        self.lists = Lists(client, self.keys)
        self.due = DueIndex(client, self.keys)
        self.projections = Projections(client, self.keys)
        self.accounts = Accounts(client)
        self.removal = Removal(client, self.keys)
        self.pulses = Pulses(client)
        self.sidelog = SideLog(client, self.keys)
        self.server_logs = ServerLogs(client, self.keys)
        self._checked = False

    def heads(self, patience: float = 1.0) -> Iterator[Head | None]:
        """Yield each match and version as it is appended, and MISSED when something may have been missed (heads.py)."""
        return heads(self.client, [f"{tag}:heads" for tag in self.keys.tags()], patience)

    def can_write(self) -> bool:
        """Return False if the store answers reads but cannot write now. Raises WrongStore, and StoreUnavailable if it does not answer."""
        self._is_begun()
        return self.client.may_write(_BEGIN, [_BEGUN], [FORMAT, self.keys.partitions])

    def check(self) -> None:
        """Mark an empty store with the format and the number of partitions. Raises WrongStore if it has others.

        Only the first call asks the store. Raises StoreUnavailable.
        """
        if not self._is_begun():
            self.client.run(_BEGIN, [_BEGUN], [FORMAT, self.keys.partitions])

    def _is_begun(self) -> bool:
        """Return False if the store is empty. Raises WrongStore, StoreUnavailable."""
        if self._checked:
            return True
        found = self.client.ask("GET", _BEGUN)
        if found is None:
            if next(iter(self.log.matches()), None) is not None:
                raise WrongStore(other_format("The store"))
            return False
        format, _, partitions = found.decode(errors="replace").partition(" ")
        if format != str(FORMAT):
            raise WrongStore(other_format("The store"))
        if partitions != str(self.keys.partitions):
            raise WrongStore(f"The store was created with {partitions} partitions, not {self.keys.partitions} (WARLEDGER_PARTITIONS)")
        self._checked = True
        return True

    def close(self) -> None:
        """Close every connection."""
        self.client.close()
