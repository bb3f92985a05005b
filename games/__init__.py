"""The games, by id. A game is added here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Game
from games.war import GAME as WAR

GAMES: Mapping[str, Game] = {game.id: game for game in (WAR,)}
