"""Detect rigged dice and players who use hidden information: `./run suspects RECORDS`.

It asks these questions about each player and each level of artificial players, for each game. docs/auditing.md ("Luck and play") explains
them, and what an answer proves.

- `draws`: are the numbers that a seat drew distributed as they should be? A chi-square test over all draws.
- `dice`: do the choices of the seat fit the dice that are about to fall better than other dice?
- `sight`: do the choices of the seat fit the true hidden state better than other states that it could have guessed?

`dice ahead` and `sight ahead` ask the same about what comes of a choice a few actions later.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from games import GAMES
from games.chance import Chance, Drawn
from games.choices import complete
from games.drawing import legible
from games.kernel import SYSTEM, Action, Branch, Game, Memory, Seat, State, legal, total
from players.evaluation import Value, value_of
from players.greedy import completions
from players.level import is_forced
from players.luck import Noticed, lowest
from players.plans import weights_of
from record.dice import Draws
from record.entries import Entry, Unreadable, parse
from record.positions import Position, level_of
from record.trail import Trail
from table.rules import is_table_action
from tools.records import BadRecord, Record, read
from tools.significance import chi_square_tail, corrected, sum_tail

DRAWS, DICE, DICE_AHEAD, SIGHT, SIGHT_AHEAD = "draws", "dice", "dice ahead", "sight", "sight ahead"
PLAY = (DICE, DICE_AHEAD, SIGHT, SIGHT_AHEAD)
LEVEL = 0.01  # the probability that any honest player is named
LEAST_MATCHES = 3  # matches with something to compare that are needed to judge play
OTHERS = {DICE: 15, DICE_AHEAD: 7, SIGHT: 15, SIGHT_AHEAD: 7}  # other dice or guessed states to compare with
ALTERNATIVES = {DICE: 23, DICE_AHEAD: 15, SIGHT: 23, SIGHT_AHEAD: 5}  # the most alternative actions of a decision
COMPLETED = 48  # actions with counts to be chosen of which alternatives are drawn, about
STEPS = {DICE_AHEAD: 3, SIGHT_AHEAD: 8}  # the most actions that are looked ahead
WIDE, FEW = 40, 6  # the most choices among which the best is taken when it is looked ahead: to use a card that was shown, otherwise
LOOKS = {DICE: 40, DICE_AHEAD: 30, SIGHT: 10, SIGHT_AHEAD: 10}
"""The decisions of a seat in a match that are scored for a question, as long as there are at most `MATCHES` matches of the game."""
MATCHES = 50
TRIES = {DICE: 3, DICE_AHEAD: 3, SIGHT: 6, SIGHT_AHEAD: 6}  # decisions that are tried for each that is scored, at most
PLACES = 6  # draws of an action that are counted by place; later ones count together
BINS = 10
LEAST = 5  # the least expected draws in a bin
CLOSE = 1e-9  # values that differ by less count as equal
NEARLY = 0.2  # how much it counts that a choice falls short by little, beside the logarithm of a ratio of likelihoods
LUCKY = {DICE: 0.3, DICE_AHEAD: 0.3, SIGHT: 0.0, SIGHT_AHEAD: 0.0}  # how much it counts that a choice turns out well by itself

EFFECTS: Mapping[tuple[str, str], tuple[float, float]] = {
    ("war", DICE_AHEAD): (1.64, 0.75),
    ("war", SIGHT_AHEAD): (0.73, 0.37),
    ("war_of_the_worlds", DICE_AHEAD): (0.87, 0.87),
    ("war_of_the_worlds", SIGHT_AHEAD): (0.89, 0.40),
    ("war_of_civilizations", DICE_AHEAD): (0.85, 0.58),
    ("war_of_civilizations", SIGHT): (1.54, 0.56),
}
"""What was measured (docs/auditing.md), by game and question: the `effect` (`power`) of a planted player who always knows, and of one who
knows in a third of its decisions. The first for the dice of War of the Worlds is not measured; the second stands for it."""

Scores = list[float]
"""The scores of one decision: for each future what it would be if that were the true one, the true one first. Their mean is 0. In
honest play each is as likely to be the first."""

Number = Callable[[int], int]
Dice = Callable[[int], Number]
"""Returns the source of the numbers of a version. Each call begins with the first number again."""


class Group(NamedTuple):
    """Draws that are counted together: those of one type of action, at one place in it, below one bound."""

    action: str
    place: int
    below: int


class Answer(NamedTuple):
    """The answer to one question about one player.

    `number`: the number of draws, or of matches with something to compare. `value`: a chi-square, or for play the sum of the scores in
    standard deviations. `freedom`: the degrees of freedom of the chi-square, or the number of scores. `effect`: for play, the mean score;
    0 for honest play. `probability`: that an honest player gets at least this value. `corrected`: the same, after the correction for all
    questions.
    """

    game: str
    who: str
    question: str
    number: int
    value: float
    freedom: int
    effect: float | None
    probability: float
    corrected: float

    @property
    def suspicious(self) -> bool:
        """True if an honest player is very unlikely to give this answer."""
        return self.corrected <= LEVEL


class Play:
    """What the matches show about a player of a game."""

    def __init__(self) -> None:
        self.draws: dict[Group, list[int]] = defaultdict(list)
        self.scores: dict[str, list[list[Scores]]] = {question: [] for question in PLAY}  # by question: of each match that tells

    def add(self, other: Play) -> None:
        """Add what other matches show."""
        for group, drawn in other.draws.items():
            self.draws[group] += drawn
        for question, scores in other.scores.items():
            self.scores[question] += scores


Plays = dict[tuple[str, str], Play]
"""By game and player."""


class Watched(Trail):
    """A match that is decided again, with the numbers that each entry draws."""

    def __init__(self, games: Mapping[str, Game], record: Record) -> None:
        super().__init__(games, record.secret, record.match)
        self.drawn: list[tuple[int, int]] = []  # in the entry read last: each number, with its bound first

    def rules(self, position: Position) -> Game:
        """Return the rules of the match."""
        return self._rules_of(position.game)

    def dice(self) -> Dice:
        """Return the dice of all versions, for the contributions so far."""
        key = self._dice
        return lambda version: Draws(key, version).number

    def _chance(self) -> Drawn:
        source = super()._chance().number

        def number(below: int) -> int:
            found = source(below)
            self.drawn.append((below, found))
            return found

        return Drawn(number)


class Decision(NamedTuple):
    """A decision with alternatives. `actions`: the one chosen, then others. `version`: of its entry. `dice`: the true ones."""

    game: Game
    state: State
    memory: Memory
    seat: Seat
    version: int
    actions: list[Action]
    dice: Dice


def watch(games: Mapping[str, Game], record: Record, share: float = 1.0, questions: Sequence[str] = PLAY) -> Plays:
    """Return what a match shows about its players. Raises BadRecord if the match fails an audit or cannot be decided, or has known dice.

    `share`: of `LOOKS`, that are scored. `questions`: those about play that are asked.
    """
    if record.secret is None:
        raise BadRecord(f"The secret of {record.match} is not known.")
    trail, chance = Watched(games, record), Drawn(random.Random(record.match).randrange)
    plays: Plays = defaultdict(Play)
    decisions: dict[tuple[str, str], list[Decision]] = defaultdict(list)
    for place, raw in enumerate(record.raws, 1):
        before, trail.drawn = trail.position, []
        trail.read(f"{place}-0", raw)
        if trail.findings:
            raise BadRecord(f"{record.match} fails an audit ({trail.findings[0].code}). Audit it first.")
        if trail.position is not None and trail.position.table["dice"] is not None:
            raise BadRecord(f"Everybody knows the dice of {record.match} (TBL-GUI-01).")
        if before is None or trail.position is None:
            continue
        entry = parse(raw)
        who = _who(before, entry)
        play = plays[before.game, who]
        for number, (below, drawn) in enumerate(trail.drawn):
            if below > 1:
                play.draws[Group(str(entry.action["type"]), min(number, PLACES), below)].append(drawn)
        if who == SYSTEM or is_table_action(entry.action):
            continue
        game = trail.rules(before)
        actions = [entry.action, *alternatives(game, before.document, entry.actor, entry.action, chance)]
        if len(actions) > 1:
            decision = Decision(game, before.document, before.memory, entry.actor, entry.version, actions, trail.dice())
            decisions[before.game, who].append(decision)
    for key, made in decisions.items():
        for question, scores in scores_of(made, chance, share, questions).items():
            if scores:
                plays[key].scores[question].append(scores)
    return dict(plays)


def _who(position: Position, entry: Entry) -> str:
    """Return who decided an action: a player, a level, or the system. Draws of the table count for the system."""
    if entry.actor not in position.roster:
        return SYSTEM
    level = level_of(position, entry.actor)
    return f"ai:{level}" if level is not None else str(position.roster[entry.actor].get("player"))


def scores_of(decisions: Sequence[Decision], chance: Chance, share: float, questions: Sequence[str]) -> dict[str, list[Scores]]:
    """Return the scores of the decisions that tell, by question.

    In honest play the choice depends on the view and the memory alone. So the true dice are as likely as the other dice to fit it best, and
    the true hidden state as likely as the guesses. Which decisions are looked at must not depend on what is true, but may on the choice.
    """
    found: dict[str, list[Scores]] = {question: [] for question in questions}
    order = chance.shuffle(decisions)
    hidden = [decision for decision in order if decision.game.view(decision.state, decision.seat) != decision.state]
    for question in questions:
        looks = max(1, round(LOOKS[question] * share))
        tried = (hidden if question in (SIGHT, SIGHT_AHEAD) else order)[: TRIES[question] * looks]
        if question == DICE:
            asked = [decision for decision in tried if _may_draw(decision, chance)]
        elif question == DICE_AHEAD:
            asked = _first(tried, lambda decision: _leads_to_draws(decision, chance))
        else:
            asked = _first(tried, lambda decision: _shows(decision, chance))
        for decision in asked:
            if len(found[question]) == looks:
                break
            found[question] += _scored(_futures(decision, question, chance), decision, question, chance)
    return found


def _futures(decision: Decision, question: str, chance: Chance) -> list[Future]:
    """Return what could be true at a decision, the truth first."""
    others = range(OTHERS[question])
    if question in (DICE, DICE_AHEAD):
        return [(decision.state, dice) for dice in (decision.dice, *[_dice_of(chance.number(1 << 62)) for _ in others])]
    same, view = _dice_of(chance.number(1 << 62)), decision.game.view(decision.state, decision.seat)
    guesses = [decision.game.guess(view, decision.seat, chance, decision.memory) for _ in others]
    return [(state, same) for state in (decision.state, *guesses)]


def alternatives(game: Game, state: State, seat: str, chosen: Action, chance: Chance) -> list[Action]:
    """Return some other actions that a seat could have chosen, drawn at random, without duplicates: of each type before more of one."""
    found: list[Action] = []
    choices = legal(game, state, seat)
    for choice in chance.shuffle(choices):
        for action in completions(choice, max(1, min(16, COMPLETED // len(choices))), chance):
            if action != chosen and action not in found:
                found.append(action)
    found = chance.shuffle(found)
    number = Counter([chosen["type"]])
    order: list[tuple[int, int]] = []
    for place, action in enumerate(found):
        number[action["type"]] += 1
        order.append((number[action["type"]], place))
    return [found[place] for _, place in sorted(order)[: max(ALTERNATIVES.values())]]


def _shows(decision: Decision, chance: Chance) -> bool:
    """Return True if the chosen action shows the seat something that was hidden: what it sees then is not the same after two guesses."""
    game, seat, same = decision.game, decision.seat, _dice_of(chance.number(1 << 62))
    view = game.view(decision.state, seat)
    seen = []
    for _ in range(2):
        branch = Branch(game, game.guess(view, seat, chance, decision.memory), Drawn(same(decision.version)))
        branch.play(seat, decision.actions[0])
        seen.append(game.view(branch.state, seat))
    return bool(seen[0] != seen[1])


def _first(decisions: Sequence[Decision], tells: Callable[[Decision], bool]) -> list[Decision]:
    """Return the decisions, those first that tell."""
    return sorted(decisions, key=lambda decision: not tells(decision))


def _may_draw(decision: Decision, chance: Chance) -> bool:
    """Return True if an action of a decision draws numbers. One of each type is tried."""
    first = {action["type"]: action for action in reversed(decision.actions)}
    noticed = Noticed(chance.number)
    for action in first.values():
        Branch(decision.game, decision.state, noticed).play(decision.seat, action)
    return noticed.drawn


def _leads_to_draws(decision: Decision, chance: Chance) -> bool:
    """Return True if numbers are drawn within some actions after the one chosen."""
    noticed = _Noticed(_dice_of(chance.number(1 << 62)))
    state_after(decision, decision.actions[0], (decision.state, noticed.dice), DICE_AHEAD)
    return noticed.drawn


Future = tuple[State, Dice]
"""What could be true: the hidden state, and the dice."""


class _Noticed:
    """Dice that notice whether a number is drawn: `drawn`."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self.drawn = False

    def dice(self, version: int) -> Number:
        """Return the source of the numbers of a version."""
        source = self._dice(version)

        def number(below: int) -> int:
            self.drawn = True
            return source(below)

        return number


