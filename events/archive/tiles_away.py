"""Read what the archive has of the server's log: its first leaves and their hashes, in full tiles.

A server's log grows by two leaves or more for each match. Its first leaves, and their hashes, are as the log's routes serve them:

- `log/<hash of the origin>/tile/entries/<N>`: 256 leaves (C2SP tlog-tiles, a bundle);
- `log/<hash of the origin>/tile/<L>/<N>`: 256 hashes of level L.

The archivist writes them (events/archive/shedding.py). What is read is checked: leaves by their hashes, hashes by the hash above them.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache

from events.errors import ArchiveDamaged
from events.store.server_logs import Noted
from evidence import tiles, tree
from evidence.tiles import BadTile

if TYPE_CHECKING:
    from events.platform import Platform

_KEPT = 64  # tiles and bundles in memory, of 8 to 60 kB each
LOG, ENTRIES = "log/", "entries"


class TilesAway:
    """What the archive has of the server's logs (events.store.server_logs.Archived). The threads of a process share it."""

    def __init__(self, platform: Platform, logged: Callable[[str], Noted]) -> None:
        self.logged = logged
        self._platform = platform
        self._kept: LRUCache[str, list[bytes]] = LRUCache(_KEPT)
        self._lock = Lock()

    def leaves(self, log: str, number: int) -> list[bytes]:
        """Return the 256 leaves of a bundle. Raises ArchiveUnavailable, ArchiveDamaged, StoreUnavailable."""
        return self._read(
            name_of(log, ENTRIES, number), tiles.unbundled, lambda leaves: tiles.leaf_hashes(leaves) == self.hashes(log, 0, number)
        )

    def hashes(self, log: str, level: int, number: int) -> list[bytes]:
        """Return the 256 hashes of a tile. Raises as `leaves` does."""
        above = self._platform.store.server_logs.hash_at
        return self._read(
            name_of(log, str(level), number), tiles.hashes, lambda hashes: tree.hash_of(hashes) == above(log, level + 1, number)
        )

    def _read(self, name: str, parsed: Callable[[bytes], list[bytes]], is_good: Callable[[list[bytes]], bool]) -> list[bytes]:
        with self._lock:
            found = self._kept.get(name)
        if found is not None:
            return found
        content = self._platform.archive.objects.read(name)
        if content is None:
            raise ArchiveDamaged(name, "it is missing")
        try:
            found = parsed(content)
        except BadTile as reason:
            raise ArchiveDamaged(name, str(reason)) from None
        if len(found) != tiles.WIDTH or not is_good(found):
            raise ArchiveDamaged(name, "it does not follow from the rest of the server's log")
        with self._lock:
            self._kept[name] = found
        return found


def name_of(log: str, level: str, number: int) -> str:
    """Return the name of an object. `level`: of a tile, or `entries`.

    >>> name_of("0123456789abcdef", "entries", 1067)
    'log/0123456789abcdef/tile/entries/x001/067'
    """
    return f"{LOG}{log}/tile/{level}/{tiles.path(number)}"
