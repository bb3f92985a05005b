"""The levels that search: `strong` and `expert`. The plan of a level says by which method it searches in a game, and how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from games.chance import Chance
from players.evaluation import Value, value_of
from players.flat import flat
from players.level import Budget, Level, Question, Thought
from players.plans import Plan, plan_of
from players.tree import tree
from players.turns import turns

Method = Callable[[Question, Budget, Chance, Plan, Value], Thought]

METHODS: Mapping[str, Method] = {"flat": flat, "tree": tree, "turns": turns}


def search(level: str, value: Value | None = None, always: bool = False) -> Level:
    """Return a level that searches by its plan. It answers at once where there is only one complete choice, unless it searches `always`.

    `value`: how it evaluates positions, in place of the weights of the game (`./run tune`).
    """

    def decide(question: Question, budget: Budget, chance: Chance) -> Thought:
        game, view, choices = question.game, question.view, question.choices
        if len(choices) == 1 and "choose" not in choices[0] and not always:
            return Thought(choices[0]["action"])
        plan = plan_of(game.id, level, len(view["seats"]))
        assert plan is not None, f"there is a plan of {level} for {game.id} with {len(view['seats'])} seats"
        return METHODS[plan.method](question, budget, chance, plan, value or value_of(game, len(view["seats"]), level, question.seat))

    return decide
