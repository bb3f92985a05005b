"""Run the decisions of artificial players in records again, on all cores: `--decisions` of `./run audit` and `./run verify`.

This needs only the standard library, so a record can be checked on a machine without packages.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from games import GAMES
from games.kernel import Game
from games.sentences import counted
from record.thinking.again import Decisions, Outcome, Result, Task, run

FEW = 200  # decisions and iterations that one process finishes before others have started


def add_options(parser: argparse.ArgumentParser, cores: int) -> None:
    """Add `--decisions` and `--cores`."""
    parser.add_argument("--decisions", action="store_true", help="run every decision of artificial players again, and compare")
    parser.add_argument("--cores", type=int, default=cores, metavar="N", help="processes (all cores)")


def run_again(found: Decisions, cores: int, games: Mapping[str, Game] = GAMES) -> Outcome:
    """Run the decisions of a record again, and return the outcome. Show the progress on a terminal.

    More than one core can only be used with the games of the program, because other processes know no others.
    """
    return found.outcome(_shown(_results(found.tasks, cores, games), len(found.tasks)))


def _results(tasks: Sequence[Task], cores: int, games: Mapping[str, Game]) -> Iterator[Result]:
    work = sum(1 + task.decision["spent"] for task in tasks)
    if cores == 1 or work <= FEW or games is not GAMES:
        yield from map(partial(run, games), tasks)
        return
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        yield from pool.imap_unordered(_run, tasks)


def _run(task: Task) -> Result:
    return run(GAMES, task)


def _shown(results: Iterator[Result], total: int) -> Iterator[Result]:
    """Yield the results, and show their number on a terminal."""
    if not sys.stderr.isatty():
        yield from results
        return
    for done, result in enumerate(results, 1):
        print(f"\r{done} of {total} decisions", end="", file=sys.stderr, flush=True)
        yield result
    print("\r\033[K", end="", file=sys.stderr, flush=True)


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as a JSON object, without the findings, which are listed with those of the record."""
    return {name: value for name, value in outcome._asdict().items() if name != "findings"}


def as_text(outcome: Outcome) -> list[str]:
    """Return an outcome as lines of text."""
    run = f"{counted(outcome.run, 'decision', 'decisions')} of artificial players run again"
    return [run, *(f"not checked: {sentence}" for sentence in outcome.unchecked)]
