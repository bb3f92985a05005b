"""Jobs: the tickets that RQ runs, and the steps that they do. A step does nothing if its match has moved on from the version it names."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Mapping, Sequence

import structlog
from rq.timeouts import JobTimeoutException, UnixSignalDeathPenalty

from events import deadlines, expiry, metrics, recall
from events.due import ADVANCE, DEADLINE, EXPIRE, KINDS, THINK, NotDue, Owed, level_of, owed
from events.errors import NoMatch, Stale, StoreUnavailable
from events.platform import Platform
from events.play import Draft, Played
from events.queue import Done
from games.chance import Chance, Drawn
from games.kernel import SYSTEM, Action, legal
from players import LEVELS

SECONDS = 0.25  # after which a ticket ends, so that RQ can look after its worker
TURN = 0.25  # seconds after which an AI seat writes what it has decided of its turn, so that other matches get theirs

log = structlog.get_logger(__name__)
_platform: Platform | None = None
_kinds: tuple[str, ...] = tuple(KINDS)

Step = Callable[[Platform, Owed, float], tuple[Owed, ...]]
"""Does a step in one write and returns what is then due. It stops adding to the step at a deadline, in seconds of time.monotonic."""


def bind(platform: Platform, kinds: Sequence[str] = tuple(KINDS)) -> None:
    """Let the jobs of this process work for a platform, on these kinds of work only, the first kind first."""
    global _platform, _kinds
    _platform, _kinds = platform, tuple(kinds)


def work(ticket: str) -> None:
    """Do steps for a while: whatever waits, by the priority of its kind and fairly among creators. `ticket` is the kind that called.

    What follows from a step waits behind the other work of its creator, or is done at once if nothing else waits.
    """
    assert _platform is not None, "the jobs are bound to a platform before a worker starts"
    platform = _platform
    deadline = time.monotonic() + SECONDS
    step = platform.jobs.take(_kinds, ticket=ticket)
    while step is not None:
        began = time.perf_counter()
        try:
            following, failed = carry_out(platform, step), False
        except StoreUnavailable:
            following, failed, deadline = (step,), False, 0.0  # it waits again, and the worker may stop
        except Exception as reason:  # noqa: BLE001 - it is logged
            # Only the type of the error is logged: its text may hold secrets.
            log.error("step_failed", match=step.match, version=step.version, kind=step.kind, error=type(reason).__name__)
            metrics.steps_failed.labels(step.kind).inc()
            following, failed = (), True
        done = Done(step, round((time.perf_counter() - began) * 1000, 3), failed)
        step = platform.jobs.exchange(done, following, _kinds if time.monotonic() < deadline else ())


def carry_out(platform: Platform, work: Owed) -> tuple[Owed, ...]:
    """Do a step within the time of its kind, and return what follows from it. Raises any error of the step, and JobTimeoutException."""
    try:
        with UnixSignalDeathPenalty(KINDS[work.kind].seconds, JobTimeoutException):
            return STEPS[work.kind](platform, work, time.monotonic() + TURN)
    except (Stale, NoMatch, NotDue) as reason:
        # It was asked for twice or late: the step is done, and what follows from it waits already.
        log.info("step_past", match=work.match, version=work.version, kind=work.kind, code=reason.code)
        return ()


def do_step(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Do one step in one append, and return what is due next.

    An AI seat thinks before anything is written, and nothing is retried: it goes on with its turn in the same step until `deadline`
    (time.monotonic), then writes what it has. Raises Stale if the match has moved on; NotDue, NoMatch, StoreUnavailable, Refused.
    """
    began = time.perf_counter()
    draft = Draft(platform, work.match, work.target or SYSTEM, work.version)
    if work.member not in [each.member for each in owed(draft.position)]:
        raise NotDue(work.member)
    waited_since = draft.position.at
    # This chance is not the dice of the match: with those, an AI seat would know them beforehand.
    chance = Drawn(random.Random().randrange)
    draft.play(_decide(platform, draft, work, chance))
    while draft.goes_on and time.monotonic() < deadline:  # bounded by the length of a list
        draft.play(_decide(platform, draft, work, chance))
    played = draft.write()
    _note(work, played, waited_since, began)
    return owed(played.position)


def remove(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Remove a match that has not started in time, and return nothing. The store decides: what comes early, late or twice does nothing.

    A match that stays is found by the sweep again. Raises NotDue if the match has started; NoMatch, StoreUnavailable, StoreRefused.
    """
    if work.member not in [each.member for each in owed(recall.position(platform, work.match))]:
        raise NotDue(work.member)
    removed = expiry.remove(platform, work.match)
    log.info("match_removed" if removed else "match_stays", match=work.match, version=work.version)
    return ()


def meet_deadline(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Do what the system has to do at the table now that a moment has passed, and return what is due next.

    Several seats may have run out of time: each has an append of its own, until `deadline` (time.monotonic). Raises NotDue if nothing is
    due or requests are still being carried out that were received before; Stale, NoMatch, StoreUnavailable.
    """
    began, moment = time.perf_counter(), recall.position(platform, work.match)
    waited_since = next((each.due for each in owed(moment) if each.kind == DEADLINE), moment.at)
    played = deadlines.meet(platform, work.match)
    _note(work, played, waited_since, began)
    with contextlib.suppress(NotDue, Stale):
        while time.monotonic() < deadline:
            played = deadlines.meet(platform, work.match)
    return owed(played.position)


STEPS: Mapping[str, Step] = {ADVANCE: do_step, DEADLINE: meet_deadline, THINK: do_step, EXPIRE: remove}
"""Who does the work of each kind."""


def _decide(platform: Platform, draft: Draft, work: Owed, chance: Chance) -> Action:
    """Return what the actor does: the system's only choice, or what an AI seat decides from its view alone."""
    position = draft.position
    game = platform.games[position.game]
    if work.kind == ADVANCE:
        system: Action = legal(game, position.document, SYSTEM)[0]["action"]
        return system
    seat = work.target
    level = level_of(position, seat)
    assert level is not None, "only an artificial player thinks"
    decide = LEVELS[level]
    return decide(game, game.view(position.document, seat), legal(game, position.document, seat), seat, chance, position.memory)


def _note(work: Owed, played: Played, waited_since: int, began: float) -> None:
    metrics.owed_seconds.labels(work.kind).observe((played.entries[0].at - waited_since) / 1000)
    took = round((time.perf_counter() - began) * 1000, 2)
    log.info("step_done", match=work.match, kind=work.kind, actor=work.target or SYSTEM, first=played.first, last=played.last, ms=took)
