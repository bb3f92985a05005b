"""Play matches between levels of artificial players, without HTTP, on all cores: `./run simulate GAME --seats LEVEL,LEVEL`."""

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
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tqdm import tqdm

from games import GAMES
from games.chance import Chance, Drawn
from games.kernel import SYSTEM, Action, Game, Match, Memory, Refused, Seat, State, carry_out, legal, remembered
from players import LEVELS, budget_of, question_of
from tools import use

LONGEST = 100_000  # actions of a match


class Plan(NamedTuple):
    """The parameters of a run, the same for every match.

    `shuffle`: draw the seats of each match and their order; the first level has the first seat. `any_order`: also draw the order of turns.
    `use`: count what each level makes use of (tools/use.py).
    """

    game: str
    levels: tuple[str, ...]
    seed: str
    options: dict[str, Any]
    shuffle: bool = False
    use: bool = False
    any_order: bool = False


class Result(NamedTuple):
    """The result of one match. `seats`: in the order of the levels. `use`: what each level made use of, if the plan asks for it."""

    number: int
    seats: list[str]
    winners: list[str]
    reason: str
    actions: int
    rounds: int
    use: dict[str, use.Use]


def play(plan: Plan, number: int) -> Result:
    """Play the match with a number. Its dice and the choices of its players follow from the seed and the number alone."""
    game = GAMES[plan.game]
    dice = Drawn(random.Random(f"{plan.seed}/{number}/dice").randrange)
    players = Drawn(random.Random(f"{plan.seed}/{number}/players").randrange)
    seats = seats_of(plan, number)
    level = dict(zip(seats, plan.levels, strict=True))
    used = {name: use.nothing() for name in plan.levels} if plan.use else {}
    moves, expected = use.Moves(seats), use.Expected()

    def decide(state: State, seat: Seat, memory: Memory) -> Action:
        name = level[seat]
        question = question_of(game, state, seat, memory)
        thought = LEVELS[name](question, budget_of(question, name), players)
        if used:
            use.count_decision(used[name], question.choices, thought.action)
            expected.note(seat, thought.options)
        return thought.action

    actions, state = 0, {}
    order = random.Random(f"{plan.seed}/{number}/order").sample(seats, len(seats)) if plan.any_order else seats
    for actor, match in course(game, game.begin(order, plan.options), decide, dice):
        actions, state = actions + 1, match.state
        if used:
            moves.watch(actor, match.events, used.get(level.get(actor, "")))
    if used:
        expected.count(state["outcome"]["winners"], {seat: used[name] for seat, name in level.items()})
    return Result(number, seats, state["outcome"]["winners"], state["outcome"]["reason"], actions, state["round"], used)


def course(game: Game, state: State, decide: Callable[[State, Seat, Memory], Action], dice: Chance) -> Iterator[tuple[Seat, Match[State]]]:
    """Play a match to its end. Yield the actor of each action, and the match after it. `decide` decides for the seats."""
    memory: Memory = {}
    for _ in range(LONGEST):
        if state["outcome"] is not None:
            return
        actor = state["to_act"][0]
        action = legal(game, state, SYSTEM)[0]["action"] if actor == SYSTEM else decide(state, actor, memory)
        match = carry_out(game, state, actor, action, dice)
        yield actor, match
        state, memory = match.state, remembered(game, memory, match.events)
    raise AssertionError("the match does not end")


def seats_of(plan: Plan, number: int) -> list[str]:
    """Return the seats of a match in the order of the levels: the first ones of the game, or, with `shuffle`, drawn ones."""
    ids, count = GAMES[plan.game].seats.ids, len(plan.levels)
    return random.Random(f"{plan.seed}/{number}/seats").sample(ids, count) if plan.shuffle else list(ids[:count])


