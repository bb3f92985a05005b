"""Tune the weights that evaluate the positions of a game: `./run tune GAME`.

1. *Self-play*: a quick level plays matches, with some random actions. They give positions: the features of each seat, and the share of the
   victory that the seat got in the end.
2. *Fit*: a ridge regression finds, for each phase, the weights that predict this share best. It pulls towards the present weights. Each
   strength of this pull gives a candidate. The error on held-out matches is printed, but it decides nothing.
3. *Matches*: each candidate plays against the present weights, in pairs of matches with the same dice and swapped sides, until a sequential
   test decides. The first candidate that is better is written to players/<game>/plans.json. A better fit is not enough.

`--outlook` tunes the weights for positions in which a turn begins (players/evaluation.py). Each turn of the self-play gives one row, for
the seat whose turn it is, and the fit is a binomial regression.

`--steps N` replaces 1 and 2. It finds one candidate by matches alone, by simultaneous perturbation (SPSA, Spall 1992). Each step changes
all weights a little, each up or down at random. The changed weights play against the opposite changes, and all weights move towards the
winner.

The same seed gives the same candidates and the same matches, on any number of cores.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tqdm import tqdm

from games import GAMES
from games.chance import Drawn
from games.kernel import SYSTEM, Action, Memory, Seat, State
from players import LEVELS, budget_of, plans, question_of
from players.evaluation import beginnings_of, features_of, share_of, weighted
from players.level import Budget, Level
from players.searching import search
from tools.regression import Pull, dot, ridge
from tools.significance import better
from tools.simulate import course

HELD_OUT = 5  # one match in so many is held out of the fit
DIGITS = 4  # significant digits of a weight in the file
CHANGE = 0.2  # of the logarithm of each weight in a step
PACE = 0.3  # how far the weights move in the first step if one side wins every pair
SCORINGS = 8  # iterations of a binomial regression; it hardly changes after five
SLOWER = 40  # steps after which the weights move half as far
WIDTH = 140  # of a line of the file

T = TypeVar("T")
U = TypeVar("U")
Weights = dict[str, dict[str, float]]
"""Weights by phase and name of the feature, as in players/<game>/plans.json."""


class Source(NamedTuple):
    """Where positions come from: matches of `level`, in which the level `random` plays about one action in `stray`.

    A position is taken at every `every`-th decision, or, with `outlook`, at the beginning of each turn. `changes`: settings of the level's
    plan by name, or `iterations`.
    """

    game: str
    seats: int
    options: dict[str, Any]
    seed: str
    level: str
    stray: int
    every: int
    outlook: bool = False
    changes: Mapping[str, Any] = {}


class Row(NamedTuple):
    """A sample for the fit, a position of one seat: its match, its phase, its features, and the share of the victory that the seat got."""

    match: int
    phase: str
    features: list[float]
    share: float


def positions(task: tuple[Source, int]) -> list[Row]:
    """Play the match with a number, and return its rows."""
    source, number = task
    game = GAMES[source.game]
    beginnings = beginnings_of(game.id) if source.outlook else None
    found = beginnings.features if beginnings is not None else features_of(game)
    draw = random.Random(f"{source.seed}/{number}/players")
    seats = random.Random(f"{source.seed}/{number}/seats").sample(game.seats.ids, source.seats)
    levels = {"random": LEVELS["random"], source.level: _self_player(source)}
    seen: list[tuple[Seat, str, list[float]]] = []
    decisions = 0

    def decide(state: State, seat: Seat, memory: Memory) -> Action:
        nonlocal decisions
        decisions += 1
        if beginnings is None and decisions % source.every == 0:
            seen.extend((other, found.phase(state), found.features(state, other)) for other in game.playing(state))
        question = question_of(game, state, seat, memory)
        level = "random" if draw.randrange(source.stray) == 0 else source.level
        iterations = source.changes.get("iterations", budget_of(question, level).iterations)
        return levels[level](question, Budget(iterations), Drawn(draw.randrange)).action

    dice = Drawn(random.Random(f"{source.seed}/{number}/dice").randrange)
    winners: list[Seat] = []
    before: State = game.begin(seats, source.options)
    for _, match in course(game, before, decide, dice):
        state = match.state
        if state["outcome"] is not None:
            winners = state["outcome"]["winners"]
        elif beginnings is not None and beginnings.begins(before, state):
            seen.append((state["active"], found.phase(state), found.features(state, state["active"])))
        if state["to_act"] != [SYSTEM]:
            before = state
    return [Row(number, phase, features, (seat in winners) / max(1, len(winners))) for seat, phase, features in seen]


def _self_player(source: Source) -> Level:
    """Return the level that plays the matches of a source, with the changes to its plan."""
    plan = plans.plan_of(source.game, source.level, source.seats)
    if plan is None or not source.changes:
        return LEVELS[source.level]
    settings = {name: setting for name, setting in source.changes.items() if name != "iterations"}
    return search(source.level, plan=plan._replace(settings={**plan.settings, **settings}))


def fitted(rows: Iterable[Row], names: tuple[str, ...], seats: int, present: Weights, pull: Pull) -> Weights:
    """Return the weights that a ridge regression fits to rows, pulled towards the present weights. A phase without rows keeps its weights.

    Near an even share, `share_of` is linear in the sum of weighted features. With n seats its slope is 2 (n - 1) / n². So the target of the
    sum is the share above an even one, divided by that slope. With two seats, that is 1 for a victory and -1 for a defeat.
    """
    slope = 2 * (seats - 1) / seats**2

    def fit(some: list[Row], start: list[float]) -> list[float]:
        targets = [(row.share - 1 / seats) / slope for row in some]
        return ridge([row.features for row in some], targets, start, pull)

    return _by_phase(rows, names, present, fit)


def fitted_outlook(rows: Iterable[Row], names: tuple[str, ...], present: Weights, pull: Pull, pool: float | None = None) -> Weights:
    """Return the weights of an outlook that a binomial regression fits to rows, with the link `share_of`. A phase without rows keeps its
    weights.

    `pool`: first fit one set of weights to the rows of all phases, pulled towards 0 with this share. The weights of each phase are then
    pulled towards that set, not towards the present weights. So a phase with few rows learns from the others.
    """
    known = list(rows)
    if pool is not None:
        common = dict(zip(names, _scored(known, [0.0] * len(names), pull._replace(share=pool)), strict=True))
        present = dict.fromkeys(present, common)
    return _by_phase(known, names, present, lambda some, start: _scored(some, start, pull))


def _scored(rows: list[Row], start: list[float], pull: Pull) -> list[float]:
    """Return the weights that a binomial regression finds, pulled towards `start`.

    It uses Fisher scoring (iteratively reweighted least squares). Let s be the sum of weighted features and p its share. Then a row has the
    weight 1 / (1 + s²)² and the target s + (share - p) * 2 * (1 + s²)^1.5.
    """
    weights = start
    for _ in range(SCORINGS):
        scaled: list[list[float]] = []
        targets: list[float] = []
        for row in rows:
            total = dot(weights, row.features)
            size = 1.0 + total * total
            scaled.append([feature / size for feature in row.features])
            targets.append(total / size + (row.share - share_of(total, 2)) * 2.0 * math.sqrt(size))
        weights = ridge(scaled, targets, start, pull)
    return weights


def _by_phase(
    rows: Iterable[Row], names: tuple[str, ...], present: Weights, fit: Callable[[list[Row], list[float]], list[float]]
) -> Weights:
    """Return the weights that `fit` finds for the rows of each phase, starting from the present ones."""
    by_phase: dict[str, list[Row]] = {}
    for row in rows:
        by_phase.setdefault(row.phase, []).append(row)
    found = {phase: dict(weights) for phase, weights in present.items()}
    for phase, some in by_phase.items():
        weights = fit(some, vector(present, phase, names))
        found[phase] = {name: float(f"{weight:.{DIGITS}g}") for name, weight in zip(names, weights, strict=True)}
    return found


def vector(weights: Weights, phase: str, names: tuple[str, ...]) -> list[float]:
    """Return the weights of a phase in the order of the names. A missing weight is 0."""
    return [float(weights.get(phase, {}).get(name, 0.0)) for name in names]


def error(rows: Iterable[Row], names: tuple[str, ...], seats: int, weights: Weights) -> float:
    """Return the mean squared error of the predicted shares."""
    errors = [(share_of(dot(vector(weights, row.phase, names), row.features), seats) - row.share) ** 2 for row in rows]
    return math.fsum(errors) / len(errors) if errors else 0.0


class Trial(NamedTuple):
    """A candidate against the present weights. `level`, `iterations`: the level that plays both, and the iterations of its search.
    `outlook`: the weights are those of outlooks."""

    game: str
    seats: int
    options: dict[str, Any]
    seed: str
    level: str
    iterations: int
    present: Weights
    candidate: Weights
    outlook: bool = False


def pair(task: tuple[Trial, int]) -> int:
    """Play the pair of matches with a number. The candidate has half of the seats in the first match, and the other half in the second.

    Return 1 if the candidate won more of the two matches than the present weights, -1 if it won fewer, else 0.
    """
    trial, number = task
    ids = GAMES[trial.game].seats.ids
    seats = random.Random(f"{trial.seed}/{number}/seats").sample(ids, trial.seats)
    half = seats[::2]
    lead = _lead(trial, number, seats, half) + _lead(trial, number, seats, [seat for seat in seats if seat not in half])
    return (lead > 0) - (lead < 0)


def _lead(trial: Trial, number: int, seats: list[Seat], new: list[Seat]) -> int:
    """Play a match in which the seats `new` have the candidate's weights. Return 1 if only these seats win, -1 if only others, else 0."""
    game = GAMES[trial.game]
    chance = Drawn(random.Random(f"{trial.seed}/{number}/players").randrange)
    dice = Drawn(random.Random(f"{trial.seed}/{number}/dice").randrange)
    by_new, by_present = (_player(trial, weights) for weights in (trial.candidate, trial.present))

    def decide(state: State, seat: Seat, memory: Memory) -> Action:
        question = question_of(game, state, seat, memory)
        return (by_new if seat in new else by_present)(question, Budget(trial.iterations), chance).action

    winners: list[Seat] = []
    order = random.Random(f"{trial.seed}/{number}/order").sample(seats, len(seats))
    for _, match in course(game, game.begin(order, trial.options), decide, dice):
        if match.state["outcome"] is not None:
            winners = match.state["outcome"]["winners"]
    sides = {seat in new for seat in winners}
    return 0 if len(sides) != 1 else 1 if True in sides else -1


