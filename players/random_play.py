"""The level `random`: an even draw among the choices."""

from __future__ import annotations

from games.chance import Chance
from games.choices import Choice, complete
from games.kernel import Action, Game, Memory, Seat, State


def random_play(game: Game, view: State, choices: list[Choice], seat: Seat, chance: Chance, memory: Memory) -> Action:
    """Return any of the choices, each with the same probability. The counts of an open choice are drawn too."""
    choice = chance.pick(choices)
    return complete(choice["action"], choice.get("choose", {}), chance.number)
