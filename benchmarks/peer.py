"""Measure another project's library, in a process of its own: `WHAT SECONDS` in, things per second of processor time out.

It imports nothing of ours. `./run bench` starts it with the name of the library, which benchmarks/peers.py installs.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Generator

AT_ONCE = 50  # iterations of one decision of a search
DECISIONS = 20  # decisions of players before the search
UCT = 2.0
EVENTS = 120  # of an aggregate, as of a match of War!

Counts = Generator[int, None, None]


def open_spiel() -> dict[str, Callable[[], Counts]]:
    """Return random play, and ISMCTS in Python with one random match for each iteration. The rules of the games are in C++."""
    import numpy
    import pyspiel
    from open_spiel.python.algorithms.ismcts import ISMCTSBot
    from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

    draws = numpy.random.RandomState(1)

    def step(state: pyspiel.State) -> None:
        if state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(draws.choice(actions, p=chances)))
        else:
            state.apply_action(random.choice(state.legal_actions()))

    def search() -> Counts:
        game = pyspiel.load_game("gin_rummy")
        state, decided = game.new_initial_state(), 0
        while state.is_chance_node() or decided < DECISIONS:
            decided += not state.is_chance_node()
            step(state)
        bot = ISMCTSBot(game, RandomRolloutEvaluator(1, draws), UCT, AT_ONCE, random_state=draws)
        while True:
            bot.step(state)
            yield AT_ONCE

    def play(name: str) -> Counts:
        game = pyspiel.load_game(name)
        while True:
            state, actions = game.new_initial_state(), 0
            while not state.is_terminal():
                actions += not state.is_chance_node()
                step(state)
            yield actions

    return {"search": search, "gin_rummy": lambda: play("gin_rummy"), "backgammon": lambda: play("backgammon")}


def catanatron() -> dict[str, Callable[[], Counts]]:
    """Return random play of Catan with four seats."""
    from catanatron import Color, Game, RandomPlayer

    def play() -> Counts:
        while True:
            game = Game([RandomPlayer(color) for color in Color])
            for _ in range(20_000):
                if game.winning_color() is not None:
                    break
                game.play_tick()
                yield 1

    return {"catan": play}


def eventsourcing() -> dict[str, Callable[[], Counts]]:
    """Return the rebuilding of an aggregate from its events in SQLite."""
    from eventsourcing.application import Application
    from eventsourcing.domain import Aggregate, event

    class Match(Aggregate):
        def __init__(self) -> None:
            self.units: dict[str, int] = {}

        @event("UnitPlaced")
        def place(self, tile: str, count: int) -> None:
            self.units[tile] = self.units.get(tile, 0) + count

    def rebuild() -> Counts:
        with tempfile.TemporaryDirectory() as folder:
            app = Application(env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": f"{folder}/events"})
            match = Match()
            for number in range(EVENTS - 1):
                match.place(f"h{number % 12}", 1)
            app.save(match)
            while True:
                app.repository.get(match.id)
                yield EVENTS

    return {"rebuild": rebuild}


def main(library: str) -> None:
    """For each line of the input, measure for some seconds, and print the rate."""
    found = {"open_spiel": open_spiel, "catanatron": catanatron, "eventsourcing": eventsourcing}[library]()
    print("ready", flush=True)
    for line in sys.stdin:
        what, seconds = line.split()
        work = found[what]()
        next(work)  # what it does only once
        done, began = 0, time.process_time()
        while time.process_time() - began < float(seconds):
            done += next(work)
        print(done / (time.process_time() - began), flush=True)
        work.close()


if __name__ == "__main__":
    main(sys.argv[1])
