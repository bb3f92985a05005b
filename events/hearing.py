"""Hear what matches tell players: read notices (record/notices.py) from the log, entry by entry.

They follow from the entries alone, so nothing is stored for them. A process remembers the matches that it heard last: how far, and what
their newest entries told. So an entry that is heard by many is read and folded once, and a match that goes on is not loaded again.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache

from events import recall
from events.errors import NoMatch
from events.platform import Platform
from record.entries import parse
from record.notices import Notice, notices
from record.positions import Position, follow

PAGE = 100
"""How many entries are read at once, at most."""

_MATCHES = 512
_RECENT = 64  # entries of a match whose notices are remembered


class Told(NamedTuple):
    """A notice, and the version of the entry that tells it. The version must not be shown: in a hidden match a notice has another one."""

    version: int
    notice: Notice


class Heard(NamedTuple):
    """What some entries tell, in order: those up to the version `reached`. `more`: there are later entries."""

    told: list[Told]
    reached: int
    more: bool


class _Known(NamedTuple):
    """A match as far as it was heard. `recent`: what each of its newest entries tells."""

    position: Position
    recent: deque[list[Told]]


class Hearing:
    """Hears the matches of a platform. The threads of a process share it."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._known: LRUCache[str, _Known] = LRUCache(_MATCHES)
        self._lock = Lock()

    def after(self, match: str, version: int, least: int | None = None) -> Heard:
        """Return what the next entries after a version tell: of at most `PAGE` entries.

        `least`: it is enough to hear the entries up to this version; by default all there are. Raises NoMatch, StoreUnavailable.
        """
        with self._lock:
            known = self._known.get(match)
        if known is not None:
            last = known.position.version
            behind = last - version
            if least is not None and last >= least and 0 <= behind <= len(known.recent):
                return Heard(_newest(known, behind), last, False)
            if 0 <= behind <= len(known.recent):
                since = self._platform.store.log.since(match, last, digest=known.position.digest)
                if since.head >= last:
                    newer = self._heard(match, known.position, since.tail, known.recent)
                    found = _newest(newer, newer.position.version - version)
                    return Heard(found, newer.position.version, newer.position.version < since.head)
                # The store has lost entries that were heard here. The log counts.
                with self._lock:
                    self._known.pop(match, None)
        return self._far(match, version)

    def _far(self, match: str, version: int) -> Heard:
        """Hear a page of a match that is not known, or not as far back."""
        tail = self._platform.store.log.read(match, version, PAGE)
        if not tail and not version:
            raise NoMatch(match=match)
        if not tail:
            return Heard([], version, False)
        before = recall.state_at(self._platform, match, version) if version else None
        newer = self._heard(match, before, tail, deque())
        return Heard(_newest(newer, newer.position.version - version), newer.position.version, len(tail) == PAGE)

    def _heard(self, match: str, before: Position | None, tail: list[bytes], recent: deque[list[Told]]) -> _Known:
        """Return a match after the next entries, at most a page of them, and remember it."""
        position, heard = before, deque(recent)
        for raw in islice(tail, PAGE):
            entry, was = parse(raw), position
            game, revision = (entry.events[0]["game"], entry.revision) if was is None else (was.game, was.revision)
            position = follow(recall.folding(self._platform, game, revision), was, entry)
            heard.append([Told(entry.version, notice) for notice in notices(was, entry, position)])
        assert position is not None
        known = _Known(position, heard)
        with self._lock:
            older = self._known.get(match)
            if older is None or older.position.version <= position.version:
                self._known[match] = _Known(position, deque(heard, _RECENT))
        return known


def _newest(known: _Known, entries: int) -> list[Told]:
    """Return what the newest entries of a match tell."""
    return [told for heard in islice(known.recent, len(known.recent) - entries, None) for told in heard]
