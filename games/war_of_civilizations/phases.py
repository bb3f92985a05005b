"""The deeds that each phase allows, and the actions that no position allows: every decision of the game (CONTRACT section 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from games.kernel import Action, Deed, Refusal, no
from games.lifecycle import OVER, ROUND_END, SETUP
from games.sentences import say
from games.war_of_civilizations import data, privateers
from games.war_of_civilizations.actions import BEGIN, DEPLOY, DISCARD_CARD, END_ACTION, END_ROUND, END_TURN, PLAY_CARD, SET_UP, misplaced
from games.war_of_civilizations.battle.deeds import BID, READY, REINFORCE, RETREAT, USE_ABILITY
from games.war_of_civilizations.crystals import CONVERT, CONVERT_TO_POWDER, DISMOUNT, MOUNT, UPGRADE, misconverted
from games.war_of_civilizations.document import State
from games.war_of_civilizations.economy import BUY_CARD, BUY_SHIPS, COLLECT, FORECAST, REBUILD
from games.war_of_civilizations.movement import BUILD_TELEPORTER, MOVE, REDISTRIBUTE
from games.war_of_civilizations.state.map import in_play

PHASES: Mapping[str, Mapping[str, Deed]] = {
    SETUP: {"advance": SET_UP},
    data.DEPLOY_PHASE: {"deploy": DEPLOY},
    data.TURN_PHASE: {
        "begin": BEGIN,
        "forecast": FORECAST,
        "collect": COLLECT,
        "rebuild": REBUILD,
        "buy_card": BUY_CARD,
        "buy_ships": BUY_SHIPS,
        "build_teleporter": BUILD_TELEPORTER,
        "move": MOVE,
        "redistribute": REDISTRIBUTE,
        "convert": CONVERT,
        "mount": MOUNT,
        "dismount": DISMOUNT,
        "fight": privateers.FIGHT,
        "move_privateer": privateers.MOVE_PRIVATEER,
        "play_card": PLAY_CARD,
        "discard_card": DISCARD_CARD,
        "upgrade_ability": UPGRADE,
        "offer_ransom": privateers.OFFER_RANSOM,
        "end_action": END_ACTION,
        "end_turn": END_TURN,
    },
    data.PIRATE_PHASE: {"fight": privateers.FIGHT_PIRATE, "hire_pirate": privateers.HIRE_PIRATE, "upgrade_ability": UPGRADE},
    data.BLOCKADE_PHASE: {
        "fight": privateers.FIGHT_ARRIVAL,
        "offer_ransom": privateers.OFFER_RANSOM,
        "yield": privateers.YIELD,
        "upgrade_ability": UPGRADE,
    },
    data.RANSOM_PHASE: {"answer_ransom": privateers.ANSWER_RANSOM},
    data.REINFORCE_PHASE: {"redistribute": REINFORCE, "ready": READY, "upgrade_ability": UPGRADE},
    data.BIDS_PHASE: {"bid": BID, "convert": CONVERT_TO_POWDER, "use_ability": USE_ABILITY, "upgrade_ability": UPGRADE},
    data.RETREAT_PHASE: {"retreat": RETREAT},
    ROUND_END: {"advance": END_ROUND},
    OVER: {},
}

CONTRADICTORY: Mapping[str, Callable[[Action], Refusal | None]] = {"convert": misconverted, "play_card": misplaced}
"""The actions whose fields can contradict each other, with the check of each. It is beside the deed."""


def inadmissible(state: State, action: Action) -> Refusal | None:
    """Return why an action is illegal in every position of the match, or None: it names a location out of play, or its fields contradict
    each other (WOC-MAP-01, WOC-CNV-01, WOC-PWR-29, WOC-PWR-31)."""
    board = in_play(state)
    for location in (action.get("at"), action.get("from"), action.get("to"), *action.get("skip", ())):
        if location is not None and location not in board:
            return no("bad_action", "WOC-MAP-01", reason=say("{location} is not in play", location=location))
    check = CONTRADICTORY.get(action["type"])
    return None if check is None else check(action)
