"""Which deeds each phase allows: every decision of the game on one screen (CONTRACT section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Deed
from games.war_of_the_worlds.actions import END_MOVES, END_ROUND, END_TURN, MOVE_CIVILIAN, PLAY, SET_UP
from games.war_of_the_worlds.buildings import USE_BUILDING
from games.war_of_the_worlds.buying import BUY, SWAP

PHASES: Mapping[str, Mapping[str, Deed]] = {
    "setup": {"advance": SET_UP},
    "play": {"play": PLAY, "buy": BUY, "swap": SWAP, "use_building": USE_BUILDING, "end_turn": END_TURN},
    "strike": {"play": PLAY},
    "evacuate": {"move_civilian": MOVE_CIVILIAN, "end_moves": END_MOVES},
    "round_end": {"advance": END_ROUND},
    "over": {},
}
