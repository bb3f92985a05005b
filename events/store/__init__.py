"""The store: the only code that sends commands to Redis.

`log` is the wall around the streams. Beside it are what the append script keeps (`lists`, `due`), what is derived from the logs as a
whole (`projections`), the players (`accounts`), the side logs of matches (`sidelog`), the end of matches that never started (`removal`),
which processes run (`pulses`), and the Merkle log of the whole server (`server_logs`).
"""

from __future__ import annotations

from collections.abc import Iterator

from events.errors import StoreUnavailable
from events.store.accounts import Accounts
from events.store.beside import SideLog
from events.store.client import RedisClient
from events.store.due import DueIndex
from events.store.heads import Head, heads
from events.store.keys import Keys
from events.store.ledgers import ServerLogs
from events.store.library import FORMAT, other_format, script
from events.store.lists import Lists
from events.store.log import Log, RedisLog
from events.store.projections import Projections
from events.store.pulses import Pulses
from events.store.removal import Removal

_BEGUN = "{store}:begun"
_BEGIN = script("begin")


class WrongStore(StoreUnavailable):
    """The store was begun in another format or with other settings. The text says which, and what to do."""

    def __str__(self) -> str:
        return self.reason


class Store:
    """Everything that is kept, over one server or a cluster. Shared by the threads of a process."""

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
        """Yield every match and version as they are appended, and MISSED whenever something may have been missed (heads.py)."""
        return heads(self.client, [f"{tag}:heads" for tag in self.keys.tags()], patience)

    def can_write(self) -> bool:
        """Return False if the store answers reads, but cannot write now. Raises WrongStore, and StoreUnavailable unless it answers."""
        self._is_begun()
        return self.client.may_write(_BEGIN, [_BEGUN], [FORMAT, self.keys.partitions])

    def check(self) -> None:
        """Begin a store that is empty. Raise WrongStore if it was begun in another format, or with other partitions, in which no stream is
        found.

        Only the first call asks the store. Raises StoreUnavailable.
        """
        if not self._is_begun():
            self.client.run(_BEGIN, [_BEGUN], [FORMAT, self.keys.partitions])

    def _is_begun(self) -> bool:
        """Return False if the store is empty. Raise WrongStore, StoreUnavailable."""
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
            raise WrongStore(f"The store was begun with {partitions} partitions, not {self.keys.partitions} (WARLEDGER_PARTITIONS)")
        self._checked = True
        return True

    def close(self) -> None:
        """Close every connection."""
        self.client.close()
