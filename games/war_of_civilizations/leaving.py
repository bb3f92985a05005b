"""Leaving the match, and the default action of a seat that does not decide."""

from __future__ import annotations

from games.kernel import Action, Seat
from games.lifecycle import RESIGNED
from games.war_of_civilizations import data
from games.war_of_civilizations.actions import pass_on
from games.war_of_civilizations.battle.record import other_seat
from games.war_of_civilizations.battle.resolve import concede, let_go, strongest
from games.war_of_civilizations.document import Match, State
from games.war_of_civilizations.flow import end_action, end_turn, take_control, to_turn
from games.war_of_civilizations.outcome import check_survivor
from games.war_of_civilizations.privateers import LEFT, hire_refusal, met
from games.war_of_civilizations.state.fleets import ships_at
from games.war_of_civilizations.state.records import turn_of


def leave(match: Match, seat: Seat) -> None:
    """Take a seat out. It loses a battle that it takes part in; a blockade or an offer of ransom is over. The turn goes on; its own turn
    ends. The match ends when one seat is left (WOC-LEA-01, WOC-LEA-02, WOC-LEA-03, WOC-LEA-04, WOC-LEA-05, WOC-LEA-06)."""
    state = match.state
    battle, blockade, ransom = state["battle"], state["blockade"], state["ransom"]
    fights = battle is not None and seat in (battle["attacker"], battle["defender"])
    blocks = blockade is not None and seat in (blockade["owner"], blockade["occupant"])
    bargains = ransom is not None and seat in (ransom["from"], ransom["to"])
    if ransom is not None and bargains:
        match.emit("ransom_lapsed", at=ransom["at"])
    if fights:
        concede(match, seat)
    let_go(match, seat)
    match.emit("seat_withdrawn", seat=seat)
    if battle is not None and fights:
        match.emit("battle_ended", at=battle["at"])
    if blockade is not None and blocks:
        match.emit("blockade_ended", at=blockade["at"], result=LEFT)
    if check_survivor(match, RESIGNED):
        return
    if battle is not None and fights:
        foe = other_seat(battle, seat)
        if foe != data.PIRATE and ships_at(match.state, foe, battle["at"]):
            take_control(match, foe, battle["at"])
    if state["active"] == seat:
        (pass_on if state["phase"] == data.DEPLOY_PHASE else end_turn)(match, seat)
    elif fights or blocks or bargains:
        if fights or blocks:
            end_action(match)
        to_turn(match)


def default(state: State, seat: Seat) -> Action:
    """Return what a seat does that does not decide. It ends its action, then its turn; it hires a pirate if it can, yields, declines,
    brings no ship in, bids nothing, and saves its strongest ships (WOC-SKP-01, WOC-SKP-02, WOC-SKP-03, WOC-SKP-04, WOC-SKP-05,
    WOC-SKP-06)."""
    phase = state["phase"]
    if phase == data.DEPLOY_PHASE:
        return {
            "type": "deploy",
            "at": data.LANDINGS[seat][0],
            "ships": {ship: (number + 1) // 2 for ship, number in data.FREE_SHIPS.items()},
        }
    if phase == data.PIRATE_PHASE:
        hiring: Action = {"type": "hire_pirate"}
        return hiring if hire_refusal(state, seat, hiring) is None else {"type": "fight", "at": met(state)["at"]}
    if phase == data.RETREAT_PHASE:
        return {"type": "retreat", "ships": strongest(state, seat)}
    if phase in ANSWERS:
        return dict(ANSWERS[phase])
    return {"type": "end_turn" if turn_of(state)["action"] is None else "end_action"}


ANSWERS: dict[str, Action] = {
    data.BLOCKADE_PHASE: {"type": "yield"},
    data.RANSOM_PHASE: {"type": "answer_ransom", "accept": False},
    data.REINFORCE_PHASE: {"type": "ready"},
    data.BIDS_PHASE: {"type": "bid", "ammo": 0, "cards": []},
}