def state_after(decision: Decision, action: Action, future: Future, question: str) -> State:
    """Return the state after an action of a decision in a future: at once, or some actions ahead.

    Ahead, a seat that has few choices takes what is worth most at once, and otherwise does what a seat does that does not decide. Dice are
    looked at as long as the seat itself acts, which knows them. Hidden cards are looked at until it has acted in the same phase again:
    until then it can use what it was shown.
    """
    game, seat, version = decision.game, decision.seat, decision.version
    state, dice = future
    branch = Branch(game, state, Drawn(dice(version)))
    branch.play(seat, action)
    phase, cards = state["phase"], question == SIGHT_AHEAD
    for _ in range(STEPS.get(question, 0)):
        now = branch.state
        if now["outcome"] is not None:
            break
        actor = now["to_act"][0]
        if not cards and actor not in (seat, SYSTEM):
            break
        again = cards and actor == seat and now["phase"] == phase
        version += 1
        reply = _reply(game, now, actor, WIDE if again else FEW, _dice_of(1) if cards else dice, version)
        branch.chance = Drawn(dice(version))
        branch.play(actor, reply)
        if again:
            break
    return branch.state


def _reply(game: Game, state: State, actor: Seat, most: int, dice: Dice, version: int) -> Action:
    """Return what an actor does next: of up to `most` choices the one that is worth most, else what a seat does that does not decide."""
    choices = legal(game, state, actor)
    if actor == SYSTEM or is_forced(choices):
        return choices[0]["action"]
    if len(choices) > most:
        return game.default(state, actor)
    best, highest = choices[0]["action"], -math.inf
    for choice in choices:
        action = complete(choice["action"], choice["choose"], lowest) if "choose" in choice else choice["action"]
        branch = Branch(game, state, Drawn(dice(version)))
        branch.play(actor, action)
        worth = game.worth(branch.state, actor)
        if worth > highest + CLOSE:
            best, highest = action, worth
    return best