def _player(trial: Trial, weights: Weights) -> Level:
    if trial.outlook:
        plan = plans.plan_of(trial.game, trial.level, trial.seats)
        assert plan is not None, "a level that searches has a plan"
        return search(trial.level, plan=plan._replace(outlook=weights))
    return search(trial.level, weighted(GAMES[trial.game], trial.seats, weights))


class Verdict(NamedTuple):
    """The result of a trial. `accepted`: True if the candidate is better, False if it is not, None if there were too few pairs."""

    accepted: bool | None
    won: int
    lost: int
    even: int


def tried(trial: Trial, pairs: int, share: float, wrong: float, cores: int) -> Verdict:
    """Play at most `pairs` pairs of matches, until the sequential test decides (tools/significance.py)."""
    counts = {1: 0, -1: 0, 0: 0}
    accepted: bool | None = None
    tasks = [(trial, number) for number in range(pairs)]
    for result in tqdm(_results(pair, tasks, cores), total=pairs, unit="pair", leave=False):
        counts[result] += 1
        accepted = better(counts[1], counts[-1], share, wrong)
        if accepted is not None:
            break
    return Verdict(accepted, counts[1], counts[-1], counts[0])


def _results(function: Callable[[T], U], tasks: list[T], cores: int) -> Iterator[U]:
    """Yield the results in the order of the tasks. With one core, no process is started."""
    if cores == 1:
        yield from map(function, tasks)
        return
    with multiprocessing.Pool(cores) as pool:
        yield from pool.imap(function, tasks)


