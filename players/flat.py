"""The method `flat`: try every action once, take the one that is best at first sight, or play the best of them on and compare.

Every action that is listed is tried once, on a guess of what is hidden. In phases of a match that the settings do not name, that decides.
In the others the best at first sight become candidates, and the budget is divided into rounds (sequential halving, Karnin, Koren and Somekh
2013). In a round each candidate left is played on equally often, then the worse half goes. All candidates of one row of tries have the same
guess of what is hidden and the same dice, so that luck tells nothing between them. In play after the candidate each seat takes what is best
for itself at first sight.

A game may have outlooks (players/evaluation.py): then a candidate is played on until another turn begins, the next one or a later one, and
the position is judged there, where no attack is open and no move is left. Otherwise it is played to the end of the match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from games.chance import Chance, Drawn
from games.choices import Choice, combinations, complete, count, outside
from games.kernel import SYSTEM, Action, Branch, Game, Seat, State, legal
from players.evaluation import Outlook, Value, features_of, outlook_of
from players.greedy import completions
from players.level import Budget, Option, Question, Thought, is_forced
from players.luck import Noticed, lowest, split_mix
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
        """Return the mean of the values so far, or the value at first sight if there are none. The latter counts as `trust` tries.

        >>> candidate = Candidate({"type": "stop"}, first=0.5, trust=1.0, idle=False)
        >>> candidate.total, candidate.tries = 1.5, 2
        >>> candidate.worth()
        0.6666666666666666
        """
        if self.tries == 0:
            return self.first
        return (self.total + self.trust * self.first) / (self.tries + self.trust)


def flat(question: Question, budget: Budget, chance: Chance, plan: Plan, value: Value) -> Thought:
    """Return the candidate with the best mean after sequential halving. One iteration is one candidate that is played on once.

    With outlooks an action without an alternative is played on, too, since its value at first sight is no share of a victory.
    """
    search = Flat(question, chance, plan.settings, value)
    field, left = search.candidates()
    if plan.outlook is not None and is_forced(question.choices):
        left = field
    elif len(left) < 2:
        return search.thought(field, 0)
    outlook = search.outlook_for(plan)
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
                row.append(search.play_on(candidate.action, seed, outlook))
                spent += 1
            for candidate, result in zip(left, row, strict=True):
                candidate.total += result
                candidate.tries += 1
        left.sort(key=Candidate.worth, reverse=True)
        left = left[: max(2, (len(left) + 1) // 2)]
    return search.thought(field, spent)


class Flat:
    """The search for one decision.

    `completions`: actions tried of one open choice, at most. `throws`: tries at first sight of an action that draws chance. `idle`: types
    of actions that leave things as they are. Another action is taken only if its mean is better by more than `margin`.
    `played_on`: the phases of the match in which candidates are played on. `candidates`: how many, at most. `gap`: how much worse than
    the best a candidate may be at first sight. `trust`: how many tries the value at first sight counts for. `width`: actions of one open
    choice that a seat tries in play after a candidate. `moves`: play that lasts longer is judged as it stands then.

    With an outlook a candidate is judged where `turns` further turns have begun. `played_out`: the phases of the outlook in which it is
    played to the end of the match all the same.
    """

    def __init__(self, question: Question, chance: Chance, settings: Mapping[str, Any], value: Value) -> None:
        self.question = question
        self.game: Game = question.game
        self.chance = chance
        self.value = value
        self.completions = int(settings["completions"])
        self.throws = int(settings["throws"])
        self.idle = tuple(settings["idle"])
        self.margin = float(settings["margin"])
        self.played_on = tuple(settings["played_on"])
        self.most_candidates = int(settings["candidates"])
        self.gap = float(settings["gap"])
        self.trust = float(settings["trust"])
        self.width = int(settings["width"])
        self.moves = int(settings["moves"])
        self.turns = int(settings["turns"])
        self.state: State = self.game.guess(question.view, question.seat, chance, question.memory)
        self.played_out = tuple(settings["played_out"])

    def candidates(self) -> tuple[list[Candidate], list[Candidate]]:
        """Return every action tried, the best at first sight first; and those to be played on, none in other phases."""
        field = self.tried(self.state, self.question.seat, self.question.choices, self.completions, self.chance)
        if features_of(self.game).phase(self.state) not in self.played_on:
            return field, []
        enough = field[0].first - self.gap
        near = [candidate for candidate in field if candidate.first >= enough]
        return field, near[: self.most_candidates] + [candidate for candidate in near[self.most_candidates :] if candidate.idle]

    def outlook_for(self, plan: Plan) -> Outlook | None:
        """Return the outlook by which candidates are judged, or None if they are played to the end of the match."""
        if plan.outlook is None:
            return None
        outlook = outlook_of(self.game, plan.outlook)
        return None if outlook.phase(self.state) in self.played_out else outlook

    def tried(self, state: State, seat: Seat, choices: Iterable[Choice], most: int, chance: Chance) -> list[Candidate]:
        """Return actions of a seat with their values at first sight, the best first: at most `most` of each open choice."""
        found = [
            Candidate(action, self.first(state, seat, action, chance), self.trust, action["type"] in self.idle)
            for choice in choices
            for action in actions(choice, most, chance)
        ]
        found.sort(key=_first, reverse=True)
        return found

    def first(self, state: State, seat: Seat, action: Action, chance: Chance) -> float:
        """Return the value for a seat right after its action, or the mean of some tries if it draws chance."""
        noticed = Noticed(chance.number)
        total, tries = 0.0, 0
        while tries == 0 or (noticed.drawn and tries < self.throws):
            branch = Branch(self.game, state, noticed)
            branch.play(seat, action)
            total += self.value(branch.state, seat)
            tries += 1
        return total / tries

    def play_on(self, action: Action, seed: int, outlook: Outlook | None) -> float:
        """Play an action and what follows, with the guess and the dice of a seed, and return the value for the seat: where another turn
        begins if there is an outlook for it, else at the end of the match."""
        game, view, seat = self.game, self.question.view, self.question.seat
        chance = Drawn(split_mix(seed))
        guess = game.guess(view, seat, chance, self.question.memory)
        branch = Branch(game, guess, Drawn(split_mix(_SEEDS + seed)))  # far from the numbers that made the guess
        before, left = view, self.turns
        branch.play(seat, action)
        for _ in range(self.moves):
            state = branch.state
            if state["outcome"] is not None:
                break
            if outlook is not None and outlook.begins(before, state):
                before, left = {**state}, left - 1  # the branch changes its own document in place
                if left == 0:
                    return outlook.value(state, seat)
            actor: Seat = state["to_act"][0]
            choices = legal(game, state, actor)
            if actor == SYSTEM or is_forced(choices):
                branch.play(actor, choices[0]["action"])
            else:
                branch.play(actor, self.preferred(self.tried(state, actor, choices, self.width, chance)).action)
        return self.value(branch.state, seat)

    def preferred(self, ranked: list[Candidate]) -> Candidate:
        """Return the first of some candidates, or an idle one that was tried as often and is hardly worse."""
        best = ranked[0]
        if not best.idle:
            most = best.worth()
            for candidate in ranked:
                if candidate.idle and candidate.tries == best.tries and candidate.worth() + self.margin >= most:
                    return candidate
        return best

    def thought(self, field: list[Candidate], spent: int) -> Thought:
        """Return the preferred candidate of those tried most, and what was found of all."""
        ranked = sorted(field, key=_rank, reverse=True)
        best = self.preferred(ranked)
        options = [Option(candidate.action, candidate.worth(), candidate.tries) for candidate in ranked if candidate is not best]
        return Thought(best.action, spent, 0, (Option(best.action, best.worth(), best.tries), *options))


def actions(choice: Choice, most: int, chance: Chance) -> Iterator[Action]:
    """Yield complete actions of a choice: all of them if they are few, else those of `plain` first, then drawn ones.

    >>> list(actions({"action": {"type": "take"}, "choose": {"pebbles": [1, 3]}}, 8, Drawn(lambda below: 0)))
    [{'type': 'take', 'pebbles': 1}, {'type': 'take', 'pebbles': 2}, {'type': 'take', 'pebbles': 3}]
    >>> len(list(actions({"action": {"type": "take"}, "choose": {"pebbles": [1, 99]}}, 8, Drawn(lambda below: 0))))
    8
    """
    if "choose" not in choice:
        yield choice["action"]
    elif count(choice) <= most:
        yield from combinations(choice)
    else:
        yield from different(chain(plain(choice), completions(choice, most, chance)), most)


def plain(choice: Choice) -> Iterator[Action]:
    """Yield actions of an open choice that put as much as possible in one place: all of it, all but one, or one.

    >>> ranges = {"units": {"each": {"c3": [0, 4], "d2": [0, 4]}, "total": [1, 4]}}
    >>> [action["units"] for action in plain({"action": {"type": "move"}, "choose": ranges})]
    [{'c3': 4}, {'c3': 3}, {'c3': 1}, {'d2': 4}, {'d2': 3}, {'d2': 1}]
    """
    action, ranges = choice["action"], choice["choose"]
    least_of_all = complete(action, ranges, lowest)
    for field, span in ranges.items():
        if isinstance(span, list):
            for number in range(span[1], span[0] - 1, -1):
                yield {**least_of_all, field: number}
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
                filled = {**least_of_all, field: {key: count for key, count in counts.items() if count}}
                if outside(ranges, filled) is None:
                    yield filled


def different(actions: Iterable[Action], most: int) -> list[Action]:
    """Return the first different ones of some actions, at most so many.

    >>> different([{"type": "roll"}, {"type": "roll"}, {"type": "stop"}], 5)
    [{'type': 'roll'}, {'type': 'stop'}]
    """
    found: list[Action] = []
    for action in actions:
        if action not in found:
            found.append(action)
            if len(found) == most:
                break
    return found


def _first(candidate: Candidate) -> float:
    return candidate.first


def _rank(candidate: Candidate) -> tuple[int, float]:
    return candidate.tries, candidate.worth()
