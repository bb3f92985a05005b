"""Measure the speed of the rules alone: recorded random play, random play on a branch, and folding events."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator

from benchmarks.pairs import Figure, figure
from benchmarks.place import Run
from games import GAMES
from games.chance import Drawn
from games.kernel import Branch, Event, Game, State, any_action, carry_out, fold, legal

TARGETS = {  # by game and seats, actions per second: recorded, recorded with every choice listed, on a branch
    ("war", 2): (20_000, None, 60_000),
    ("war_of_the_worlds", 2): (None, 10_000, 30_000),
    ("war_of_civilizations", 6): (None, 5_000, 15_000),
}
FOLD = 50_000  # events per second
SECONDS = 1.0
ACTIONS = 20_000  # the most actions of a match


def measured(run: Run) -> Iterator[Figure]:
    """Measure every game, with the fewest and with the most seats.

    Three figures are actions per second: recorded, recorded with every choice listed, and on a branch. The fourth is folded events per
    second.
    """
    matches = [(game, seats) for game in GAMES.values() for seats in dict.fromkeys((game.seats.least, game.seats.most))]
    for game, seats in matches:
        recorded, listed, branch = TARGETS.get((game.id, seats), (None, None, None))
        name = f"{game.id}, {seats} seats"
        found: dict[str, list[float]] = {"recorded": [], "listed": [], "branch": [], "fold": []}
        first, events = recording(game, seats)
        for number in range(run.pairs):
            found["recorded"].append(played(game, seats, number, SECONDS, listed=False))
            found["listed"].append(played(game, seats, number, SECONDS, listed=True))
            found["branch"].append(branched(game, seats, number, SECONDS))
            found["fold"].append(folded(game, first, events, SECONDS))
        yield from [
            figure(f"{name}: random play, recorded", found["recorded"], "actions/s", least=recorded),
            figure(f"{name}: random play, every choice listed", found["listed"], "actions/s", least=listed),
            figure(f"{name}: random play on a branch", found["branch"], "actions/s", least=branch),
            figure(f"{name}: fold", found["fold"], "events/s", least=FOLD),
        ]


def new_match(game: Game, seats: int) -> State:
    """Return the first document of a match. `seats`: the number of seats."""
    return game.begin(list(game.seats.ids[:seats]), {})


def played(game: Game, seats: int, seed: int, seconds: float, listed: bool) -> float:
    """Return the actions per second of recorded random play. Each action is offered, checked, carried out, and folded into copies."""
    dice = random.Random(seed)
    chance = Drawn(dice.randrange)
    actions, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        state = new_match(game, seats)
        for _ in range(ACTIONS):
            if state["outcome"] is not None:
                break
            actor = state["to_act"][0]
            if listed:
                legal(game, state, actor)
            action = any_action(game, state, actor, dice.randrange)
            state = carry_out(game, state, actor, action, chance).state
            actions += 1
    return actions / (time.process_time() - began)


def branched(game: Game, seats: int, seed: int, seconds: float) -> float:
    """Return the actions per second of random play on a branch. Events are folded in place and not recorded."""
    dice = random.Random(seed)
    chance = Drawn(dice.randrange)
    actions, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        match = Branch(game, new_match(game, seats), chance)
        for _ in range(ACTIONS):
            if match.state["outcome"] is not None:
                break
            actor = match.state["to_act"][0]
            action = any_action(game, match.state, actor, dice.randrange)
            assert action is not None
            match.play(actor, action)
            actions += 1
    return actions / (time.process_time() - began)


def recording(game: Game, seats: int, seed: int = 0) -> tuple[State, list[Event]]:
    """Return the first document of a random match, and all its events."""
    dice = random.Random(seed)
    chance = Drawn(dice.randrange)
    first = state = new_match(game, seats)
    events: list[Event] = []
    for _ in range(ACTIONS):
        if state["outcome"] is not None:
            break
        actor = state["to_act"][0]
        match = carry_out(game, state, actor, any_action(game, state, actor, dice.randrange), chance)
        state = match.state
        events += match.events
    return first, events


def folded(game: Game, first: State, events: list[Event], seconds: float) -> float:
    """Return the folded events per second. Each fold copies the path that it changes."""
    count, began = 0, time.process_time()
    gc.disable()
    try:
        while time.process_time() - began < seconds:
            fold(game, first, events)
            count += len(events)
    finally:
        gc.enable()
    return count / (time.process_time() - began)
