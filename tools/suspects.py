"""Look for luck that is none, and for play that knows what it could not know: `./run suspects RECORDS`.

Three questions are asked about each player of each game, and about each level of artificial players. docs/auditing.md ("Luck and play")
explains them, and what an answer proves.

- `draws`: do the numbers that a seat drew fall as they should? A chi-square over all draws.
- `dice`: does the seat choose what is good with the dice that are about to fall, rather than with others that could have fallen?
- `sight`: does the seat choose what is good in the true hidden state, rather than in states that it could have guessed?
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from games import GAMES
from games.chance import Chance, Drawn
from games.choices import complete
from games.drawing import legible
from games.kernel import SYSTEM, Action, Game, Match, State, legal
from record.entries import Entry, parse
from record.positions import Position, level_of
from record.trail import Trail
from table.rules import is_table_action
from tools.records import BadRecord, Record, read
from tools.significance import chi_square_tail, corrected, student_tail

DRAWS, DICE, SIGHT = "draws", "dice", "sight"
LEVEL = 0.01  # the chance that anybody honest is named
LEAST_MATCHES = 10  # with something to compare, before play is judged
GUESSES = 9  # states that a seat could have guessed, or other dice, to compare with
FIRST = 4  # of the states that are tried before the others, to see whether anything depends on them
ALTERNATIVES = 12  # actions that a seat could have chosen instead, at most
PLACES = 6  # draws of an action that are counted by their place; later ones count together
BINS = 10
LEAST = 5  # draws that are expected in a bin, at least
CLOSE = 1e-9  # values that differ by less are equal

Number = Callable[[], Callable[[int], int]]
"""Gives a source of whole numbers, each time from its first on."""


class Group(NamedTuple):
    """Draws that are counted together: of one kind of action, at one place in it, below one number."""

    action: str
    place: int
    below: int


class Answer(NamedTuple):
    """The answer to one question about one player.

    `number`: how many draws, or in how many matches there was something to compare. `value`: a chi-square with `freedom`, or Student's t.
    `effect`: for play, the mean of the ranks, 0.5 for honest play and 1 for the best that can be. `probability`: of a value at least as far
    off without cause. `corrected`: the same, after the correction for all questions that were asked.
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
        """True if hardly anybody honest gives this answer."""
        return self.corrected <= LEVEL


class Play:
    """What is known of a player of a game."""

    def __init__(self) -> None:
        self.draws: dict[Group, list[int]] = defaultdict(list)
        self.ranks: dict[str, list[list[float]]] = {DICE: [], SIGHT: []}  # by question, the ranks of each match


class Watched(Trail):
    """A match that is decided again, with the numbers that each entry draws."""

    def __init__(self, games: Mapping[str, Game], record: Record) -> None:
        super().__init__(games, record.secret, record.match)
        self.drawn: list[tuple[int, int]] = []  # by the entry read last, each number with the bound below which it lies

    def rules(self, position: Position) -> Game:
        """Return the rules of the match."""
        return self._rules_of(position.game)

    def dice(self) -> Callable[[int], int]:
        """Return the numbers of the entry read last, from the first."""
        return super()._chance().number

    def _chance(self) -> Drawn:
        source = self.dice()

        def number(below: int) -> int:
            found = source(below)
            self.drawn.append((below, found))
            return found

        return Drawn(number)


def watch(games: Mapping[str, Game], record: Record, plays: dict[tuple[str, str], Play]) -> None:
    """Add what a match shows of its players. Raise BadRecord if the match does not stand up to an audit, or cannot be decided."""
    trail, chance = Watched(games, record), Drawn(random.Random(record.match).randrange)
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for place, raw in enumerate(record.raws, 1):
        before, trail.drawn = trail.position, []
        trail.read(f"{place}-0", raw)
        if trail.findings:
            raise BadRecord(f"{record.match} does not stand up to an audit ({trail.findings[0].code}). Audit it first.")
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
        game, ranks = trail.rules(before), found[before.game, who]
        actions = [entry.action, *alternatives(game, before.document, entry.actor, entry.action, chance)]
        if len(actions) > 1:
            ranks[DICE] += rank_of_dice(game, before, entry, actions, trail.dice, chance)
            ranks[SIGHT] += rank_of_sight(game, before, entry, actions, chance)
    for key, ranked in found.items():
        for question, values in ranked.items():
            if values:
                plays[key].ranks[question].append(values)