_VALUES: dict[tuple[str, int, int], list[Value]] = {}


def values_of(game: Game, seats: int) -> list[Value]:
    """Return how positions are evaluated: by `worth`, which the level `greedy` goes by, and as by levels that search, if the game has
    weights for so many seats."""
    key = (game.id, game.revision, seats)
    if key not in _VALUES:
        _VALUES[key] = [game.worth, *([value_of(game, seats)] if weights_of(game.id, seats) is not None else [])]
    return _VALUES[key]


def _dice_of(seed: int) -> Dice:
    """Return other dice. A source of numbers is made only when one is drawn."""

    def of(version: int) -> Number:
        source: list[Number] = []

        def number(below: int) -> int:
            if not source:
                source.append(random.Random(f"{seed} {version}").randrange)
            return source[0](below)

        return number

    return of


def _scored(futures: Sequence[Future], decision: Decision, question: str, chance: Chance) -> list[Scores]:
    """Return the scores of a decision, or nothing if all futures give the same values, as most do.

    Two futures, drawn, decide whether the rest are looked at, and by which values, so that the first one is as likely among them as any
    other. An action that draws nothing comes to the same with all dice.
    """
    order = chance.shuffle(range(len(futures)))
    first: list[tuple[Action, State, bool]] = []  # the actions, with their states in one future, and whether these are the same in all
    for action in decision.actions[: 1 + ALTERNATIVES[question]]:
        state, dice = futures[order[0]]
        noticed = _Noticed(dice)
        reached = state_after(decision, action, (state, noticed.dice), question)
        first.append((action, reached, question in (DICE, DICE_AHEAD) and not noticed.drawn))
    if all(same for _, _, same in first):
        return []

    def states(place: int) -> list[State]:
        return [reached if same else state_after(decision, action, futures[place], question) for action, reached, same in first]

    found = {order[0]: [reached for _, reached, _ in first], order[1]: states(order[1])}
    for value in values_of(decision.game, len(decision.state["seats"])):
        one, other = ([value(state, decision.seat) for state in reached] for reached in found.values())
        more = [after - before for before, after in zip(one, other, strict=True)]
        if max(map(abs, more)) <= CLOSE:
            continue
        if question in (DICE, DICE_AHEAD) and max(more) - min(more) <= CLOSE:
            break  # the same dice fall after every action
        found |= {place: states(place) for place in order[2:]}
        values = [[value(state, decision.seat) for state in found[place]] for place in range(len(futures))]
        return scored(values, LUCKY[question])
    return []


