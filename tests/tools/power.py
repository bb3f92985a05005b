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
from tests.tools.seers import HONEST, SEER, played
from tools.suspects import DICE, DICE_AHEAD, PLAY, SIGHT, SIGHT_AHEAD, Plays, about_play, answers, power, together, watch

PLANTED = {
    "war": (DICE_AHEAD, SIGHT_AHEAD),
    "war_of_the_worlds": (DICE, SIGHT_AHEAD),
    "war_of_civilizations": (DICE_AHEAD, SIGHT),
}
"""By game, how the planted players know the dice and the hidden state: as far ahead as it is of use there."""

SHARES = (1.0, 1 / 3)
SIZES = (14, 25, 50, 100, 200)  # matches
QUESTIONS = 11  # of a run over matches of two players: five each, and the draws of the system
SETS = 400


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
    return watch(GAMES, played(*task))


def measure(game: str, matches: int, cores: int) -> Iterator[Measured]:
    """Yield what each planted player of a game shows."""
    for question in PLANTED[game]:
        for share in SHARES:
            with multiprocessing.Pool(cores) as pool:
                yield measured(game, question, share, pool.map(shown, [(game, seed, question, share) for seed in range(matches)], 1))


def alarms(found: Sequence[Measured], matches: int) -> tuple[float, float]:
    """Return the share of sets of honest matches that name anybody, and the share of answers about play with p <= 0.01.

    The sets are drawn from matches that were played once, so they share matches.
    """
    will, honest = random.Random(1), [plays for one in found for plays in one.honest]
    named = low = asked = 0
    for _ in range(SETS):
        given = answers(together(will.sample(honest, min(matches, len(honest)))))
        named += any(answer.probability <= 0.01 / QUESTIONS for answer in given)
        play = [answer for answer in given if answer.question in PLAY]
        low += sum(answer.probability <= 0.01 for answer in play)
        asked += len(play)
    return named / SETS, low / max(1, asked)


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
        for size in (14, 50):
            named, low = alarms(found, size)
            print(f"{game}: {size} honest matches: {named:.1%} of sets name anybody, {low:.1%} of answers have p <= 0.01")  # noqa: T201


if __name__ == "__main__":
    main()
