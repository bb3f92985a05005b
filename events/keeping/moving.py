"""Move a service from one store to another: the store that comes along, a server, or a cluster (ADR 124).

1. Copy every key while the service runs, and again what has changed meanwhile, until that is little. Compare what does not change.
2. Let the functions of the source refuse to write. This ends by itself after HALT seconds, so a killed move leaves a service that works.
3. Copy the rest, and compare it.
4. Let all its functions refuse for good, and mark the source as moved. From now on nobody can use it.
5. Give the target its mark. From now on it can be used.

A move that was killed is done again by the same command: before step 4 from the beginning, after it from step 5.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import NamedTuple

from events.errors import StoreRefused
from events.store import library
from events.store.client import load_library
from events.store.copying import BEGUN, PROGRESS, Address, Changes, Side, batched, kind_of

HALT = 60.0  # seconds for which the source refuses to write, if the move is killed then
FEW = 500  # changed keys: few enough for the stop
PASSES = 20

Progress = Callable[[str, int], object]


class Unfit(Exception):
    """The store cannot be moved like this. The text says why, and what to do. The source is as it was."""


class Moved(NamedTuple):
    """What was moved: how many keys of each kind, and for how many seconds nothing could be written; 0 if that was an earlier attempt."""

    keys: dict[str, int]
    seconds: float


def move(source: Address, target: Address, shown: str, progress: Progress = lambda what, number: None) -> Moved:
    """Move a store. `shown`: the target, as people may read it. Raises Unfit, StoreUnavailable, StoreRefused."""
    old, new = Side(source), Side(target)
    try:
        return _Move(old, new, shown, progress).run()
    finally:
        old.close()
        new.close()


class _Move:
    def __init__(self, old: Side, new: Side, shown: str, progress: Progress) -> None:
        self._old = old
        self._new = new
        self._shown = shown
        self._progress = progress
        self._mark = b""
        self._kinds: dict[str, int] = {}

    def run(self) -> Moved:
        """Carry out every step."""
        begun = self._old.get(BEGUN)
        if begun.startswith(library.MOVED):
            return self._finished(begun)
        if not begun:
            raise Unfit("The source is no store of Warledger.")
        self._mark = begun
        self._prepare()
        with Changes(self._old) as changes:
            for keys in self._old.pages():
                self._copy(keys)
            self._catch_up(changes)
            late = self._differing_now() | self._catch_up(changes)
            began = time.monotonic()
            try:
                self._stop(changes, late)
                self._old.halt(library.moved_to(self._shown), None)
                self._old.put_text(BEGUN, library.MOVED + self._shown.encode() + b" " + begun)
            except BaseException:
                if not self._old.get(BEGUN).startswith(library.MOVED):
                    self._old.go_on()
                raise
        self._begin(begun)
        return Moved(self._kinds, time.monotonic() - began)

    def _stop(self, changes: Changes, late: set[bytes]) -> None:
        """Let nobody write to the source, and copy and compare the rest. `late`: what must be compared besides. Raises Unfit."""
        for _ in range(PASSES):
            self._old.halt(f"The matches are being moved to {self._shown}. Try again in some seconds.", HALT)
            rest = changes.take_all()
            self._copy(rest)
            wrong = self._wrong(late | rest)
            if not wrong and not (late := changes.take_all()):  # a key may expire at any time
                return
        raise Unfit(wrong or "Something else than the service writes to the source.")

    @property
    def _source(self) -> bytes:
        """A name of the source that tells nothing."""
        return sha256(b"copied from " + self._mark).hexdigest()[:32].encode()

    def _prepare(self) -> None:
        """Check that both sides fit. Put the functions and a note of the source into the target."""
        others = self._old.libraries() - {library.NAME}
        if others:
            raise Unfit("Processes of another version use the source. Update all, and run `./run functions --alone`.")
        noted = self._new.get(PROGRESS)
        if self._new.get(BEGUN) or (not noted and any(self._new.pages())):
            raise Unfit(f"{self._shown} has data already. Name an empty server.")
        if noted and noted != self._source:
            raise Unfit(f"{self._shown} has the copy of another store that was not finished. Empty it.")
        address = self._new.address
        load_library(address.url, address.renamed, address.cluster)
        ((_, value, _),) = self._old.dumped([BEGUN])
        try:
            self._new.put([(PROGRESS, value, 0)])
        except StoreRefused as reason:
            raise Unfit(f"{self._shown} cannot read what the source writes ({reason.reason}). It may be older than the source.") from None
        self._new.put_text(PROGRESS, self._source)
        for keys in self._new.pages():  # of an earlier attempt
            gone = [key for key, length in zip(keys, self._old.lengths(keys), strict=True) if length < 0 and key != PROGRESS]
            self._new.remove(gone)

    def _copy(self, keys: Iterable[bytes]) -> None:
        """Copy keys as they are now, but for the mark of the store."""
        for some in batched(key for key in keys if key not in (BEGUN, PROGRESS)):
            self._new.put(self._old.dumped(some))
            self._progress("Copy", len(some))

    def _catch_up(self, changes: Changes) -> set[bytes]:
        """Copy what has changed, until that is little. Return what was copied."""
        copied: set[bytes] = set()
        for _ in range(PASSES):
            changed = changes.take()
            self._copy(changed)
            copied |= changed
            if len(changed) <= FEW:
                return copied
        raise Unfit("The source changes faster than it can be copied.")

    def _differing_now(self) -> set[bytes]:
        """Compare every key. Return those that differ, because they have changed meanwhile."""
        late: set[bytes] = set()
        for keys in self._old.pages():
            late |= self._differing(keys)
            self._progress("Compare", len(keys))
        return late

    def _wrong(self, changed: set[bytes]) -> str:
        """Compare the keys that have changed, and how many there are of each kind. Return what differs, in a sentence, or ""."""
        for some in batched(changed):
            for key in self._differing(some):
                return f"{key.decode(errors='replace')} in the target is not what the source has."
        here, there = self._old.counts(), self._new.counts()
        self._kinds = dict(there)
        for kind in sorted(here | there):
            if here[kind] != there[kind]:
                return f"The source has {here[kind]} keys {kind}, and the target {there[kind]}."
        return ""

    def _differing(self, keys: list[bytes]) -> set[bytes]:
        """Return the keys that are not the same on both sides: the number of parts, and of streams the last item with its digest."""
        keys = [key for key in keys if key not in (BEGUN, PROGRESS)]
        pairs = zip(keys, self._old.lengths(keys), self._new.lengths(keys), strict=True)
        found = {key for key, here, there in pairs if here != there}
        streams = [key for key in keys if kind_of(key) == "{p}:s" and key not in found]
        pairs = zip(streams, self._old.newest(streams), self._new.newest(streams), strict=True)
        return found | {key for key, here, there in pairs if here != there}

    def _begin(self, begun: bytes) -> None:
        """Give the target its mark."""
        self._new.put_text(BEGUN, begun)
        self._new.remove([PROGRESS])

    def _finished(self, begun: bytes) -> Moved:
        """Finish a move that was killed after the source was marked. Raises Unfit if it went elsewhere, or is finished."""
        shown, _, self._mark = begun.removeprefix(library.MOVED).partition(b" ")
        if self._new.get(PROGRESS) != self._source:
            raise Unfit(library.moved_to(shown.decode()))
        self._begin(self._mark)
        return Moved(dict(self._new.counts()), 0.0)
