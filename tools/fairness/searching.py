"""Search a game for seats that gain by not playing."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count

import yaml

from games import GAMES
from games.documents import clone
from games.kernel import Game
from tools.fairness.cases import Played, losers, played, sizes, tables
from tools.fairness.departures import leaving, order, skipped
from tools.fairness.line import Budget, Spent
from tools.fairness.promises import Broken
from tools.fairness.spoilers import spoiled

MATCHES = 8
"""The budget pays for about so many matches of each size."""

LEAST = 2000
"""The budget of a match or of a table, if so much is left."""

LATE = (0.5, 0.7, 0.9)
"""How far a match has got when tables are searched: late enough that seats know how they stand."""


def searched(game: Game, positions: int, seed: str) -> Iterator[Broken]:
    """Yield the promises that are broken in matches of a game, one of each kind of a match, within a budget of positions."""
    left = Budget(positions)
    for number in count():
        for seats in sizes(game):
            share = Budget(min(left.left, max(LEAST, positions // MATCHES)))
            left.left -= share.left
            with suppress(Spent):
                yield from _in_match(played(game, seats, f"{seed} {number} {seats}", share), share)
            left.left += share.left
        if left.left < LEAST:
            return


def _in_match(match: Played, budget: Budget) -> Iterator[Broken]:
    """Yield what is broken in a match: half of the budget is for its tables, half for what its game does to those who stay."""
    half = Budget(budget.left // 2)
    budget.left -= half.left
    for of, search in ((half, _at_tables), (budget, _departures)):
        with suppress(Spent):
            yield from search(match, of)


def _at_tables(match: Played, budget: Budget) -> Iterator[Broken]:
    """Yield what is broken at tables with a late position of a match. Each table gets its part of the budget."""
    state = match.positions[int(len(match.positions) * random.Random(match.seed).choice(LATE))]
    cases = list(tables(match, state, losers(match, state, budget)))
    random.Random(match.seed).shuffle(cases)
    for number, case in enumerate(cases):
        part = Budget(min(budget.left, max(LEAST, 2 * budget.left // (len(cases) - number))))
        budget.left -= part.left
        with suppress(Spent):
            yield from spoiled(part, case)
        budget.left += part.left


def _departures(match: Played, budget: Budget) -> Iterator[Broken]:
    """Yield what a game does to those who stay, in positions all over a match."""
    yield from order(budget, match, match.positions[len(match.positions) // 2])
    stride = max(1, len(match.positions) * 60 // max(1, budget.left))
    for state in match.positions[::stride]:
        yield from skipped(budget, match, state)
        yield from leaving(budget, match, state)


def main(arguments: list[str] | None = None) -> int:
    """Print each broken promise as a scenario. Return 1 if there is one, else 0."""
    parser = argparse.ArgumentParser(prog="run fairness", description=__doc__)
    parser.add_argument("game", choices=sorted(GAMES), metavar="GAME", help=", ".join(sorted(GAMES)))
    parser.add_argument("--budget", type=int, default=100_000, metavar="N", help="how many positions to reach")
    parser.add_argument("--seed", default="1", metavar="S", help="the same seed searches the same positions")
    options = parser.parse_args(arguments)
    told: list[Broken] = []
    for broken in searched(GAMES[options.game], options.budget, options.seed):
        if broken.is_told_by(told):
            continue
        told.append(broken)
        scenario = clone({**broken.scenario, "id": f"{broken.scenario['id']}-{len(told)}"})
        sys.stdout.write(f"# {broken.why}\n{yaml.safe_dump([scenario], sort_keys=False, allow_unicode=True)}\n")
        sys.stdout.flush()
    sys.stderr.write(f"broken promises: {', '.join(sorted({one.promise for one in told})) or 'none found'}\n")
    return int(bool(told))
