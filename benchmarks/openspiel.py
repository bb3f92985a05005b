"""Measure OpenSpiel's ISMCTS in Python on gin rummy, whose rules are in C++. A process of its own: a line in, iterations per second out.

It imports nothing of ours. Only `./run bench ai` starts it (benchmarks/ai.py). Each iteration plays one random match to the end.
"""

from __future__ import annotations

import sys
import time

import numpy
import pyspiel
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

AT_ONCE = 50  # iterations of one decision
DECISIONS = 20  # decisions of players before the search
UCT = 2.0


def main() -> None:
    """For each line of the input, search for so many seconds, and print the rate."""
    game, draws = pyspiel.load_game("gin_rummy"), numpy.random.RandomState(1)
    state = position(game, draws)
    bot = ISMCTSBot(game, RandomRolloutEvaluator(1, draws), UCT, AT_ONCE, random_state=draws)
    print("ready", flush=True)
    for line in sys.stdin:
        iterations, began = 0, time.process_time()
        while time.process_time() - began < float(line):
            bot.step(state)
            iterations += AT_ONCE
        print(iterations / (time.process_time() - began), flush=True)


def position(game: pyspiel.Game, draws: numpy.random.RandomState) -> pyspiel.State:
    """Return the position after some random decisions."""
    state, decided = game.new_initial_state(), 0
    while state.is_chance_node() or decided < DECISIONS:
        if state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(draws.choice(actions, p=chances)))
        else:
            state.apply_action(int(draws.choice(state.legal_actions())))
            decided += 1
    return state


if __name__ == "__main__":
    main()
