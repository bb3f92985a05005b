"""The method `flat`: play each candidate many times a few moves on, and keep the better half, again and again.

Every action that is listed is tried once, and the best at first sight become candidates (`candidates`). The budget is divided into rounds
(sequential halving, Karnin, Koren and Somekh 2013). In a round each candidate left is played on equally often, then the worse half goes.
All candidates of one row of tries have the same guess of what is hidden and the same dice, so that luck tells nothing between them. In play
after the candidate each seat tries a few drawn actions and takes the one that is best for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from games.chance import Chance, Drawn
from games.choices import Choice, combinations, complete, count, outside
from games.kernel import SYSTEM, Action, Branch, Game, Seat, State, any_action, legal
from players.evaluation import Value
from players.greedy import completions
from players.level import Budget, Option, Question, Thought
from players.plans import Plan

_SEEDS = 2**62


class Candidate:
    """An action that is compared: its value at first sight, and the sum and the number of the values at the end of its tries."""

    __slots__ = ("action", "first", "trust", "total", "tries", "idle")

    def __init__(self, action: Action, first: float, trust: float, idle: bool) -> None:
        self.action = action
        self.first = first
        self.trust = trust
        self.total = 0.0
        self.tries = 0
        self.idle = idle

    def worth(self) -> float:
        """Return the mean of the values so far. The value at first sight counts as `trust` tries."""
        return (self.total + self.trust * self.first) / (self.tries + self.trust)


def flat(question: Question, budget: Budget, chance: Chance, plan: Plan, value: Value) -> Thought:
    """Return the candidate with the best mean after sequential halving. One iteration is one try of one candidate."""
    search = Flat(question, chance, plan.settings, value)
    field = search.candidates()
    enough = field[0].first - search.gap
    left = [candidate for candidate in field[: search.most_candidates] if candidate.first >= enough]
    if search.most_candidates > 1:
        left += [candidate for candidate in field[search.most_candidates :] if candidate.idle and candidate.first >= enough]
    if len(left) == 1 < len(field):
        return search.thought(field, 0)
    rounds = 1
    while 2**rounds < len(left):
        rounds += 1
    spent = 0
    for number in range(rounds):
        tries = max(1, (budget.iterations - spent) // ((rounds - number) * len(left)))
        for _ in range(tries):
            if spent + len(left) > budget.iterations:
                return search.thought(field, spent)
            row: list[float] = []
            seed = chance.number(_SEEDS)
            for candidate in left:
                if not budget.go_on(spent):
                    return search.thought(field, spent)
                row.append(search.play_on(candidate.action, seed))
                spent += 1
            for candidate, result in zip(left, row, strict=True):
                candidate.total += result
                candidate.tries += 1
        left.sort(key=Candidate.worth, reverse=True)
        left = left[: max(2, (len(left) + 1) // 2)]
    return search.thought(field, spent)


class Flat:
    """The search for one decision.

    `candidates`: the most candidates; with one alone nothing is played on. `gap`: how much worse than the best a candidate may be at first
    sight. `completions`: actions tried of one open choice, at most. `throws`: tries at first sight of an action that draws chance. `trust`:
    how many tries the value at first sight counts for, more than 0. `sampled`: actions that a seat tries for one move of a playout.
    `moves`, `turns`: a playout ends after so many moves, or when the seat to act has changed more often than `turns`. `idle`: types of
    actions that leave things as they are. Another action is taken only if its mean is better by more than `margin`.
    """

    def __init__(self, question: Question, chance: Chance, settings: Mapping[str, Any], value: Value) -> None:
        self.question = question
        self.game: Game = question.game
        self.chance = chance
        self.value = value
        self.most_candidates = int(settings["candidates"])
        self.gap = float(settings["gap"])
        self.completions = int(settings["completions"])
        self.sampled = int(settings["sampled"])
        self.moves = int(settings["moves"])
        self.turns = int(settings["turns"])
        self.throws = int(settings["throws"])
        self.trust = float(settings["trust"])
        self.idle = tuple(settings["idle"])
        self.margin = float(settings["margin"])

    def candidates(self) -> list[Candidate]:
        """Return every action tried, with its value at first sight, the best first."""
        game, view, choices, seat, memory = self.question
        state = game.guess(view, seat, self.chance, memory)
        found = [
            Candidate(action, self.first(state, action), self.trust, action["type"] in self.idle)
            for choice in choices
            for action in self.actions(choice)
        ]
        found.sort(key=_first, reverse=True)
        return found

    def actions(self, choice: Choice) -> Iterator[Action]:
        """Yield complete actions of a choice: all of them if they are few."""
        if "choose" not in choice:
            yield choice["action"]
        elif count(choice) <= self.completions:
            yield from combinations(choice)
        else:
            yield from different([*plain(choice), *completions(choice, self.completions, self.chance)], self.completions)

    def first(self, state: State, action: Action) -> float:
        """Return the value right after an action, or the mean of some tries if it draws chance."""
        seat, drawn = self.question.seat, False
        number_of = self.chance.number

        def number(below: int) -> int:
            nonlocal drawn
            drawn = True
            return number_of(below)

        total, tries = 0.0, 0
        while tries == 0 or (drawn and tries < self.throws):
            branch = Branch(self.game, state, Drawn(number))
            branch.play(seat, action)
            total += self.value(branch.state, seat)
            tries += 1
        return total / tries

    def play_on(self, action: Action, seed: int) -> float:
        """Play an action and some moves after it, with the guess and the dice of a seed, and return the value for the seat.

        A playout that ends with a turn is worth what it was before the last action of that turn. The evaluation is tuned to compare actions
        of one turn, and sees the start of the next one with other eyes.
        """
        game, seat, value, sampled = self.game, self.question.seat, self.value, self.sampled
        chance = Drawn(generator(seed))
        branch = Branch(game, game.guess(self.question.view, seat, chance, self.question.memory), Drawn(generator(seed + 1)))
        branch.play(seat, action)
        moves, turns, before = self.moves, self.turns, seat
        worth: float | None = None
        while moves > 0:
            state = branch.state
            if state["outcome"] is not None:
                break
            actor: Seat = state["to_act"][0]
            if actor == SYSTEM:
                branch.play(SYSTEM, legal(game, state, SYSTEM)[0]["action"])
                continue
            if actor != before:
                before = actor
                turns -= 1
                if turns < 0:
                    if worth is not None:
                        return worth
                    break
            moves -= 1
            worth = value(state, seat)
            branch.play(actor, sampled_greedy(game, state, actor, sampled, chance, value))
        return value(branch.state, seat)

    def thought(self, field: list[Candidate], spent: int) -> Thought:
        """Return the best candidate of those tried most, or an idle one that is hardly worse; and what was found of all."""
        ranked = sorted(field, key=_rank, reverse=True)
        best = ranked[0]
        if not best.idle:
            most = best.worth()
            for candidate in ranked:
                if candidate.idle and candidate.worth() + self.margin >= most:
                    best = candidate
                    break
        options = [Option(candidate.action, candidate.worth(), candidate.tries) for candidate in ranked if candidate is not best]
        return Thought(best.action, spent, 0, (Option(best.action, best.worth(), best.tries), *options))


def plain(choice: Choice) -> Iterator[Action]:
    """Yield actions of an open choice that put as much as possible in one place: all of it, all but one, or one."""
    action, ranges = choice["action"], choice["choose"]
    lowest = complete(action, ranges, lambda below: 0)
    for field, span in ranges.items():
        if isinstance(span, list):
            for number in range(span[1], span[0] - 1, -1):
                yield {**lowest, field: number}
            continue
        least, most = span["total"]
        keys = list(span["each"])
        for place, key in enumerate(keys):
            high = min(span["each"][key][1], most)
            for number in (high, high - 1, 1):
                counts, left = {key: number}, least - number
                for other in keys[place + 1 :] + keys[:place]:
                    if left > 0:
                        counts[other] = min(left, span["each"][other][1])
                        left -= counts[other]
                filled = {**lowest, field: {key: count for key, count in counts.items() if count}}
                if outside(ranges, filled) is None:
                    yield filled


def different(actions: Iterable[Action], most: int) -> list[Action]:
    """Return the first different ones of some actions, at most so many."""
    found: list[Action] = []
    for action in actions:
        if len(found) == most:
            break
        if action not in found:
            found.append(action)
    return found


def sampled_greedy(game: Game, state: State, seat: Seat, sampled: int, chance: Chance, value: Value) -> Action:
    """Return the best at first sight of a few drawn actions of a seat."""
    best: Action | None = None
    most = 0.0
    seen: list[Action] = []
    for _ in range(sampled):
        action = drawn_action(game, state, seat, chance.number)
        if action in seen:
            continue
        seen.append(action)
        branch = Branch(game, state, chance)
        branch.play(seat, action)
        worth = value(branch.state, seat)
        if best is None or worth > most:
            best, most = action, worth
    assert best is not None, "one action is drawn at least"
    return best


def drawn_action(game: Game, state: State, seat: Seat, number: Callable[[int], int]) -> Action:
    """Return a legal action of a seat, drawn evenly over the offered actions. The counts of an open one are drawn evenly every other time,
    and otherwise as much as possible, or all but one, goes to one place."""
    action = any_action(game, state, seat, number)
    assert action is not None, "a seat that is to act has a legal action"
    ranges_of = game.phases[state["phase"]][action["type"]].ranges
    if ranges_of is None or number(2):
        return action
    action = dict(action)
    for field, span in ranges_of(state, seat, action).items():
        if not isinstance(span, list):
            action[field] = heaped(span["each"], span["total"], number)
    return action


def heaped(each: Mapping[str, list[int]], total: list[int], number: Callable[[int], int]) -> dict[str, int]:
    """Return counts that put as much as possible, or one less, in a drawn place, and the rest that there must be in the places after it."""
    keys = list(each)
    place = number(len(keys))
    keys = keys[place:] + keys[:place]
    counts = {key: each[key][0] for key in keys}
    chosen = sum(counts.values())
    least, most = total
    for spared in (number(2), 0):
        for key in keys:
            more = min(each[key][1] - counts[key] - spared, most - chosen)
            if more > 0:
                counts[key] += more
                chosen += more
            if chosen >= least and chosen:
                return {key: count for key, count in counts.items() if count}
    return {key: count for key, count in counts.items() if count}


def generator(seed: int) -> Callable[[int], int]:
    """Return a source of whole numbers that follow from a seed: `number(below)` returns 0 to below - 1 (SplitMix64, Steele et al. 2014)."""
    state = seed * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF

    def number(below: int) -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return ((mixed ^ mixed >> 31) * below) >> 64

    return number


def _first(candidate: Candidate) -> float:
    return candidate.first


def _rank(candidate: Candidate) -> tuple[int, float]:
    return candidate.tries, candidate.worth()
