"""Sequencing: how leaves come into the server's log, in one order that is never changed, and how its checkpoints are signed.

Each step is done only after the one before it is durable:

1. the leaves that matches want are appended to the store, in one function that does nothing if somebody else was quicker;
2. the new size and root are written beside the keys (events/notary/highwater.py);
3. the checkpoint is signed, and served from then on.

So nothing is signed that the store does not have, or that does not continue what was signed before. A process that dies between two steps
leaves work for the next one, which begins by finishing it. That a leaf was added is noted with the leaf, so none is added twice.
"""

from __future__ import annotations

from typing import NamedTuple

import structlog

from events.notary import highwater, leaves, ledger
from events.notary.highwater import FORKED, OLDER, Mark
from events.notary.leaves import HOUR_MS, Facts, Plan
from events.platform import Platform
from events.store.ledgers import Logged, NewLeaf, State
from events.telemetry import metrics
from evidence import tiles
from evidence.checkpoints import Checkpoint
from record.entries import Entry, Unreadable, parse

AT_ONCE = 16  # matches of a partition, so that no call keeps the store from appends for long

log = structlog.get_logger(__name__)


class Sequenced(NamedTuple):
    """The result of a round: how many leaves were added, and whether there are more to add at once. `stopped`: why the log stands."""

    added: int
    more: bool = False
    stopped: str = ""


class Looked(NamedTuple):
    """A match that wants a leaf: its last version, and the plan for it, or None if its log cannot be read."""

    match: str
    version: int
    plan: Plan | None


def sequence(platform: Platform) -> Sequenced:
    """Add the leaves that are wanted, and sign a checkpoint of them. Do nothing while another process of this machine does so.

    Raises StoreUnavailable, KeysUnfit, highwater.Unreadable, OSError.
    """
    folder, origin = platform.settings.keys_folder, platform.signer.name
    with highwater.alone(folder, "log") as alone:
        if not alone:
            return Sequenced(0)
        mark = highwater.read(folder, origin)  # before the state, which may grow meanwhile, but not shrink
        state = platform.store.server_logs.state(origin)
        found = _continues(platform, mark, state)
        if found != mark:
            highwater.keep(folder, found)
        if found.stopped:
            if not mark.stopped:
                log.error("log_stopped", why=found.stopped, signed=mark.checkpoint.size, stored=state.size)
            return Sequenced(0, stopped=found.stopped)
        if state.size > state.served:
            publish(platform, state, origin)
        wanted = look(platform, origin)
        state, added = append(platform, origin, state, wanted)
        if added:
            publish(platform, state, origin)
        settle(platform, origin, wanted)
        return Sequenced(added, more=added >= AT_ONCE)


def look(platform: Platform, origin: str) -> list[Looked]:
    """Return what the matches want that want a leaf now, those first that have wanted it for the longest time. Raises StoreUnavailable."""
    now = platform.clock.now()
    pending = sorted(platform.store.server_logs.pending(now, AT_ONCE).items(), key=lambda each: each[1])
    matches = [match for match, _ in pending]
    known = platform.store.server_logs.logged(origin, matches)
    firsts = platform.store.log.spans([(match, 1, 1) for match in matches])
    # Before the entries: a match that was over then has ended with the entry that is read now, or with one before it.
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


def append(platform: Platform, origin: str, state: State, wanted: list[Looked]) -> tuple[State, int]:
    """Append the leaves of plans to the server's log. Return its new state, and how many there were; none if somebody else was quicker.

    Raises StoreUnavailable.
    """
    new: list[NewLeaf] = [leaf for looked in wanted if looked.plan is not None for leaf in looked.plan.leaves]
    if not new:
        return state, 0
    edge, added = tiles.grow(ledger.edge(platform, origin, state.size), tiles.leaf_hashes(leaf.raw for leaf in new))
    if not platform.store.server_logs.sequence(origin, state.size, new, added):
        log.info("log_moved_on", size=state.size)
        return state, 0
    metrics.leaves.inc(len(new))
    return state._replace(size=edge.size), len(new)


def publish(platform: Platform, state: State, origin: str) -> None:
    """Sign and serve the checkpoint of all leaves that the store has. What is signed is on the disk before. Raises OSError and the rest."""
    checkpoint = ledger.checkpoint_of(platform, state, origin)
    if platform.signer.name != origin:  # it has been changed just now: the next round goes on with another log
        return
    highwater.keep(platform.settings.keys_folder, Mark(checkpoint))
    platform.store.server_logs.publish(origin, state.size, platform.signer.sign(checkpoint.text))


def settle(platform: Platform, origin: str, wanted: list[Looked]) -> None:
    """Set when each match that was looked at wants its next leaf, if what it wanted is in the server's log. Raises StoreUnavailable."""
    logged = platform.store.server_logs.logged(origin, [looked.match for looked in wanted])
    for looked, known in zip(wanted, logged, strict=True):
        names = {leaf.name for leaf in known}
        if looked.plan is None:
            platform.store.server_logs.settle(looked.match, looked.version, platform.clock.now() + HOUR_MS)
        elif all(leaf.noted.name in names for leaf in looked.plan.leaves):
            platform.store.server_logs.settle(looked.match, looked.version, looked.plan.later)


def _continues(platform: Platform, mark: Mark, state: State) -> Mark:
    """Return the mark, with why the store does not continue what was signed, if it does not."""
    origin, size, root = mark.checkpoint
    if state.size < size:
        return mark._replace(stopped=OLDER, found=state.size)
    if ledger.root(platform, origin, size, state.size) != root:
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
