"""Keep the side log of a match: refused actions of its seats, and reads of hidden information by staff. It is not part of the match's log.

It never disturbs play. Refused actions are written in the background, so a process that dies loses those of its last second. A read is
written before its answer is sent. Receipts name the running hashes of both (ADR 111).
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
from events.store.sidelog import MOST, Seen
from events.timing.clock import Clock
from evidence.running import EMPTY, Running
from evidence.statements import Read as ReadStatement
from evidence.statements import read_text
from games.kernel import SPECTATOR
from record.dossiers.lines import line
from record.entries import NotCanonical, canonical
from table.document import Table

PAUSE = 0.5  # seconds between two writes of refused actions
WAITING = 4096  # refused actions that wait in a process at most
OF_SEAT = 100  # refused actions of a seat that wait in a process at most; earlier ones are lost
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
    """The kept refused actions of a match, oldest first. `dropped`: by seat, the running hash of those that are no longer kept."""

    refused: list[RefusedAction]
    dropped: dict[str, Running]

    def of(self, seats: Collection[str]) -> RefusedActions:
        """Return the refused actions of some seats, for a viewer who may not know how often other seats were refused."""
        dropped = {seat: running for seat, running in self.dropped.items() if seat in seats}
        return RefusedActions([refused for refused in self.refused if refused.seat in seats], dropped)

    def running(self) -> dict[str, Running]:
        """Return by seat the running hash of all its refused actions, as receipts name it."""
        found = dict(self.dropped)
        for refused in self.refused:
            found[refused.seat] = found.get(refused.seat, EMPTY).after(_line(refused))
        return found


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


class Reads(NamedTuple):
    """The reads of a match by reader and kind, the newest of all in their order, and the running hash of those before the newest."""

    reads: list[Read]
    newest: list[Seen]
    dropped: Running

    def running(self, match: str) -> Running:
        """Return the running hash of all reads of the match, as receipts name it."""
        found = self.dropped
        for seen in self.newest:
            found = found.after(read_text(ReadStatement(match, seen.version, seen.reader, seen.what, seen.at)).encode())
        return found


class SideLog:
    """Writes and reads the side logs of matches. The threads of a process share it."""

    def __init__(self, store: Store, signer: Signer, clock: Clock) -> None:
        self._stored = store.sidelog
        self._signer = signer
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, list[tuple[str, bytes]]] = {}
        self._count = 0
        self._lost = 0
        self._thread: threading.Thread | None = None
        self._known: TTLCache[tuple[str, str, str, int], bool] = TTLCache(WAITING, AGAIN)

    def refusals(self, match: str) -> RefusedActions:
        """Return the written refused actions of a match. Raises StoreUnavailable."""
        found = self._stored.refusals(match)
        refused = []
        for raw in found.refused:
            read = orjson.loads(raw)
            del read["line"]
            refused.append(RefusedAction(**{"action": None, "sha256": None, **read}))
        return RefusedActions(refused, found.dropped)

    def reads(self, match: str) -> list[Read]:
        """Return the reads of a match by staff, by reader and kind. Raises StoreUnavailable."""
        return self.all_reads(match).reads

    def all_reads(self, match: str) -> Reads:
        """Return the reads of a match by staff, also in their order. Raises StoreUnavailable."""
        found = self._stored.reads(match)
        return Reads([Read(*each) for each in found.reads], found.newest, found.dropped)

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
        text = _line(refused)
        with self._lock:
            if self._count >= WAITING:
                self._lost += 1
                return
            if _add(self._waiting.setdefault(match, []), seat, text):
                self._count += 1
            else:
                self._lost += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="refusals", daemon=True)
                self._thread.start()

    def note_read(self, match: str, version: int, reader: str, what: str) -> None:
        """Record a read before staff is shown hidden information. Raises StoreUnavailable; then the information must not be shown."""
        place = match, reader, what, version
        with self._lock:
            if place in self._known:
                return
        seen = Seen(version, self._clock.now(), reader, what)
        text = read_text(ReadStatement(match, version, reader, what, seen.at))
        self._stored.add_read(match, seen, text, self._signer.sign(text))
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
                    self._stored.add_refusals(match, refused)
            except StoreUnavailable:
                away = True
            except Exception as error:  # noqa: BLE001 - the others must still be written; the text of an error may contain secrets
                log.error("refusals_lost", match=match, number=len(refused), error=type(error).__name__)
            if away:
                self._put_back(match, refused)

    def _put_back(self, match: str, refused: list[tuple[str, bytes]]) -> None:
        with self._lock:
            for seat, text in self._waiting.get(match, ()):
                self._lost += not _add(refused, seat, text)
            self._waiting[match] = refused
            self._count = sum(map(len, self._waiting.values()))

    def _run(self) -> None:
        """Write waiting actions until none is left."""
        while True:
            time.sleep(PAUSE)
            self.flush()
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return


def _line(refused: RefusedAction) -> bytes:
    """Return a refused action as the store keeps it: the line of a dossier, without its line feed."""
    return line("refused", **refused.as_json()).removesuffix(b"\n")


def _add(waiting: list[tuple[str, bytes]], seat: str, text: bytes) -> bool:
    """Add a refused action to those of its match. Return False if an earlier one, of the same seat if there is one, had to go for it."""
    of_seat = [place for place, (other, _) in enumerate(waiting) if other == seat]
    full = len(of_seat) >= OF_SEAT or len(waiting) >= MOST
    if full:
        del waiting[of_seat[0] if of_seat else 0]
    waiting.append((seat, text))
    return not full


def _encoded(action: Any) -> tuple[bool, str | None]:
    """Return (True, None) for an action that is kept whole, else (False, its SHA-256 in hex)."""
    try:
        text = canonical(action)
    except NotCanonical:
        text, whole = json.dumps(action, sort_keys=True).encode(), False
    else:
        whole = len(text) <= WHOLE
    return whole, None if whole else sha256(text).hexdigest()
