"""How play passes on: phase, turn, round, and the final turns."""

from __future__ import annotations

from games.kernel import SYSTEM, Match, Seat, State
from games.war.data import FIRST_CARD_ROUND
from games.war.outcome import end_match
from games.war.state import still_in


def to_phase(match: Match, phase: str, seat: Seat) -> None:
    """A seat decides in another phase; a turn's phases are cards, moves, draw (WAR-TRN-01)."""
    match.emit("phase_changed", phase=phase, active=seat, to_act=[seat])


def start_turn(match: Match, seat: Seat) -> None:
    """A seat's turn begins, with its cards if it has any and round 1 is over; its combat card expires first of all (WAR-TRN-02, WAR-TRN-03,
    WAR-COM-08)."""
    state = match.state
    has_cards = state["round"] >= FIRST_CARD_ROUND and state["hands"][seat]
    match.emit("turn_started", seat=seat, phase="cards" if has_cards else "moves")
    card = state["combat"].get(seat)
    if card is not None:
        match.emit("combat_card_expired", seat=seat, card=card)


def after_moves(match: Match, seat: Seat) -> None:
    """Cards are drawn as long as some lie in the row, also in round 1; a turn without them is over (WAR-MOV-08, WAR-DRW-05, WAR-DRW-06,
    WAR-END-04)."""
    if match.state["row"]:
        to_phase(match, "draw", seat)
    else:
        end_turn(match, seat)


def end_turn(match: Match, seat: Seat, took_last_card: bool = False) -> None:
    """The turn passes to the left; after the last card each seat still in has one final turn, the taker last, and then the match ends at
    once (WAR-TRN-05, WAR-DRW-08, WAR-END-01, WAR-END-02, WAR-END-03, WAR-END-05, WAR-END-06, WAR-ELI-04)."""
    match.emit("turn_ended", seat=seat)
    if took_last_card:
        match.emit("final_turns_started", seats=_from_next(match.state, seat))
    if match.state["final_turns"] == []:
        end_match(match, "final_turns_over")
        return
    following = _later(match.state, seat)
    if following:
        start_turn(match, following[0])
    else:
        end_round(match)


def end_round(match: Match) -> None:
    """After the last seat's turn the system opens the next round (WAR-TRN-06)."""
    match.emit("phase_changed", phase="round_end", active=None, to_act=[SYSTEM])


def _later(state: State, seat: Seat) -> list[Seat]:
    """The seats still in that have their turn after a seat in this round."""
    order = state["seats"]
    return [other for other in order[order.index(seat) + 1 :] if other not in state["eliminated"]]


def _from_next(state: State, seat: Seat) -> list[Seat]:
    """The seats still in, from the one after a seat round to that seat itself."""
    later = _later(state, seat)
    return [*later, *(other for other in still_in(state) if other not in later)]
