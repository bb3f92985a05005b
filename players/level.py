"""What a level of play is given, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from games.chance import Chance
from games.choices import Choice
from games.kernel import Action, Game, Memory, Seat, State


class Question(NamedTuple):
    """A decision that a seat has to take: everything that its player would know, and nothing else.

    `game`: the rules. A level calls `guess` and `worth`, and plays on branches (`games.kernel.Branch`).
    `view`: the state document as the seat sees it, `game.view(state, seat)`. A count or null replaces what the seat may not see.
    `choices`: the legal choices of the seat, `legal(game, state, seat)`; at least one. `{"action": {"type": "roll"}}` is complete;
    `{"action": {"type": "add"}, "choose": {"by": [1, 3]}}` is open (games/choices.py).
    `seat`: the seat that decides, such as `"red"`.
    `memory`: what every spectator of the match has seen, `games.kernel.remembered`; `{}` in a game that remembers nothing.
    """

    game: Game
    view: State
    choices: list[Choice]
    seat: Seat
    memory: Memory


def is_forced(choices: Sequence[Choice]) -> bool:
    """Return True if the choices of a seat leave it none: one complete action.

    >>> is_forced([{"action": {"type": "roll"}}]), is_forced([{"action": {"type": "take"}, "choose": {"pebbles": [1, 3]}}])
    (True, False)
    """
    return len(choices) == 1 and "choose" not in choices[0]


def unbounded(spent: int) -> bool:
    """Return True: nothing but the number of iterations ends the search."""
    return True


class Budget(NamedTuple):
    """How long a level may think: a number of iterations, so that the answer does not depend on the machine.

    `go_on(spent)` is asked before each iteration with the number of those done. When it returns False, the level answers with its best so
    far. Whoever decides again asks for the same `iterations` and stops after as many as were spent. `least`: so many iterations are given
    however short the time is (record/allowances.py).
    """

    iterations: int = 0
    go_on: Callable[[int], bool] = unbounded
    least: int = 1

    def halved(self, times: int) -> Budget:
        """Return the budget with its iterations halved so many times. They are no fewer than `least`, unless there are fewer from the
        start.

        >>> [Budget(400, least=50).halved(times).iterations for times in (0, 2, 6)]
        [400, 100, 50]
        >>> Budget(20, least=50).halved(1).iterations
        20
        """
        return self._replace(iterations=max(min(self.least, self.iterations), self.iterations >> times))


class Option(NamedTuple):
    """An action that a level has considered.

    `worth`: what the level expects after it, 0 to 1. With `tries` above 0 it is about the share of a victory; else it is the value at
    first sight, which only orders actions. `tries`: how often the action was tried.
    """

    action: Action
    worth: float
    tries: int


class Thought(NamedTuple):
    """What a level answers: one complete action that a choice admits, and how it came to it.

    `spent`: iterations done. `nodes`: the nodes of a tree, or the positions that a search over turns has tried, which a plan bounds; 0 if
    neither is held. `options`: the actions that it compared, the best first; empty for a level that compares nothing.
    """

    action: Action
    spent: int = 0
    nodes: int = 0
    options: tuple[Option, ...] = ()


class Level(Protocol):
    """A function that decides for a seat: a pure function of its arguments, and all that it knows is in them.

    `chance`: random draws for this decision only. They are never the dice of the match, which a player must not know.
    """

    def __call__(self, question: Question, budget: Budget, chance: Chance) -> Thought:
        """Return the decision."""
