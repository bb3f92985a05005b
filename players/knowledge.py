"""What artificial players know of a game besides its rules: `KNOWLEDGE` in `players/<game>/__init__.py`, found by the name of the folder.

No game needs such a folder. Without one a game has the one feature `lead`, which follows from its `worth`, no outlooks, and turns that are
what a seat decides in a row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from games.kernel import Seat, State

Stage = tuple[int, str]


class Features(NamedTuple):
    """What an evaluation looks at in a game: numbers with names, for a seat, and the phase of the match that chooses their weights."""

    names: tuple[str, ...]
    features: Callable[[State, Seat], list[float]]
    phase: Callable[[State], str]


class Beginnings(NamedTuple):
    """How positions are judged in which a turn begins: by features for the seat whose turn it is. `begins(before, state)`: whether the turn
    began after the position or view `before`."""

    features: Features
    begins: Callable[[State, State], bool]


def _to_act(state: State, seat: Seat) -> bool:
    return seat in state["to_act"]


def _settled(state: State) -> bool:
    return False


def _never_in_a_row(state: State) -> int:
    return 0


class Course(NamedTuple):
    """How the turns of a game go. By default a turn is what a seat decides in a row.

    `pending(state, seat)`: whether the turn of a seat is under way, also while others decide in it.
    `stage(state, seat)`: how far it is, a number that never falls within a turn, and the kind of the action under way, empty between two
    actions; None where the seat does not plan. A course without it has a stage for each action of the turn.
    `unsettled(state)`: whether something between seats, such as a battle, must be settled before the turn goes on.
    `round_of(state)`: a number that tells a turn from the next one, where a seat may have two of them in a row.
    """

    pending: Callable[[State, Seat], bool] = _to_act
    stage: Callable[[State, Seat], Stage | None] | None = None
    unsettled: Callable[[State], bool] = _settled
    round_of: Callable[[State], int] = _never_in_a_row

    def stage_of(self, state: State, seat: Seat, actions: int) -> Stage | None:
        """Return the stage of a turn in which the seat has done so many actions since the search began; None where it does not plan.

        >>> Course().stage_of({"to_act": ["red"]}, "red", 2), Course().stage_of({"to_act": ["red"]}, "blue", 2)
        ((2, ''), None)
        """
        if self.stage is not None:
            return self.stage(state, seat)
        return (actions, "") if seat in state["to_act"] else None


class Knowledge(NamedTuple):
    """All that is known of a game. A part that is None, or left out, is not known."""

    features: Features | None = None
    beginnings: Beginnings | None = None
    course: Course = Course()


@cache
def knowledge_of(game: str) -> Knowledge:
    """Return what is known of the game with an id.

    >>> knowledge_of("war").features.names[:3]
    ('out', 'lead', 'points')
    >>> knowledge_of("chess") == Knowledge()
    True
    """
    name = f"{__name__.removesuffix('knowledge')}{game}"
    spec = find_spec(name)
    if spec is None or spec.submodule_search_locations is None:  # there is no such folder
        return Knowledge()
    found: Knowledge = import_module(name).KNOWLEDGE
    return found
