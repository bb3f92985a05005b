"""Thinking: an artificial player decides, given a seed and what it is shown. Its entry stores what is needed to decide again.

Workers use this to decide, and auditors to check the decisions in a record. It needs only the standard library, the rules and the players.

>>> from games import GAMES
>>> from players import budget_of, question_of
>>> from record.example import POSITIONS
>>> question = question_of(GAMES["war"], POSITIONS[1].document, "blue", POSITIONS[1].memory)
>>> thought, decision = decide(question, "greedy", budget_of(question, "greedy"), seed=7)
>>> thought.action["type"], decision["level"]
('place_unit', 'greedy')
>>> decide(question, "greedy", budget_of(question, "greedy"), seed=7)[0].action == thought.action
True
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

SHOWN = 16  # hex digits of the hash of what a level saw that an entry stores


def chance_of(seed: int) -> Chance:
    """Return the chance of a decision. Each number is the next `random()` of Python's generator, times the bound, rounded down.

    Python promises the same numbers in every version for `random`, but not for `randrange`. These are not the dice of the match.

    >>> chance = chance_of(20)
    >>> [chance.number(6) for _ in range(5)]
    [5, 4, 4, 5, 1]
    """
    return Fractional(random.Random(seed).random)


def put(question: Question) -> tuple[Question, str]:
    """Return the question that a level is asked, and the SHA-256 of everything that the level is shown, in hex.

    The level is shown what is read back from the hashed canonical JSON. So it shares nothing with the position, and members have the same
    order everywhere. Sums of fractions and draws for several seats depend on that order.
    """
    shown = canonical({"choices": question.choices, "memory": question.memory, "view": question.view})
    read = loads(shown)
    return Question(question.game, read["view"], read["choices"], question.seat, read["memory"]), sha256(shown).hexdigest()


def decide(question: Question, level: str, budget: Budget, seed: int) -> tuple[Thought, Decision]:
    """Return the answer of a level to a question, and what its entry stores. The same seed gives the same answer everywhere."""
    question, saw = put(question)
    thought = LEVELS[level](question, budget, chance_of(seed))
    return thought, {
        "level": level,
        "players": REVISION,
        "weights": digest_of(question.game.id),
        "saw": saw[:SHOWN],
        "budget": budget.iterations,
        "spent": thought.spent,
    }
