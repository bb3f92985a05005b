"""Collect finished matches into bulk files, step by step, as the server's log names their ends.

A step does a bounded amount of work and keeps its result in one atomic function, which does nothing if another process was faster. So any
number of processes may do it, on any machine, and a step that is killed has changed nothing:

1. Take the next leaves of the log, and note the matches that they say have ended.
2. Read the next entries of the first of these matches, and put them into the part of its file that grows. A part that is large enough is
   complete: its digest is computed, and its row is kept.
3. When the month is over by the clock of the service, and all leaves up to that moment have been taken, complete the files of the month.
   The sequencer then adds a leaf for each.

Matches that were closed before they began, and practice, are left out. A match whose result is disputed waits until the dispute is settled.
A match comes once more, in full, if a dispute was settled after it had come. A match whose object in the archive is damaged is left out, so
that the others come. The log of the service names it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
import structlog

from events.archive.matches import match_in
from events.audit import record_header
from events.errors import ArchiveDamaged, NoMatch, NotInLog
from events.notary import bulk, server_log
from events.notary.bulk import FILE, NO_PARTS, OPEN, File, Part, Span
from events.platform import Platform
from events.store.bulks import NewPart
from events.store.server_logs import Logged, NewLeaf
from evidence.leaves import BULK, END
from record.entries import canonical
from table.state import UNDECIDED

LEAVES = 64  # taken in one step
ENTRIES = 500  # read in one step, as many as a span has at most
LARGE = 2**20  # bytes; a part is complete when it has so many
MANY = 200  # spans; or so many

_NAME = "bulk:1"  # of the only leaf of a file, within the file

log = structlog.get_logger(__name__)


class _Waiting(NamedTuple):
    """A match that has ended, and is not in its file yet. `version`: that of its last entry. `done`: up to which version it is."""

    match: str
    game: str
    version: int
    done: int


class _Growing(NamedTuple):
    """A file that grows, and the part of it that does: its spans, their bytes, and how many records end in it."""

    file: File
    spans: list[Span]
    bytes: int
    matches: int


class _State(NamedTuple):
    """How far the files have come. `month`: the month that is collected. `since`: the first leaf of it, `next`: the next leaf to take.

    `until`: up to which leaf the month goes, once it is over, else None. `waiting`: matches from leaves before `next`. `unlogged`: complete
    files without a leaf, by name, each with the moment when it was completed.
    """

    month: str
    since: int
    next: int
    until: int | None
    waiting: list[_Waiting]
    unlogged: dict[str, int]


def collect(platform: Platform) -> bool:
    """Do a step. Return False if there is nothing more to do for now. Raises StoreUnavailable, KeysUnfit."""
    origin = platform.signer.name
    stored = platform.store.bulks.state(origin)
    try:
        size = server_log.shown(platform, origin).size
    except NotInLog:
        return False
    return _Step(platform, origin, stored).do(size)


def wanted(platform: Platform, origin: str) -> list[NewLeaf]:
    """Return the leaves of files that the server's log lacks. Raises StoreUnavailable."""
    value = platform.store.bulks.field(origin, "state")
    unlogged = _state(value).unlogged if value else {}
    logged = platform.store.server_logs.logged(origin, [bulk.leaf_key(name) for name in unlogged])
    return [_leaf(platform, origin, name, at) for (name, at), leaves in zip(unlogged.items(), logged, strict=True) if not leaves]


def month_of(moment: int) -> str:
    """Return the month of a moment (ms since 1970) in UTC.

    >>> month_of(1_764_547_199_999), month_of(1_764_547_200_000)
    ('2025-11', '2025-12')
    """
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m")


