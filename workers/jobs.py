"""Jobs: RQ runs tickets, and each ticket does some steps. A step does nothing if its match has moved on from the version that it names."""

from __future__ import annotations

import contextlib
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import structlog
from rq.timeouts import JobTimeoutException, UnixSignalDeathPenalty

from events import deadlines, expiry, recall, reports
from events.due import (
    ADVANCE,
    ANALYSIS,
    DEADLINE,
    EXPIRE,
    HINT,
    KINDS,
    PUZZLE,
    REPORT,
    SEARCH,
    SLOW,
    THINK,
    NotDue,
    Owed,
    owed,
    thinking_of,
)
from events.errors import NoMatch, Stale, StoreUnavailable
from events.platform import Platform
from events.play import Draft, Played
from events.store.queue import Done
from events.telemetry import metrics
from games.kernel import SYSTEM, Action, legal
from players import budget_of, question_of
from players.level import Thought
from record.allowances import ALLOWANCES, halvings, moment_of_quick, pace_of, spare
from record.guides import move_of
from record.positions import level_of
from record.thinking import decide
from record.thoughts import Decision
from workers import studying
from workers.brake import Brake, Ending, is_ending
from workers.holding import Hold, now_and_here
from workers.reviewing import Reviewed

SECONDS = 2.0  # after which a ticket ends, so that RQ can look after its worker
QUIET = 0.25  # seconds without work after which it ends sooner
TURN = 0.25  # seconds after which an AI seat writes the part of its turn that it has decided, so that other matches get time

log = structlog.get_logger(__name__)
_platform: Platform | None = None
_kinds: tuple[str, ...] = tuple(KINDS)
_quiet = 0.0
_hold: Hold = now_and_here

Following = tuple[Owed, ...] | None
"""What is due after a step; None if the step has decided and its write is held."""

Step = Callable[[Platform, Owed, float], Following]
"""A function that does a step in one write and returns what is due next. The deadline, in seconds of time.monotonic, ends a long step."""


def bind(platform: Platform, kinds: Sequence[str] = tuple(KINDS), quiet: float = 0.0, hold: Hold = now_and_here) -> None:
    """Bind the jobs of this process to a platform and to kinds of work, the first kind first. `quiet`: how many seconds a ticket waits for
    more work. `hold`: what carries out a write at its moment; by default at once.
    """
    global _platform, _kinds, _quiet, _hold
    _platform, _kinds, _quiet, _hold = platform, tuple(kinds), quiet, hold


def work(ticket: str) -> None:
    """Do steps that wait, for a while: by the priority of their kind, and fairly among creators. `ticket`: the kind that called.

    Slow kinds have no priority; they take turns (`_take_turns`). What follows from a step waits behind the other work of its creator, or is
    done at once if nothing else waits. Without work the ticket waits for a moment, because another one costs more than a step.
    """
    assert _platform is not None, "the jobs are bound to a platform before a worker starts"
    platform = _platform
    deadline = time.monotonic() + SECONDS
    step = platform.jobs.take(_next_kinds(), ticket=ticket)
    while step is not None:
        _take_turns(step.kind)
        began = time.perf_counter()
        try:
            following, failed = carry_out(platform, step), False
        except (StoreUnavailable, Ending):
            following, failed, deadline = (step,), False, 0.0  # it waits again, and the worker may stop
        except Exception as reason:  # noqa: BLE001 - it is logged
            # Only the type of the error is logged: its text may hold secrets.
            log.error("step_failed", match=step.match, version=step.version, kind=step.kind, error=type(reason).__name__)
            metrics.steps_failed.labels(step.kind).inc()
            following, failed = (), True
        done = Done(step, round((time.perf_counter() - began) * 1000, 3), failed, held=following is None)
        more = time.monotonic() < deadline
        step = platform.jobs.exchange(done, following or (), _next_kinds() if more else ())
        if step is None and more and _quiet and not is_ending():
            step = platform.jobs.wait(_next_kinds(), _quiet)


def _next_kinds() -> tuple[str, ...]:
    """Return the kinds from which to take the next step, the first kind first, or none if the worker must end."""
    return () if is_ending() else _kinds


def _take_turns(kind: str) -> None:
    """Put a slow kind of which a step was taken behind the others. In a match between levels that search, a decision always waits."""
    global _kinds
    if set(_kinds) <= set(SLOW):
        _kinds = (*(other for other in _kinds if other != kind), kind)