def results(plan: Plan, matches: int, cores: int) -> Iterator[Result]:
    """Yield the result of every match of a run, in the order in which they end."""
    with multiprocessing.Pool(cores) as pool:
        yield from pool.imap_unordered(
            _one, [(plan, number) for number in range(matches)], chunksize=max(1, min(16, matches // (cores * 8)))
        )


def _one(task: tuple[Plan, int]) -> Result:
    return play(*task)


def interval(wins: int, matches: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval for a share of wins."""
    z = 1.959964
    share = wins / matches
    centre = share + z * z / (2 * matches)
    spread = z * math.sqrt(share * (1 - share) / matches + z * z / (4 * matches * matches))
    below = 1 + z * z / matches
    return max(0.0, (centre - spread) / below), min(1.0, (centre + spread) / below)


def summary(plan: Plan, played: list[Result]) -> dict[str, Any]:
    """Return wins with their intervals, lengths and endings. The same seed gives the same summary on any number of cores."""
    played = sorted(played)
    sides: list[dict[str, Any]] = []
    for place, level in enumerate(plan.levels):
        name = f"{place + 1}." if plan.shuffle else seats_of(plan, 0)[place]
        sides.append({"seat": name, "level": level, **tally([result.seats[place] in result.winners for result in played])})
    by_seat = {}
    if plan.shuffle:
        for seat in GAMES[plan.game].seats.ids:
            by_seat[seat] = tally([seat in result.winners for result in played if seat in result.seats])
    return {
        "game": plan.game,
        "seed": plan.seed,
        "matches": len(played),
        "sides": sides,
        "seats": by_seat,
        "shared": sum(len(result.winners) > 1 for result in played),
        "without_winner": sum(not result.winners for result in played),
        "endings": dict(sorted(Counter(result.reason for result in played).items())),
        "actions": spread([result.actions for result in played]),
        "rounds": spread([result.rounds for result in played]),
        **({"use": use.report(GAMES[plan.game], use.added(result.use for result in played))} if plan.use else {}),
    }


def tally(won: list[bool]) -> dict[str, Any]:
    """Return the number and the share of wins, with the interval of the share. A shared victory is a win for each winner."""
    wins = sum(won)
    low, high = interval(wins, len(won)) if won else (0.0, 1.0)
    return {"matches": len(won), "wins": wins, "share": wins / len(won) if won else 0.0, "low": low, "high": high}


def spread(values: list[int]) -> dict[str, float]:
    """Return the least, the median and the greatest of some values."""
    return {"least": min(values), "median": statistics.median(values), "most": max(values)}


def table(found: dict[str, Any]) -> str:
    """Return a summary as a table."""
    lines = [f"{found['matches']} matches of {found['game']}, seed {found['seed']}", ""]
    lines.append(f"{'side':<12}{'level':<12}{'matches':>8}{'wins':>8}{'share':>9}   95 % interval")
    lines += [row(side["seat"], side["level"], side) for side in found["sides"]]
    lines += [row(seat, "", tallied) for seat, tallied in found["seats"].items()]
    lines += ["", f"shared victories {found['shared']}, without a winner {found['without_winner']}"]
    lines.append("endings  " + ", ".join(f"{reason} {count}" for reason, count in found["endings"].items()))
    for name in ("actions", "rounds"):
        values = found[name]
        lines.append(f"{name:<8} {values['least']:g} to {values['most']:g}, median {values['median']:g}")
    if "use" in found:
        lines += ["", use.table(found["use"])]
    return "\n".join(lines)


def row(name: str, level: str, wins: dict[str, Any]) -> str:
    """Return a line of the table."""
    return f"{name:<12}{level:<12}{wins['matches']:>8}{wins['wins']:>8}{wins['share']:>9.1%}   {wins['low']:.1%} to {wins['high']:.1%}"


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line. Exit with 2 if a game, a level or the number of seats is wrong."""
    parser = argparse.ArgumentParser(
        prog="./run simulate", description="Play matches between levels of artificial players, without HTTP, on all cores."
    )
    parser.add_argument("game", choices=sorted(GAMES), metavar="GAME", help=", ".join(sorted(GAMES)))
    parser.add_argument("--seats", required=True, metavar="LEVEL,LEVEL", help=f"a level for each seat: {', '.join(LEVELS)}")
    parser.add_argument("--matches", type=int, default=100, metavar="N")
    parser.add_argument("--seed", default="1", metavar="S", help="the seed; the same seed plays the same matches")
    parser.add_argument(
        "--shuffle", action="store_true", help="draw the seats and their order for each match; count wins by place and by seat"
    )
    parser.add_argument("--any-order", action="store_true", help="also draw who begins (default: the first level, if the game allows it)")
    parser.add_argument("--options", type=json.loads, default={}, metavar="JSON", help="the match options, as a JSON object")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument(
        "--use",
        action="store_true",
        help="count for each level which actions and cards it uses, how often it moves to and fro, and what it expects",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    options = parser.parse_args(arguments)
    options.levels = tuple(options.seats.split(","))
    if unknown := [level for level in options.levels if level not in LEVELS]:
        parser.error(f"unknown level {unknown[0]!r}; the levels are {', '.join(LEVELS)}")
    if options.matches < 1 or options.cores < 1:
        parser.error("--matches and --cores must be at least 1")
    game = GAMES[options.game]
    if not game.seats.least <= len(options.levels) <= game.seats.most:
        parser.error(f"{game.title} takes {game.seats.least} to {game.seats.most} seats, not {len(options.levels)}")
    if not isinstance(options.options, dict):
        parser.error("--options must be a JSON object")
    try:
        game.begin(list(game.seats.ids[: len(options.levels)]), options.options)
    except Refused as refused:
        parser.error(f"--options: {refused.code}")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Play the matches and print a summary."""
    options = parsed(arguments)
    plan = Plan(options.game, options.levels, options.seed, options.options, options.shuffle, options.use, options.any_order)
    began = time.perf_counter()
    played = list(tqdm(results(plan, options.matches, options.cores), total=options.matches, unit="match", leave=False))
    rate = options.matches / (time.perf_counter() - began)
    found = summary(plan, played)
    print(json.dumps({**found, "matches_per_second": rate}) if options.json else f"{table(found)}\n{rate:.1f} matches a second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
