"""The search method `turns`: a beam over the whole turn of a seat, then the replies of the others.

The turn is searched on one guess of what is hidden, stage by stage, and in each stage the most promising positions first. What others
decide within the turn, such as a sealed bid, follows from the game's own `worth` on a guess of theirs: nobody sees another's bid. Every
position in which the turn can end is judged by the evaluation. The best of these are then played on through the turns of the others, all
with the same dice, and judged again where the next turn of the seat begins.

A decision outside a turn of its own, such as a bid against an attack, is tried on many guesses. Half of the actions are dropped at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from games.chance import Chance, Drawn
from games.choices import Choice, complete
from games.kernel import SYSTEM, Action, Branch, Game, Seat, State, legal
from players.evaluation import Value
from players.level import Budget, Option, Question, Thought
from players.plans import Plan
from players.war_of_civilizations import features as war_of_civilizations

Stage = tuple[int, str]
LONGEST = 1000  # decisions of a reply, at most
FEW = 6  # more numbers than these between two bounds are drawn
DRAWN = 4  # counts drawn for one open choice, at most


class Course(NamedTuple):
    """How the turns of a game go.

    `pending(state, seat)`: whether the turn of a seat is under way, also while others decide in it.
    `stage(state, seat)`: how far it is, and the kind of what is under way; None where the seat does not plan. A turn never goes back to
    an earlier stage.
    `unsettled(state)`: whether something between seats, such as a battle, must be settled before the turn goes on.
    """

    pending: Callable[[State, Seat], bool]
    stage: Callable[[State, Seat], Stage | None]
    unsettled: Callable[[State], bool]


def _to_act(state: State, seat: Seat) -> bool:
    return seat in state["to_act"]


def _one_stage(state: State, seat: Seat) -> Stage | None:
    return (0, "") if seat in state["to_act"] else None


def _settled(state: State) -> bool:
    return False


ANY_COURSE = Course(_to_act, _one_stage, _settled)  # a turn is what a seat decides in a row
COURSES: Mapping[str, Course] = {
    "war_of_civilizations": Course(war_of_civilizations.pending, war_of_civilizations.stage, war_of_civilizations.unsettled)
}


class Node(NamedTuple):
    """A position that can be reached in the turn: its value for the seat, and the number of the first action on the way to it."""

    state: State
    value: float
    first: int


class Judged:
    """A first action: how far the best turn that begins with it was judged (1 the turn goes on, 2 it is over, 3 the others have replied),
    the value of that turn, and how many positions were tried after the action."""

    __slots__ = ("action", "depth", "value", "tries")

    def __init__(self, action: Action) -> None:
        self.action = action
        self.depth = 0
        self.value = 0.0
        self.tries = 0

    def note(self, depth: int, value: float) -> None:
        """Keep the value that was judged furthest, and the best of these."""
        if (depth, value) > (self.depth, self.value):
            self.depth, self.value = depth, value


def turns(question: Question, budget: Budget, chance: Chance, plan: Plan, value: Value) -> Thought:
    """Return the first action of the best turn found, or the best answer in a turn of another seat. The first iteration is always done."""
    searched = Turns(question, budget, chance, plan.settings, value)
    state = question.game.guess(question.view, question.seat, chance, question.memory)
    if searched.course.stage(state, question.seat) is None:
        return searched.answer()
    return searched.plan(state)


class Turns:
    """The search of one decision, and its settings.

    `samples`, `answers`, `quick`: actions tried of one open choice, at most: in the own turn, outside it, and by the others. `rest`,
    `within`: positions expanded of each stage, between two actions and within one. `throws`: how often an action is tried after which
    chance or others decide. `guesses`: tries of each answer. `nodes`: positions held, at most. `beam`: the share of the iterations for
    the beam, in per cent. `replies`, `each`: how many turns are played on, in all and of one first action. `rounds`: how often. `ahead`:
    to which later turn of the seat.
    """

    def __init__(self, question: Question, budget: Budget, chance: Chance, settings: Mapping[str, Any], value: Value) -> None:
        self.game: Game = question.game
        self.question = question
        self.seat = question.seat
        self.course = COURSES.get(self.game.id, ANY_COURSE)
        self.budget = budget
        self.chance = chance
        self.settings = settings
        self.value = value
        self.throws = int(settings["throws"])
        self.spent = 0
        self.nodes = 0

    def goes_on(self, most: int) -> bool:
        """Return True if another iteration may be done, of so many at most."""
        return self.spent == 0 or (self.spent < most and self.budget.go_on(self.spent))

    # ---------------------------------------------------------------- the own turn

    def plan(self, state: State) -> Thought:
        """Search the turn that is under way. An iteration expands one position, or plays one turn on."""
        samples, most = int(self.settings["samples"]), int(self.settings["nodes"])
        judged = [Judged(action) for choice in self.question.choices for action in completions(choice, samples, self.chance)]
        beam = Beam(self.course, self.seat, {False: int(self.settings["rest"]), True: int(self.settings["within"])})
        for first, root in enumerate(judged):
            self.try_out(beam, root, state, root.action, first)
        self.spent = 1
        iterations = max(1, self.budget.iterations * int(self.settings["beam"]) // 100)
        while self.nodes < most and self.goes_on(iterations):
            node = beam.take()
            if node is None:
                break
            for choice in legal(self.game, node.state, self.seat):
                for action in completions(choice, samples, self.chance):
                    self.try_out(beam, judged[node.first], node.state, action, node.first)
            self.spent += 1
        self.reply(beam.ended, judged)
        return self.thought(judged)

    def try_out(self, beam: Beam, root: Judged, state: State, action: Action, first: int) -> None:
        """Try an action of the turn, and add the position after it to the beam."""
        node = self.after(state, action, first)
        root.tries += 1
        self.nodes += 1
        root.note(1 if beam.add(node) else 2, node.value)

    def after(self, state: State, action: Action, first: int) -> Node:
        """Return the position after an action, when nothing is unsettled and the system has done its part. If chance was drawn on the way,
        try several times: the value is the mean, and the position the one whose value is nearest to it."""
        course, seat = self.course, self.seat
        drawn = False

        def number(below: int) -> int:
            nonlocal drawn
            drawn = True
            return self.chance.number(below)

        tried: list[Node] = []
        total = 0.0
        while len(tried) < self.throws:
            branch = Branch(self.game, state, Drawn(number))
            branch.play(seat, action)
            while course.pending(branch.state, seat) and course.stage(branch.state, seat) is None:
                self.step(branch)
            while branch.state["to_act"] == [SYSTEM]:
                self.step(branch)
            node = Node(branch.state, self.value(branch.state, seat), first)
            if not drawn:
                return node
            tried.append(node)
            total += node.value
        mean = total / len(tried)
        middle = tried[0]
        for node in tried:
            if abs(node.value - mean) < abs(middle.value - mean):
                middle = node
        return Node(middle.state, mean, first)

    def reply(self, ended: list[Node], judged: list[Judged]) -> None:
        """Play the best turns on through the turns of the others, with the same dice for all, and note the mean of their values."""
        most, each, rounds = (int(self.settings[name]) for name in ("replies", "each", "rounds"))
        chosen: list[Node] = []
        firsts = [0] * len(judged)
        for node in sorted(ended, key=_value, reverse=True):
            if len(chosen) < most and firsts[node.first] < each:
                firsts[node.first] += 1
                chosen.append(node)
        if len(chosen) < 2 or all([node.first == chosen[0].first for node in chosen]):  # noqa: C419 - as elsewhere, a list
            return
        totals = [0.0] * len(chosen)
        done = 0
        while done < rounds:
            values: list[float] = []
            seed = self.chance.number(1 << 31)
            for node in chosen:
                if not self.goes_on(self.budget.iterations):
                    break
                values.append(self.replied(node.state, dice(seed)))
                self.spent += 1
            if len(values) < len(chosen):
                break
            done += 1
            for place, value in enumerate(values):
                totals[place] += value
        if done:
            for node, total in zip(chosen, totals, strict=True):
                judged[node.first].note(3, total / done)

    def replied(self, state: State, chance: Chance) -> float:
        """Return the value of a position after the others have had their turns: where a turn of the seat begins."""
        course, seat = self.course, self.seat
        branch = Branch(self.game, state, chance)
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
        return self.value(branch.state, seat)

    # ---------------------------------------------------------------- answers in the turn of another seat

    def answer(self) -> Thought:
        """Try every action on guesses of what is hidden, in each guess all with the same dice, and drop the worse half now and then."""
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
                branch = Branch(game, state, dice(seed))
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
        """Let whoever is to act decide quickly."""
        state = branch.state
        actor: Seat = state["to_act"][0]
        if actor == SYSTEM:
            branch.play(SYSTEM, legal(self.game, state, SYSTEM)[0]["action"])
        else:
            branch.play(actor, self.quick(state, actor, branch.chance))

    def quick(self, state: State, actor: Seat, chance: Chance) -> Action:
        """Return the action after which the game's own `worth` is highest for an actor, on a guess of its own where something between seats
        is unsettled."""
        game = self.game
        if self.course.unsettled(state):
            state = game.guess(game.view(state, actor), actor, chance, self.question.memory)
        choices = legal(game, state, actor)
        best: Action = choices[0]["action"]
        if len(choices) == 1 and "choose" not in choices[0]:
            return best
        most = float("-inf")
        for choice in choices:
            for action in completions(choice, int(self.settings["quick"]), chance):
                after = Branch(game, state, chance)
                after.play(actor, action)
                worth = game.worth(after.state, actor)
                if worth > most:
                    best, most = action, worth
        return best

    def thought(self, judged: list[Judged]) -> Thought:
        """Return the action that was judged furthest and best."""
        judged.sort(key=lambda one: (one.depth, one.value), reverse=True)
        options = tuple([Option(one.action, one.value, one.tries) for one in judged])
        return Thought(judged[0].action, self.spent, self.nodes, options)


class Beam:
    """The positions of a turn by their stage, and those in which it has ended."""

    def __init__(self, course: Course, seat: Seat, widths: Mapping[bool, int]) -> None:
        self.course = course
        self.seat = seat
        self.widths = widths
        self.stages: dict[Stage, list[Node]] = {}
        self.left: dict[Stage, int] = {}
        self.values: dict[tuple[Stage | None, float], None] = {}
        self.ended: list[Node] = []

    def add(self, node: Node) -> bool:
        """Add a position, and return True if the turn goes on in it. Of positions of one stage with the same value one is kept: as a rule
        they are the same position, reached in another order."""
        on = self.course.pending(node.state, self.seat)
        stage = self.course.stage(node.state, self.seat) if on else None
        if (stage, node.value) not in self.values:
            self.values[stage, node.value] = None
            if stage is None:
                self.ended.append(node)
            else:
                self.stages.setdefault(stage, []).append(node)
                self.left.setdefault(stage, self.widths[stage[1] != ""])
        return on

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


def completions(choice: Choice, most: int, chance: Chance) -> Iterator[Action]:
    """Yield up to `most` different actions of a choice: the highest counts, the lowest, those that leave out or keep one kind, then drawn
    ones."""
    action, ranges = choice["action"], choice.get("choose")
    if ranges is None:
        yield action
        return
    tried: list[Action] = []
    for completed in _completed(action, ranges, chance):
        if completed not in tried:
            yield completed
            tried.append(completed)
            if len(tried) == most:
                return


def _completed(action: Action, ranges: Mapping[str, Any], chance: Chance) -> Iterator[Action]:
    if len(ranges) > 1:
        yield complete(action, dict(ranges), _highest)
        yield complete(action, dict(ranges), _lowest)
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


def dice(seed: int) -> Chance:
    """Return chance that follows from a seed of 31 bits: a linear congruential generator of 64 bits (Knuth, MMIX)."""
    state = seed * 2 + 1

    def number(below: int) -> int:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (state >> 33) * below >> 31

    return Drawn(number)


def _value(node: Node) -> float:
    return node.value


def _rank(stage: Stage) -> int:
    return stage[0]


def _highest(below: int) -> int:
    return below - 1


def _lowest(below: int) -> int:
    return 0
