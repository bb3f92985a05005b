"""The deeds that each phase allows: every decision of the game on one screen (CONTRACT section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Deed
from games.lifecycle import OVER, ROUND_END, SETUP
from games.war.attacks import ATTACK, STOP_ATTACK
from games.war.cards import END_CARDS, PLAY_COMBAT_CARD, REINFORCE
from games.war.draw import TAKE_CARDS
from games.war.flow import NEXT_ROUND
from games.war.moves import END_MOVES, MOVE
from games.war.placement import PLACE_UNIT
from games.war.setup import SET_UP
from games.war.state import CARD_PLAY, DRAWING, FIGHTING, MOVING, PLACEMENT

PHASES: Mapping[str, Mapping[str, Deed]] = {
    SETUP: {"advance": SET_UP},
    PLACEMENT: {"place_unit": PLACE_UNIT},
    CARD_PLAY: {"reinforce": REINFORCE, "play_combat_card": PLAY_COMBAT_CARD, "end_cards": END_CARDS},
    MOVING: {"move": MOVE, "end_moves": END_MOVES},
    FIGHTING: {"attack": ATTACK, "stop_attack": STOP_ATTACK},
    DRAWING: {"take_cards": TAKE_CARDS},
    ROUND_END: {"advance": NEXT_ROUND},
    OVER: {},
}