def scored(values: Sequence[Sequence[float]], lucky: float = 0.0) -> list[Scores]:
    """Return the scores of a choice, one for each future, or nothing if they are all the same. `values[future][action]`: the chosen
    action first.

    A score says how much likelier the choice is of a seat that does what is best in this future in every second decision, than of one that
    does not know it (the logarithm of their ratio). What is only nearly the best counts, too: by how much less the choice falls short of
    the best action than on the mean of all futures, in standard deviations, times NEARLY. So does, times `lucky`, by how much more the
    chosen action is worth than on the mean of all futures, in standard deviations. The mean of the scores is 0.

    >>> [[round(one, 2) for one in scores] for scores in scored([[1, 0], [0, 1], [0, 1], [0, 1]])]
    [[1.55, -0.52, -0.52, -0.52]]
    >>> scored([[1, 0], [1, 0]])
    []
    """
    short = [max(row) - row[0] for row in values]
    best = [one <= CLOSE for one in short]
    share = total(best) / len(best)
    ratios = [math.log((1 + one / share) / 2) if share else 0.0 for one in best]
    middle = total(ratios) / len(ratios)
    nearly, luck = _deviations([-one for one in short]), _deviations([row[0] for row in values])
    scores = [ratio - middle + NEARLY * near + lucky * well for ratio, near, well in zip(ratios, nearly, luck, strict=True)]
    return [scores] if max(map(abs, scores)) > CLOSE else []