def climbed(trial: Trial, steps: int, pairs: int, cores: int) -> Weights:
    """Return the weights of a trial's candidate after some steps of simultaneous perturbation. `pairs`: the pairs of matches of each step.

    The steps change the logarithms of the weights. So each weight keeps its sign, and a weight of 0 stays 0.
    """
    logarithms = {(phase, name): 0.0 for phase, row in trial.candidate.items() for name, weight in row.items() if weight}

    def scaled(changes: Mapping[tuple[str, str], float]) -> Weights:
        return {
            phase: {name: float(f"{weight * math.exp(changes.get((phase, name), 0.0)):.{DIGITS}g}") for name, weight in row.items()}
            for phase, row in trial.candidate.items()
        }

    for step in tqdm(range(steps), unit="step", leave=False):
        signs = random.Random(f"{trial.seed}/{step}/signs")
        change = {key: CHANGE if signs.random() < 0.5 else -CHANGE for key in logarithms}
        one, other = ({key: value + side * change[key] for key, value in logarithms.items()} for side in (1, -1))
        match = trial._replace(seed=f"{trial.seed}/{step}", candidate=scaled(one), present=scaled(other))
        lead = sum(_results(pair, [(match, number) for number in range(pairs)], cores)) / pairs
        for key in logarithms:
            logarithms[key] += PACE * lead * change[key] / CHANGE / (1 + step / SLOWER)
    return scaled(logarithms)