class _Step:
    """A step. It collects what changes, and keeps all of it at the end."""

    def __init__(self, platform: Platform, origin: str, stored: dict[str, bytes]) -> None:
        self._platform = platform
        self._origin = origin
        self._stored = stored
        self._now = platform.clock.now()
        self._state = _state(stored["state"]) if "state" in stored else _State(month_of(self._now), 0, 0, None, [], {})
        self._fields: dict[str, bytes] = {}
        self._parts: list[NewPart] = []

    def do(self, size: int) -> bool:
        """Do what comes next. `size`: how many leaves of the log are published."""
        state = self._state
        if size < max(state.next, state.until or 0):
            return False  # the store is an older one than the log that was signed, which /readyz reports
        if state.until is None and month_of(self._now) > state.month:
            self._state = state = state._replace(until=size)
        if state.waiting:
            self._lay(state.waiting[0])
        elif state.next < (size if state.until is None else state.until):
            self._take(min(LEAVES, (size if state.until is None else state.until) - state.next))
        elif state.until is not None:
            self._complete(state.until)
        elif not self._forget_logged() and "state" in self._stored:
            return False  # but the first month is kept at once
        self._fields["state"] = orjson.dumps({**self._state._asdict(), "waiting": [list(one) for one in self._state.waiting]})
        revision = int(self._stored.get("revision", b"0"))
        return self._platform.store.bulks.keep(self._origin, revision, self._fields, self._parts)

    def _forget_logged(self) -> bool:
        """Forget the files that have a leaf by now. Return False if there are none."""
        names = list(self._state.unlogged)
        logged = self._platform.store.server_logs.logged(self._origin, [bulk.leaf_key(name) for name in names])
        left = {name: self._state.unlogged[name] for name, leaves in zip(names, logged, strict=True) if not leaves}
        changes = left != self._state.unlogged
        self._state = self._state._replace(unlogged=left)
        return changes

    def _take(self, count: int) -> None:
        """Take leaves, and note the matches that have ended by them."""
        first, store = self._state.next, self._platform.store
        leaves = [orjson.loads(raw) for raw in store.server_logs.leaves(self._origin, [(first, count)])[0]]
        ended = [(leaf["match"], leaf["version"]) for leaf in leaves if leaf["kind"] == END]
        matches = [match for match, _ in ended]
        heads = store.log.heads(matches)
        found = [
            _Waiting(match, standing["game"], version, 0)
            for (match, version), standing, head in zip(ended, store.lists.standings(matches), heads, strict=True)
            if standing is not None and head == version and _is_wanted(standing)
        ]
        self._state = self._state._replace(next=first + len(leaves), waiting=found)

    def _lay(self, waiting: _Waiting) -> None:
        """Put the next entries of a match into its file."""
        growing, rest = self._growing(waiting.game), self._state.waiting[1:]
        try:
            entries = self._platform.store.log.read(waiting.match, waiting.done, min(ENTRIES, waiting.version - waiting.done))
            blind = self._blind(waiting.match) if waiting.done == 0 and entries else None
        except ArchiveDamaged as reason:
            self._fields[OPEN + waiting.game] = _as_field(self._without(growing, waiting.match, reason))
            self._state = self._state._replace(waiting=rest)
            return
        span = Span(waiting.match, waiting.done + 1, waiting.done, blind)
        size = growing.bytes + (len(bulk.header_of(span)) + 1 if waiting.done == 0 else 0)
        for entry in entries:
            if span.last >= span.first and size >= LARGE:
                break
            size += len(entry) + 1
            span = span._replace(last=span.last + 1)
        if span.last < span.first:
            log.error("record_unreadable", match=waiting.match, version=waiting.done + 1)
            self._state = self._state._replace(waiting=rest)
            return
        ends = span.last == waiting.version
        growing = growing._replace(spans=[*growing.spans, span], bytes=size, matches=growing.matches + ends)
        if size >= LARGE or len(growing.spans) >= MANY:
            growing = self._completed(growing)
        self._fields[OPEN + waiting.game] = _as_field(growing)
        self._state = self._state._replace(waiting=rest if ends else [waiting._replace(done=span.last), *rest])

    def _blind(self, match: str) -> str | None:
        try:
            blind: str | None = orjson.loads(record_header(self._platform, match))["blind"]
        except NoMatch:
            return None
        return blind

    def _growing(self, game: str) -> _Growing:
        value = self._stored.get(OPEN + game)
        if value:
            return _growing_of(value)
        return _Growing(File(game, self._state.month, self._state.since, None, 0, 0, 0, NO_PARTS), [], 0, 0)

    def _completed(self, growing: _Growing) -> _Growing:
        """Complete the part that grows, if it has anything."""
        content, file = None, growing.file
        while content is None:
            try:
                content = bulk.content(self._platform, growing.spans)
            except ArchiveDamaged as reason:
                growing = self._without(growing, match_in(reason.name), reason)
        if not growing.spans:
            return growing
        part = Part(file.parts + 1, growing.matches, len(content), sha256(content).hexdigest(), growing.spans)
        self._parts.append(NewPart(file.name, part.number, bulk.row_of(part)))
        digest, matches, size = bulk.extended(file.digest, part.sha256), file.matches + part.matches, file.bytes + part.bytes
        return _Growing(file._replace(parts=part.number, matches=matches, bytes=size, digest=digest), [], 0, 0)

    def _without(self, growing: _Growing, match: str, reason: ArchiveDamaged) -> _Growing:
        """Return a part without a match whose object is damaged. What earlier parts have of it stays there.

        Raises ArchiveUnavailable if the whole archive is missing, and `reason` if something else is damaged.
        """
        self._platform.archive.check()
        if match_in(reason.name) != match or not match:
            raise reason
        log.error("bulk_match_left_out", match=match, name=reason.name, why=reason.reason)
        (head,) = self._platform.store.log.heads([match])
        ended = sum(span.match == match and span.last == head for span in growing.spans)
        spans = [span for span in growing.spans if span.match != match]
        return growing._replace(spans=spans, bytes=growing.bytes if spans else 0, matches=growing.matches - ended)

    def _complete(self, until: int) -> None:
        """Complete one file of the month that is over, or begin the next month if all are complete."""
        game = next((name.removeprefix(OPEN) for name, value in sorted(self._stored.items()) if name.startswith(OPEN) and value), None)
        if game is None:
            self._state = _State(month_of(self._now), until, until, None, [], self._state.unlogged)
            return
        growing = self._growing(game)
        file = (self._completed(growing) if growing.spans else growing).file._replace(until=until)
        self._fields |= {OPEN + game: b"", FILE + file.name: orjson.dumps(file._asdict())}
        self._state = self._state._replace(unlogged={**self._state.unlogged, file.name: self._now})


