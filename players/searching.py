"""The levels that search: `strong` and `expert`. The plan of a level says by which method it searches in a game, and how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from games.chance import Chance
from players.evaluation import Value, value_of
from players.flat import flat
from players.level import Budget, Level, Question, Thought, is_forced
from players.plans import Plan, plan_of
from players.tree import tree
from players.turns import turns

Method = Callable[[Question, Budget, Chance, Plan, Value], Thought]

METHODS: Mapping[str, Method] = {"flat": flat, "tree": tree, "turns": turns}


def search(level: str, value: Value | None = None, always: bool = False, plan: Plan | None = None) -> Level:
    """Return a level that searches by its plan. It answers at once where there is only one complete choice, unless it searches `always`.

    `value`: how it evaluates positions, and `plan`: how it searches, in place of what the data of the game say (`./run tune`).

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> question = Question(GAMES["war"], {}, [{"action": {"type": "end_moves"}}], "red", {})
    >>> search("strong")(question, Budget(20), Drawn(lambda below: 0))
    Thought(action={'type': 'end_moves'}, spent=0, nodes=0, options=())
    """

    def decide(question: Question, budget: Budget, chance: Chance) -> Thought:
        game, view = question.game, question.view
        if is_forced(question.choices) and not always:
            return Thought(question.choices[0]["action"])
        seats = len(view["seats"])
        found = plan or plan_of(game.id, level, seats)
        assert found is not None, f"there is a plan of {level} for {game.id} with {seats} seats"
        return METHODS[found.method](question, budget, chance, found, value or value_of(game, seats, level, question.seat))

    return decide
