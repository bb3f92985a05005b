"""Writing: what was decided is appended in one step, or decided again if the match has moved on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from events import recall
from events.cache import Cached
from events.deciding import Decided, give_back
from events.due import owed
from events.errors import Busy, MustBeLast, PlatformError, Reused, Stale
from events.notary.leaves import wanted_at
from events.platform import Platform
from events.snapshots import due, pack, replaced
from events.standings import changes
from events.store.log import Appended, Changes, Claim, Conflict, Known
from events.telemetry import metrics
from games.kernel import Refused
from record.entries import Entry, parse
from record.positions import Position

_ATTEMPTS = 200


class Played(NamedTuple):
    """The result of a request: the entries of the versions `first` to `last`, and the position after them.

    `repeated`: the request was carried out before, and this is what it led to then.
    """

    first: int
    last: int
    entries: list[Entry]
    position: Position
    repeated: bool


class RefusedAt(Refused):
    """A refusal that is confirmed for the match at a version."""

    def __init__(self, refused: Refused, version: int) -> None:
        super().__init__(refused.refusal, refused.place)
        self.version = version


def write(
    platform: Platform,
    match: str,
    decide: Callable[[Cached, Position, int], list[Decided]],
    claim_of: Callable[[Position], Claim | None],
    received: int | None,
) -> Played:
    """Decide on what is known, and append it. If the match has moved on, learn what is new and decide again.

    Before it, in the same append, clocks get back what outages took from them until the request was `received`. `decide` gets the match
    after that, the position that the store has, and the moment at which the request counts as received.
    """
    platform.pulse.take_part()
    cached = recall.cached(platform, match)
    now = platform.clock.now()
    received = now if received is None else min(received, now)
    told = False
    for _ in range(_ATTEMPTS):
        before = cached.position
        claim = claim_of(before)
        try:
            later, returned = give_back(platform, cached, received)
            decided = decide(later, before, received)
        except (Refused, PlatformError) as refusal:
            if refusal.code == "time_is_up" and not told:  # unless an outage is to blame of which this process has not heard yet
                platform.pulse.refresh(received)
                told = True
                continue
            # Memory may be behind, and this may be a request that was carried out and whose answer was lost.
            since = platform.store.log.since(match, before.version, claim.name if claim else "", before.digest)
            if since.known is not None:
                return _repeat(platform, match, claim, since.known)
            if since.head == before.version:
                metrics.refusals.labels(before.game, refusal.code).inc()
                if isinstance(refusal, Refused):
                    raise RefusedAt(refusal, before.version) from None
                if isinstance(refusal, MustBeLast):
                    refusal.version = before.version
                raise
            cached = recall.extend(platform, cached, since.head, since.tail)
            continue
        if claim is not None and returned:
            claim = claim._replace(after=len(returned))
        answer = _append(platform, cached, [*returned, *decided], claim)
        if isinstance(answer, Appended):
            return _written(platform, cached, decided, enqueue=True, returned=len(returned))
        if isinstance(answer, Known):
            return _repeat(platform, match, claim, answer)
        metrics.conflicts.inc()
        cached = recall.extend(platform, cached, answer.head, answer.tail)
    raise Busy("Too many others are writing to this match. Try again.")


def write_once(platform: Platform, cached: Cached, decided: list[Decided]) -> Played:
    """Append what was decided after a position, once, for an actor without a player. Raises Stale if the match has moved on, and
    StoreUnavailable."""
    before = cached.position
    answer = _append(platform, cached, decided, None)
    if isinstance(answer, Appended):
        return _written(platform, cached, decided, enqueue=False)
    metrics.conflicts.inc()
    assert isinstance(answer, Conflict), "what is written once carries no request that could be known"
    newer = recall.extend(platform, cached, answer.head, answer.tail)
    raise Stale(before.version, newer.position.version)


def _append(platform: Platform, cached: Cached, decided: list[Decided], claim: Claim | None) -> Appended | Conflict | Known:
    before = cached.position
    raws = [step.raw for step in decided]
    return platform.store.log.append(before.match, before.version, raws, _changes(before, decided), claim, before.digest)


def _written(platform: Platform, cached: Cached, decided: list[Decided], enqueue: bool, returned: int = 0) -> Played:
    """Cache the new position, count, and enqueue what is now due. `returned`: how many entries of the append came before."""
    after = decided[-1].position
    platform.cache.put(recall.step_to(cached, after))
    announce(platform, after, returned + len(decided), enqueue)
    return Played(cached.position.version + 1 + returned, after.version, [step.entry for step in decided], after, False)


def _changes(before: Position, decided: list[Decided]) -> Changes:
    """Return all that an append changes beside the log, with the snapshot that may be due."""
    after = decided[-1].position
    changed = changes(before, after)._replace(leaf=wanted_at(decided[0].position, after))
    version = due(before.version, after.version)
    if version is None:
        return changed
    return changed._replace(snapshot=(version, pack(decided[version - before.version - 1].position), replaced(version)))


def announce(platform: Platform, after: Position, number: int, enqueue: bool = True) -> None:
    """Count what was appended, and let what is now due wait in the queue."""
    metrics.appends.labels(after.game).inc(number)
    if enqueue:
        platform.jobs.push(owed(after))


def _repeat(platform: Platform, match: str, claim: Claim | None, known: Known) -> Played:
    """Return what a request led to that was carried out before. Raises Reused if it was another one."""
    if claim is None or known.fingerprint != claim.fingerprint:
        raise Reused()
    metrics.repeats.inc()
    entries = [parse(raw) for raw in known.entries]
    return Played(known.first, known.last, entries, recall.state_at(platform, match, known.last), True)
