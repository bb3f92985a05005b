"""The type of a level of play: a function that decides."""

from __future__ import annotations

from typing import Protocol

from games.chance import Chance
from games.choices import Choice
from games.kernel import Action, Game, Memory, Seat, State


class Level(Protocol):
    """A function that decides for a seat. It is a pure function of its arguments, and all that it knows is in them.

    `game`: the rules. A level calls `guess` and `worth`, and plays on a `Match` or a `Scratch` of its own.
    `view`: the state document as the seat sees it, `game.view(state, seat)`. A count or null replaces what the seat may not see.
    `choices`: the legal choices of the seat, `legal(game, state, seat)`; at least one. `{"action": {"type": "roll"}}` is complete;
    `{"action": {"type": "add"}, "choose": {"by": [1, 3]}}` is open (games/choices.py).
    `seat`: the seat that decides, such as `"red"`.
    `chance`: random draws for this decision only. They are never the dice of the match, which a player must not know.
    `memory`: what every spectator of the match has seen, `games.kernel.remembered`; `{}` in a game that remembers nothing.

    Return one complete action that a choice admits, such as `{"type": "add", "by": 2}`.
    """

    def __call__(self, game: Game, view: State, choices: list[Choice], seat: Seat, chance: Chance, memory: Memory) -> Action:
        """Return the action of the seat."""
