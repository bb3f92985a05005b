"""The games, by id, each by its newest rules. A game is added here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Game
from games.pinned import earlier
from games.war import GAME as WAR
from games.war_of_civilizations import GAME as WAR_OF_CIVILIZATIONS
from games.war_of_the_worlds import GAME as WAR_OF_THE_WORLDS

GAMES: Mapping[str, Game] = {game.id: game._replace(earlier=earlier(game.id)) for game in (WAR, WAR_OF_THE_WORLDS, WAR_OF_CIVILIZATIONS)}


def revision(id: str, number: int) -> Game | None:
    """Return a game by the rules of a revision, or None if this program does not have them."""
    game = GAMES.get(id)
    return None if game is None else game.of_revision(number)
