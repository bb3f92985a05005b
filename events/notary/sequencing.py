"""Sequence the server's log: append leaves in one order that never changes, and sign checkpoints.

Each step begins only after the one before it is durable:

1. Take the lease in the store (events/notary/leading.py). The store refuses whatever an earlier holder still sends.
2. Append the due leaves to the store, with the new size and root, the mark in the store. One function does this, or nothing if another
   process was faster: leaves of signing keys, then those of matches, then those of bulk files. What is due of keys is read after the
   matches. So a leaf of a match comes after the leaves of all keys that have signed up to its version.
3. Write the mark next to the keys, too (events/notary/highwater.py).
4. Sign the mark as a checkpoint, and publish it.

So nothing is signed that the store and its replicas do not have, or that does not continue the signed log. If a process dies between two
steps, the next process finishes the work. A leaf and the note that it was added are one write, so no leaf is added twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import structlog

from events.errors import ArchiveDamaged, ArchiveUnavailable, StoreRefused
from events.notary import collecting, highwater, key_leaves, leaves, server_log
from events.notary.highwater import FORKED, OLDER, RESTORED, Mark
from events.notary.leaves import HOUR_MS, Facts, Plan
from events.platform import Platform
from events.store.server_logs import Logged, NewLeaf, State
from events.telemetry import metrics
from evidence import tiles
from evidence.checkpoints import Checkpoint
from record.entries import Entry, Unreadable, parse

AT_ONCE = 16  # matches of a partition, so that no call delays appends for long

log = structlog.get_logger(__name__)


class Sequenced(NamedTuple):
    """The result of a round: how many leaves were added. `more`: others are due at once. `stopped`: why the log cannot go on."""

    added: int
    more: bool = False
    stopped: str = ""


class Looked(NamedTuple):
    """A match with a due leaf: its last version, and its plan, or None if its log is unreadable."""

    match: str
    version: int
    plan: Plan | None


def sequence(platform: Platform) -> Sequenced:
    """Append the due leaves, and sign a checkpoint. Do nothing while another process of this machine does so, or one elsewhere leads.

    Raises StoreUnavailable, KeysUnfit, highwater.Unreadable, OSError.
    """
    folder, origin = platform.settings.keys_folder, platform.signer.name
    with highwater.alone(folder, "log") as alone:
        if not alone:
            return Sequenced(0)
        mark = highwater.read(folder, origin)  # before the state, which may grow in the meantime but not shrink
        state = platform.store.server_logs.state(origin)
        found = _continues(platform, mark, state)
        if found != mark:
            highwater.keep(folder, found)
        if found.stopped:
            if not mark.stopped:
                log.error("log_stopped", why=found.stopped, signed=mark.checkpoint.size, stored=state.size)
            return Sequenced(0, stopped=found.stopped)
        if state.size > state.served and not publish(platform, state, origin):
            return follow(platform, found, state)
        wanted = look(platform, origin)
        keys = key_leaves.wanted(platform)
        if keys.more:
            wanted = []  # their leaves come after those of all keys
        state, added = append(platform, origin, state, wanted, collecting.wanted(platform, origin), keys.leaves)
        if added:
            publish(platform, state, origin)
        elif state.served > found.checkpoint.size:
            follow(platform, found, state)
        settle(platform, origin, wanted)
        key_leaves.settle(platform, keys.keys)
        return Sequenced(added, more=added >= AT_ONCE)


def follow(platform: Platform, mark: Mark, state: State) -> Sequenced:
    """Move the mark next to the keys up to what another process has published. So it protects also who has not signed. Raises the errors of
    `sequence`."""
    origin, size, _ = mark.checkpoint
    if state.served > size:
        root = server_log.root(platform, origin, state.served, state.size)
        highwater.keep(platform.settings.keys_folder, Mark(Checkpoint(origin, state.served, root)))
    return Sequenced(0)


def look(platform: Platform, origin: str) -> list[Looked]:
    """Return the matches with due leaves and their plans, the longest overdue first. Raises StoreUnavailable."""
    now = platform.clock.now()
    pending = sorted(platform.store.server_logs.pending(now, AT_ONCE).items(), key=lambda each: each[1])
    try:
        return _look(platform, origin, pending, now)
    except (ArchiveDamaged, ArchiveUnavailable):
        return [looked for each in pending for looked in _look_alone(platform, origin, each, now)]


def _look_alone(platform: Platform, origin: str, pending: tuple[str, int], now: int) -> list[Looked]:
    """Return a match with its plan. One whose object cannot be read is put off, so that it stops no other."""
    try:
        return _look(platform, origin, [pending], now)
    except (ArchiveDamaged, ArchiveUnavailable) as reason:
        log.error("leaf_unreadable", match=pending[0], error=type(reason).__name__)
        return [Looked(pending[0], platform.store.log.head(pending[0]), None)]


def _look(platform: Platform, origin: str, pending: list[tuple[str, int]], now: int) -> list[Looked]:
    matches = [match for match, _ in pending]
    known = platform.store.server_logs.logged(origin, matches)
    firsts = platform.store.log.spans([(match, 1, 1) for match in matches])
    # Read this before the entries: a match that is over here ended with the entry that is read next, or earlier.
    told = [standing is not None and standing["secret"] is not None for standing in platform.store.lists.standings(matches)]
    lasts = platform.store.log.newest(matches)
    found = []
    for (match, since), logged, first, (version, last), over in zip(pending, known, firsts, lasts, told, strict=True):
        try:
            plan = _plan(platform, match, first, last, over, logged, since, now) if version else Plan([], None)
        except Unreadable:  # the audit says why
            log.error("leaf_unreadable", match=match, version=version)
            plan = None
        found.append(Looked(match, version, plan))
    return found


def append(
    platform: Platform, origin: str, state: State, wanted: list[Looked], more: Sequence[NewLeaf] = (), before: Sequence[NewLeaf] = ()
) -> tuple[State, int]:
    """Append leaves to the server's log: those `before`, those of plans, and `more`. Return its new state, and the number of leaves: 0 if
    another process was faster or leads.

    Raises StoreUnavailable.
    """
    new = [*before, *[leaf for looked in wanted if looked.plan is not None for leaf in looked.plan.leaves], *more]
    if not new or not (lease := platform.lead.take(origin)):
        return state, 0
    edge, added = tiles.grow(server_log.edge(platform, origin, state.size), tiles.leaf_hashes(leaf.raw for leaf in new))
    mark = _lines(Checkpoint(origin, edge.size, edge.root))
    if not platform.store.server_logs.sequence(origin, state.size, new, added, lease, mark):
        log.info("log_moved_on", size=state.size)
        platform.lead.lost(origin)
        return state, 0
    metrics.leaves.inc(len(new))
    return state._replace(size=edge.size, mark=mark), len(new)


def publish(platform: Platform, state: State, origin: str) -> bool:
    """Sign and publish the checkpoint of all stored leaves. The mark is on disk first. Return False if another process leads.

    Raises the errors of `sequence`.
    """
    lease = platform.lead.take(origin)
    checkpoint = server_log.checkpoint_of(platform, state, origin)
    if not lease or platform.signer.name != origin:  # the server was renamed just now: the next round uses another log
        return False
    if state.mark != (_lines(checkpoint) if state.size else ""):
        raise StoreRefused("The mark of the log in the store does not fit its leaves")
    highwater.keep(platform.settings.keys_folder, Mark(checkpoint))
    if platform.store.server_logs.publish(origin, state.size, platform.signer.sign(checkpoint.text), lease):
        return True
    platform.lead.lost(origin)
    return False


def settle(platform: Platform, origin: str, wanted: list[Looked]) -> None:
    """Set when the next leaf of each match is due, once its planned leaves are in the server's log. Raises StoreUnavailable."""
    for looked in wanted:
        if looked.plan is None:
            platform.store.server_logs.settle(looked.match, looked.version, platform.clock.now() + HOUR_MS)
    planned = [(looked, looked.plan) for looked in wanted if looked.plan is not None]
    logged = platform.store.server_logs.logged(origin, [looked.match for looked, _ in planned])
    for (looked, plan), known in zip(planned, logged, strict=True):
        names = {leaf.name for leaf in known}
        if all(leaf.noted.name in names for leaf in plan.leaves):
            platform.store.server_logs.settle(looked.match, looked.version, plan.later)