def put(game: str, seats: int, weights: Weights, how: str, level: str, outlook: bool = False) -> Path:
    """Write the weights of a level for a game and a number of seats to the file of the game. Return its path.

    `how`: how the weights were found, as a text for the file. Other levels that share the weights get them, too. `outlook`: the weights are
    those of outlooks.
    """
    path = plans.path_of(game)
    data = json.loads((path if path.exists() else plans.DEFAULT).read_text())
    key = "outlooks" if outlook else "worth"
    matching = [item for item in data[key] if seats in item["seats"]]
    own = next((item for item in matching if level in item.get("levels", ())), None) or next(
        (item for item in matching if "levels" not in item), None
    )
    levels = {"levels": own["levels"]} if own and "levels" in own else {}
    if own:
        own["seats"] = [number for number in own["seats"] if number != seats]
    item = {"seats": [seats], **levels, "phases": list(weights), "tuned": how, "weights": weights}
    data[key] = [*[known for known in data[key] if known["seats"]], item]
    path.write_text(laid_out(data) + "\n")
    return path


def laid_out(value: Any, indent: str = "") -> str:
    """Return a value as JSON. A part that fits on one line is on one line."""
    line = json.dumps(value)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, (dict, list)):
        return line
    deeper = indent + "  "
    if isinstance(value, dict):
        inner = ",\n".join(f"{deeper}{json.dumps(key)}: {laid_out(item, deeper)}" for key, item in value.items())
        return f"{{\n{inner}\n{indent}}}"
    inner = ",\n".join(f"{deeper}{laid_out(item, deeper)}" for item in value)
    return f"[\n{inner}\n{indent}]"


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="./run tune", description="Tune the weights that evaluate positions, and keep weights that win matches."
    )
    parser.add_argument("game", choices=sorted(GAMES), metavar="GAME", help=", ".join(sorted(GAMES)))
    parser.add_argument("--seats", type=int, default=2, metavar="N", help="the number of seats (2)")
    parser.add_argument("--options", type=json.loads, default={}, metavar="JSON", help="the match options, as a JSON object")
    parser.add_argument("--seed", default="1", metavar="S", help="the same seed gives the same weights and plays the same matches")
    parser.add_argument("--matches", type=int, default=400, metavar="N", help="matches of self-play (400)")
    parser.add_argument("--self-play", default="greedy", choices=list(LEVELS), metavar="LEVEL", help="the level that plays them (greedy)")
    parser.add_argument("--self-play-plan", type=json.loads, default={}, metavar="JSON", help="changes to the plan of its search")
    parser.add_argument("--stray", type=int, default=10, metavar="N", help="one action in N is drawn at random (10)")
    parser.add_argument("--every", type=int, default=5, metavar="N", help="take each N-th decision (5)")
    parser.add_argument("--ridge", type=numbers, default=[0.01, 0.1, 1.0], metavar="X,X", help="pulls towards the present weights")
    parser.add_argument(
        "--prior-rows", type=float, default=20.0, metavar="N", help="additional pull on each feature, in rows in which it is not 0 (20)"
    )
    parser.add_argument("--from-zero", action="store_true", help="pull towards weights of 0 instead of the present ones")
    parser.add_argument("--pool", type=float, metavar="X", help="with --outlook: fit all phases together first, with this pull towards 0")
    parser.add_argument("--outlook", action="store_true", help="tune the weights for positions in which a turn begins")
    parser.add_argument("--steps", type=int, default=0, metavar="N", help="no regression: N steps of matches between opposite changes")
    parser.add_argument("--step-pairs", type=int, default=40, metavar="N", help="pairs of matches of a step (40)")
    parser.add_argument(
        "--level", default="strong", metavar="LEVEL", help="the level that plays the pairs of matches; it must search (strong)"
    )
    parser.add_argument("--iterations", type=int, default=0, metavar="N", help="iterations of each decision (those of the level)")
    parser.add_argument("--pairs", type=int, default=200, metavar="N", help="the most pairs of matches of a candidate (200)")
    parser.add_argument("--share", type=float, default=0.6, metavar="X", help="the share of decided pairs that is worth finding (0.6)")
    parser.add_argument("--confidence", type=float, default=0.95, metavar="X", help="confidence that written weights are better (0.95)")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, metavar="N")
    options = parser.parse_args(arguments)
    game = GAMES[options.game]
    plan = plans.plan_of(options.game, options.level, options.seats)
    if not game.seats.least <= options.seats <= game.seats.most:
        parser.error(f"{game.title} takes {game.seats.least} to {game.seats.most} seats, not {options.seats}")
    if plan is None:
        parser.error(f"{options.level} does not search")
    general = plans.weights_of(options.game, options.seats, options.level)
    if general is None:
        parser.error(f"there are no weights for {options.game} with {options.seats} seats to start from")
    if not options.outlook and any(
        plans.weights_of(options.game, options.seats, options.level, seat) != general for seat in game.seats.ids
    ):
        parser.error(f"{options.level} has different weights for some seats of {options.game}, but this tunes one set for all seats")
    if options.outlook and (options.steps or plan.outlook is None):
        parser.error(f"--outlook needs weights of an outlook for {options.game} with {options.seats} seats to start from, and no --steps")
    if options.from_zero and (options.steps or options.pool is not None):
        parser.error("--from-zero cannot be combined with --steps or --pool")
    if options.pool is not None and (options.pool <= 0 or not options.outlook):
        parser.error("--pool must be above 0, and needs --outlook")
    quick = plans.plan_of(options.game, options.self_play, options.seats)
    if options.self_play_plan and (quick is None or not set(options.self_play_plan) <= {"iterations", *quick.settings}):
        parser.error(f"--self-play-plan may name iterations and settings of the search of {options.self_play}")
    if min(options.matches, options.stray, options.every, options.pairs, options.step_pairs, options.cores) < 1 or min(options.ridge) <= 0:
        parser.error("--matches, --stray, --every, --pairs, --step-pairs and --cores must be at least 1, and --ridge above 0")
    if options.prior_rows < 0:
        parser.error("--prior-rows must be at least 0")
    if options.steps < 0:
        parser.error("--steps must be at least 0")
    if not 0.5 < options.share < 1 or not 0.5 < options.confidence < 1:
        parser.error("--share and --confidence must be between 0.5 and 1")
    options.iterations = options.iterations or plan.iterations
    return options


