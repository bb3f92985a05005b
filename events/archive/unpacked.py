"""An archived match in the memory of a process: its packed bytes, and what somebody needed of it so far.

A position is folded from the one before it that the object has, or from one that was folded before. It is folded from entries without
digests, which cost most, and gets the one digest that it needs. A page of entries is linked from the digest before its first stretch on. A
few blocks stay unpacked, so a match of any length takes a bounded number of bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

import structlog

from events.archive import matches as objects_of
from events.archive.matches import Beside
from events.deriving import follow_with_tags
from events.errors import ArchiveDamaged
from events.snapshots import FORM, pack, unpack
from events.store.archiving import Away
from events.store.log import PAGE, Known, Loaded
from events.store.packed import fingerprint_of, tag_of
from record.entries import Entry
from record.packing import EVERY, STRETCH, BadPacked, Block, Packed
from record.positions import Position

if TYPE_CHECKING:
    from events.platform import Platform

BLOCKS = 4  # blocks of a match that stay unpacked
SNAPSHOTS = 64  # positions of a match that are kept at most; of a long one at least half as many
OVERHEAD = 64  # bytes that an object takes besides its content, about

log = structlog.get_logger(__name__)


class _Unrolled:
    """A block, and the entries of those of its stretches that somebody has read."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._raws: dict[int, list[bytes]] = {}
        self.size = _size_of(block.lines) + len(block.links) * 6 * OVERHEAD

    def raws(self, stretch: int) -> list[bytes]:
        """Return the bytes of the entries of a stretch. Raises BadPacked."""
        found = self._raws.get(stretch)
        if found is None:
            found = self._raws[stretch] = self.block.linked(stretch)[1]
            self.size += _size_of(found)
        return found


