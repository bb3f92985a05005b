"""Jobs: what the queue may ask for, and nothing else. Each names a match and a version, and does nothing if the match is past it."""

from __future__ import annotations

import random
import time

import structlog

from events import metrics
from events.errors import NoMatch, Stale
from events.platform import Platform
from events.play import play_on
from events.reactions import ADVANCE, THINK, Owed, owed
from events.recall import hold
from games.chance import Drawn
from games.choices import Choice
from games.kernel import SYSTEM, Action, Memory, State
from workers.search import PLAY

ALLOWED = frozenset({ADVANCE, THINK})

STEPS = 50  # appends of one job, at most
SECONDS = 0.25  # after which a job leaves the rest to the next one, so that other matches get their turn

log = structlog.get_logger(__name__)
_platform: Platform | None = None


def at(platform: Platform) -> None:
    """Work for this platform from now on."""
    global _platform
    _platform = platform


def advance(match: str, version: int) -> None:
    """Do what the system owes to a match at `version`."""
    _carry_out(Owed(match, version, SYSTEM))


def think(match: str, version: int, seat: str) -> None:
    """Play for an AI seat of a match at `version`."""
    _carry_out(Owed(match, version, seat))


def _carry_out(step: Owed) -> None:
    """Do a step, and those that it leads to; the rest is asked for again."""
    assert _platform is not None, "a worker works for a platform"
    platform = _platform
    enough = time.monotonic() + SECONDS
    following: Owed | None = step
    for _ in range(STEPS):
        if following is None or time.monotonic() > enough:
            break
        step = following
        try:
            following = one(platform, step)
        except (Stale, NoMatch) as reason:
            # Delivered twice, or late: somebody has done it, and has seen to what follows.
            log.info("step_past", match=step.match, version=step.version, actor=step.actor, code=reason.code)
            return
    if following is not None:
        platform.jobs.enqueue(following)


def one(platform: Platform, step: Owed) -> Owed | None:
    """Do one step, all of it in one append, and say what is owed next. Raises Stale, NoMatch, StoreUnavailable, Refused."""
    began = time.perf_counter()
    position = hold(platform, step.match).position
    game = platform.games[position.game]
    # Chance of its own: were it the dice of the match, an AI seat would know them beforehand.
    chance = Drawn(random.Random().randrange)

    def choose(view: State, choices: list[Choice], memory: Memory) -> Action:
        if step.actor == SYSTEM:
            return choices[0]["action"]
        return PLAY[position.roster[step.actor]["ai"]](game, view, choices, step.actor, chance, memory)

    played = play_on(platform, step.match, step.actor, choose, expected=step.version, follow_up=False)
    if position.version == step.version:
        metrics.owed_seconds.observe((played.entries[0].at - position.at) / 1000)
    took = round((time.perf_counter() - began) * 1000, 2)
    log.info("step_done", match=step.match, actor=step.actor, first=played.first, last=played.last, ms=took)
    return owed(played.position)
