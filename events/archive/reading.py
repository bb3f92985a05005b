"""Read matches wherever they are: in the store, or in the archive if they are filed away.

A match in the store costs no round trip more. Only where the store has nothing is asked whether the match is filed away. A process keeps
the archived matches that it read last (unpacked.py), up to a number of bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock, Thread, local
from typing import TYPE_CHECKING

import structlog
from cachetools import LRUCache

from events.archive import matches as objects_of
from events.archive import owner
from events.archive.mirrored import open_archive
from events.archive.objects import Objects
from events.archive.tiles_away import TilesAway
from events.archive.unpacked import Unpacked
from events.errors import AWAY, ArchiveDamaged, ArchiveTaken, ArchiveUnavailable, StoreUnavailable
from events.store.archiving import Away, Where
from events.store.log import FILED, PAGE, Appended, Changes, Claim, Conflict, Item, Known, Loaded, RedisLog, Since, every
from events.store.server_logs import Noted
from events.store.sidelog import RawSideLog
from events.telemetry import metrics
from record.entries import parse

if TYPE_CHECKING:
    from events.platform import Platform

KEPT = 32 << 20  # bytes of unpacked matches that a process keeps
LOOK = 10.0  # seconds between two looks whether it answers, at least
FETCHED_AT_ONCE = 4
_LOCKS = 64
_ATTEMPTS = 10  # to find a match that moves between the store and the archive

_OF_THREAD = local()

log = structlog.get_logger(__name__)


def hurry() -> None:
    """Let this thread never wait for the archive, from now on. Others wait for it, and an object may take seconds.

    What is not in memory is read and folded by another thread, and ArchiveUnavailable is raised meanwhile.
    """
    _OF_THREAD.hurries = True


class Archive:
    """The archive of a platform. The threads of a process share it. Its place is opened when it is first used.

    `backup`: the place of the continuous backup if that has a copy of it, or "". `attach` gives it its platform.
    """

    platform: Platform

    def __init__(self, place: str, backup: str = "", kept: int = KEPT) -> None:
        self._place = place
        self._backup = backup
        self._objects: Objects | None = None
        self._opening = Lock()
        self._looked, self._trouble = -LOOK, ""
        self._fetching: set[tuple[str, Away]] = set()
        self._kept: LRUCache[tuple[str, Away], Unpacked] = LRUCache(kept, getsizeof=lambda unpacked: unpacked.size)
        self._lock = Lock()
        self._reading = [Lock() for _ in range(_LOCKS)]  # so that threads that want the same match unpack it once

    @property
    def objects(self) -> Objects:
        """The objects of the archive."""
        with self._opening:
            if self._objects is None:
                self._objects = open_archive(self._place, self._backup)
            return self._objects

    def put(self, objects: Objects) -> None:
        """Use other objects from now on, as tests do."""
        self._objects = objects
        self.forget()

    def forget(self) -> None:
        """Forget every match that is kept in memory."""
        with self._lock:
            self._kept.clear()

    def trouble(self) -> str:
        """Return AWAY if the archive did not answer when it was last looked at, else "". This waits for nothing: a thread looks again."""
        with self._lock:
            is_due = time.monotonic() >= self._looked + LOOK
            if is_due:
                self._looked = time.monotonic()
        if is_due:
            Thread(target=self.look, name="archive", daemon=True).start()
        return self._trouble

    def look(self) -> None:
        """Look whether the archive answers, has something if it should, and belongs to no other store."""
        try:
            self.check()
            self._trouble = ""
        except ArchiveTaken as reason:
            log.error("archive_taken", reason=reason.reason)
            self._trouble = AWAY
        except ArchiveUnavailable:
            self._trouble = AWAY
        except StoreUnavailable:
            return

    def check(self) -> None:
        """Raise ArchiveUnavailable if the archive does not answer, or has no match though it should: a disk may not be mounted.

        Raises ArchiveTaken if it belongs to another store, and StoreUnavailable.
        """
        if owner.owner(self.objects) not in (b"", owner.id_of(self.platform)):
            raise ArchiveTaken(self._place)
        if next(iter(self.objects.names(objects_of.PREFIX)), None) is None and self.platform.store.archiving.number():
            raise ArchiveUnavailable("it is empty, and the store says that it has matches")

    def claim(self) -> None:
        """Let the archive belong to this store before anything is moved there. Raises ArchiveTaken, StoreUnavailable."""
        self.check()
        if owner.claim(self.objects, owner.id_of(self.platform)) != owner.id_of(self.platform):
            raise ArchiveTaken(self._place)

    def read(self, match: str, away: Away) -> Unpacked:
        """Return a match as it is filed away. Raises ArchiveUnavailable, ArchiveDamaged."""
        key = match, away
        with self._lock:
            found = self._kept.get(key)
        hurries = getattr(_OF_THREAD, "hurries", False)
        if found is not None and (found.is_folded or not hurries):
            return found
        if hurries:
            self._fetch(match, away)
            raise ArchiveUnavailable(f"{match} is being read")
        with self._reading[hash(key) % _LOCKS]:
            with self._lock:
                found = self._kept.get(key)
            if found is not None:
                return found
            found = Unpacked(self.platform, match, away, objects_of.opened(self.objects, match, away), partial(self._weigh, key))
            metrics.archive_read.inc()
            with self._lock:
                self._keep(key, found)
            return found

    def _weigh(self, key: tuple[str, Away]) -> None:
        """Let the bytes of a match count that has grown. Others are forgotten for it."""
        with self._lock:
            if (found := self._kept.pop(key, None)) is not None:
                self._keep(key, found)

    def _keep(self, key: tuple[str, Away], found: Unpacked) -> None:
        with suppress(ValueError):  # it is larger than all that may be kept
            self._kept[key] = found

    def _fetch(self, match: str, away: Away) -> None:
        """Read a match and fold its entries in another thread, unless enough are being read."""

        def fetch() -> None:
            try:
                with suppress(StoreUnavailable, ArchiveDamaged):
                    self.read(match, away).fold()
            finally:
                with self._lock:
                    self._fetching.discard((match, away))

        with self._lock:
            if (match, away) in self._fetching or len(self._fetching) >= FETCHED_AT_ONCE:
                return
            self._fetching.add((match, away))
        Thread(target=fetch, name="archive", daemon=True).start()

    def fold(self, match: str) -> None:
        """Read and fold a match if it is not in the store, so that threads that hurry need not wait for it. Raises as `read` does."""
        (where,) = self.platform.store.archiving.where([match])
        if where.away is not None and not where.head:
            self.read(match, where.away).fold()

    def sidelog(self, match: str) -> RawSideLog:
        """Return the side log of a match that is not in the store; an empty one if there is no such match. Raises as `read` does."""
        (where,) = self.platform.store.archiving.where([match])
        return RawSideLog() if where.away is None else self.read(match, where.away).beside.sidelog

    def logged(self, match: str) -> Noted:
        """Return the leaves of a match that is not in the store; none if there is no such match. Raises as `read` does."""
        (where,) = self.platform.store.archiving.where([match])
        return {} if where.away is None or where.head else self.read(match, where.away).beside.leaves


class ArchivedLog:
    """The log over the store and the archive (Log)."""

    def __init__(self, platform: Platform, bring_back: Callable[[str], bool]) -> None:
        self._live: RedisLog = platform.store.live
        self._archiving = platform.store.archiving
        self._archive = platform.archive
        self._bring_back = bring_back

    def head(self, match: str) -> int:
        """Return the version of a match (Log)."""
        return self._live.head(match) or _head(self._where(match))

    def heads(self, matches: Sequence[str]) -> list[int]:
        """Return the version of each match (Log). No object is read."""
        return [_head(where) for where in self._archiving.where(matches)]

    def last(self, matches: Sequence[str]) -> list[bytes | None]:
        """Return the last entry of each match (Log)."""
        return [raw if version else None for version, raw in self.newest(matches)]

    def newest(self, matches: Sequence[str]) -> list[tuple[int, bytes]]:
        """Return the version and the bytes of the newest entry of each match (Log)."""
        found = self._live.newest(matches)
        missing = [place for place, (version, _) in enumerate(found) if not version]
        for place, where in zip(missing, self._archiving.where([matches[place] for place in missing]), strict=True):
            if where.head:
                found[place] = self._live.newest([matches[place]])[0]
            elif where.away is not None:
                found[place] = where.away.head, self._archive.read(matches[place], where.away).last
        return found

    def spans(self, wanted: Sequence[tuple[str, int, int]]) -> list[list[tuple[int, bytes]]]:
        """Return the versions and the bytes of the entries of several matches (Log)."""
        found = self._live.spans(wanted)
        missing = [place for place, entries in enumerate(found) if not entries]
        for place, where in zip(missing, self._archiving.where([wanted[place][0] for place in missing]), strict=True):
            match, first, last = wanted[place]
            if where.head:
                found[place] = self._live.spans([wanted[place]])[0]
            elif where.away is not None and first <= min(last, where.away.head):
                entries = self._archive.read(match, where.away).entries(first - 1, min(last, first - 1 + PAGE))
                found[place] = list(enumerate(entries, first))
        return found

    def read(self, match: str, after: int = 0, limit: int = PAGE) -> list[bytes]:
        """Return the entries after a version, at most `limit` (Log)."""
        found = self._live.page(match, after, limit)
        if found is not None:
            return found
        where = self._where(match)
        if where.head:
            return self._live.read(match, after, limit) if where.head > after else []
        if where.away is None or where.away.head <= after:
            return []
        return self._archive.read(match, where.away).entries(after, after + limit)

    def read_all(self, match: str, after: int = 0) -> Iterator[bytes]:
        """Yield every entry after a version (Log)."""
        return every(self.read, match, after)

    def items(self, match: str) -> Iterator[Item]:
        """Yield every raw item (Log). Those of an archived match are as its object gives them."""
        found = False
        for item in self._live.items(match):
            found = True
            yield item
        if not found:
            for version, raw in enumerate(self.read_all(match), 1):
                yield Item(f"{version}-0", raw, False)

    def load(self, match: str, version: int | None = None) -> Loaded:
        """Return what is needed to build the position at `version`, or at the head (Log)."""
        loaded = self._live.load(match, version)
        if loaded.head:
            return loaded
        where = self._where(match)
        if where.head:
            return self._live.load(match, version)
        return loaded if where.away is None else self._archive.read(match, where.away).load(version)

    def since(self, match: str, version: int, claim: str = "", digest: str = "") -> Since:
        """Return the news after `version`, and the result of the request with the name `claim` (Log).

        If there is no news of an archived match, its object is not read.
        """
        since = self._live.since(match, version, claim, digest)
        if since.head or since.known is not None:
            return since
        where = self._where(match)
        if where.head:
            return self._live.since(match, version, claim, digest)
        if where.away is None:
            return since
        if not claim and version == where.away.head and digest in ("", where.away.digest):
            return Since(version, [], None)
        return self._since(self._archive.read(match, where.away), version, claim, digest)

    def _since(self, found: Unpacked, version: int, claim: str, digest: str) -> Since:
        known = found.known(claim)
        head = found.away.head
        if digest and 0 < version <= head and parse(found.entries(version - 1, version)[0]).digest != digest:
            return Since(-1, [], known)
        return Since(head, found.entries(version, version + PAGE), known)

    def append(
        self, match: str, expected: int, entries: Sequence[bytes], changes: Changes, claim: Claim | None = None, digest: str = ""
    ) -> Appended | Conflict | Known:
        """Append `entries` after version `expected` (Log). A match that is filed away is first brought back, if it would take them."""
        for _ in range(_ATTEMPTS):
            answer = self._live.append(match, expected, entries, changes, claim, digest)
            if not isinstance(answer, Conflict) or answer.head not in (0, FILED):
                return answer
            where = self._where(match)
            if where.head:
                continue
            if where.away is None:
                return answer._replace(head=0)
            since = self._since(self._archive.read(match, where.away), expected, claim.name if claim else "", digest)
            if since.known is not None:
                return since.known
            if since.head != expected:
                return Conflict(since.head, [] if since.head < 0 else since.tail)
            self._bring_back(match)
        raise StoreUnavailable("the match moves between the store and the archive")

    def matches(self) -> Iterator[str]:
        """Yield the id of every match, in the store or filed away, in no order."""
        live = set()
        for match in self._live.matches():
            live.add(match)
            yield match
        for match, _ in self._archiving.filed():
            if match not in live:
                yield match

    def secrets(self) -> Iterator[str]:
        """Yield the id of every match that has a secret in the store (Log)."""
        return self._live.secrets()

    def misplaced(self, match: str | None = None) -> list[str]:
        """Return the keys of logs in another partition than their match (Log)."""
        return self._live.misplaced(match)

    def _where(self, match: str) -> Where:
        return self._archiving.where([match])[0]


def attach(platform: Platform) -> None:
    """Let the store of a platform read and bring back what is filed away."""
    from events.archive.returning import bring_back  # which reads by what is made here

    platform.archive.platform = platform
    platform.store.log = ArchivedLog(platform, partial(bring_back, platform))
    platform.store.sidelog.away = platform.archive.sidelog
    platform.store.server_logs.archived = TilesAway(platform, platform.archive.logged)


def _head(where: Where) -> int:
    return where.head or (where.away.head if where.away else 0)