def carry_out(platform: Platform, work: Owed) -> Following:
    """Do a step within its time limit. Return what follows from it, None if its write is held.

    Raises any error of the step, and JobTimeoutException.
    """
    try:
        with UnixSignalDeathPenalty(_seconds(platform, work), JobTimeoutException):
            return STEPS[work.kind](platform, work, time.monotonic() + TURN)
    except (Stale, NoMatch, NotDue) as reason:
        # The request came twice or late: the step is done, and what follows from it waits already.
        log.info("step_past", match=work.match, version=work.version, kind=work.kind, code=reason.code)
        return ()


def _seconds(platform: Platform, work: Owed) -> int:
    """Return the time limit of a step: that of its kind, or, for a search, that of its level. Raises NoMatch, StoreUnavailable."""
    thinking = thinking_of(recall.position(platform, work.match)) if work.kind == SEARCH else None
    allowance = ALLOWANCES.get(thinking.level) if thinking is not None else None
    return KINDS[work.kind].seconds if allowance is None else allowance.limit


def do_step(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Do one step in one append. Return what is due next.

    An AI seat thinks before anything is written. It continues its turn in the same step until `deadline` (time.monotonic), then writes what
    it has decided. Nothing is retried. Raises Stale if the match has moved on; NotDue, NoMatch, StoreUnavailable, Refused.
    """
    began = time.perf_counter()
    draft = _draft(platform, work)
    waited_since = draft.position.at
    draft.play(*_decide(platform, draft, work))
    while draft.goes_on and time.monotonic() < deadline:  # bounded by the length of a list
        draft.play(*_decide(platform, draft, work))
    played = draft.write()
    _note(platform, work, played, waited_since, began)
    return owed(played.position)


def search(platform: Platform, work: Owed, deadline: float) -> Following:
    """Search for one decision of an AI seat, and append it. Return what is due next. A search has an allowance and ignores `deadline`.

    Where a player has a seat, the append is held until the pace of the level is over, however soon the search has ended. Return None then.

    Nothing is written before that. So if the worker is killed, the lease of the work runs out, and the next worker finds the
    same decision. Raises Ending if the worker must end; Stale if the match has moved on; NotDue, NoMatch, StoreUnavailable, Refused.
    """
    if is_ending():
        raise Ending
    taken = time.monotonic()
    draft = _draft(platform, work)
    position, seat = draft.position, work.target
    level = level_of(position, seat)
    assert level is not None, "only an artificial player searches"
    allowance = ALLOWANCES[level]
    clock, turn = position.table["clock"], draft.turn()
    times = halvings(level, clock, turn)
    left = spare(clock, turn.ms + max(0, platform.clock.now() - position.at))
    pace = pace_of(allowance, times, position.table)
    brake = Brake(min(pace or allowance.seconds / 2**times, float("inf") if left is None else left / 1000))
    question = question_of(recall.rules_of(platform, position), position.document, seat, position.memory)
    budget = budget_of(question, level, brake)
    began = time.perf_counter()
    thought, decision = decide(question, level, budget.halved(times), draft.seed)
    _measure(level, thought, brake, time.perf_counter() - began)

    def write() -> tuple[Owed, ...]:
        draft.play(thought.action, decision)
        played = draft.write()
        _note(platform, work, played, position.at, None)
        return owed(played.position)

    if not pace:
        return write()
    _hold(taken + pace, lambda: _write_held(platform, work, write))
    return None


def _write_held(platform: Platform, work: Owed, write: Callable[[], tuple[Owed, ...]]) -> None:
    """Carry out the write of a step that was held, and hand the step in."""
    following: tuple[Owed, ...] = ()
    failed = False
    try:
        following = write()
    except (Stale, NoMatch, NotDue) as reason:
        log.info("step_past", match=work.match, version=work.version, kind=work.kind, code=reason.code)
    except StoreUnavailable:
        following = (work,)
    except Exception as reason:  # noqa: BLE001 - it is logged, by its type only
        log.error("step_failed", match=work.match, version=work.version, kind=work.kind, error=type(reason).__name__)
        metrics.steps_failed.labels(work.kind).inc()
        failed = True
    platform.jobs.exchange(Done(work, 0.0, failed), following, ())


def remove(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Remove a match that did not start in time. Nothing is due next.

    The store decides: a call that is early, late or repeated does nothing, and the sweep finds the match again. Raises NotDue if the match
    has started; NoMatch, StoreUnavailable, StoreRefused.
    """
    if work.member not in [each.member for each in owed(recall.position(platform, work.match))]:
        raise NotDue(work.member)
    removed = expiry.remove(platform, work.match)
    log.info("match_removed" if removed else "match_stays", match=work.match, version=work.version)
    return ()


def meet_deadline(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Do what the system must do at the table after a deadline of the match. Return what is due next.

    Several seats may have run out of time. Each gets its own append, until `deadline` (time.monotonic). Raises NotDue if nothing is due, or
    if earlier requests are still being carried out; Stale, NoMatch, StoreUnavailable.
    """
    began, moment = time.perf_counter(), recall.position(platform, work.match)
    waited_since = next((each.due for each in owed(moment) if each.kind == DEADLINE), moment.at)
    played = deadlines.meet(platform, work.match)
    _note(platform, work, played, waited_since, began)
    with contextlib.suppress(NotDue, Stale):
        while time.monotonic() < deadline:
            played = deadlines.meet(platform, work.match)
    return owed(played.position)


def attach_report(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Make the first report on a dispute and attach it. Return what is due next. Raises NotDue, NoMatch, StoreUnavailable.

    Nothing is written before the report is complete. So if the worker is killed, the next worker makes the report.
    """
    began, moment = time.perf_counter(), recall.position(platform, work.match)
    if work.member not in [each.member for each in owed(moment)]:
        raise NotDue(work.member)
    played = reports.attach(platform, work.match, int(work.target), Reviewed)
    _note(platform, work, played, moment.at, began)
    return owed(played.position)


STEPS: Mapping[str, Step] = {
    ADVANCE: do_step,
    DEADLINE: meet_deadline,
    THINK: do_step,
    SEARCH: search,
    EXPIRE: remove,
    REPORT: attach_report,
    HINT: studying.hint,
    ANALYSIS: studying.analyse,
    PUZZLE: studying.puzzle,
}
"""By kind of work, the function that does a step."""


def _draft(platform: Platform, work: Owed) -> Draft:
    """Return the draft of a step. Raises NotDue if its work is not due; Stale, NoMatch, StoreUnavailable."""
    draft = Draft(platform, work.match, work.target or SYSTEM, work.version)
    if work.member not in [each.member for each in owed(draft.position)]:
        raise NotDue(work.member)
    return draft


def _decide(platform: Platform, draft: Draft, work: Owed) -> tuple[Action, Decision | None, int | None]:
    """Return the action of the actor, what its entry stores about the decision, and its moment; None for now.

    The system has one choice; an AI seat sees its view. In a guided match it follows the guide as long as it can (TBL-GUI-01)."""
    position = draft.position
    game = recall.rules_of(platform, position)
    if work.kind == ADVANCE:
        system: Action = legal(game, position.document, SYSTEM)[0]["action"]
        return system, None, None
    seat = work.target
    level = level_of(position, seat)
    assert level is not None, "only an artificial player thinks"
    at = moment_of_quick(position.at, platform.clock.now(), position.table)
    guided = move_of(game, position, seat)
    if guided is not None:
        return guided, None, at
    question = question_of(game, position.document, seat, position.memory)
    thought, decision = decide(question, level, budget_of(question, level), draft.seed)
    return thought.action, decision, at


def _measure(level: str, thought: Thought, brake: Brake, seconds: float) -> None:
    """Count what a search has used, over all matches. The log has no such figures: those of one match may depend on hidden cards."""
    metrics.search_seconds.labels(level).observe(seconds)
    metrics.search_iterations.labels(level).observe(thought.spent)
    metrics.search_nodes.labels(level).observe(thought.nodes)
    if brake.stopped:
        metrics.searches_stopped.labels(level).inc()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    metrics.search_memory.set(peak if sys.platform == "darwin" else peak * 1024)


def _note(platform: Platform, work: Owed, played: Played, waited_since: int, began: float | None) -> None:
    """Measure and log a finished step. `began`: its start in seconds of time.perf_counter; None to leave its duration out of the log."""
    metrics.owed_seconds.labels(work.kind).observe((platform.clock.now() - waited_since) / 1000)
    took = {} if began is None or work.kind == THINK else {"ms": round((time.perf_counter() - began) * 1000, 2)}
    log.info("step_done", match=work.match, kind=work.kind, actor=work.target or SYSTEM, first=played.first, last=played.last, **took)
