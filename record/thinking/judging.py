"""Judging: what a level would play in a position, and how it rates the move that was played. For workers and `./run analyse`.

The seed follows from what the seat knows. So the same knowledge gives the same answer everywhere, and an answer reveals nothing that the
seat does not know.
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
    """Return True if a level rates each action in a game with so many seats. Levels that search do.

    >>> from games import GAMES
    >>> [level for level in ("random", "greedy", "strong") if compares(GAMES["war"], 2, level)]
    ['strong']
    """
    return level in LEVELS and plan_of(game.id, level, seats) is not None


def advice(game: Game, state: State, seat: Seat, memory: Memory, level: str) -> Thought:
    """Return what a level would play for a seat that must act, and how it rates the choices. It sees the seat's view alone.

    >>> from games import GAMES
    >>> from record.example import POSITIONS
    >>> advice(GAMES["war"], POSITIONS[2].document, "red", POSITIONS[2].memory, "greedy").action["type"]
    'place_unit'
    """
    question, saw = put(question_of(game, state, seat, memory))
    return LEVELS[level](question, budget_of(question, level), chance_of(seed_of(question, level, saw)))


def judged(game: Game, decision: Decision, level: str, iterations: int | None = None) -> Judged | None:
    """Return how a level that compares actions rates a decision, or None if the seat had no choice.

    `iterations`: of the search, in place of those in the level's plan.
    """
    before, entry = decision
    question, saw = put(question_of(game, before.document, entry.actor, before.memory))
    if is_forced(question.choices):
        return None
    seed = seed_of(question, level, saw)
    given = budget_of(question, level).iterations if iterations is None else iterations
    found = judge(question, entry.action, given, LEVELS[level], search(level, always=True), lambda: chance_of(seed))
    return Judged(entry.version, entry.actor, entry.action, found.best, found.before, found.chosen)


def analysis(position: Position, level: str, found: Iterable[Judged]) -> dict[str, Any]:
    """Return the analysis of a finished match as JSON. `found`: the ratings of its decisions, in order.

    >>> from record.example import POSITIONS
    >>> found = analysis(POSITIONS[-1], "strong", [])
    >>> found["outcome"]["reason"], found["decisions"], found["turning_points"]
    ('resigned', [], [])
    """
    outcome = position.document["outcome"]
    by = {"level": level, "players": REVISION, "weights": digest_of(position.game)}
    about = {"match": position.match, "game": position.game, "by": by, "outcome": outcome}
    return about | summary(position.document["seats"], found, outcome["winners"])


def seed_of(question: Question, level: str, saw: str) -> int:
    """Return the seed of a judgement by a level. `saw`: the hash of what the seat knows."""
    known = {"game": question.game.id, "level": level, "saw": saw, "seat": question.seat}
    return int.from_bytes(sha256(canonical(known)).digest(), "big")
