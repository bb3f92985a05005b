"""Measure searches in a process of its own: a line in, iterations per second out. `./run bench ai` starts it on plain and compiled rules.

A line is `SEARCH GAME SECONDS`. `expert` is the level with its plan. `copies` is the same, but each branch copies the whole state.
`textbook` is information set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012) without knowledge of the game, as in OpenSpiel:
an iteration is one guess and one random match to the end.
"""

from __future__ import annotations

import operator
import random
import sys
import time
from functools import cache
from math import log, sqrt
from types import ModuleType

from games import GAMES
from games.chance import Chance, Drawn, Fractional
from games.choices import complete
from games.documents import clone
from games.kernel import SYSTEM, Branch, Game, Memory, State, any_action, carry_out, legal, remembered
from players import LEVELS, budget_of, choose, question_of
from players.level import Question

AT_ONCE = 20  # iterations of one decision of a textbook search
UCT = 1.4


def copying(kind: type[Branch]) -> type[Branch]:
    """Return a subclass of a branch that first copies the whole state, and then changes the copy in place."""

    class Copy(kind):  # type: ignore[misc,valid-type]
        __slots__ = ()

        def __init__(self, game: Game, state: State, chance: Chance) -> None:
            super().__init__(game, clone(state), chance)
            self._own = operator.getitem  # type: ignore[misc]

    return Copy


class Node:
    """A node of the tree: its visits, the sum of results for its seat, and its children by action."""

    __slots__ = ("seat", "visits", "seen", "total", "children")

    def __init__(self, seat: str | None) -> None:
        self.seat = seat  # the seat whose action led here
        self.visits, self.seen, self.total = 0, 0, 0.0
        self.children: dict[str, Node] = {}


def textbook(question: Question, chance: Chance, iterations: int) -> str:
    """Return the most visited action, as text."""
    root = Node(None)
    for _ in range(iterations):
        branch = Branch(question.game, question.game.guess(question.view, question.seat, chance, question.memory), chance)
        path = descend(root, question.game, branch, chance)
        play_out(question.game, branch, chance)
        winners = branch.state["outcome"]["winners"]
        for node in path:
            node.visits += 1
            node.total += node.seat in winners
    return max(root.children, key=lambda action: root.children[action].visits)


def descend(root: Node, game: Game, branch: Branch, chance: Chance) -> list[Node]:
    """Walk down the tree by upper confidence bounds, and add one node. Return the nodes on the way."""
    node, path = root, [root]
    while branch.state["outcome"] is None:
        actor = branch.state["to_act"][0]
        if actor == SYSTEM:
            branch.play(SYSTEM, legal(game, branch.state, SYSTEM)[0]["action"])
            continue
        actions = {}
        for choice in legal(game, branch.state, actor):
            action = complete(choice["action"], choice.get("choose", {}), _lowest)
            actions[repr(action)] = action
        new = [key for key in actions if key not in node.children]
        if new:
            key = chance.pick(new)
            branch.play(actor, actions[key])
            node.children[key] = Node(actor)
            return [*path, node.children[key]]
        for key in actions:
            node.children[key].seen += 1
        key = max(actions, key=lambda key: score(node.children[key]))
        branch.play(actor, actions[key])
        node = node.children[key]
        path.append(node)
    return path


def score(node: Node) -> float:
    """Return the upper confidence bound of a node."""
    return node.total / node.visits + UCT * sqrt(log(node.seen) / node.visits)


def play_out(game: Game, branch: Branch, chance: Chance) -> None:
    """Play a match at random to its end."""
    while branch.state["outcome"] is None:
        actor = branch.state["to_act"][0]
        action = any_action(game, branch.state, actor, chance.number)
        assert action is not None
        branch.play(actor, action)


def _lowest(below: int) -> int:
    return 0


@cache
def question(id: str) -> Question:
    """Return a decision from the middle of a match of two greedy seats: of some successive ones, that with the most choices."""
    game = GAMES[id]
    dice, minds = Drawn(random.Random("dice").randrange), Drawn(random.Random("players").randrange)
    state: State = game.begin(list(game.seats.ids[:2]), {})
    memory: Memory = {}
    found: list[tuple[State, str, Memory]] = []
    while state["outcome"] is None:
        actor = state["to_act"][0]
        choices = legal(game, state, actor)
        if len(choices) > 1:
            found.append((state, actor, memory))
        action = choices[0]["action"] if actor == SYSTEM else choose(game, "greedy", state, actor, minds, memory)
        match = carry_out(game, state, actor, action, dice)
        state, memory = match.state, remembered(game, memory, match.events)
    return widest(game, found[len(found) // 2 - 4 : len(found) // 2 + 4])


def widest(game: Game, positions: list[tuple[State, str, Memory]]) -> Question:
    """Return the question with the most choices."""
    return max([question_of(game, state, seat, memory) for state, seat, memory in positions], key=lambda asked: len(asked.choices))


def rate(search: str, id: str, seconds: float) -> float:
    """Return the iterations per second of a search in a game."""
    asked, chance = question(id), Fractional(random.Random(1).random)
    for module, name, kind in _BRANCHES:
        setattr(module, name, copying(kind) if search == "copies" else kind)
    iterations, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        if search == "textbook":
            textbook(asked, chance, AT_ONCE)
            iterations += AT_ONCE
        else:
            iterations += LEVELS["expert"](asked, budget_of(asked, "expert"), chance).spent
    return iterations / (time.process_time() - began)


_BRANCHES: list[tuple[ModuleType, str, type[Branch]]] = [
    (module, name, kind)
    for place, module in list(sys.modules.items())
    if place.startswith("players.")
    for name, kind in list(vars(module).items())
    if isinstance(kind, type) and issubclass(kind, Branch)
]
"""The modules of players, with the names and the classes of the branches that they use."""


def main() -> None:
    """For each line of the input, measure a search and print the rate."""
    print("ready", flush=True)
    for line in sys.stdin:
        search, id, seconds = line.split()
        print(rate(search, id, float(seconds)), flush=True)


if __name__ == "__main__":
    main()
