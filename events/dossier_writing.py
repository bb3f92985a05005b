"""Write the dossier of a match page by page (docs/auditing.md). Only one page is in memory at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from itertools import takewhile
from typing import Any

from events import recall
from events.errors import NoMatch
from events.notary import key_leaves, server_log
from events.notary.server_log import Shown
from events.notary.sidelog import Reads
from events.platform import Platform
from games.kernel import SPECTATOR
from record.dossiers.lines import WHOLE, follow_disputes, line
from record.dossiers.signers import Signers
from record.dossiers.writing import first_line, lines_of_entry, signed
from record.entries import Entry, parse
from record.positions import Position
from table.state import OPEN, delay

PAGE = 200  # entries to read at a time


def write(platform: Platform, position: Position, viewer: str, logs: Sequence[Shown]) -> Generator[bytes, None, None]:
    """Yield the dossier of a match up to a position, as bytes of whole lines. `viewer`: `all`, a seat or `spectator`.

    `logs`: the server's logs, from before the position was read (`server_log.all_shown`). So the position has every version that they name,
    and all their leaves of the match can be written: one of a later version shows that the match has lost entries. A key that was
    registered just now may have no leaf in them yet.
    A truncated dossier has no last line, so nobody takes it for a complete one. Raises NoMatch, StoreUnavailable, before the first bytes or
    later.
    """
    yield from signed(_pages(platform, position, viewer, logs), position, viewer, platform.signer.sign)


def _pages(platform: Platform, position: Position, viewer: str, logs: Sequence[Shown]) -> Iterator[list[bytes]]:
    """Yield all lines except the last, a page at a time."""
    cached = recall.cached(platform, position.match)
    game = recall.rules_of(platform, position)
    ended = position.ended
    blind = cached.blind if ended or (viewer == WHOLE and position.table["phase"] != OPEN) else None
    yield [first_line(position, viewer, platform.clock.now(), platform.signer.name, platform.signer.vkeys(), blind)]
    prover = None if viewer == WHOLE else recall.prover(platform, position.match)
    named, signers = set[tuple[int, str]](), Signers()
    disputes: list[dict[str, Any]] = []
    last: Entry | None = None
    version = 0
    while version < position.version:
        page: list[bytes] = []
        for raw in platform.store.log.read(position.match, version, min(PAGE, position.version - version)):
            last = parse(raw)
            page += lines_of_entry(game, last, raw, viewer, prover, named, signers)
            follow_disputes(disputes, last.events, last.version, last.action["type"])
        if last is None or last.version == version:
            raise NoMatch(match=position.match)
        version = last.version
        yield page
    assert last is not None
    yield [line("dispute", **dispute) for dispute in disputes]
    yield list(_sidelog(platform, position, viewer))
    yield [line("receipt", note=platform.signer.receipt(position.match, last.version, last.digest, last.at))]
    for owner in signers.versions:
        yield [line("signing_key", **owner._asdict(), leaves=key_leaves.proven(platform, owner.player, owner.key, logs))]
    for log in logs:
        yield from _leaves(platform, position, viewer, log)


def _sidelog(platform: Platform, position: Position, viewer: str) -> Iterator[bytes]:
    """Yield the refused actions that the viewer may see, and the reads by staff up to the last version. Both are bounded."""
    found = platform.sidelog.refusals(position.match)
    if viewer != WHOLE:
        found = found.of([viewer])
    for refused in takewhile(lambda refused: refused.version <= position.version, found.refused):
        yield line("refused", **refused.as_json())
    for seat, running in sorted(found.dropped.items()):
        yield line("refusals_dropped", seat=seat, count=running.number, hash=running.hash)
    if viewer == SPECTATOR and delay(position.table) != 0 and position.table["phase"] != OPEN and not position.ended:
        return  # reads, and their number, would reveal how far the match is
    yield from _reads(platform.sidelog.all_reads(position.match), position.version)


def _reads(reads: Reads, last: int) -> Iterator[bytes]:
    """Yield the lines of reads by staff up to a version. From the first of a later version on they are left out."""
    newest = list(takewhile(lambda seen: seen.version <= last, reads.newest))
    late = Counter((seen.reader, seen.what) for seen in reads.newest[len(newest) :])
    for read in reads.reads:
        count = read.number - late[read.reader, read.what]
        if count:
            note = read.newest if count == read.number else read.first
            yield line("read", note=note, count=count)
    if newest or reads.dropped.number:
        yield line("reads", count=reads.dropped.number, hash=reads.dropped.hash, newest=[seen._asdict() for seen in newest])


def _leaves(platform: Platform, position: Position, viewer: str, log: Shown) -> Iterator[list[bytes]]:
    """Yield all leaves of the match in a server's log, a page at a time.

    A server with another name has another log; the log under its old name still counts.
    """
    first = 0
    while True:
        found = server_log.leaves(platform, position.match, viewer != SPECTATOR or position.ended, first, server_log.PAGE, log)
        yield [line("leaf", **leaf) for leaf in found]
        if len(found) < server_log.PAGE:
            return
        first = found[-1]["index"] + 1
