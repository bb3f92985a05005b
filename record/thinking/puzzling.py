"""Make puzzles and judge what is tried, from what the seat knew. For workers.

As with other judgements (judging.py), the seed follows from what the seat knew: the same knowledge gives the same puzzle, the same worths
and the same lines. Nothing else of the position is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from games.chance import Chance
from games.kernel import SYSTEM, Action, Game, Memory, Seat, State, admit, carry_out, legal
from players import LEVELS, budget_of, question_of
from players.analysis import appraised
from players.knowledge import knowledge_of
from players.level import Question, is_forced
from players.searching import search
from record.puzzles import CANDIDATES, DIFFICULTIES, FEW, LEAST, LEVEL, TOLERANCE, Reply, Weighed
from record.thinking import chance_of, put
from record.thinking.judging import seed_of
from table.rules import shown

LONGEST = 60  # actions of a line that are carried out
FINDERS = ("novice", "greedy", "strong")
"""The levels that try to find the answer. The first that does so names the difficulty (DIFFICULTIES); nobody does: the last one."""


class Decided(Exception):
    """The seat has no choice, so there is nothing to find."""


class Riddle:
    """A decision of a seat that is to be judged, with all that the seat knew."""

    def __init__(self, game: Game, state: State, seat: Seat, memory: Memory) -> None:
        self.question: Question
        self.question, self._saw = put(question_of(game, state, seat, memory))

    def candidates(self, played: Action) -> tuple[list[Action], dict[str, Action], int]:
        """Return the actions to judge, what each level would play, and how many actions the level that judges has compared.

        `played`: what the seat did. Raises Decided.
        """
        question = self.question
        if is_forced(question.choices):
            raise Decided
        thought = LEVELS[LEVEL](question, budget_of(question, LEVEL), self._chance(LEVEL))
        found = {level: LEVELS[level](question, budget_of(question, level), self._chance(level)).action for level in FINDERS}
        actions: list[Action] = []
        for action in (thought.action, played, *found.values(), *(option.action for option in thought.options)):
            admitted = admit(question.game, action)
            if admitted not in actions and len(actions) < CANDIDATES:
                actions.append(admitted)
        return actions, {level: admit(question.game, action) for level, action in found.items()}, len(thought.options)

    def weigh(self, action: Action) -> Weighed:
        """Return what the level expects after an action, and what may follow. All actions have the same luck."""
        question = self.question
        iterations = budget_of(question, LEVEL).iterations
        worth, _ = appraised(question, action, iterations, search(LEVEL, always=True), self._chance(LEVEL))
        return Weighed(action, worth, line(question, action, self._chance("line")))

    def _chance(self, what: str) -> Chance:
        return chance_of(seed_of(self.question, what, self._saw))


class Compared(NamedTuple):
    """Judged actions, the best first, with the gap and the difficulty of their puzzle."""

    weighed: list[Weighed]
    gap: float
    difficulty: str


def compared(weighed: Sequence[Weighed], found: Mapping[str, Action], count: int) -> Compared | None:
    """Return judged actions as a puzzle has them, or None if no action is much worse than the best.

    `found`: what each level would play. `count`: how many actions there are to choose from, about.

    >>> judged = [Weighed({"type": name}, worth, []) for name, worth in (("a", 0.3), ("b", 0.6), ("c", 0.59), ("d", 0.5))]
    >>> levels = {"novice": {"type": "a"}, "greedy": {"type": "d"}, "strong": {"type": "c"}}
    >>> ranked, gap, difficulty = compared(judged, levels, 9)
    >>> ranked[0].action["type"], gap, difficulty
    ('b', 0.1, 'hard')
    >>> compared(judged[1:3], levels, 9) is None
    True
    """
    ranked = sorted(weighed, key=lambda each: -each.worth)
    best = ranked[0].worth
    costs = [round(best - each.worth, 4) for each in ranked]
    if costs[-1] < LEAST:
        return None
    gap = next((cost for cost in costs if cost > TOLERANCE), costs[-1])
    solving = [each.action for each, cost in zip(ranked, costs, strict=True) if cost <= TOLERANCE]
    place = next((place for place, level in enumerate(FINDERS) if found[level] in solving), len(FINDERS))
    return Compared(ranked, gap, DIFFICULTIES[max(0, place - (count <= FEW))])


def line(question: Question, action: Action, chance: Chance) -> list[Reply]:
    """Return what may follow an action until the next turn of the seat, if everybody then does what looks best at once.

    It is played on a guess of what is hidden. Each decides on what it would see.
    """
    game, seat = question.game, question.seat
    course = knowledge_of(game.id).course
    state = game.guess(question.view, seat, chance, question.memory)
    began, away = course.round_of(state), False
    actor, replies = seat, list[Reply]()
    for _ in range(LONGEST):
        match = carry_out(game, state, actor, action, chance)
        state = match.state
        events = [shown(game, event, seat) for event in match.events]
        replies.append(Reply(actor, action["type"], events))
        if state["outcome"] is not None:
            break
        away = away or not course.pending(state, seat) or course.round_of(state) != began
        if away and course.pending(state, seat) and SYSTEM not in state["to_act"] and any(reply.actor != seat for reply in replies):
            break
        actor = state["to_act"][0]
        if actor == SYSTEM:
            action = legal(game, state, SYSTEM)[0]["action"]
        else:
            asked = question_of(game, state, actor)
            action = LEVELS["greedy"](asked, budget_of(asked, "greedy"), chance).action
    return replies
