"""Which deeds each phase allows: every decision of the game on one screen (CONTRACT section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from games.kernel import Deed
from games.war.actions import (
    ATTACK,
    END_CARDS,
    END_MOVES,
    END_ROUND,
    MOVE,
    PLACE_UNIT,
    PLAY_COMBAT_CARD,
    REINFORCE,
    SET_UP,
    STOP_ATTACK,
    TAKE_CARDS,
)

PHASES: Mapping[str, Mapping[str, Deed]] = {
    "setup": {"advance": SET_UP},
    "placement": {"place_unit": PLACE_UNIT},
    "cards": {"reinforce": REINFORCE, "play_combat_card": PLAY_COMBAT_CARD, "end_cards": END_CARDS},
    "moves": {"move": MOVE, "end_moves": END_MOVES},
    "attack": {"attack": ATTACK, "stop_attack": STOP_ATTACK},
    "draw": {"take_cards": TAKE_CARDS},
    "round_end": {"advance": END_ROUND},
    "over": {},
}
