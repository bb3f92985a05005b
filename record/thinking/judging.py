"""Judging: what a level would do in a position, and what it thinks of what was done. Workers and `./run analyse` do it alike.

The seed of such a thought follows from what the seat knows. So the same knowledge gives the same answer everywhere, and nothing that the
seat does not know is in the answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from games.kernel import Game, Memory, Seat, State
from players import LEVELS, REVISION, budget_of, question_of
from players.analysis import Judged, judge, summary
from players.level import Question, Thought, is_forced
from players.plans import digest_of, plan_of
from players.searching import search
from record.decisions import Decision
from record.entries import canonical
from record.positions import Position
from record.thinking import chance_of, put


def compares(game: Game, seats: int, level: str) -> bool:
    """Return True if a level tells what it thinks of each action in a game with so many seats: it searches."""
    return level in LEVELS and plan_of(game.id, level, seats) is not None


def advice(game: Game, state: State, seat: Seat, memory: Memory, level: str) -> Thought:
    """Return what a level would do for a seat that must act, and what it thinks of its choices, by the seat's view alone."""
    question, saw = put(question_of(game, state, seat, memory))
    return LEVELS[level](question, budget_of(question, level), chance_of(_seed(question, level, saw)))


def judged(game: Game, decision: Decision, level: str, iterations: int | None = None) -> Judged | None:
    """Return what a level that compares actions thinks of a decision, or None if there was nothing to decide.

    `iterations`: of the level's search, in place of those of its plan.
    """
    before, entry = decision
    question, saw = put(question_of(game, before.document, entry.actor, before.memory))
    if is_forced(question.choices):
        return None
    seed = _seed(question, level, saw)
    given = budget_of(question, level).iterations if iterations is None else iterations
    found = judge(question, entry.action, given, LEVELS[level], search(level, always=True), lambda: chance_of(seed))
    return Judged(entry.version, entry.actor, entry.action, found.best, found.before, found.chosen)


def analysis(position: Position, level: str, found: Iterable[Judged]) -> dict[str, Any]:
    """Return the analysis of a match that is over as JSON. `found`: its decisions as a level judges them, in their order."""
    outcome = position.document["outcome"]
    by = {"level": level, "players": REVISION, "weights": digest_of(position.game)}
    about = {"match": position.match, "game": position.game, "by": by, "outcome": outcome}
    return about | summary(position.document["seats"], found, outcome["winners"])


def _seed(question: Question, level: str, saw: str) -> int:
    known = {"game": question.game.id, "level": level, "saw": saw, "seat": question.seat}
    return int.from_bytes(sha256(canonical(known)).digest(), "big")
