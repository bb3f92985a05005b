"""How many matches `./run suspects` needs: a table for docs/auditing.md, by matches in which planted and honest players play.

`python -m tests.tools.power --matches 60` plays them on all cores and prints the table. `./run soak` does the same.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from games import GAMES
from games.kernel import total
from tests.tools.seers import HONEST, SEER, played
from tools.significance import sum_tail
from tools.suspects import DICE, DICE_AHEAD, PLAY, SIGHT, SIGHT_AHEAD, Plays, about_play, answers, power, together, watch

PLANTED = {
    "war": (DICE_AHEAD, SIGHT_AHEAD),
    "war_of_the_worlds": (DICE_AHEAD, SIGHT_AHEAD),
    "war_of_civilizations": (DICE_AHEAD, SIGHT),
}
"""By game, how the planted players know the dice and the hidden state: as far ahead as it is of use there."""

ASKED = {DICE_AHEAD: (DICE, DICE_AHEAD), SIGHT: (SIGHT, SIGHT_AHEAD), SIGHT_AHEAD: (SIGHT, SIGHT_AHEAD)}
"""The questions that matches with a planted player are asked."""

SHARES = (1.0, 1 / 3)
SIZES = (14, 25, 50, 100, 200)  # matches
QUESTIONS = 11  # of a run over matches of two players: five each, and the draws of the system
SETS = 100
FIRST = 20_000  # the seed of the first match


class Measured(NamedTuple):
    """What the matches with a planted player show.

    `effect`: as `tools.suspects.power` takes it. `told`: the share of matches that tell. `honest`: what each
    match shows of the other player.
    """

    game: str
    question: str
    share: float
    matches: int
    effect: float
    told: float
    honest: list[Plays]

    def power(self, matches: int) -> float:
        """Return the probability that the player is named within so many matches."""
        telling = round(self.told * matches)
        return power(self.effect, telling, QUESTIONS)


def measured(game: str, question: str, share: float, shown: Sequence[Plays]) -> Measured:
    """Return what matches with a planted player show."""
    matches = [decisions for plays in shown if (game, SEER) in plays for decisions in plays[game, SEER].scores[question]]
    effect = next((answer.value / math.sqrt(answer.number) for answer in about_play(game, SEER, question, matches)), 0.0)
    honest = [{key: play for key, play in plays.items() if key[1] == HONEST} for plays in shown]
    return Measured(game, question, share, len(shown), effect, len(matches) / len(shown), honest)


def shown(task: tuple[str, int, str, float]) -> Plays:
    """Return what one match shows."""
    return watch(GAMES, played(*task), questions=ASKED[task[2]])


def measure(game: str, matches: int, cores: int) -> Iterator[Measured]:
    """Yield what each planted player of a game shows."""
    for question in PLANTED[game]:
        for share in SHARES:
            with multiprocessing.Pool(cores) as pool:
                yield measured(
                    game, question, share, pool.map(shown, [(game, seed, question, share) for seed in range(FIRST, FIRST + matches)], 1)
                )


def alarms(found: Sequence[Measured], matches: int) -> tuple[float, float]:
    """Return the share of sets of honest matches that name anybody, and the share of answers about play with p <= 0.01.

    The sets are drawn from matches that were played once, so they share matches.
    """
    will, named, low, asked = random.Random(1), 0, 0, 0
    kinds = {ASKED[one.question] for one in found}
    honest = [[plays for one in found if ASKED[one.question] == kind for plays in one.honest] for kind in kinds]
    for _ in range(SETS):
        given = [answer for pool in honest for answer in answers(together(will.sample(pool, min(matches, len(pool)))))]
        named += any(answer.probability <= 0.01 / QUESTIONS for answer in given)
        play = [answer for answer in given if answer.question in PLAY]
        low += sum(answer.probability <= 0.01 for answer in play)
        asked += len(play)
    return named / SETS, low / max(1, asked)


def single(found: Sequence[Measured]) -> Iterator[str]:
    """Yield a line for each question: how the probabilities of single honest matches are spread. They should be spread evenly."""
    honest = together(plays for one in found for plays in one.honest)
    for (game, _), play in honest.items():
        for question, matches in play.scores.items():
            tails = [sum_tail(decisions, total([scores[0] for scores in decisions])) for decisions in matches]
            shares = [sum(one <= most for one in tails) / max(1, len(tails)) for most in (0.5, 0.1, 0.01)]
            everything = next(about_play(game, HONEST, question, matches), None)
            p = f"{everything.probability:.2f}" if everything is not None else "–"
            yield f"| {game} | `{question}` | {len(matches)} | " + " | ".join(f"{share:.0%}" for share in shares) + f" | {p} |"


def row(one: Measured) -> str:
    """Return a line of the table."""
    knows = "knows the dice" if one.question in (DICE, DICE_AHEAD) else "sees hidden cards"
    needed = next((number for number in range(5, 5000) if one.power(number) >= 0.9), None)
    cells = [one.game, knows, "always" if one.share == 1 else "one in three", f"`{one.question}`", f"{one.matches}"]
    cells += [f"{one.effect:.2f}", f"{one.told:.0%}", *[f"{one.power(size):.0%}" for size in SIZES]]
    return "| " + " | ".join([*cells, str(needed) if needed else "more than 5,000"]) + " |"


def head() -> str:
    """Return the head of the table."""
    cells = ["game", "planted player", "uses it", "question", "played", "effect", "tell", *[f"{size}" for size in SIZES], "for 90 %"]
    return "| " + " | ".join(cells) + " |\n" + "|" + " --- |" * len(cells)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure how many matches ./run suspects needs.")
    parser.add_argument("--matches", type=int, default=60, metavar="N", help="matches of each planted player")
    parser.add_argument("--game", choices=sorted(PLANTED), action="append", metavar="GAME", help="a game; all by default")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, metavar="N")
    options = parser.parse_args()
    print(head())  # noqa: T201
    for game in options.game or PLANTED:
        found = []
        for one in measure(game, options.matches, options.cores):
            found.append(one)
            print(row(one), flush=True)  # noqa: T201
        print("| game | question | honest matches | p ≤ 0.5 | p ≤ 0.1 | p ≤ 0.01 | p of all |", *single(found), sep="\n", flush=True)  # noqa: T201
        for size in (14, 50):
            named, low = alarms(found, size)
            print(f"{game}: {size} honest matches: {named:.1%} of sets name anybody, {low:.1%} of answers have p <= 0.01")  # noqa: T201


if __name__ == "__main__":
    main()