def numbers(text: str) -> list[float]:
    """Return the numbers of a comma-separated list."""
    return [float(part) for part in text.split(",")]


def candidates(options: argparse.Namespace, trial: Trial) -> Iterator[tuple[str, Weights]]:
    """Yield the candidates of a run, each with its name. `trial`: the present weights against themselves."""
    if options.steps:
        steps = f"{options.steps} steps"
        yield steps, climbed(trial._replace(seed=f"{options.seed}/steps"), options.steps, options.step_pairs, options.cores)
        return
    game, seats = GAMES[options.game], options.seats
    names = (beginnings_of(game.id).features if options.outlook else features_of(game)).names
    seed = f"{options.seed}/self-play"
    level, changes = options.self_play, options.self_play_plan
    source = Source(game.id, seats, options.options, seed, level, options.stray, options.every, options.outlook, changes)
    tasks = [(source, number) for number in range(options.matches)]
    rows = [row for some in tqdm(_results(positions, tasks, options.cores), total=len(tasks), leave=False) for row in some]
    learned = [row for row in rows if row.match % HELD_OUT]
    held_out = [row for row in rows if row.match % HELD_OUT == 0]
    print(f"{len(rows)} rows of {options.matches} matches of {options.self_play}, {len(names)} features, seed {options.seed}")
    print(f"squared error of the present weights on held-out matches: {error(held_out, names, seats, trial.present):.4f}")
    start: Weights = {phase: {} for phase in trial.present} if options.from_zero else trial.present
    pool: float | None = options.pool
    for strength in options.ridge:
        pull = Pull(strength, options.prior_rows)
        found = fitted_outlook(learned, names, start, pull, pool) if options.outlook else fitted(learned, names, seats, start, pull)
        candidate = {phase: weights or trial.present[phase] for phase, weights in found.items()}  # a phase without rows has none
        print(f"squared error with ridge {strength:g}: {error(held_out, names, seats, candidate):.4f}")
        yield f"ridge {strength:g}", candidate


