"""The level `random`: an even draw among the choices."""

from __future__ import annotations

from games.chance import Chance
from games.choices import complete
from players.level import Budget, Question, Thought


def random_play(question: Question, budget: Budget, chance: Chance) -> Thought:
    """Return any of the choices, each with the same probability. The counts of an open choice are drawn too."""
    choice = chance.pick(question.choices)
    return Thought(complete(choice["action"], choice.get("choose", {}), chance.number))
