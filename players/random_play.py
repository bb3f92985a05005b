"""The level `random`: an even draw among the choices."""

from __future__ import annotations

from games.chance import Chance
from games.choices import complete
from players.level import Budget, Question, Thought


def random_play(question: Question, budget: Budget, chance: Chance) -> Thought:
    """Return any of the choices, each with the same probability. The counts of an open choice are drawn too.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> question = Question(GAMES["war"], {}, [{"action": {"type": "take"}, "choose": {"pebbles": [1, 3]}}], "red", {})
    >>> random_play(question, Budget(), Drawn(lambda below: below - 1)).action
    {'type': 'take', 'pebbles': 3}
    """
    choice = chance.pick(question.choices)
    return Thought(complete(choice["action"], choice.get("choose", {}), chance.number))
