"""Jobs: what the queues may ask for, and nothing else. Each names a match and a version, and does nothing if the match has moved on."""

from __future__ import annotations

import random
import time

import structlog

from events import metrics
from events.due import ADVANCE, KINDS, THINK, Owed, owed
from events.errors import NoMatch, Stale
from events.platform import Platform
from events.play import Draft, Played
from games.chance import Chance, Drawn
from games.kernel import SYSTEM, Action, legal
from players import LEVELS

ALLOWED = frozenset(kind.function for kind in KINDS.values())

STEPS = 50  # appends of one job, at most
SECONDS = 0.25  # after which a job leaves the rest to the next one, so that other matches get their turn

log = structlog.get_logger(__name__)
_platform: Platform | None = None
_kinds: frozenset[str] = frozenset(KINDS)


def bind(platform: Platform, kinds: frozenset[str] = frozenset(KINDS)) -> None:
    """Let the jobs of this process work for a platform. They go on by themselves with work of these kinds only."""
    global _platform, _kinds
    _platform, _kinds = platform, kinds


def advance(match: str, version: int) -> None:
    """Do the step of the system that is due for a match at `version`."""
    _carry_out(Owed(ADVANCE, match, version, "", 0))


def think(match: str, version: int, seat: str) -> None:
    """Play for an AI seat of a match at `version`."""
    _carry_out(Owed(THINK, match, version, seat, 0))


def _carry_out(work: Owed) -> None:
    """Do a step, and the steps that it leads to. The rest is enqueued."""
    assert _platform is not None, "the jobs are bound to a platform before a worker starts"
    platform = _platform
    deadline = time.monotonic() + SECONDS
    following: tuple[Owed, ...] = (work,)
    for _ in range(STEPS):
        if not following or following[0].kind not in _kinds or time.monotonic() > deadline:
            break
        work = following[0]
        try:
            following = do_step(platform, work, deadline)
        except (Stale, NoMatch) as reason:
            # The job came twice or late: the step is done, and the job that did it has enqueued what follows.
            log.info("step_past", match=work.match, version=work.version, kind=work.kind, code=reason.code)
            return
    platform.jobs.enqueue_all(following)


def do_step(platform: Platform, work: Owed, deadline: float) -> tuple[Owed, ...]:
    """Do one step in one append, and return what is due next.

    An AI seat thinks before anything is written, and nothing is retried: it goes on with its turn in the same step until `deadline`
    (time.monotonic), then writes what it has. Raises Stale if the match has moved on; NoMatch, StoreUnavailable, Refused.
    """
    began = time.perf_counter()
    draft = Draft(platform, work.match, work.target or SYSTEM, work.version)
    waited_since = draft.position.at
    # This chance is not the dice of the match: with those, an AI seat would know them beforehand.
    chance = Drawn(random.Random().randrange)
    draft.play(_decide(platform, draft, work, chance))
    while draft.goes_on and time.monotonic() < deadline:  # bounded by the length of a list
        draft.play(_decide(platform, draft, work, chance))
    played = draft.write()
    _note(work, played, waited_since, began)
    return owed(played.position)


def _decide(platform: Platform, draft: Draft, work: Owed, chance: Chance) -> Action:
    """Return what the actor does: the system's only choice, or what an AI seat decides from its view alone."""
    position = draft.position
    game = platform.games[position.game]
    if work.kind == ADVANCE:
        system: Action = legal(game, position.document, SYSTEM)[0]["action"]
        return system
    seat = work.target
    decide = LEVELS[position.roster[seat]["ai"]]
    return decide(game, game.view(position.document, seat), legal(game, position.document, seat), seat, chance, position.memory)


def _note(work: Owed, played: Played, waited_since: int, began: float) -> None:
    metrics.owed_seconds.observe((played.entries[0].at - waited_since) / 1000)
    took = round((time.perf_counter() - began) * 1000, 2)
    log.info("step_done", match=work.match, kind=work.kind, actor=work.target or SYSTEM, first=played.first, last=played.last, ms=took)