def _who(position: Position, entry: Entry) -> str:
    """Return whose an action is: a player's, a level's, or the system's. What the table draws counts as the system's."""
    if entry.actor not in position.roster:
        return SYSTEM
    level = level_of(position, entry.actor)
    return f"ai:{level}" if level is not None else str(position.roster[entry.actor].get("player"))


def rank_of_dice(game: Game, before: Position, entry: Entry, actions: Sequence[Action], true: Number, chance: Chance) -> list[float]:
    """Return the rank of the dice of a decision among other dice; nothing where no action draws.

    The dice of honest play do not depend on what is chosen. So each rank is as likely as any other.
    """
    if not any(_draws(game, before.document, entry.actor, action) for action in actions):
        return []
    seeds = [str(chance.number(1 << 62)) for _ in range(GUESSES)]

    def regret(place: int) -> float:
        return _regret(game, before.document, entry.actor, actions, true if place == 0 else partial(_numbers, seeds[place - 1]))

    return _ranked(regret, chance)


def rank_of_sight(game: Game, before: Position, entry: Entry, actions: Sequence[Action], chance: Chance) -> list[float]:
    """Return the rank of the true hidden state of a decision among guessed ones; nothing where nothing is hidden.

    Honest play depends on the view alone, which the true state has in common with the guessed ones. So each rank is as likely as any other.
    """
    state, seat = before.document, entry.actor
    view = game.view(state, seat)
    if view == state:
        return []
    states: list[State] = [state, *[game.guess(view, seat, chance, before.memory) for _ in range(GUESSES)]]
    dice = partial(_numbers, str(chance.number(1 << 62)))  # the same for all states, so that they differ in nothing else
    return _ranked(lambda place: _regret(game, states[place], seat, actions, dice), chance)


def alternatives(game: Game, state: State, seat: str, chosen: Action, chance: Chance) -> list[Action]:
    """Return actions that a seat could have chosen instead: any, drawn, without those that are equal to others."""
    choices = chance.shuffle(legal(game, state, seat))
    found: list[Action] = []
    for choice in islice(choices, ALTERNATIVES):
        action = complete(choice["action"], choice["choose"], chance.number) if "choose" in choice else choice["action"]
        if action != chosen and action not in found:
            found.append(action)
    return found


def _draws(game: Game, state: State, seat: str, action: Action) -> bool:
    """Return True if an action draws from chance."""
    try:
        game.phases[state["phase"]][action["type"]].act(Match(game, state, Drawn(_drew)), seat, action)
    except _Drew:
        return True
    return False


class _Drew(Exception):
    """An action has drawn from chance."""


def _drew(below: int) -> int:
    raise _Drew


def _regret(game: Game, state: State, seat: str, actions: Sequence[Action], dice: Number) -> float:
    """Return how far the first of some actions falls short of the best one in a state and with dice: 0, or less than 0."""
    values = []
    for action in actions:
        match = Match(game, state, Drawn(dice()))
        game.phases[state["phase"]][action["type"]].act(match, seat, action)
        values.append(game.worth(match.state, seat))
    return values[0] - max(values)


def _numbers(seed: str) -> Callable[[int], int]:
    return random.Random(seed).randrange