def _lines(checkpoint: Checkpoint) -> str:
    """Return the size and the root of a checkpoint as they stand in its text."""
    return checkpoint.text.partition("\n")[2]


def _continues(platform: Platform, mark: Mark, state: State) -> Mark:
    """Check that the store continues the signed log, and fits its own mark. Return the mark; `stopped` says why if it does not."""
    origin, size, root = mark.checkpoint
    if mark.stopped == RESTORED:
        return mark
    if state.size < size:
        return mark._replace(stopped=OLDER, found=state.size)
    found = server_log.root(platform, origin, size, state.size)
    newest = found if state.size == size else server_log.root(platform, origin, state.size, state.size)
    if found != root or state.mark != (_lines(Checkpoint(origin, state.size, newest)) if state.size else ""):
        return mark._replace(stopped=FORKED, found=state.size)
    return Mark(Checkpoint(origin, size, root))


def _plan(
    platform: Platform, match: str, first: list[tuple[int, bytes]], raw: bytes, over: bool, logged: list[Logged], since: int, now: int
) -> Plan:
    created, last = [_entry(match, each) for each in (first[0][1] if first else b"", raw)]
    facts: Facts = leaves.facts_of(created)
    ended = over or last.secret is not None
    secret = platform.store.log.load(match, 1).secret if facts.hidden and not ended else None
    return leaves.plan(facts, last, ended, logged, since, now, secret)


def _entry(match: str, raw: bytes) -> Entry:
    """Return an entry of a match. Raises Unreadable."""
    entry = parse(raw)
    if entry.match != match:
        raise Unreadable("it belongs to another match")
    return entry
