"""Keep the journal of a data folder, in a process of its own: `python -m workers.journal`. It delays no answer and no step.

The store announces each append. The process reads the new entries and writes their marks to the journal, at most twenty times a second.
A tenth of a second later they are on the disk. A thread of the process sends the continuous backup (shipping.py).
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Sequence

import structlog

from events.errors import DISK, StoreRefused, StoreUnavailable
from events.keeping import losses
from events.keeping.journal import Busy, Journal
from events.platform import open_platform
from events.store import Store
from events.store.heads import MISSED
from events.telemetry import exposition, logs, metrics
from workers import shipping
from workers.listening import Life, add_option, listen

GATHER_SECONDS = 0.05
SYNC_SECONDS = 0.1
_SILENCE = 3600.0  # seconds without an append after which everything is compared again
_USUAL, _LONGEST = 30.0, 3600.0  # seconds of a round, and of one that compares everything
_PAUSES = (0.5, 1.0)  # seconds to wait after a failure of the store, and of the disk

log = structlog.get_logger(__name__)


class News:
    """The matches with new entries, as announced by the store. A thread collects them, at most one item for each match."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._heads: dict[str, int] = {}
        self._missed = True
        self._changed = threading.Condition()
        threading.Thread(target=self._listen, name="journal", daemon=True).start()

    def _listen(self) -> None:
        listened = 0.0
        for head in self._store.heads(_SILENCE):
            with self._changed:
                if head is None or head is MISSED:
                    self._missed = True
                else:
                    self._heads[head.match] = head.version
                self._changed.notify()
            if time.monotonic() > listened + GATHER_SECONDS:  # waking up for each announcement would cost more than all the rest
                time.sleep(GATHER_SECONDS)
                listened = time.monotonic()

    def take(self, seconds: float | None) -> tuple[dict[str, int], bool]:
        """Wait for news. Return the newest version of each match, and True if an announcement may have been missed."""
        with self._changed:
            if not self._heads and not self._missed:
                self._changed.wait(seconds)
            heads, missed = self._heads, self._missed
            self._heads, self._missed = {}, False
            return heads, missed


def keep(store: Store, journal: Journal, stop: threading.Event, life: Life | None = None) -> None:
    """Keep the journal until `stop` is set. After a failed read or write, try again."""
    life = life or Life()
    news, missed, synced = News(store), False, time.monotonic()
    unsynced = False
    while not stop.is_set():
        wait = max(0.0, synced + SYNC_SECONDS - time.monotonic()) if unsynced else 1.0
        heads, more = news.take(wait)
        missed = missed or more
        life.promise(_LONGEST if missed else _USUAL)
        try:
            if missed:
                store.check()
                if store.what_is_full() == DISK:  # a stand-in, whose data may be incomplete
                    raise StoreUnavailable("it cannot write")
                found = journal.compare(store)
                missed = False
                if found.lost:
                    log.error("entries_lost", matches=len({loss.match for loss in found.lost}))
            for match in [match for match, version in heads.items() if version == 0]:
                journal.forget(match)
                del heads[match]
            metrics.journaled.inc(journal.add(store, heads))
            unsynced = unsynced or bool(heads)
            if unsynced and time.monotonic() >= synced + SYNC_SECONDS:
                journal.sync()
                synced, unsynced = time.monotonic(), False
            if heads:
                stop.wait(GATHER_SECONDS)  # under load, one request reads the entries of many appends
        except (StoreUnavailable, StoreRefused):
            missed = True
            stop.wait(_PAUSES[0])
        except OSError as reason:
            log.warning("journal_not_written", error=reason.strerror)
            missed = True
            stop.wait(_PAUSES[1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Keep the journal of the data folder until the process is killed. Return 1 if another process keeps it."""
    parser = argparse.ArgumentParser(prog="./run journal", description="Keep the journal of the data folder.")
    add_option(parser)
    options = parser.parse_args(arguments)
    logs.configure("stderr")
    exposition.publish_always()
    platform = open_platform(patient=True)
    try:
        journal = Journal(platform.settings.data)
    except Busy:
        log.error("journal_kept_by_another")
        return 1
    life = Life()
    if options.listen is not None:
        listen(options.listen, life, lambda: metrics.entries_lost.set(losses.read(platform.settings.data).entries))
    shipping.start(platform.settings)
    keep(platform.store, journal, threading.Event(), life)
    return 0


if __name__ == "__main__":
    sys.exit(main())