def _is_wanted(standing: dict[str, Any]) -> bool:
    """Return True if a match that has ended belongs into a file: it was played, it counts, and no dispute about it is undecided."""
    return standing["status"] == "over" and not standing["practice"] and all(one["state"] not in UNDECIDED for one in standing["disputes"])


def _leaf(platform: Platform, origin: str, name: str, at: int) -> NewLeaf:
    file = File(**orjson.loads(platform.store.bulks.field(origin, FILE + name)))
    leaf = {
        "at": at,
        "bytes": file.bytes,
        "digest": file.digest,
        "from": file.since,
        "game": file.game,
        "kind": BULK,
        "matches": file.matches,
        "month": file.month,
        "parts": file.parts,
        "to": file.until,
    }
    return NewLeaf(canonical(leaf), bulk.leaf_key(name), Logged(_NAME, 0, file.parts, file.digest, at, at))


def _state(value: bytes) -> _State:
    stored = orjson.loads(value)
    return _State(**{**stored, "waiting": [_Waiting(*one) for one in stored["waiting"]]})


def _as_field(growing: _Growing) -> bytes:
    """Return a file that grows in stored form: the fields of the file, and beside them those of the part."""
    part = {"spans": [list(span) for span in growing.spans], "bytes": growing.bytes, "matches": growing.matches}
    return orjson.dumps({**growing.file._asdict(), "growing": part})


def _growing_of(value: bytes) -> _Growing:
    stored = orjson.loads(value)
    part = stored.pop("growing")
    return _Growing(File(**stored), [Span(*span) for span in part["spans"]], part["bytes"], part["matches"])
