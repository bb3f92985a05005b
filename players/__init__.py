"""Artificial players: how a seat without a person decides.

A level knows what a person in its seat would know and no more. `LEVELS` is the table of levels by name. This package imports only `games`.
"""

from __future__ import annotations

from collections.abc import Mapping

from games.chance import Chance
from games.kernel import Action, Game, Memory, Seat, State, legal
from players.greedy import greedy
from players.level import Level
from players.random_play import random_play

LEVELS: Mapping[str, Level] = {"random": random_play, "greedy": greedy}


def choose(game: Game, level: str, state: State, seat: Seat, chance: Chance, memory: Memory | None = None) -> Action:
    """Return the action of a seat that plays at a level. The level gets the seat's view and its choices, never `state`."""
    return LEVELS[level](game, game.view(state, seat), legal(game, state, seat), seat, chance, memory or {})
