"""Plays matches between levels of play without HTTP, over all cores: `./run simulate GAME --seats LEVEL,LEVEL --matches N --seed S`."""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from tqdm import tqdm

from events.levels import LEVELS
from games import GAMES
from games.chance import Drawn
from games.kernel import SYSTEM, Game, Memory, Refused, carry_out, remembered
from workers.search import choose

LONGEST = 100_000


class Plan(NamedTuple):
    """What is played, the same for every match of a run."""

    game: str
    levels: tuple[str, ...]
    seed: str
    options: dict[str, Any]


class Result(NamedTuple):
    """How one match went."""

    number: int
    winners: list[str]
    reason: str
    actions: int
    rounds: int


def play(plan: Plan, number: int) -> Result:
    """The match of that number: its dice and its players' whims follow from the seed and the number alone."""
    game = GAMES[plan.game]
    dice = Drawn(random.Random(f"{plan.seed}/{number}/dice").randrange)
    whim = Drawn(random.Random(f"{plan.seed}/{number}/whim").randrange)
    seats = seats_of(game, len(plan.levels))
    level = dict(zip(seats, plan.levels, strict=True))
    state = game.begin(seats, plan.options)
    memory: Memory = {}
    for actions in range(LONGEST):
        if state["outcome"] is not None:
            return Result(number, state["outcome"]["winners"], state["outcome"]["reason"], actions, state["round"])
        actor = state["to_act"][0]
        action = {"type": "end_round"} if actor == SYSTEM else choose(game, level[actor], state, actor, whim, memory)
        table = carry_out(game, state, actor, action, dice)
        state, memory = table.state, remembered(game, memory, table.events)
    raise AssertionError(f"match {number} of seed {plan.seed} does not end")


def seats_of(game: Game, count: int) -> list[str]:
    """The seats of a match with that many."""
    return list(game.seats.ids[:count])


def results(plan: Plan, matches: int, cores: int) -> Iterator[Result]:
    """Every match of a run, as they end."""
    with multiprocessing.Pool(cores) as pool:
        yield from pool.imap_unordered(
            _one, [(plan, number) for number in range(matches)], chunksize=max(1, min(16, matches // (cores * 8)))
        )


def _one(task: tuple[Plan, int]) -> Result:
    return play(*task)


def interval(wins: int, matches: int) -> tuple[float, float]:
    """The Wilson interval of 95 % for a share of wins."""
    z = 1.959964
    share = wins / matches
    centre = share + z * z / (2 * matches)
    spread = z * math.sqrt(share * (1 - share) / matches + z * z / (4 * matches * matches))
    below = 1 + z * z / matches
    return max(0.0, (centre - spread) / below), min(1.0, (centre + spread) / below)


def summary(plan: Plan, played: list[Result]) -> dict[str, Any]:
    """Wins by side with their intervals, lengths and endings; the same for the same seed, however many cores."""
    played = sorted(played)
    wins = Counter(winner for result in played for winner in result.winners)
    sides = []
    for seat, level in zip(seats_of(GAMES[plan.game], len(plan.levels)), plan.levels, strict=True):
        low, high = interval(wins[seat], len(played))
        sides.append({"seat": seat, "level": level, "wins": wins[seat], "share": wins[seat] / len(played), "low": low, "high": high})
    return {
        "game": plan.game,
        "seed": plan.seed,
        "matches": len(played),
        "sides": sides,
        "shared": sum(len(result.winners) > 1 for result in played),
        "without_winner": sum(not result.winners for result in played),
        "endings": dict(sorted(Counter(result.reason for result in played).items())),
        "actions": spread([result.actions for result in played]),
        "rounds": spread([result.rounds for result in played]),
    }


def spread(values: list[int]) -> dict[str, float]:
    """The least, the median and the most."""
    return {"least": min(values), "median": statistics.median(values), "most": max(values)}


def told(found: dict[str, Any]) -> str:
    """The summary as a table for people."""
    lines = [f"{found['matches']} matches of {found['game']}, seed {found['seed']}", ""]
    lines.append(f"{'side':<12}{'level':<12}{'wins':>8}{'share':>9}   95 % interval")
    for side in found["sides"]:
        shares = f"{side['share']:>9.1%}   {side['low']:.1%} to {side['high']:.1%}"
        lines.append(f"{side['seat']:<12}{side['level']:<12}{side['wins']:>8}{shares}")
    lines += ["", f"victories shared {found['shared']}, without a winner {found['without_winner']}"]
    lines.append("endings  " + ", ".join(f"{reason} {count}" for reason, count in found["endings"].items()))
    for name in ("actions", "rounds"):
        of = found[name]
        lines.append(f"{name:<8} {of['least']:g} to {of['most']:g}, median {of['median']:g}")
    return "\n".join(lines)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The command line, checked against the games and levels that there are."""
    parser = argparse.ArgumentParser(prog="run simulate", description="Plays matches between levels of play, without HTTP, over all cores.")
    parser.add_argument("game", choices=sorted(GAMES), metavar="GAME", help=", ".join(sorted(GAMES)))
    parser.add_argument("--seats", required=True, metavar="LEVEL,LEVEL", help=f"a level for each seat: {', '.join(LEVELS)}")
    parser.add_argument("--matches", type=int, default=100, metavar="N")
    parser.add_argument("--seed", default="1", metavar="S", help="the same seed plays the same matches")
    parser.add_argument("--options", type=json.loads, default={}, metavar="JSON", help="the options of every match")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    options = parser.parse_args(arguments)
    options.levels = tuple(options.seats.split(","))
    if unknown := [level for level in options.levels if level not in LEVELS]:
        parser.error(f"there is no level {unknown[0]!r}; there are {', '.join(LEVELS)}")
    if options.matches < 1 or options.cores < 1:
        parser.error("--matches and --cores are at least 1")
    game = GAMES[options.game]
    if not game.seats.least <= len(options.levels) <= game.seats.most:
        parser.error(f"{game.title} takes {game.seats.least} to {game.seats.most} seats, not {len(options.levels)}")
    try:
        game.begin(seats_of(game, len(options.levels)), options.options)
    except Refused as refused:
        parser.error(f"--options: {refused.code}")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Play the matches and print what came of them."""
    options = parsed(arguments)
    plan = Plan(options.game, options.levels, options.seed, options.options)
    began = time.perf_counter()
    played = list(tqdm(results(plan, options.matches, options.cores), total=options.matches, unit="match", leave=False))
    rate = options.matches / (time.perf_counter() - began)
    found = summary(plan, played)
    print(json.dumps({**found, "matches_per_second": rate}) if options.json else f"{told(found)}\n{rate:.1f} matches a second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
