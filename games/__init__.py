"""The games, by id. A game is added here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Game
from games.war import GAME as WAR
from games.war_of_civilizations import GAME as WAR_OF_CIVILIZATIONS
from games.war_of_the_worlds import GAME as WAR_OF_THE_WORLDS

GAMES: Mapping[str, Game] = {game.id: game for game in (WAR, WAR_OF_THE_WORLDS, WAR_OF_CIVILIZATIONS)}
