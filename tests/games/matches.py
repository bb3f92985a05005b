"""Matches played at random, for the laws of every game."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import strategies as st

from games import GAMES
from games.chance import Chance, Drawn
from games.documents import clone
from games.kernel import SPECTATOR, Action, Event, Game, Refused, State, any_action, carry_out, withdraw

HERE = Path(__file__).parent
LEAVE = {"type": "leave"}  # the action of a step in which a seat leaves the match
BOUND = 20_000  # actions; a match that takes more does not end
Choose = Callable[[Game, State, str, random.Random], Action]


class Start(NamedTuple):
    """The start of a random match: its game, its seats, its options and its seed."""

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
    """Return chance from a seed."""
    return Drawn(random.Random(str(seed)).randrange)


def will_of(start: Start) -> random.Random:
    """Return the random source by which the actors of a match choose."""
    return random.Random(start.seed)


def walk(start: Start, leaves: int = 0) -> Iterator[Step]:
    """Play a match from its creation to its end. Every actor chooses at random. At one step in `leaves`, if it is not 0, a seat leaves."""
    return walk_on(start.game, start.game.begin(start.seats, start.options), chance(("dice", start.seed)), will_of(start), 0, leaves)


def anything(game: Game, state: State, actor: str, will: random.Random) -> Action:
    """Choose any action of an actor."""
    action = any_action(game, state, actor, will.randrange)
    assert action is not None, f"{actor} must act in {state['phase']} and has no choice"
    return action


def walk_on(
    game: Game, state: State, dice: Chance, will: random.Random, first: int, leaves: int = 0, choose: Choose = anything, bound: int = BOUND
) -> Iterator[Step]:
    """Play a match from a position to its end, as `walk` does. `first` is the number of the first step, `choose` how actors decide.

    It is an error if the match takes more than `BOUND` steps. With less as `bound` it is left unfinished.
    """
    for number in range(first, bound):
        if not state["to_act"]:
            return
        if leaves and will.randrange(leaves) == 0:
            actor = will.choice(game.playing(state))
            match = withdraw(game, state, actor, dice)
            yield Step(number, state, actor, LEAVE, match.events, match.state)
            state = match.state
            continue
        actor = will.choice(state["to_act"])
        action = choose(game, state, actor, will)
        match = carry_out(game, state, actor, action, dice)
        yield Step(number, state, actor, action, match.events, match.state)
        state = match.state
    assert bound < BOUND, f"the match of {state['seats']} did not end within {BOUND} actions"


def alike(start: Start, about: int) -> Iterator[tuple[str, State, State]]:
    """Yield views of some positions with their viewers, each with the view of another position that its viewer cannot tell from it."""
    for step in sampled(start, about):
        for viewer in (*start.seats, SPECTATOR):
            seen = start.game.view(step.before, viewer)
            other = start.game.guess(clone(seen), viewer, chance((start.seed, step.number)))
            yield viewer, seen, start.game.view(other, viewer)


def refused(game: Game, seats: list[str], options: dict[str, Any]) -> tuple[str, str | None, dict[str, Any]]:
    """Return code, rule and facts of the refusal to begin a match."""
    with pytest.raises(Refused) as found:
        game.begin(seats, options)
    refusal = found.value.refusal
    return refusal.code, refusal.rule, dict(refusal.facts)


def sampled(start: Start, about: int, steps: Sequence[Step] | None = None) -> Iterator[Step]:
    """Yield some steps of a match in order: the first, the last, and up to `about` drawn ones. `steps`: all of them, if they are known."""
    steps = list(walk(start)) if steps is None else steps
    picked = random.Random(start.seed).sample(range(len(steps)), min(about, len(steps)))
    for number in sorted({0, len(steps) - 1, *picked}):
        yield steps[number]


def mutated(action: dict[str, Any], other: dict[str, Any], will: random.Random) -> dict[str, Any]:
    """Return a legal action of this match, with a field from elsewhere, another count, a field more or less, or unchanged."""
    changed = clone(action)
    field = will.choice(list(changed))
    way = will.randrange(8)
    if way < 3:
        changed[field] = clone(will.choice(list(other.values())))
    elif way == 3:
        changed[field] = will.choice([None, 1.5, -1, True, "", [], {}, "nowhere", 10**9])
    elif way == 4:
        del changed[field]
    elif way == 5:
        changed["more"] = 1
    elif isinstance(changed[field], dict) and changed[field]:
        changed[field][will.choice(list(changed[field]))] += will.choice([-1, 1, 5])
    return changed


def starts(game: Game) -> st.SearchStrategy[Start]:
    """Return a strategy for starts of a game: any number of seats, any options that it accepts, any seed."""
    seats = st.permutations(game.seats.ids).flatmap(
        lambda order: st.integers(game.seats.least, game.seats.most).map(lambda number: list(order[:number]))
    )
    return seats.flatmap(lambda chosen: st.builds(Start, st.just(game), st.just(chosen), options(game, chosen), st.integers(0, 2**32 - 1)))


def options(game: Game, seats: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for options of a match. tests/games/<game>/options.yaml lists the values to try by name."""
    tried: dict[str, list[Any]] = yaml.safe_load((HERE / game.id / "options.yaml").read_text(encoding="utf-8"))

    def accepted(chosen: dict[str, Any]) -> bool:
        try:
            game.begin(seats, chosen)
        except Refused:
            return False
        return True

    values = {name: st.sampled_from(few) for name, few in tried.items()}
    return st.fixed_dictionaries({}, optional=values).filter(accepted)


def same(value: Any) -> str:
    """Return a JSON value as text that is equal for equal values."""
    return json.dumps(value, sort_keys=True)


def scenarios(game: Game) -> list[dict[str, Any]]:
    """Return the scenarios of a game."""
    return _read(game.folder / "scenarios.yaml")


@cache
def _read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)  # ten times as quick as safe_load
    return found


ALL = list(GAMES.values())
