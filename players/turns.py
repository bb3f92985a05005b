"""The search method `turns`: a beam search over the whole turn of a seat, then the replies of the others.

The turn is searched on one guess of what is hidden (a determinization), stage by stage, and in each stage the positions with the highest
values first. What others decide within the turn, such as a sealed bid, is what is best at once, on a guess of theirs: nobody sees another's
bid. Every position in which the turn can end is judged. The best of these are then played on through the turns of the others, all with the
same dice (common random numbers), and judged again where the next turn of the seat begins. Positions within the turn are judged by the
evaluation; those in which a turn begins by the outlook, if the level has one (players/evaluation.py).

Turns can only be compared where they end. So if the beam is stopped with fewer iterations than its plan has, the best positions so far are
followed to the end of the turn by first sight. With fewer than the least of its plan not even that tells much, and the search decides as
`greedy` does.

For a decision outside a turn of its own, such as a bid against an attack, every action is tried on many guesses, and the worse half of the
actions is dropped from time to time (successive halving).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from games.chance import Chance, Drawn
from games.choices import Choice, complete
from games.kernel import SYSTEM, Action, Branch, Game, Memory, Seat, State, legal, remembered
from players.evaluation import Value, outlook_of
from players.greedy import greedy
from players.knowledge import Stage, knowledge_of
from players.level import Budget, Option, Question, Thought, is_forced
from players.luck import Noticed, congruential, highest, lowest
from players.plans import Plan

LONGEST = 1000  # decisions of a reply, at most
FEW = 6  # more numbers than these between two bounds are drawn
DRAWN = 4  # counts drawn for one open choice, at most


class Node(NamedTuple):
    """A position that can be reached in the turn, and its value for the seat. `first`: the place, in the list of first actions, of the one
    that the way to it begins with. `actions`: the number of actions on that way. `memory`: what everybody would have seen by then."""

    state: State
    value: float
    first: int
    actions: int
    memory: Memory


class Watched(Branch):
    """A branch that keeps what everybody would have seen on it. `memory`: of the position from which it begins, then of its own."""

    __slots__ = ("game", "memory")
    game: Game
    memory: Memory

    def emit(self, type: str, **facts: Any) -> None:
        """Fold an event in place, and remember it."""
        super().emit(type, **facts)
        if type in self.game.remembers:
            self.memory = remembered(self.game, self.memory, [{"type": type, **facts}])


def watched(game: Game, start: Node, chance: Chance) -> Watched:
    """Return a branch from a position of a turn."""
    branch = Watched(game, start.state, chance)
    branch.game, branch.memory = game, start.memory
    return branch


class Judged:
    """An action with which the turn can begin.

    `depth`: how far a turn that begins with it was followed at most: 1 while the turn goes on, 2 to its end, 3 through the replies of the
    others. `value`: the best value at this depth. `tries`: how many positions were reached by it. For a decision outside a turn of its own,
    `depth` and `tries` are the number of guesses on which the action was tried, and `value` is the mean.
    """

    __slots__ = ("action", "depth", "value", "tries")

    def __init__(self, action: Action) -> None:
        self.action = action
        self.depth = 0
        self.value = 0.0
        self.tries = 0

    def note(self, depth: int, value: float) -> None:
        """Keep the value if it comes from a greater depth than the one so far, or from the same depth and is higher.

        >>> judged = Judged({"type": "end_turn"})
        >>> judged.note(2, 0.4)
        >>> judged.note(1, 0.9)
        >>> judged.depth, judged.value
        (2, 0.4)
        """
        if (depth, value) > (self.depth, self.value):
            self.depth, self.value = depth, value


def turns(question: Question, budget: Budget, chance: Chance, plan: Plan, value: Value) -> Thought:
    """Return the first action of the best turn found, or the best answer in a turn of another seat. The first iteration is always done."""
    searched = Turns(question, budget, chance, plan, value)
    state = question.game.guess(question.view, question.seat, chance, question.memory)
    if searched.course.stage_of(state, question.seat, 0) is None:
        return searched.answer()
    return searched.plan(Node(state, 0.0, 0, 0, question.memory or {}))


class Turns:
    """The search of one decision, and the settings of its plan.

    `samples`, `answers`, `quick`: actions tried of one open choice, at most: in the own turn, outside it, and by the policy for replies.
    `rest`, `within`: the width of the beam, as positions expanded of each stage, between two actions and within one. `throws`: how often an
    action is tried after which chance is drawn. `guesses`: on how many guesses an action outside the own turn is tried, at most. `nodes`:
    after so many positions the beam ends. `beam`: the share of the iterations for the beam, in per cent. `replies`, `each`: how many turns
    are played on through the replies, in all and of one first action. `rounds`: how often each of them is, every time with other dice; with
    `anew` also with another guess of what is hidden. `ahead`: to which later turn of the seat; 1 is the next. `by_value`: whether others
    do what is best by the evaluation, and not by the game's own `worth`.
    """

    def __init__(self, question: Question, budget: Budget, chance: Chance, plan: Plan, value: Value) -> None:
        settings = plan.settings
        self.game: Game = question.game
        self.question = question
        self.seat = question.seat
        self.course = knowledge_of(self.game.id).course
        self.round = self.course.round_of(question.view)
        self.budget = budget
        self.planned = plan.iterations
        self.least = plan.least
        self.chance = chance
        self.settings = settings
        self.value = value
        self.outlook = outlook_of(self.game, plan.outlook) if plan.outlook is not None else None
        self.throws = int(settings["throws"])
        self.choosing: Value = value if settings["by_value"] else self.game.worth
        self.spent = 0
        self.nodes = 0

    def goes_on(self, most: int) -> bool:
        """Return True if another iteration may be done, of so many at most."""
        return self.spent == 0 or (self.spent < most and self.budget.go_on(self.spent))

    # ---------------------------------------------------------------- the own turn

    def plan(self, start: Node) -> Thought:
        """Search the turn that is under way. An iteration expands one position, or plays one turn on."""
        samples, most, share = (int(self.settings[name]) for name in ("samples", "nodes", "beam"))
        judged = [Judged(action) for choice in self.question.choices for action in completions(choice, samples, self.chance)]
        beam = Beam(self.under_way, {False: int(self.settings["rest"]), True: int(self.settings["within"])})
        for first, root in enumerate(judged):
            self.try_out(beam, root, start, root.action, first)
        self.spent = 1
        iterations = max(1, self.budget.iterations * share // 100)
        stopped = True
        while self.nodes < most and self.goes_on(iterations):
            node = beam.take()
            if node is None:
                stopped = False
                break
            for choice in legal(self.game, node.state, self.seat):
                for action in completions(choice, samples, self.chance):
                    self.try_out(beam, judged[node.first], node, action, node.first)
            self.spent += 1
        if stopped and self.spent < self.least * share // 100:
            return self.at_first_sight(judged)
        if stopped and self.spent < self.planned * share // 100:
            self.finish(beam, judged)
        self.reply(beam.ended, judged)
        return self.thought(judged)

    def under_way(self, state: State, actions: int) -> Stage | bool:
        """Return the stage of the turn in which the seat decides; True if the turn goes on but the seat does not plan; False if it is over.
        `actions`: those that the seat has done in it since the search began."""
        course = self.course
        if not course.pending(state, self.seat) or course.round_of(state) != self.round:
            return False
        return course.stage_of(state, self.seat, actions) or True

    def try_out(self, beam: Beam, root: Judged, start: Node, action: Action, first: int) -> None:
        """Try an action in a position of the turn, and add the position after it to the beam."""
        node = self.after(start, action, first)
        root.tries += 1
        self.nodes += 1
        root.note(1 if beam.add(node) else 2, node.value)

    def after(self, start: Node, action: Action, first: int) -> Node:
        """Return the position after an action, when nothing is unsettled and the system has done its part. If chance was drawn on the way,
        try several times: the value is the mean, and the position the one whose value is nearest to it."""
        actions = start.actions + 1
        noticed = Noticed(self.chance.number)
        tried: list[Node] = []
        total = 0.0
        while len(tried) < self.throws:
            branch = watched(self.game, start, noticed)
            branch.play(self.seat, action)
            while self.under_way(branch.state, actions) is True:
                self.step(branch)
            node = self.reached(branch, first, actions)
            if not noticed.drawn:
                return node
            tried.append(node)
            total += node.value
        mean = total / len(tried)
        middle = tried[0]
        for node in tried:
            if abs(node.value - mean) < abs(middle.value - mean):
                middle = node
        return middle._replace(value=mean)

    def reached(self, branch: Watched, first: int, actions: int) -> Node:
        """Return the position of a branch when the system has done its part."""
        while branch.state["to_act"] == [SYSTEM]:
            self.step(branch)
        return Node(branch.state, self.worth(self.question.view, branch.state), first, actions, branch.memory)

    def at_first_sight(self, judged: list[Judged]) -> Thought:
        """Return what `greedy` would do, and what was found of all actions."""
        thought, action = self.thought(judged), greedy(self.question, self.budget, self.chance).action
        found = [option for option in thought.options if option.action == action] or [thought.options[0]._replace(action=action, tries=1)]
        others = [option for option in thought.options if option.action != action]
        return thought._replace(action=action, options=(*found, *others))

    def finish(self, beam: Beam, judged: list[Judged]) -> None:
        """Follow the best positions that begin differently to the end of the turn, each decision at first sight: as many as are expanded of
        a stage within an action."""
        best: dict[int, Node] = {}
        for node in beam.open():
            if node.first not in best or node.value > best[node.first].value:
                best[node.first] = node
        for node in sorted(best.values(), key=_value, reverse=True)[: int(self.settings["within"])]:
            branch = watched(self.game, node, self.chance)
            for _ in range(LONGEST):
                if self.under_way(branch.state, 0) is False:
                    break
                self.step(branch)
            ended = self.reached(branch, node.first, node.actions)
            if not beam.add(ended):
                judged[node.first].note(2, ended.value)

    def worth(self, before: State, state: State) -> float:
        """Return the share of a victory that the seat can expect in a position: by the outlook if a turn has begun since another position
        (or view), `before`."""
        outlook = self.outlook
        if outlook is None or state["outcome"] is not None or not outlook.begins(before, state):
            return self.value(state, self.seat)
        return outlook.value(state, self.seat)

    def reply(self, ended: list[Node], judged: list[Judged]) -> None:
        """Play the best turns on through the turns of the others, in several rounds, and note the mean value of each.

        In a round all have the same dice. Nothing is done if all these turns begin with the same action, unless there is no other one.
        """
        most, each, rounds = (int(self.settings[name]) for name in ("replies", "each", "rounds"))
        chosen: list[Node] = []
        firsts = [0] * len(judged)
        for node in sorted(ended, key=_value, reverse=True):
            if len(chosen) < most and firsts[node.first] < each:
                firsts[node.first] += 1
                chosen.append(node)
        if not chosen or (len(judged) > 1 and all([node.first == chosen[0].first for node in chosen])):  # noqa: C419 - as elsewhere, a list
            return
        totals = [0.0] * len(chosen)
        done = 0
        while done < rounds:
            values: list[float] = []
            seed = self.chance.number(1 << 31)
            for node in chosen:
                if not self.goes_on(self.budget.iterations):
                    break
                values.append(self.replied(node, Drawn(congruential(seed))))
                self.spent += 1
            if len(values) < len(chosen):
                break
            done += 1
            for place, value in enumerate(values):
                totals[place] += value
        if done:
            for node, total in zip(chosen, totals, strict=True):
                judged[node.first].note(3, total / done)

    def replied(self, node: Node, chance: Chance) -> float:
        """Return the value that a position leads to after the turns of the others, where turn number `ahead` of the seat begins."""
        course, seat, game, state = self.course, self.seat, self.game, node.state
        start = game.guess(game.view(state, seat), seat, chance, node.memory) if self.settings["anew"] else state
        branch = Branch(game, start, chance)
        ahead, before = int(self.settings["ahead"]), False
        for _ in range(LONGEST):
            if branch.state["outcome"] is not None:
                break
            now = course.pending(branch.state, seat)
            ahead -= now and not before
            before = now
            if not ahead:
                break
            self.step(branch)
        return self.worth(state, branch.state)

    # ---------------------------------------------------------------- answers in the turn of another seat

    def answer(self) -> Thought:
        """Try every action on guesses of what is hidden, in each guess all with the same dice. After 4, 8, 16 guesses and so on, drop the
        worse half of the actions."""
        game, seat, question = self.game, self.seat, self.question
        judged = [
            Judged(action) for choice in question.choices for action in completions(choice, int(self.settings["answers"]), self.chance)
        ]
        totals = [0.0] * len(judged)
        left = list(range(len(judged)))
        rounds, half = int(self.settings["guesses"]), 4
        self.nodes = len(judged)
        for tries in range(1, rounds + 1):
            if not self.goes_on(self.budget.iterations):
                break
            state = game.guess(question.view, seat, self.chance, question.memory)
            seed = self.chance.number(1 << 31)
            for place in left:
                branch = Branch(game, state, Drawn(congruential(seed)))
                branch.play(seat, judged[place].action)
                while branch.state["outcome"] is None and self.course.unsettled(branch.state):
                    self.step(branch)
                totals[place] += self.value(branch.state, seat)
                judged[place].tries, judged[place].depth, judged[place].value = tries, tries, totals[place] / tries
            self.spent += 1
            if tries == half and len(left) > 2:
                left = sorted(sorted(left, key=lambda place: -totals[place])[: (len(left) + 1) // 2])
                half *= 2
        return self.thought(judged)

    # ---------------------------------------------------------------- how the others decide

    def step(self, branch: Branch) -> None:
        """Play one action of whoever is to act, by the policy `quick`."""
        state = branch.state
        actor: Seat = state["to_act"][0]
        if actor == SYSTEM:
            branch.play(SYSTEM, legal(self.game, state, SYSTEM)[0]["action"])
        else:
            branch.play(actor, self.quick(state, actor, branch.chance))

    def quick(self, state: State, actor: Seat, chance: Chance) -> Action:
        """Return the action of an actor after which the position is best for it at once.

        Where something between seats is unsettled, actions are tried on a guess made from the actor's own view.
        """
        game = self.game
        if self.course.unsettled(state):
            state = game.guess(game.view(state, actor), actor, chance, self.question.memory)
        choices = legal(game, state, actor)
        best: Action = choices[0]["action"]
        if is_forced(choices):
            return best
        most, samples, choosing = float("-inf"), int(self.settings["quick"]), self.choosing
        for choice in choices:
            for action in completions(choice, samples, chance):
                after = Branch(game, state, chance)
                after.play(actor, action)
                worth = choosing(after.state, actor)
                if worth > most:
                    best, most = action, worth
        return best

    def thought(self, judged: list[Judged]) -> Thought:
        """Return the action with the highest value among those of the greatest depth."""
        judged.sort(key=lambda one: (one.depth, one.value), reverse=True)
        options = tuple([Option(one.action, one.value, one.tries) for one in judged])
        return Thought(judged[0].action, self.spent, self.nodes, options)


class Beam:
    """The positions of a turn by their stage, and those in which it has ended.

    `under_way(state, actions)`: the stage of a position (`Turns.under_way`). `widths`: how many positions are expanded of a stage, between
    two actions (False) and within one (True). `left`: how many of them still may be. `values`: the stages and values of all positions so
    far.
    """

    def __init__(self, under_way: Callable[[State, int], Stage | bool], widths: Mapping[bool, int]) -> None:
        self.under_way = under_way
        self.widths = widths
        self.stages: dict[Stage, list[Node]] = {}
        self.left: dict[Stage, int] = {}
        self.values: set[tuple[Stage | None, float]] = set()
        self.ended: list[Node] = []

    def add(self, node: Node) -> bool:
        """Add a position, and return True if the turn goes on in it. Of positions of one stage with the same value one is kept: as a rule
        they are the same position, reached in another order."""
        now = self.under_way(node.state, node.actions)
        stage = None if isinstance(now, bool) else now
        known = (stage, node.value)
        if known not in self.values:
            self.values.add(known)
            if stage is None:
                self.ended.append(node)
            elif stage in self.stages:
                self.stages[stage].append(node)
            else:
                self.stages[stage] = [node]
                self.left.setdefault(stage, self.widths[stage[1] != ""])
        return now is not False

    def open(self) -> Iterator[Node]:
        """Yield the positions in which the turn goes on and that were not expanded."""
        for nodes in self.stages.values():
            yield from nodes

    def take(self) -> Node | None:
        """Take out the best position of the earliest stage of which more may be expanded, or None."""
        while self.stages:
            stage = min(self.stages, key=_rank)
            nodes = self.stages[stage]
            if nodes and self.left[stage]:
                self.left[stage] -= 1
                best = 0
                for place, node in enumerate(nodes):
                    if node.value > nodes[best].value:
                        best = place
                return nodes.pop(best)
            del self.stages[stage]
        return None


def completions(choice: Choice, most: int, chance: Chance) -> Iterable[Action]:
    """Return up to `most` different actions of a choice: the highest counts, the lowest, those that leave out or keep one kind, then drawn
    ones. Those are drawn when they are asked for.

    >>> list(completions({"action": {"type": "take"}, "choose": {"pebbles": [1, 4]}}, 8, Drawn(lambda below: 0)))
    [{'type': 'take', 'pebbles': 4}, {'type': 'take', 'pebbles': 1}, {'type': 'take', 'pebbles': 2}, {'type': 'take', 'pebbles': 3}]
    >>> ranges = {"ships": {"each": {"gunboat": [0, 2]}, "total": [1, 2]}}
    >>> [action["ships"] for action in completions({"action": {"type": "move"}, "choose": ranges}, 8, Drawn(lambda below: 0))]
    [{'gunboat': 2}, {'gunboat': 1}]
    """
    action, ranges = choice["action"], choice.get("choose")
    if ranges is None:
        return (action,)
    if len(ranges) == 1:
        ((field, span),) = ranges.items()
        only = _only(span)
        if only is not None:
            return ({**action, field: only},)
    return _different(action, ranges, most, chance)


def _only(span: Any) -> Any:
    """Return the only number of a range, or the only counts if one of one kind is to be chosen; None if there is more to choose."""
    if isinstance(span, list):
        low, high = span
        return high if low == high else None
    each = span["each"]
    return dict.fromkeys(each, 1) if len(each) == 1 and span["total"] == [1, 1] else None


def _different(action: Action, ranges: Mapping[str, Any], most: int, chance: Chance) -> Iterator[Action]:
    tried: list[Action] = []
    for completed in _completed(action, ranges, chance):
        if completed not in tried:
            yield completed
            tried.append(completed)
            if len(tried) == most:
                return


def _completed(action: Action, ranges: Mapping[str, Any], chance: Chance) -> Iterator[Action]:
    if len(ranges) > 1:
        yield complete(action, dict(ranges), highest)
        yield complete(action, dict(ranges), lowest)
    else:
        ((field, span),) = ranges.items()
        if isinstance(span, list):
            low, high = span
            yield {**action, field: high}
            yield {**action, field: low}
            if high - low <= FEW:
                for number in range(low + 1, high):
                    yield {**action, field: number}
                return
        else:
            least, most = span["total"]
            for counts in _counted(span):
                if least <= sum(counts.values()) <= most:
                    yield {**action, field: {key: number for key, number in counts.items() if number}}
            if most == 1:
                return
    for _ in range(DRAWN):
        yield complete(action, dict(ranges), chance.number)


def _counted(span: Mapping[str, Any]) -> Iterator[dict[str, int]]:
    """Yield counts that stand out, perhaps some with a sum outside the range: all, one of a kind, all but one kind, all but one of a
    kind, one kind alone."""
    each = span["each"]
    full = {key: high for key, (_, high) in each.items()}
    yield full
    if sum(full.values()) > span["total"][1]:
        left = span["total"][1] - sum([low for low, _ in each.values()])
        filled: dict[str, int] = {}
        for key, (low, high) in each.items():
            filled[key] = low + min(left, high - low)
            left -= filled[key] - low
        yield filled
    least = {key: low for key, (low, _) in each.items()}
    for key in each:
        yield {**least, key: max(1, least[key])}
    for key, (low, high) in each.items():
        yield {**full, key: low}
        yield {**full, key: max(low, high - 1)}
        yield {**least, key: high}


def _value(node: Node) -> float:
    return node.value


def _rank(stage: Stage) -> int:
    return stage[0]
