"""The method `tree`: a tree of information sets, seen by the seat that decides (SO-ISMCTS, Cowling, Powley and Whitehouse 2012).

Each iteration guesses what the seat cannot see (a determinization), selects actions down the tree that are legal in this guess, and expands
one node. A node stands for a series of actions and the seat that is to act after it; what chance did on the way makes no difference.
Expanding a node tries every action once and orders them by the value of the position after them. Selection considers only the first of
these, and more of them as the node is visited more often (progressive widening). What is backed up is the evaluation of the position after
the best action of the new node. There are no playouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any

from games.chance import Chance
from games.choices import Choice
from games.kernel import SYSTEM, Action, Branch, Game, Seat, State, legal
from players.evaluation import Value
from players.greedy import completions
from players.level import Budget, Option, Question, Thought
from players.plans import Plan


class Edge:
    """An action of a node, and the nodes after it.

    `first`: the value of the position after it when it was first tried. `tries`: how often it was selected. `total`: the sum of the
    values backed up through it. `after`: the next node, by the seat that is then to act.
    """

    __slots__ = ("action", "first", "tries", "total", "after")

    def __init__(self, action: Action, first: float) -> None:
        self.action = action
        self.first = first
        self.tries = 0
        self.total = 0.0
        self.after: dict[Seat, Node] = {}


class Node:
    """A decision of a seat.

    `tries`: the number of visits. `edges`: the actions found so far, those with the highest first value first. `keys`: the same by action.
    """

    __slots__ = ("seat", "tries", "edges", "keys")

    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        self.tries = 0
        self.edges: list[Edge] = []
        self.keys: dict[str, Edge] = {}


def tree(question: Question, budget: Budget, chance: Chance, plan: Plan, value: Value) -> Thought:
    """Search a tree of information sets, and return the action that was selected most often. The first iteration is always done."""
    searched = Tree(question, chance, plan.settings, value)
    spent = 0
    while spent == 0 or (spent < budget.iterations and budget.go_on(spent)):
        searched.iterate()
        spent += 1
    return searched.thought(spent)


class Tree:
    """The tree of one decision, and the settings of the search.

    `nodes`: the most nodes. `completions`: actions tried of one open choice, at most. `explore`: the weight of exploration in the score of
    an action. `trust`: how many tries the first value of an action counts for. `open`, `widen`: after n visits of a node, selection
    considers its first open + widen * sqrt(n) actions.
    """

    def __init__(self, question: Question, chance: Chance, settings: Mapping[str, Any], value: Value) -> None:
        self.question = question
        self.game: Game = question.game
        self.chance = chance
        self.value = value
        self.most_nodes = int(settings["nodes"])
        self.completions = int(settings["completions"])
        self.explore = float(settings["explore"])
        self.trust = float(settings["trust"])
        self.open = float(settings["open"])
        self.widen = float(settings["widen"])
        self.root = Node(question.seat)
        self.nodes = 1

    def iterate(self) -> None:
        """Guess what is hidden, select actions down the tree, expand one node, and back up.

        Each edge of the path gets the value that the position reached has for the seat of its own node.
        """
        game, value = self.game, self.value
        branch = Branch(game, game.guess(self.question.view, self.question.seat, self.chance, self.question.memory), self.chance)
        node = self.root
        path: list[tuple[Node, Edge]] = []
        values: dict[Seat, float] = {}
        while True:
            if not node.edges:
                leaf, first = self.expand(node, branch.state)
                if first is not None:
                    values[node.seat] = first
                break
            if node.tries & (node.tries - 1) == 0:  # a power of two: this guess may allow actions that those before it did not
                self.expand(node, branch.state)
            edge = self.choose(node, branch.state)
            if edge is None:
                leaf = branch.state
                break
            path.append((node, edge))
            branch.play(node.seat, edge.action)
            actor = actor_of(game, branch)
            if actor is None:
                leaf = branch.state
                break
            following = edge.after.get(actor)
            if following is None:
                if self.nodes >= self.most_nodes:
                    leaf = branch.state
                    break
                following = edge.after[actor] = Node(actor)
                self.nodes += 1
            node = following
        node.tries += 1
        for visited, edge in path:
            seat = visited.seat
            if seat not in values:
                values[seat] = value(leaf, seat)
            edge.tries += 1
            edge.total += values[seat]
            if visited is not node:
                visited.tries += 1

    def expand(self, node: Node, state: State) -> tuple[State, float | None]:
        """Try every action that is new to a node, and sort it in by its first value. Return the state after the best new one and its value,
        or the given state and None if there is none."""
        game, seat, keys = self.game, node.seat, node.keys
        best: State = state
        most: float | None = None
        for action in self.actions(node, state):
            key = repr(action)
            if key in keys:
                continue
            branch = Branch(game, state, self.chance)
            branch.play(seat, action)
            first = self.value(branch.state, seat)
            keys[key] = edge = Edge(action, first)
            node.edges.append(edge)
            if most is None or first > most:
                best, most = branch.state, first
        if most is not None:
            node.edges.sort(key=_first, reverse=True)
        return best, most

    def actions(self, node: Node, state: State) -> Iterator[Action]:
        """Yield complete actions of a node's seat: all complete choices, and some actions of each open one."""
        choices: list[Choice] = self.question.choices if node is self.root else legal(self.game, state, node.seat)
        for choice in choices:
            if "choose" in choice:
                yield from map(_in_order, completions(choice, self.completions, self.chance))
            else:
                yield choice["action"]

    def choose(self, node: Node, state: State) -> Edge | None:
        """Return the action of a node to select, or None if none that is known is legal in a state.

        It is the one with the highest score among those that progressive widening admits, not counting actions found to be illegal here.
        The score is the mean value, in which the first value counts as `trust` tries, plus
        explore * spread * sqrt(visits + 1) / (1 + tries), as in PUCT with the same prior for all. `spread` fits exploration to what is at
        stake: the highest first value less the eighth, or the last if there are fewer, plus a little.
        """
        edges = node.edges
        room = self.open + self.widen * sqrt(node.tries)
        spread = edges[0].first - edges[min(len(edges), 8) - 1].first + 0.002
        reach = self.explore * spread * sqrt(node.tries + 1)
        trust = self.trust
        chosen: Edge | None = None
        most = 0.0
        deeds = self.game.phases[state["phase"]]
        opened = 0
        for edge in edges:
            if opened >= room:
                break
            opened += 1
            score = (edge.total + trust * edge.first) / (edge.tries + trust) + reach / (1 + edge.tries)
            if chosen is None or score > most:
                if node is not self.root:
                    deed = deeds.get(edge.action["type"])
                    if deed is None or deed.judge(state, node.seat, edge.action) is not None:
                        opened -= 1
                        continue
                chosen, most = edge, score
        return chosen

    def thought(self, spent: int) -> Thought:
        """Return the action that was selected most often; of several, the one with the highest mean, then the highest first value."""
        trust = self.trust
        options = [Option(edge.action, (edge.total + trust * edge.first) / (edge.tries + trust), edge.tries) for edge in self.root.edges]
        options.sort(key=lambda option: (option.tries, option.worth), reverse=True)
        return Thought(options[0].action, spent, self.nodes, tuple(options))


def actor_of(game: Game, branch: Branch) -> Seat | None:
    """Play the steps of the system on a branch, and return the first of the seats that are to act then, or None if the match is over.

    >>> from games import GAMES
    >>> from games.chance import Drawn
    >>> war = GAMES["war"]
    >>> branch = Branch(war, war.begin(["red", "blue"], {}), Drawn(lambda below: 0))
    >>> actor_of(war, branch) == branch.state["to_act"][0]
    True
    """
    while branch.state["outcome"] is None:
        actor: Seat = branch.state["to_act"][0]
        if actor != SYSTEM:
            return actor
        branch.play(SYSTEM, legal(game, branch.state, SYSTEM)[0]["action"])
    return None


def _in_order(action: Action) -> Action:
    """Return an action with its counts in the order of their names: however they were drawn, it is one action."""
    return {field: dict(sorted(value.items())) if isinstance(value, dict) else value for field, value in action.items()}


def _first(edge: Edge) -> float:
    return edge.first
