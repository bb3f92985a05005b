"""The deeds that each phase allows: every decision of the game on one screen (CONTRACT section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Deed
from games.lifecycle import OVER, ROUND_END, SETUP
from games.war_of_the_worlds.actions import END_TURN, NEXT_ROUND, PLAY
from games.war_of_the_worlds.buildings import USE_BUILDING
from games.war_of_the_worlds.buying import BUY, SWAP
from games.war_of_the_worlds.civilians import END_MOVES, MOVE_CIVILIAN
from games.war_of_the_worlds.setup import SET_UP
from games.war_of_the_worlds.state import EVACUATING, PLAYING, STRIKING

PHASES: Mapping[str, Mapping[str, Deed]] = {
    SETUP: {"advance": SET_UP},
    PLAYING: {"play": PLAY, "buy": BUY, "swap": SWAP, "use_building": USE_BUILDING, "end_turn": END_TURN},
    STRIKING: {"play": PLAY},
    EVACUATING: {"move_civilian": MOVE_CIVILIAN, "end_moves": END_MOVES},
    ROUND_END: {"advance": NEXT_ROUND},
    OVER: {},
}
