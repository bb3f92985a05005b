"""Store everything in Redis. No other code sends commands to it.

`log` is the only access to the logs of matches; `live` has only those that are in the store, and `archiving` says which ones are filed away
(events/archive). The append script keeps `lists`, `due` and `hooks`. `projections` has everything that is
derived from the logs. `accounts` has the players, `signing_keys` the keys with which they sign moves, `sidelog` the side logs of matches,
`pulses` the running processes, `server_logs` the Merkle log of the whole server, `bulks` which finished matches are in which bulk file, and
`ratings` those of players. `puzzles` are made of finished matches. `removal` removes matches that never started.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

from events.errors import StoreUnavailable
from events.store.accounts import Accounts
from events.store.archiving import Archiving
from events.store.bulks import Bulks
from events.store.client import RedisClient
from events.store.due import DueIndex
from events.store.guarantees import Judged, judged
from events.store.heads import Head, Heard, Row, heads, written
from events.store.hooks import HookIndex
from events.store.keys import Keys
from events.store.library import FORMAT, MOVED, moved_to, other_format, script
from events.store.lists import Lists
from events.store.log import Log, RedisLog
from events.store.projections import Projections
from events.store.pulses import Pulses
from events.store.puzzles import Puzzles
from events.store.ratings import Ratings
from events.store.removal import Removal
from events.store.server_logs import ServerLogs
from events.store.sidelog import SideLog
from events.store.signing_keys import SigningKeys

_BEGUN = "{store}:begun"
_BEGIN = script("begin")
_SAY = script("say")
_TELL_PRESENCE = script("tell_presence")
_ROWS = 100
_SECRET = 32  # bytes


class WrongStore(StoreUnavailable):
    """The store was created in another format or with other settings. The text says which, and what to do."""

    def __str__(self) -> str:
        return self.reason


class Store:
    """The store on one server or a cluster. The threads of a process share it."""

    def __init__(self, client: RedisClient, partitions: int = 16) -> None:
        self.client = client
        self.url = client.url
        self.keys = Keys(partitions)
        self.live = RedisLog(client, self.keys)
        self.log: Log = self.live
        self.archiving = Archiving(client, self.keys)
        self.lists = Lists(client, self.keys)
        self.due = DueIndex(client, self.keys)
        self.hooks = HookIndex(client, self.keys)
        self.projections = Projections(client, self.keys)
        self.accounts = Accounts(client)
        self.signing_keys = SigningKeys(client)
        self.removal = Removal(client, self.keys)
        self.pulses = Pulses(client, self.keys.tags())
        self.sidelog = SideLog(client, self.keys)
        self.server_logs = ServerLogs(client, self.keys)
        self.ratings = Ratings(client)
        self.puzzles = Puzzles(client)
        self.bulks = Bulks(client, self.keys)
        self._secret: bytes | None = None

    def say(self, match: str, seat: str, phrase: str) -> None:
        """Tell those who follow a match that a seat says a phrase. Nothing is stored. Raises StoreUnavailable."""
        self.client.run(_SAY, [self.keys.stream(match)], [seat, phrase])

    def tell_presence(self, process: str, rows: Sequence[Row]) -> None:
        """Tell all web processes who follows matches in one of them. Nothing is stored. Raises StoreUnavailable."""
        parts: dict[str, list[Row]] = {}
        for row in rows:
            parts.setdefault(self.keys.tag(row.match), []).append(row)
        for part in parts.values():
            for start in range(0, len(part), _ROWS):
                some = part[start : start + _ROWS]
                self.client.run(_TELL_PRESENCE, [self.keys.stream(some[0].match)], [process, *map(written, some)])

    def heads(self, patience: float = 1.0) -> Iterator[Head | None]:
        """Yield each match and version as it is appended, and MISSED when something may have been missed (heads.py)."""
        return (one for one in self.heard(patience) if one is None or isinstance(one, Head))

    def heard(self, patience: float = 1.0) -> Iterator[Heard | None]:
        """Yield the same, what is said at the tables of matches, and what web processes tell of those who follow them."""
        return heads(self.client, [f"{tag}:heads" for tag in self.keys.tags()], patience)

    def what_is_full(self) -> str:
        """Return MEMORY or DISK if the store answers reads but cannot write for that reason, "" if it can write.

        Raises WrongStore, and StoreUnavailable if it does not answer.
        """
        if self._secret is None:
            self._read_mark()
        self.client.hold(self.keys.tags())
        return self.client.what_is_full(_BEGIN, [_BEGUN], self._beginning())

    def memory(self) -> int:
        """Return the bytes that the data and the buffers of the store take, or -1 if the service may not ask. Raises StoreUnavailable."""
        return self.client.memory()

    def check(self) -> None:
        """Mark an empty store with the format, the number of partitions and a secret. Raises WrongStore if it has others.

        Also raises WrongStore if it cannot keep the promise that replicas have what is acknowledged. Only the first call asks the store.
        Raises StoreUnavailable.
        """
        if self._secret is None:
            if self.client.replicas and (refusal := self.judged().refusal):
                raise WrongStore(refusal)
            self.read_secret()

    def judged(self) -> Judged:
        """Return what to change at the servers, as far as this user may ask for their settings (guarantees.py). Raises StoreUnavailable."""
        return judged(self.client.primaries(), self.client.replicas)

    def connected(self) -> int:
        """Return how many replicas the primary with the fewest has, or -1 if that is not known. Raises StoreUnavailable."""
        return min([primary.replicas for primary in self.client.primaries(settings=False)], default=-1)

    @property
    def secret(self) -> bytes:
        """The secret of the store, as it was last read. Raises WrongStore, StoreUnavailable."""
        return self.read_secret() if self._secret is None else self._secret

    def read_secret(self) -> bytes:
        """Return the secret that the store was begun with. It never changes, unless the store is emptied under a running process.

        Raises WrongStore, StoreUnavailable.
        """
        return self._read_mark() or self._take_mark(self.client.run(_BEGIN, [_BEGUN], self._beginning()))

    def _beginning(self) -> list[str | bytes | int]:
        return [FORMAT, self.keys.partitions, secrets.token_hex(_SECRET)]

    def _read_mark(self) -> bytes | None:
        """Check the mark of the store and return its secret, or None if the store is empty. Raises WrongStore, StoreUnavailable."""
        found = self.client.ask("GET", _BEGUN)
        if found is not None:
            return self._take_mark(found)
        if next(iter(self.live.matches()), None) is None:
            return None
        if (found := self.client.ask("GET", _BEGUN)) is None:  # unless another process has begun it meanwhile
            raise WrongStore(other_format("The store"))
        return self._take_mark(found)

    def _take_mark(self, mark: bytes) -> bytes:
        """Check a mark, and keep and return its secret. Raises WrongStore."""
        if mark.startswith(MOVED):
            raise WrongStore(moved_to(mark.decode().split()[1]))
        format, partitions, secret = (*mark.decode(errors="replace").split(" "), "", "")[:3]
        if format != str(FORMAT) or len(secret) != 2 * _SECRET:
            raise WrongStore(other_format("The store"))
        if partitions != str(self.keys.partitions):
            raise WrongStore(f"The store was created with {partitions} partitions, not {self.keys.partitions} (WARLEDGER_PARTITIONS)")
        self._secret = bytes.fromhex(secret)
        return self._secret

    def close(self) -> None:
        """Close every connection."""
        self.client.close()
