"""Matches played at random, for the laws that hold in every game."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from hypothesis import strategies as st

from games import GAMES
from games.chance import Chance, Drawn
from games.kernel import Action, Event, Game, Refused, State, any_action, carry_out

HERE = Path(__file__).parent
BOUND = 20_000  # actions; a match that takes more does not end


class Start(NamedTuple):
    """What a random match begins with."""

    game: Game
    seats: list[str]
    options: dict[str, Any]
    seed: int


class Step(NamedTuple):
    """One action of a random match, the state before it and the state after it."""

    number: int
    before: State
    actor: str
    action: Action
    events: list[Event]
    after: State


def chance(seed: object) -> Chance:
    """Chance from a seed."""
    return Drawn(random.Random(str(seed)).randrange)


def walk(start: Start) -> Iterator[Step]:
    """A match from its creation to its end, every actor choosing at random."""
    game = start.game
    state = game.begin(start.seats, start.options)
    dice, will = chance(("dice", start.seed)), random.Random(start.seed)
    for number in range(BOUND):
        if not state["to_act"]:
            return
        actor = will.choice(state["to_act"])
        action = any_action(game, state, actor, will.randrange)
        assert action is not None, f"{actor} must act in {state['phase']} and has no choice"
        match = carry_out(game, state, actor, action, dice)
        yield Step(number, state, actor, action, match.events, match.state)
        state = match.state
    raise AssertionError(f"{start.seats} with seed {start.seed} did not end within {BOUND} actions")


def sampled(start: Start, about: int) -> Iterator[Step]:
    """Some steps of a match, the first and the last among them, `about` as many as asked for."""
    steps = list(walk(start))
    picked = random.Random(start.seed).sample(range(len(steps)), min(about, len(steps)))
    for number in sorted({0, len(steps) - 1, *picked}):
        yield steps[number]


def starts(game: Game) -> st.SearchStrategy[Start]:
    """Matches of a game with any number of its seats, any options it allows, and any dice."""
    seats = st.permutations(game.seats.ids).flatmap(
        lambda order: st.integers(game.seats.least, game.seats.most).map(lambda number: list(order[:number]))
    )
    return seats.flatmap(lambda chosen: st.builds(Start, st.just(game), st.just(chosen), options(game, chosen), st.integers(0, 2**32 - 1)))


def options(game: Game, seats: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Options of a match, from tests/games/<game>/options.yaml: by name the values to try."""
    listed: dict[str, list[Any]] = yaml.safe_load((HERE / game.id / "options.yaml").read_text(encoding="utf-8"))

    def fits(chosen: dict[str, Any]) -> bool:
        try:
            game.begin(seats, chosen)
        except Refused:
            return False
        return True

    values = {name: st.sampled_from(tried) for name, tried in listed.items()}
    return st.fixed_dictionaries({}, optional=values).filter(fits)


def same(value: Any) -> str:
    """A JSON value as text, equal for equal values."""
    return json.dumps(value, sort_keys=True)


def scenarios(game: Game) -> list[dict[str, Any]]:
    """The scenarios of a game."""
    found: list[dict[str, Any]] = yaml.safe_load((game.folder / "scenarios.yaml").read_text(encoding="utf-8"))
    return found


ALL = list(GAMES.values())
