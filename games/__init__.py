"""The games, by id, each by its newest rules. A game is added by a line of `_FOLDERS`, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from games.kernel import Game
from games.pinned import earlier

_FOLDERS = (
    "war",
    "war_of_the_worlds",
    "war_of_civilizations",
)

GAMES: Mapping[str, Game] = {id: import_module(f"{__name__}.{id}").GAME._replace(earlier=earlier(id)) for id in _FOLDERS}


def revision(id: str, number: int) -> Game | None:
    """Return a game by the rules of a revision, or None if this program does not have them."""
    game = GAMES.get(id)
    return None if game is None else game.of_revision(number)