def _ranked(value: Callable[[int], float], chance: Chance) -> list[float]:
    """Return the share of the values at 1, 2, … `GUESSES` that are less than the one at 0, equal ones counted half.

    Nothing comes back if all are equal, as they are most often. A few of them tell, any of them, so that the one at 0 is as likely to tell.
    """
    order = chance.shuffle(range(GUESSES + 1))
    found = {place: value(place) for place in order[:FIRST]}
    if max(found.values()) - min(found.values()) <= CLOSE:
        return []
    found |= {place: value(place) for place in order[FIRST:]}
    true = found.pop(0)
    less = sum(other < true - CLOSE for other in found.values())
    equal = sum(abs(other - true) <= CLOSE for other in found.values())
    return [(less + equal / 2) / GUESSES]


def answers(plays: Mapping[tuple[str, str], Play]) -> list[Answer]:
    """Return the answers to all questions that can be asked, the least likely first."""
    found: list[Answer] = []
    for (game, who), play in sorted(plays.items()):
        found += about_draws(game, who, play.draws)
        for question, ranks in play.ranks.items():
            found += about_ranks(game, who, question, ranks)
    right = corrected([answer.probability for answer in found])
    return sorted(
        (answer._replace(corrected=probability) for answer, probability in zip(found, right, strict=True)),
        key=lambda answer: (answer.corrected, answer.probability),
    )


def about_draws(game: str, who: str, draws: Mapping[Group, Sequence[int]]) -> Iterator[Answer]:
    """Yield the answer whether draws fall as they should: the chi-squares of all groups together."""
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


def about_ranks(game: str, who: str, question: str, matches: Sequence[Sequence[float]]) -> Iterator[Answer]:
    """Yield the answer whether ranks are too high: Student's t over the matches, whose decisions depend on each other."""
    if len(matches) < LEAST_MATCHES:
        return
    sums = [sum(ranks) - len(ranks) / 2 for ranks in matches]
    mean = sum(sums) / len(sums)
    spread = math.sqrt(sum((one - mean) ** 2 for one in sums) / (len(sums) - 1) / len(sums))
    if spread < CLOSE:
        return
    value, freedom = mean / spread, len(sums) - 1
    number = sum(map(len, matches))
    yield Answer(game, who, question, len(matches), value, freedom, 0.5 + sum(sums) / number, student_tail(value, freedom), 1.0)


def as_text(answer: Answer) -> str:
    """Return an answer as a line."""
    if answer.question == DRAWS:
        test = f"{answer.number} draws, chi-square {answer.value:.1f} with {answer.freedom} degrees of freedom"
    else:
        test = f"{answer.number} matches, mean rank {answer.effect:.3f}, t {answer.value:.2f}"
    verdict = "SUSPICIOUS" if answer.suspicious else "as it should be"
    probability = f"p {answer.probability:.2g}, {answer.corrected:.2g} corrected"
    return legible(f"{answer.game} {answer.who} {answer.question}: {test}, {probability}: {verdict}")


def main(arguments: list[str] | None = None) -> int:
    """Print the answers. Return 0 if nobody is suspicious, 1 if somebody is, 2 if a file cannot be read."""
    parser = argparse.ArgumentParser(prog="run suspects", description="Look for luck that is none, and for play that knows too much.")
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORDS", help="dossiers, records, archives, or folders of them")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each answer")
    options = parser.parse_args(arguments)
    plays: dict[tuple[str, str], Play] = defaultdict(Play)
    number = left_out = 0
    try:
        for record in read(options.records):
            number += 1
            try:
                watch(GAMES, record, plays)
            except BadRecord as reason:
                left_out += 1
                print(f"Left out: {reason}", file=sys.stderr)
    except (BadRecord, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    found = answers(plays)
    for answer in found:
        print(json.dumps({**answer._asdict(), "suspicious": answer.suspicious}) if options.json else as_text(answer))
    if not options.json:
        named = sum(answer.suspicious for answer in found)
        print(f"{number} matches, {left_out} left out; {len(found)} questions, {named} suspicious answers at a level of {LEVEL:.0%}.")
    return int(any(answer.suspicious for answer in found))


if __name__ == "__main__":
    sys.exit(main())
