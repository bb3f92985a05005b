"""The rules alone: random play through `legal` and `decide`, on scratch, and folding what was recorded."""

from __future__ import annotations

import gc
import random
import time

from benchmarks.pairs import Figure, figure
from games import GAMES
from games.chance import Drawn
from games.kernel import Event, Game, Scratch, State, any_action, carry_out, fold, legal

TARGETS = {  # by game and seats: recorded, recorded with every choice listed, on scratch
    ("war", 2): (20_000, None, 60_000),
    ("war_of_the_worlds", 2): (None, 10_000, 30_000),
    ("war_of_civilizations", 6): (None, 5_000, 15_000),
}
FOLD = 50_000


def measured(rounds: int, seconds: float) -> list[Figure]:
    """For every game, with the fewest and the most seats: actions a second recorded, the same with every choice listed, and on scratch;
    events folded a second."""
    figures = []
    for game, seats in [(one, seats) for one in GAMES.values() for seats in dict.fromkeys((one.seats.least, one.seats.most))]:
        recorded, listed, scratch = TARGETS.get((game.id, seats), (None, None, None))
        name = f"{game.id}, {seats} seats"
        found: dict[str, list[float]] = {"recorded": [], "listed": [], "scratch": [], "fold": []}
        first, events = recording(game, seats)
        for number in range(rounds):
            found["recorded"].append(played(game, seats, number, seconds, listed=False))
            found["listed"].append(played(game, seats, number, seconds, listed=True))
            found["scratch"].append(scratched(game, seats, number, seconds))
            found["fold"].append(folded(game, first, events, seconds))
        figures += [
            figure(f"{name}: random play, recorded", found["recorded"], "actions/s", least=recorded),
            figure(f"{name}: random play, every choice listed", found["listed"], "actions/s", least=listed),
            figure(f"{name}: random play on scratch", found["scratch"], "actions/s", least=scratch),
            figure(f"{name}: fold", found["fold"], "events/s", least=FOLD),
        ]
    return figures


def begun(game: Game, seats: int) -> State:
    """A new match with so many seats."""
    return game.begin(list(game.seats.ids[:seats]), {})


def played(game: Game, seats: int, seed: int, seconds: float, listed: bool) -> float:
    """Actions a second of recorded random play: the choice is offered and checked, decided, and folded by copying."""
    dice = random.Random(seed)
    chance = Drawn(dice.randrange)
    actions, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        state = begun(game, seats)
        while state["outcome"] is None:
            actor = state["to_act"][0]
            if listed:
                legal(game, state, actor)
            action = any_action(game, state, actor, dice.randrange)
            state = carry_out(game, state, actor, action, chance).state
            actions += 1
    return actions / (time.perf_counter() - began)


def scratched(game: Game, seats: int, seed: int, seconds: float) -> float:
    """Actions a second of random play on scratch: folded where the document lies, no events kept."""
    dice = random.Random(seed)
    chance = Drawn(dice.randrange)
    actions, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        match = Scratch(game, begun(game, seats), chance)
        while match.state["outcome"] is None:
            actor = match.state["to_act"][0]
            action = any_action(game, match.state, actor, dice.randrange)
            assert action is not None
            match.play(actor, action)
            actions += 1
    return actions / (time.perf_counter() - began)


def recording(game: Game, seats: int, seed: int = 0) -> tuple[State, list[Event]]:
    """The first document of a match played at random, and all its events."""
    dice = random.Random(seed)
    chance = Drawn(dice.randrange)
    first = state = begun(game, seats)
    events: list[Event] = []
    while state["outcome"] is None:
        actor = state["to_act"][0]
        match = carry_out(game, state, actor, any_action(game, state, actor, dice.randrange), chance)
        state = match.state
        events += match.events
    return first, events


def folded(game: Game, first: State, events: list[Event], seconds: float) -> float:
    """Events folded a second, each by copying the path that it touches."""
    count, began = 0, time.perf_counter()
    gc.disable()
    try:
        while time.perf_counter() - began < seconds:
            fold(game, first, events)
            count += len(events)
    finally:
        gc.enable()
    return count / (time.perf_counter() - began)
