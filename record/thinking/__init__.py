"""Thinking: how the decision of an artificial player follows from a seed and from what it is shown, and what is kept of it.

Workers decide with it, and whoever checks a record decides with it again. It needs the standard library, the rules and the players only.
"""

from __future__ import annotations

import random
from hashlib import sha256

from games.chance import Chance, Fractional
from players import LEVELS, REVISION
from players.level import Budget, Question, Thought
from players.plans import digest_of
from record.entries import canonical
from record.json_text import loads
from record.thoughts import Decision


def chance_of(seed: int) -> Chance:
    """Return the chance of a decision: each number is the next one of Python's generator for a seed, times the bound, rounded down.

    Those of `random` are the same in every version of Python, which is not promised of `randrange`. They are never the dice of the match.
    """
    return Fractional(random.Random(seed).random)


def put(question: Question) -> tuple[Question, str]:
    """Return a question as it is put to a level, and the SHA-256 of all that the level is shown, in hex.

    What the level is shown is read back from the canonical JSON that was hashed. So it shares nothing with the position, and has its
    members in the same order everywhere: sums of fractions, and what is drawn for one seat after the other, depend on that order.
    """
    shown = canonical({"choices": question.choices, "memory": question.memory, "view": question.view})
    read = loads(shown)
    return Question(question.game, read["view"], read["choices"], question.seat, read["memory"]), sha256(shown).hexdigest()


def decide(question: Question, level: str, budget: Budget, seed: int) -> tuple[Thought, Decision]:
    """Return what a level answers to a question, and what is to be kept of it. The same seed gives the same answer everywhere."""
    question, saw = put(question)
    thought = LEVELS[level](question, budget, chance_of(seed))
    return thought, {
        "level": level,
        "players": REVISION,
        "weights": digest_of(question.game.id),
        "saw": saw,
        "budget": budget.iterations,
        "spent": thought.spent,
    }