def main(arguments: list[str] | None = None) -> int:
    """Tune, and print the results. Return 0, or 1 if no candidate was accepted."""
    options = parsed(arguments)
    item: Mapping[str, Any] = plans.weights_of(options.game, options.seats, options.level) or {}
    known = plans.outlook_weights(options.game, options.seats, options.level) if options.outlook else item["weights"]
    present: Weights = {phase: dict(weights) for phase, weights in (known or {}).items()}
    seed, level, iterations = options.seed, options.level, options.iterations
    trial = Trial(options.game, options.seats, options.options, seed, level, iterations, present, present, options.outlook)
    wrong = (1 - options.confidence) / (1 if options.steps else len(options.ridge))  # the candidates share it
    for name, candidate in candidates(options, trial):
        against = trial._replace(seed=f"{options.seed}/{name}", candidate=candidate)
        verdict = tried(against, options.pairs, options.share, wrong, options.cores)
        result = f"{verdict.won} pairs won, {verdict.lost} lost, {verdict.even} even"
        print(f"{name}: {result}: {_WORDS[verdict.accepted]}")
        if verdict.accepted:
            how = f"./run tune {shlex.join(arguments or sys.argv[1:])} ({name}: {result})"
            if options.dry_run:
                print(json.dumps(candidate, indent=2))
            else:
                print(f"written: {put(options.game, options.seats, candidate, how, options.level, options.outlook)}")
            return 0
    print("No candidate is better than the present weights. Nothing is written.")
    return 1


_WORDS: Mapping[bool | None, str] = {True: "better", False: "not better", None: "undecided, so not accepted"}


if __name__ == "__main__":
    sys.exit(main())
