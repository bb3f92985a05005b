"""Leaving the match, and the default action of a seat that does not decide."""

from __future__ import annotations

from games.kernel import Action, Seat
from games.lifecycle import RESIGNED, SETUP
from games.war.attacks import CONQUERED, STOPPED, after_attack
from games.war.data import VALUE
from games.war.document import Match, State
from games.war.draw import to_take
from games.war.flow import end_turn
from games.war.outcome import end_match
from games.war.placement import open_tiles, pass_on
from games.war.state import CARD_PLAY, DRAWING, FIGHTING, FINAL_TURNS_OVER, MOVING, PLACEMENT, on_board, option, still_in


def leave(match: Match, seat: Seat) -> None:
    """Take a seat out. Its own attacks stop, those on its tiles succeed unless its units stay, and its turn ends without a draw. The match
    ends when one seat or no final turn is left (WAR-OPT-08, WAR-LEA-01, WAR-LEA-02, WAR-LEA-03, WAR-LEA-04, WAR-LEA-05, WAR-LEA-06,
    WAR-LEA-07, WAR-LEA-08)."""
    active, phase = match.state["active"], match.state["phase"]
    if active == seat:
        for tile in sorted(match.state["attacks"]):
            match.emit("attack_ended", tile=tile, seat=seat, result=STOPPED, moved=0)
    stays = option(match.state, "garrisons") and phase not in (SETUP, PLACEMENT)
    if not stays and on_board(match.state, seat):
        match.emit("units_withdrawn", seat=seat)
    match.emit("seat_withdrawn", seat=seat)
    undefended = [tile for tile in sorted(match.state["attacks"]) if not match.state["tiles"][tile]["units"]]
    for tile in undefended:
        match.emit("attack_ended", tile=tile, seat=active, result=CONQUERED, moved=match.state["attacks"][tile]["units"])
    if len(still_in(match.state)) == 1:
        end_match(match, RESIGNED)
    elif active == seat and phase == PLACEMENT:
        pass_on(match, seat)
    elif active == seat:
        end_turn(match, seat)
    elif match.state["final_turns"] == []:
        end_match(match, FINAL_TURNS_OVER)
    elif undefended and active is not None:
        after_attack(match, active)


def default(state: State, seat: Seat) -> Action:
    """Return what a seat does that does not decide: it places on the first tile that is open to it, plays no card, makes no move, stops
    each attack as soon as it may, and takes the lowest cards (WAR-SKP-01, WAR-SKP-02, WAR-SKP-03, WAR-SKP-04)."""
    phase = state["phase"]
    if phase == PLACEMENT:
        return {"type": "place_unit", "tile": open_tiles(state, seat)[0]}
    if phase == FIGHTING:
        tile, fight = min(state["attacks"].items())
        return {"type": "stop_attack" if fight["rolls"] else "attack", "tile": tile}
    if phase == DRAWING:
        row = state["row"]
        lowest = sorted(row, key=VALUE.__getitem__)[: to_take(row)]
        return {"type": "take_cards", "cards": [card for card in row if card in lowest]}
    return {"type": {CARD_PLAY: "end_cards", MOVING: "end_moves"}[phase]}
