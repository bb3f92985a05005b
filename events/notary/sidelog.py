"""Keep the side log of a match: refused actions of its seats, and reads of hidden information by staff. It is not part of the match's log.

It never disturbs play. Refused actions are written in the background, so a process that dies loses those of its last second. A read is
written before its answer is sent.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
import structlog
from cachetools import TTLCache

from events.errors import StoreUnavailable
from events.notary.signer import Signer
from events.store import Store
from events.store.sidelog import BYTES_OF_SEAT, MOST
from events.timing.clock import Clock
from evidence.statements import Read as ReadStatement
from evidence.statements import read_text
from games.kernel import SPECTATOR
from record.entries import NotCanonical, canonical
from table.document import Table

PAUSE = 0.5  # seconds between two writes of refused actions
WAITING = 4096  # refused actions that wait in a process at most
WHOLE = 1000  # bytes: a longer action in canonical JSON is kept as a hash
AGAIN = 60.0  # seconds within which the same read of the same version by the same reader counts once

log = structlog.get_logger("events")


class RefusedAction(NamedTuple):
    """A refused action of a seat. `player` had the seat. `version`: the version of the match. `at`: when it was received (ms since 1970).

    A large action, or one without canonical JSON, is not kept. Its `action` is None, and `sha256` is its hash.
    """

    seat: str
    player: str
    version: int
    at: int
    action: dict[str, Any] | None
    sha256: str | None
    code: str
    rule: str | None

    def as_json(self) -> dict[str, Any]:
        """Return it in the form of answers and dossiers: with `action` or `sha256`."""
        left_out = "sha256" if self.sha256 is None else "action"
        return {name: value for name, value in self._asdict().items() if name != left_out}


class RefusedActions(NamedTuple):
    """The kept refused actions of a match, oldest first. `dropped`: how many are no longer kept."""

    refused: list[RefusedAction]
    dropped: int

    def of(self, seats: Collection[str]) -> RefusedActions:
        """Return the refused actions of some seats, for a viewer who may not know how often other seats were refused."""
        return RefusedActions([refused for refused in self.refused if refused.seat in seats], 0)


class Read(NamedTuple):
    """The reads of one kind by one reader (a player's id, or `admin`): how many, and the signed notes of the first and the newest."""

    reader: str
    what: str
    number: int
    first: str
    newest: str

    def as_json(self) -> dict[str, Any]:
        """Return it in the form of answers."""
        return {"reader": self.reader, "what": self.what, "count": self.number, "first": self.first, "newest": self.newest}


class SideLog:
    """Writes and reads the side logs of matches. The threads of a process share it."""

    def __init__(self, store: Store, signer: Signer, clock: Clock) -> None:
        self._stored = store.sidelog
        self._signer = signer
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, _Waiting] = {}
        self._count = 0
        self._lost = 0
        self._thread: threading.Thread | None = None
        self._known: TTLCache[tuple[str, str, str, int], bool] = TTLCache(WAITING, AGAIN)

    def refusals(self, match: str) -> RefusedActions:
        """Return the written refused actions of a match. Raises StoreUnavailable."""
        found = self._stored.refusals(match)
        refused = [RefusedAction(**{"action": None, "sha256": None, **orjson.loads(raw)}) for raw in found.refused]
        return RefusedActions(refused, found.dropped)

    def reads(self, match: str) -> list[Read]:
        """Return the reads of a match by staff, by reader and kind. Raises StoreUnavailable."""
        return [Read(*found) for found in self._stored.reads(match)]

    def saw_hidden(self, match: str, table: Table, player: str) -> bool:
        """Return True if a player to whom a seat is offered read, as staff, what a seat of the match may not see (TBL-HND-04).

        Nobody else costs a read. Raises StoreUnavailable.
        """
        if player not in table["handovers"].values():
            return False
        return any(read.reader == player and read.what != f"view:{SPECTATOR}" for read in self.reads(match))

    def note_refusal(self, match: str, seat: str, player: str, version: int, at: int, action: Any, code: str, rule: str | None) -> None:
        """Queue a refused action to be written soon. This costs no round trip and never fails."""
        whole, hashed = _encoded(action)
        refused = RefusedAction(seat, player, version, at, action if whole else None, hashed, code, rule)
        text = orjson.dumps(refused.as_json(), option=orjson.OPT_SORT_KEYS)
        with self._lock:
            if self._count >= WAITING:
                self._lost += 1
                return
            self._count += self._waiting.setdefault(match, _Waiting()).add(seat, text)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="refusals", daemon=True)
                self._thread.start()

    def note_read(self, match: str, version: int, reader: str, what: str) -> None:
        """Record a read before staff is shown hidden information. Raises StoreUnavailable; then the information must not be shown."""
        place = match, reader, what, version
        with self._lock:
            if place in self._known:
                return
        note = self._signer.sign(read_text(ReadStatement(match, version, reader, what, self._clock.now())))
        self._stored.add_read(match, reader, what, note)
        with self._lock:
            self._known[place] = True

    def flush(self) -> None:
        """Write the waiting refused actions. If the store does not take them, they wait on."""
        with self._lock:
            waiting, self._waiting, self._count = self._waiting, {}, 0
            lost, self._lost = self._lost, 0
        if lost:
            log.warning("refusals_lost", number=lost)
        away = False
        for match, refused in waiting.items():
            try:
                if not away:
                    self._stored.add_refusals(match, refused.kept, refused.dropped)
            except StoreUnavailable:
                away = True
            except Exception as error:  # noqa: BLE001 - the others must still be written; the text of an error may contain secrets
                log.error("refusals_lost", match=match, number=len(refused.kept), error=type(error).__name__)
            if away:
                self._put_back(match, refused)

    def _put_back(self, match: str, refused: _Waiting) -> None:
        with self._lock:
            newer = self._waiting.get(match, _Waiting())
            self._waiting[match] = refused
            for seat, text in newer.kept:
                refused.add(seat, text)
            refused.dropped += newer.dropped
            self._count = sum(len(one.kept) for one in self._waiting.values())

    def _run(self) -> None:
        """Write waiting actions until none is left."""
        while True:
            time.sleep(PAUSE)
            self.flush()
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return


class _Waiting:
    """Refused actions of a match that wait to be written, at most as many as will be kept."""

    __slots__ = ("dropped", "kept")

    def __init__(self) -> None:
        self.kept: list[tuple[str, bytes]] = []
        self.dropped = 0

    def add(self, seat: str, text: bytes) -> int:
        """Add one. Return by how much the number of waiting actions grew."""
        of_seat = [place for place, (other, _) in enumerate(self.kept) if other == seat]
        full = sum(len(self.kept[place][1]) for place in of_seat) >= BYTES_OF_SEAT or len(self.kept) == MOST
        if full:
            del self.kept[of_seat[0] if of_seat else 0]
            self.dropped += 1
        self.kept.append((seat, text))
        return 0 if full else 1


def _encoded(action: Any) -> tuple[bool, str | None]:
    """Return (True, None) for an action that is kept whole, else (False, its SHA-256 in hex)."""
    try:
        text = canonical(action)
    except NotCanonical:
        text, whole = json.dumps(action, sort_keys=True).encode(), False
    else:
        whole = len(text) <= WHOLE
    return whole, None if whole else sha256(text).hexdigest()