def _deviations(numbers: Sequence[float]) -> list[float]:
    """Return how far numbers are above their mean, in standard deviations. 0 for all if they are the same."""
    mean = total(numbers) / len(numbers)
    spread = math.sqrt(total([(one - mean) ** 2 for one in numbers]) / len(numbers))
    return [(one - mean) / spread if spread > CLOSE else 0.0 for one in numbers]


def answers(plays: Mapping[tuple[str, str], Play]) -> list[Answer]:
    """Return the answers to all questions, the least likely first."""
    found: list[Answer] = []
    for (game, who), play in sorted(plays.items()):
        found += about_draws(game, who, play.draws)
        for question, scores in play.scores.items():
            found += about_play(game, who, question, scores)
    right = corrected([answer.probability for answer in found])
    return sorted(
        (answer._replace(corrected=probability) for answer, probability in zip(found, right, strict=True)),
        key=lambda answer: (answer.corrected, answer.probability),
    )


def about_draws(game: str, who: str, draws: Mapping[Group, Sequence[int]]) -> Iterator[Answer]:
    """Yield the answer about draws: the sum of the chi-squares of all groups. Yield nothing if there are too few draws."""
    value, freedom, number = 0.0, 0, 0
    for group, drawn in sorted(draws.items()):
        bins = min(group.below, BINS, len(drawn) // LEAST)
        if bins < 2:
            continue
        counts, sizes = [0] * bins, [0] * bins
        for one in drawn:
            counts[one * bins // group.below] += 1
        for place in range(bins):  # how many of the numbers below the bound lie in the bin
            sizes[place] = -(-(place + 1) * group.below // bins) - -(-place * group.below // bins)
        expected = [len(drawn) * size / group.below for size in sizes]
        value += sum((count - most) ** 2 / most for count, most in zip(counts, expected, strict=True))
        freedom += bins - 1
        number += len(drawn)
    if freedom:
        yield Answer(game, who, DRAWS, number, value, freedom, None, chi_square_tail(value, freedom), 1.0)


def about_play(game: str, who: str, question: str, matches: Sequence[Sequence[Scores]]) -> Iterator[Answer]:
    """Yield the answer about play: how likely so high a sum of scores is if in each decision every future is as likely the true one.

    Decisions of a match may depend on each other: the same dice fall after them, and the same cards are hidden in them. Where the sums of
    matches scatter more than independent decisions would, the sum is made less by that.
    """
    if len(matches) < LEAST_MATCHES:
        return
    sums = [total([scores[0] for scores in decisions]) for decisions in matches]
    draws = [scores for decisions in matches for scores in decisions]
    mean = total(sums) / len(sums)
    variance = total([total([one * one for one in scores]) / len(scores) for scores in draws])
    scatter = total([(one - mean) ** 2 for one in sums]) / (len(sums) - 1) * len(sums) / variance
    value = total(sums) / math.sqrt(max(1.0, scatter))
    effect, probability = total(sums) / len(draws), sum_tail(draws, value)
    yield Answer(game, who, question, len(matches), value / math.sqrt(variance), len(draws), effect, probability, 1.0)


def power(effect: float, matches: int, questions: int) -> float:
    """Return the probability that a player is named by a question, about.

    `effect`: the mean of `value` for one match that tells. `matches`: those that tell. `questions`: those of the run, which share `LEVEL`.

    >>> round(power(0.0, 50, 10), 3), round(power(0.5, 50, 10), 2), round(power(1.0, 50, 10), 2)
    (0.001, 0.67, 1.0)
    """
    normal = NormalDist()
    return normal.cdf(effect * math.sqrt(matches) - normal.inv_cdf(1 - LEVEL / questions))


def as_text(answer: Answer, questions: int) -> str:
    """Return an answer as a line, with the probability that a planted player would have been named by so few matches."""
    if answer.question == DRAWS:
        test = f"{answer.number} draws, chi-square {answer.value:.1f} with {answer.freedom} degrees of freedom"
    else:
        test = (
            f"{answer.freedom} decisions in {answer.number} matches, mean score {answer.effect:.2f}, {answer.value:.2f} standard deviations"
        )
    verdict = "SUSPICIOUS" if answer.suspicious else "as it should be"
    probability = f"p {answer.probability:.2g}, {answer.corrected:.2g} corrected"
    line = f"{answer.game} {answer.who} {answer.question}: {test}, {probability}: {verdict}"
    effects = EFFECTS.get((answer.game, answer.question))
    if effects is not None:
        always, third = (power(effect, answer.number, questions) for effect in effects)
        line += f" (one who always knows would be named with {always:.0%}, one who knows in a third of decisions with {third:.0%})"
    return legible(line)


class Shown(NamedTuple):
    """What a match shows, or why it is left out."""

    plays: Plays
    left_out: str | None


def shown(task: tuple[Record, float]) -> Shown:
    """Return what a match shows, of which a share of `LOOKS` is scored."""
    try:
        return Shown(watch(GAMES, *task), None)
    except BadRecord as reason:
        return Shown({}, str(reason))


def together(matches: Iterable[Plays]) -> Plays:
    """Return what several matches show."""
    merged: Plays = defaultdict(Play)
    for plays in matches:
        for key, play in plays.items():
            merged[key].add(play)
    return merged


def shares_for(records: Sequence[Record]) -> list[float]:
    """Return which share of `LOOKS` is scored, for each match.

    It is less where there are many matches of a game, so that all of them together take about the same time.
    """
    of = [game_of(record) for record in records]
    number = Counter(of)
    return [min(1.0, MATCHES / number[game]) for game in of]


def game_of(record: Record) -> str:
    """Return the game that a record names first, or an empty text."""
    with suppress(Unreadable, LookupError):
        return str(parse(record.raws[0]).events[0].get("game", ""))
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Print the answers. Return 0 if nobody is suspicious, 1 if somebody is, 2 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="./run suspects", description="Detect rigged dice and players who use hidden information.")
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORDS", help="dossiers, records, archives, or folders of them")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each answer")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, metavar="N")
    options = parser.parse_args(arguments)
    try:
        records = list(read(options.records))
    except (BadRecord, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    tasks = list(zip(records, shares_for(records), strict=True))
    if options.cores > 1 and len(tasks) > 1:
        with multiprocessing.Pool(options.cores) as pool:
            matches = pool.map(shown, tasks, chunksize=1)
    else:
        matches = list(map(shown, tasks))
    left_out = [match.left_out for match in matches if match.left_out is not None]
    for why in left_out:
        print(f"Left out: {why}", file=sys.stderr)
    plays = together(match.plays for match in matches)
    found = answers(plays)
    for answer in found:
        print(json.dumps({**answer._asdict(), "suspicious": answer.suspicious}) if options.json else as_text(answer, len(found)))
    if not options.json:
        named = sum(answer.suspicious for answer in found)
        print(f"{len(records)} matches, {len(left_out)} left out; {len(found)} questions, {named} suspicious answers.")
        if few := sum(0 < len(scores) < LEAST_MATCHES for play in plays.values() for scores in play.scores.values()):
            print(f"{few} questions could not be asked: fewer than {LEAST_MATCHES} matches tell anything about them.")
        print(f"A run of honest players names anybody with a probability of {LEVEL:.0%} at most.")
    return int(any(answer.suspicious for answer in found))


if __name__ == "__main__":
    sys.exit(main())
