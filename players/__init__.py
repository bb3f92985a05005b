"""Artificial players: how a seat without a person decides.

A level knows what a person in its seat would know and no more. `LEVELS` is the table of levels by name. This package imports only `games`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from games.chance import Chance
from games.kernel import Action, Game, Memory, Seat, State, legal
from players.greedy import greedy
from players.level import Budget, Level, Question, unbounded
from players.novice import novice
from players.plans import levels_that_search, plan_of
from players.random_play import random_play
from players.searching import search

LEVELS: Mapping[str, Level] = {
    "random": random_play,
    "novice": novice,
    "greedy": greedy,
    **{level: search(level) for level in levels_that_search()},
}
"""The function behind each level of table/data.json, which has their names, descriptions and times. A level without a function of its own
here searches by its plan."""

REVISION = 1
"""Raise this when a level answers otherwise than before. Every decision in a record names it (tests/players/test_golden.py)."""


def question_of(game: Game, state: State, seat: Seat, memory: Memory | None = None) -> Question:
    """Return the question that a position puts to a seat: the seat's view and its choices, never `state` itself.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> from games.kernel import carry_out
    >>> war = GAMES["war"]
    >>> state = carry_out(war, war.begin(["red", "blue"], {}), "system", {"type": "advance"}, Drawn(lambda below: 0)).state
    >>> seat = state["to_act"][0]
    >>> question = question_of(war, state, seat)
    >>> question.seat, question.choices[0], question.view["deck"], question.memory
    ('red', {'action': {'type': 'place_unit', 'tile': 'a2'}}, 32, {})
    """
    return Question(game, game.view(state, seat), legal(game, state, seat), seat, memory or {})


def budget_of(question: Question, level: str, go_on: Callable[[int], bool] = unbounded) -> Budget:
    """Return the whole budget that a level has for a decision. A level that does not search has none.

    >>> from games import GAMES
    >>> question = Question(GAMES["war"], {"seats": ["red", "blue"]}, [], "red", {})
    >>> budget_of(question, "greedy").iterations, budget_of(question, "strong").iterations
    (0, 24)
    """
    plan = plan_of(question.game.id, level, len(question.view["seats"]))
    return Budget(plan.iterations, go_on, plan.least) if plan else Budget(0, go_on)


def choose(game: Game, level: str, state: State, seat: Seat, chance: Chance, memory: Memory | None = None) -> Action:
    """Return the action of a seat that plays at a level, with the whole budget of the level.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> state = {**GAMES["war"].begin(["red", "blue"], {}), "phase": "moves", "active": "red", "to_act": ["red"]}
    >>> choose(GAMES["war"], "greedy", state, "red", Drawn(lambda below: 0))
    {'type': 'end_moves'}
    """
    question = question_of(game, state, seat, memory)
    return LEVELS[level](question, budget_of(question, level), chance).action
