"""Detect rigged dice and players who use hidden information: `./run suspects RECORDS`.

It asks three questions about each player and each level of artificial players, for each game. docs/auditing.md ("Luck and play") explains
them, and what an answer proves.

- `draws`: are the numbers that a seat drew distributed as they should be? A chi-square test over all draws.
- `dice`: do the choices of the seat fit the dice that are about to fall better than other dice?
- `sight`: do the choices of the seat fit the true hidden state better than other states that it could have guessed?
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
LEVEL = 0.01  # the probability that any honest player is named
LEAST_MATCHES = 10  # matches with something to compare that are needed to judge play
GUESSES = 9  # guessed states or other dice to compare with
FIRST = 4  # states to try first, to see whether anything depends on the state
ALTERNATIVES = 12  # the most alternative actions of a decision
PLACES = 6  # draws of an action that are counted by place; later ones count together
BINS = 10
LEAST = 5  # the least expected draws in a bin
CLOSE = 1e-9  # values that differ by less count as equal

Number = Callable[[], Callable[[int], int]]
"""Returns a source of whole numbers. Each call begins with the first number again."""


class Group(NamedTuple):
    """Draws that are counted together: those of one type of action, at one place in it, below one bound."""

    action: str
    place: int
    below: int


class Answer(NamedTuple):
    """The answer to one question about one player.

    `number`: the number of draws, or of matches with something to compare. `value`: a chi-square with `freedom`, or Student's t.
    `effect`: for play, the mean rank; 0.5 for honest play, 1 for perfect knowledge. `probability`: that an honest player gets at least this
    value. `corrected`: the same, after the correction for all questions.
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
        self.ranks: dict[str, list[list[float]]] = {DICE: [], SIGHT: []}  # by question: the ranks of each match


class Watched(Trail):
    """A match that is decided again, with the numbers that each entry draws."""

    def __init__(self, games: Mapping[str, Game], record: Record) -> None:
        super().__init__(games, record.secret, record.match)
        self.drawn: list[tuple[int, int]] = []  # in the entry read last: each number, with its bound first

    def rules(self, position: Position) -> Game:
        """Return the rules of the match."""
        return self._rules_of(position.game)

    def dice(self) -> Callable[[int], int]:
        """Return the numbers of the entry read last, from the first one on."""
        return super()._chance().number

    def _chance(self) -> Drawn:
        source = self.dice()

        def number(below: int) -> int:
            found = source(below)
            self.drawn.append((below, found))
            return found

        return Drawn(number)


def watch(games: Mapping[str, Game], record: Record, plays: dict[tuple[str, str], Play]) -> None:
    """Add what a match shows about its players. Raises BadRecord if the match fails an audit or cannot be decided."""
    trail, chance = Watched(games, record), Drawn(random.Random(record.match).randrange)
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for place, raw in enumerate(record.raws, 1):
        before, trail.drawn = trail.position, []
        trail.read(f"{place}-0", raw)
        if trail.findings:
            raise BadRecord(f"{record.match} fails an audit ({trail.findings[0].code}). Audit it first.")
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
    """Return who decided an action: a player, a level, or the system. Draws of the table count for the system."""
    if entry.actor not in position.roster:
        return SYSTEM
    level = level_of(position, entry.actor)
    return f"ai:{level}" if level is not None else str(position.roster[entry.actor].get("player"))


def rank_of_dice(game: Game, before: Position, entry: Entry, actions: Sequence[Action], true: Number, chance: Chance) -> list[float]:
    """Return the rank of the true dice of a decision among other dice, or no rank if no action draws.

    In honest play the choice does not depend on the dice. So every rank is equally likely.
    """
    if not any(_draws(game, before.document, entry.actor, action) for action in actions):
        return []
    seeds = [str(chance.number(1 << 62)) for _ in range(GUESSES)]

    def regret(place: int) -> float:
        return _regret(game, before.document, entry.actor, actions, true if place == 0 else partial(_numbers, seeds[place - 1]))

    return _ranked(regret, chance)


def rank_of_sight(game: Game, before: Position, entry: Entry, actions: Sequence[Action], chance: Chance) -> list[float]:
    """Return the rank of the true hidden state of a decision among guessed states, or no rank if nothing is hidden.

    Honest play depends on the view alone, and the view is the same in the true and the guessed states. So every rank is equally likely.
    """
    state, seat = before.document, entry.actor
    view = game.view(state, seat)
    if view == state:
        return []
    states: list[State] = [state, *[game.guess(view, seat, chance, before.memory) for _ in range(GUESSES)]]
    dice = partial(_numbers, str(chance.number(1 << 62)))  # the same dice for all states
    return _ranked(lambda place: _regret(game, states[place], seat, actions, dice), chance)


def alternatives(game: Game, state: State, seat: str, chosen: Action, chance: Chance) -> list[Action]:
    """Return some other actions that a seat could have chosen, drawn at random, without duplicates."""
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
    """Return by how much the first action is worse than the best one in a state, with these dice: 0 or negative."""
    values = []
    for action in actions:
        match = Match(game, state, Drawn(dice()))
        game.phases[state["phase"]][action["type"]].act(match, seat, action)
        values.append(game.worth(match.state, seat))
    return values[0] - max(values)


def _numbers(seed: str) -> Callable[[int], int]:
    return random.Random(seed).randrange


def _ranked(value: Callable[[int], float], chance: Chance) -> list[float]:
    """Return the share of the values at 1, 2, … `GUESSES` that are less than the value at 0. Equal values count half.

    The result is empty if the values are equal, as in most decisions. A few values decide that. They are drawn, so that the value at 0 is
    as likely among them as any other.
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
    """Return the answers to all questions, the least likely first."""
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


def about_ranks(game: str, who: str, question: str, matches: Sequence[Sequence[float]]) -> Iterator[Answer]:
    """Yield the answer about ranks: Student's t over the matches. A match counts once, because its decisions depend on each other."""
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
    parser = argparse.ArgumentParser(prog="./run suspects", description="Detect rigged dice and players who use hidden information.")
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
