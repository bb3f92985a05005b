"""Simulate the platform: `python -m tests.simulation`. It plays schedules until one breaks a law, and tells what goes wrong in it.

- `--seed 17`: play the schedule of a seed, and tell its story.
- `--schedules 1000`, `--first 0`: how many schedules, and the first seed.
- `--plant "no sweep"`: plant a fault, which schedules must find (plants.py).
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext

from tests.simulation.plants import PLANTS
from tests.simulation.processes import simulated
from tests.simulation.schedule import Outcome, run, shortened


def told(outcome: Outcome) -> str:
    """Return a schedule for people: its story, and the laws that it breaks."""
    laws = "\n".join(outcome.broken) or "All laws hold."
    return "\n".join([f"The schedule of seed {outcome.seed}, with {len(outcome.faults)} faults:", *outcome.story, laws])


def main(arguments: list[str]) -> int:
    """Play schedules. Return 1 if one breaks a law."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="play this schedule only, and tell its story")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--schedules", type=int, default=1000, help="how many schedules to play")
    parser.add_argument("--plant", choices=PLANTS, help="plant a fault")
    given = parser.parse_args(arguments)
    seeds = range(given.first, given.first + given.schedules) if given.seed is None else [given.seed]
    began = time.process_time()
    with simulated(), PLANTS[given.plant].plant() if given.plant else nullcontext():
        for seed in seeds:
            outcome = run(seed)
            if outcome.broken:
                print(told(shortened(outcome)))
                return 1
            if given.seed is not None:
                print(told(outcome))
    print(f"{len(seeds)} schedules in {time.process_time() - began:.1f} s of processor time: all laws hold.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