class Unpacked:
    """An archived match in memory. Threads share it. `grown`: is called when it takes more memory than before."""

    def __init__(self, platform: Platform, match: str, away: Away, packed: Packed, grown: Callable[[], object] = lambda: None) -> None:
        self.match, self.away = match, away
        self._platform, self._packed, self._grown = platform, packed, grown
        self._starts = [0]
        for count, *_ in packed.header.blocks[:-1]:
            self._starts.append(self._starts[-1] + count)
        self._every = STRETCH << (away.head // (SNAPSHOTS * STRETCH)).bit_length()
        self._blocks: OrderedDict[int, _Unrolled] = OrderedDict()
        self._lock = Lock()
        self._folding = Lock()
        self._snapshots: dict[int, bytes] = {}
        self._requests: dict[bytes, tuple[int, int]] = {}
        self._folded = self._unreadable = False
        self._beside: Beside | None = None
        self._content = sum(len(part) for _, *parts in packed.header.blocks for part in parts) + len(packed.header.sidelog)

    @property
    def size(self) -> int:
        """About how many bytes it takes now."""
        blocks = sum(unrolled.size for unrolled in list(self._blocks.values()))
        snapshots = _size_of(list(self._snapshots.values()))
        return self._content + blocks + snapshots + 4 * OVERHEAD * len(self._requests) + 32 * OVERHEAD

    @property
    def is_folded(self) -> bool:
        """True if its positions are there, so that none costs more than some entries."""
        return self._folded

    @property
    def secret(self) -> str:
        """The secret of the match in hex. Raises ArchiveDamaged."""
        secret: str = self._block(0).block.head["secret"]
        return secret

    @property
    def last(self) -> bytes:
        """The bytes of its last entry. Raises ArchiveDamaged."""
        return self.entries(self.away.head - 1, self.away.head)[0]

    @property
    def beside(self) -> Beside:
        """What it has beside its entries. Raises ArchiveDamaged."""
        if self._beside is None:
            try:
                self._beside = objects_of.beside(self._packed)
            except BadPacked as reason:
                raise self._damaged(reason) from None
        return self._beside

    def entries(self, after: int, last: int) -> list[bytes]:
        """Return the bytes of the entries after one version and up to another. Raises ArchiveDamaged."""
        found: list[bytes] = []
        last = min(last, self.away.head)
        while after < last:
            number = bisect_right(self._starts, after) - 1
            stretch = (after - self._starts[number]) // STRETCH
            first = self._starts[number] + stretch * STRETCH
            with self._lock:
                unrolled = self._unrolled(number)
                try:
                    raws = unrolled.raws(stretch)
                except BadPacked as reason:
                    raise self._damaged(reason) from None
            found += raws[after - first : last - first]
            after = first + len(raws)
        self._grown()
        return found

    def load(self, version: int | None) -> Loaded:
        """Return what is needed to build a position (Log.load). Raises ArchiveDamaged."""
        head = self.away.head
        wanted = head if version is None else version
        with self._folding:
            best, snapshot = self._before(wanted)
            nearest = head if wanted >= head else wanted // STRETCH * STRETCH
            if nearest > best and not self._unreadable and (folded := self._fold(unpack(snapshot) if snapshot else None, nearest, {})):
                best, snapshot = nearest, folded
        self._grown()
        return Loaded(head, snapshot, self.entries(best, wanted)[:PAGE], self.secret)

    def _before(self, wanted: int) -> tuple[int, bytes | None]:
        """Return the newest position up to a version that need not be folded, with its version; 0 and None if there is none.

        Raises ArchiveDamaged.
        """
        best = max((kept for kept in self._snapshots if kept <= wanted), default=0)
        last = min(wanted, self.away.head) // EVERY * EVERY  # in the object
        if last <= best or self._packed.header.form != FORM:
            return best, self._snapshots.get(best)
        try:
            found = self._packed.positions(bisect_right(self._starts, last - 1) - 1).get(last)
        except BadPacked as reason:
            raise self._damaged(reason) from None
        return (best, self._snapshots.get(best)) if found is None else (last, found)

    def known(self, claim: str) -> Known | None:
        """Return the request with a name if it was carried out. Raises ArchiveDamaged."""
        if not claim:
            return None
        self.fold()
        found = self._requests.get(tag_of(claim))
        if found is None:
            return None
        entries = self.entries(found[0] - 1, found[1])
        return Known(*found, fingerprint_of(entries[-1]), entries)

    def fold(self) -> None:
        """Fold all its entries, which takes 20 to 60 µs for each. Raises ArchiveDamaged."""
        if not self._folded:
            with self._folding:
                if not self.is_folded:
                    tags: dict[int, bytes] = {}
                    self._fold(None, self.away.head, tags)
                    for version, tag in tags.items():
                        self._requests[tag] = (self._requests.get(tag, (version, version))[0], version)
                    self._folded = True
            self._grown()

    def _fold(self, position: Position | None, last: int, tags: dict[int, bytes]) -> bytes | None:
        """Fold the entries from a position on, up to a version at which a stretch ends. Return the position there; None if they cannot be
        followed. Add the tags of requests. Raises ArchiveDamaged.

        Entries that cannot be followed are logged: the match can be told without positions, and whoever builds one finds the error.
        """
        packed = None
        try:
            for after in self._followed(position, last, tags):
                if after.version % self._every == 0 or after.version == last:
                    packed = pack(after)
                    if after.version % self._every == 0 or after.version == self.away.head:
                        self._snapshots[after.version] = packed
        except ArchiveDamaged:
            raise
        except Exception as reason:  # noqa: BLE001 - a match that was tampered with can fail in any way
            log.error("match_unreadable", match=self.match, error=type(reason).__name__)
            self._unreadable = True
            return None
        return packed

    def _followed(self, position: Position | None, last: int, tags: dict[int, bytes]) -> Iterator[Position]:
        """Yield the position after each stretch from a position on, up to a version at which one ends. Add the tags of requests."""
        while (done := 0 if position is None else position.version) < last:
            number = bisect_right(self._starts, done) - 1
            block, stretch = self._block(number).block, (done - self._starts[number]) // STRETCH
            after = follow_with_tags(self._platform, position, _stretch_of(block, stretch), tags)
            if after.begun is not None and (position is None or position.begun is None):  # it has a position of in between
                after = follow_with_tags(self._platform, position, block.linked(stretch)[0], tags)
            position = after._replace(digest=self._digest(number, block, stretch))
            yield position

    def _digest(self, number: int, block: Block, stretch: int) -> str:
        """Return the digest after a stretch."""
        if stretch + 1 < len(block.links):
            return block.links[stretch + 1][0]
        return self.away.digest if number + 1 == len(self._starts) else self._block(number + 1).block.links[0][0]

    def _block(self, number: int) -> _Unrolled:
        with self._lock:
            return self._unrolled(number)

    def _unrolled(self, number: int) -> _Unrolled:
        """Return a block, which is unpacked if it is not in memory. Raises ArchiveDamaged."""
        found = self._blocks.get(number)
        if found is None:
            try:
                found = self._blocks[number] = _Unrolled(self._packed.block(number))
            except BadPacked as reason:
                raise self._damaged(reason) from None
            if len(self._blocks) > BLOCKS:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return found

    def _damaged(self, reason: BadPacked) -> ArchiveDamaged:
        return ArchiveDamaged(objects_of.name_of(self.match, self.away), f"it cannot be read ({reason})")


def _stretch_of(block: Block, stretch: int) -> list[Entry]:
    """Return the entries of a stretch, without digests."""
    return list(islice(block.entries(stretch), STRETCH))


def _size_of(texts: list[bytes]) -> int:
    return sum(map(len, texts)) + OVERHEAD * len(texts)
