"""Move the full tiles of the server's log that a signed checkpoint covers into the archive (ADR 119).

Objects are created, read back and compared before the store forgets what they have. A process that is killed in between leaves objects that
the next one finds, and nothing in the store is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from events.archive import matches as objects_of
from events.archive.objects import Objects
from events.archive.tiles_away import ENTRIES, TilesAway, name_of
from events.errors import ArchiveDamaged
from events.notary import server_log
from events.store.server_logs import Noted, hash_of
from evidence import tiles
from games.patterns import MATCH
from games.patterns import matches as fits

if TYPE_CHECKING:
    from events.platform import Platform

AT_ONCE = 4  # bundles that one step moves


def shed(platform: Platform) -> bool:
    """Move the next full tiles of the server's logs into the archive. Return True if there are more.

    Raises StoreUnavailable, ArchiveUnavailable, ArchiveDamaged if an object of that name has other bytes.
    """
    more = [_shed(platform, origin) for origin in server_log.origins(platform)]
    return any(more)


def said(noted: Noted, leaves: Noted) -> Noted:
    """Return what the store notes of the leaves of a match and its object says, too. Its object may be of an earlier attempt."""
    return {log: fields for log, fields in noted.items() if leaves.get(log) == fields}


def forget(platform: Platform) -> None:
    """Forget the leaves of matches that are filed away, where a process was killed before it did so.

    Raises StoreUnavailable, ArchiveUnavailable.
    """
    origins, logs = server_log.origins(platform), platform.store.server_logs
    names = iter(sorted({name for origin in origins for name in logs.named(origin, "m") if fits(MATCH, name)}))
    while some := list(islice(names, 500)):
        filed = [match for match, where in zip(some, platform.store.archiving.where(some), strict=True) if where.away is not None]
        for match in filed:
            returns = logs.returns(origins, match)
            (where,) = platform.store.archiving.where([match])
            if where.away is not None:
                with suppress(ArchiveDamaged):
                    whole = objects_of.read(platform.archive.objects, match, where.away)
                    logs.forget(match, said(logs.noted(origins, match), whole.leaves), returns)


def needed(platform: Platform) -> Iterator[str]:
    """Yield the names of all objects that the server's logs need. Raises StoreUnavailable."""
    for log, level, number in _tiles(platform):
        yield name_of(log, str(level), number)
        if level == 0:
            yield name_of(log, ENTRIES, number)


def verify(platform: Platform) -> Iterator[ArchiveDamaged]:
    """Read every object that the server's logs need, and yield what is wrong. Raises StoreUnavailable, ArchiveUnavailable."""
    tiles_away = TilesAway(platform, lambda _: {})
    for log, level, number in _tiles(platform):
        try:
            tiles_away.hashes(log, level, number)
            if level == 0:
                tiles_away.leaves(log, number)
        except ArchiveDamaged as reason:
            yield reason


def _tiles(platform: Platform) -> Iterator[tuple[str, int, int]]:
    """Yield the log, the level and the number of each tile that the archive has and the store no longer has."""
    for log, held in platform.store.server_logs.all_held().items():
        level, number = 0, held // tiles.WIDTH
        while number:
            yield from ((log, level, each) for each in range(number))
            level, number = level + 1, number // tiles.WIDTH


def _shed(platform: Platform, origin: str) -> bool:
    logs, objects = platform.store.server_logs, platform.archive.objects
    state, log = logs.state(origin), hash_of(origin)
    first, most = logs.held(origin) // tiles.WIDTH, max(0, min(state.served, state.size - 1)) // tiles.WIDTH
    last = min(most, first + AT_ONCE)
    if first >= last:
        return False
    for number in range(first, last):
        (leaves,) = logs.leaves(origin, [(number * tiles.WIDTH, tiles.WIDTH)])
        (hashes,) = logs.hashes(origin, [(0, number * tiles.WIDTH, tiles.WIDTH)])
        name = name_of(log, ENTRIES, number)
        if len(leaves) != tiles.WIDTH or tiles.leaf_hashes(leaves) != hashes:
            raise ArchiveDamaged(name, "the hashes of the server's log do not match its leaves")
        _move(objects, name, tiles.bundle(leaves))
        level = 0
        while True:
            (hashes,) = logs.hashes(origin, [(level, number * tiles.WIDTH, tiles.WIDTH)])
            _move(objects, name_of(log, str(level), number), b"".join(hashes))
            if (number + 1) % tiles.WIDTH:
                break
            number, level = number // tiles.WIDTH, level + 1
    return logs.shed(origin, last * tiles.WIDTH) and last < most


def _move(objects: Objects, name: str, content: bytes) -> None:
    """Create an object, and read it back. Raises ArchiveUnavailable, ArchiveDamaged."""
    objects.create(name, content)
    if objects.read(name) != content:
        raise ArchiveDamaged(name, "it has other bytes than the store")
