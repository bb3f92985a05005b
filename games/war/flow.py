"""The flow of play: phases, turns, rounds, and the final turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.documents import Document, Own
from games.kernel import Action, Deed, Event, Fact, Seat, never_refused, only
from games.lifecycle import lifecycle
from games.schema import Fields, listing
from games.war.data import FIRST_CARD_ROUND
from games.war.document import Match, State
from games.war.outcome import end_match
from games.war.state import (
    CARD,
    CARD_PLAY,
    DOCUMENT,
    DRAWING,
    FINAL_TURNS_OVER,
    MOVING,
    PHASE_NAMES,
    REASONS,
    SCORE,
    SEAT,
    holdings,
    on_board,
    put_out,
    still_in,
    take,
)

# ---------------------------------------------------------------- steps


def to_phase(match: Match, phase: str, seat: Seat) -> None:
    """Let a seat decide in another phase; a turn's phases are cards, moves, draw (WAR-TRN-01)."""
    match.emit("phase_changed", phase=phase, active=seat, to_act=[seat])


def start_round(match: Match, number: int) -> None:
    """Open a round with the turn of the first seat that is still in (WAR-TRN-06, WAR-STA-08)."""
    match.emit("round_started", round=number)
    start_turn(match, still_in(match.state)[0])


def start_turn(match: Match, seat: Seat) -> None:
    """Begin a seat's turn, with its cards if it has any and round 1 is over; its combat card expires first of all (WAR-TRN-02, WAR-TRN-03,
    WAR-COM-08)."""
    state = match.state
    has_cards = state["round"] >= FIRST_CARD_ROUND and state["hands"][seat]
    match.emit("turn_started", seat=seat, phase=CARD_PLAY if has_cards else MOVING)
    card = state["combat"].get(seat)
    if card is not None:
        match.emit("combat_card_expired", seat=seat, card=card)


def after_moves(match: Match, seat: Seat) -> None:
    """Go on to the draw of cards if the row has any, also in round 1; without cards the turn is over (WAR-MOV-08, WAR-DRW-05, WAR-DRW-06,
    WAR-END-04)."""
    if match.state["row"]:
        to_phase(match, DRAWING, seat)
    else:
        end_turn(match, seat)


def end_turn(match: Match, seat: Seat, took_last_card: bool = False) -> None:
    """Pass the turn to the left. After the last card each seat still in has one final turn, the taker last, and then the match ends at once
    (WAR-TRN-05, WAR-DRW-08, WAR-END-01, WAR-END-02, WAR-END-03, WAR-END-05, WAR-END-06, WAR-ELI-04)."""
    match.emit("turn_ended", seat=seat)
    if took_last_card:
        match.emit("final_turns_started", seats=_from_next(match.state, seat))
    if match.state["final_turns"] == []:
        end_match(match, FINAL_TURNS_OVER)
        return
    following = _later(match.state, seat)
    if following:
        start_turn(match, following[0])
    else:
        match.emit("round_ended", round=match.state["round"])


def _later(state: State, seat: Seat) -> list[Seat]:
    """Return the seats still in that have their turn after a seat in this round."""
    order = state["seats"]
    return [other for other in order[order.index(seat) + 1 :] if other not in state["eliminated"]]


def _from_next(state: State, seat: Seat) -> list[Seat]:
    """Return the seats still in, from the one after a seat round to that seat itself."""
    later = _later(state, seat)
    return [*later, *(other for other in still_in(state) if other not in later)]


# ---------------------------------------------------------------- deeds


def next_round(match: Match, seat: Seat, action: Action) -> None:
    """Open the next round; nothing else happens at the end of a round (WAR-TRN-06)."""
    start_round(match, match.state["round"] + 1)


NEXT_ROUND = Deed({}, only("advance"), never_refused, next_round)

# ---------------------------------------------------------------- facts


def blank_turn() -> Document:
    """Return the record of a turn in which nothing is done yet."""
    return {"reinforcements": 0, "combat_card": False, "placed": {}, "moves": 0}


def turn_record_cleared(state: Any, event: Event, own: Own) -> None:
    """The record of the turn is blank again. A final turn that is over is no longer due."""
    state["turn"] = blank_turn()
    if state["final_turns"] is not None and event["seat"] in state["final_turns"]:
        own(state, "final_turns").remove(event["seat"])


def units_withdrawn(state: Any, event: Event, own: Own) -> None:
    """All units of a seat go back to its reserve."""
    seat, tiles = event["seat"], own(state, "tiles")
    own(state, "reserve")[seat] += on_board(state, seat)
    for tile in holdings(state, seat):
        take(tiles, tile, tiles[tile]["units"], own)


def seat_withdrawn(state: Any, event: Event, own: Own) -> None:
    """Its cards are discarded, and it has no final turn."""
    put_out(state, event["seat"], own)


def match_ended(state: Any, event: Event, own: Own) -> None:
    """No attack is open any more."""
    state["attacks"] = {}


def combat_card_expired(state: Any, event: Event, own: Own) -> None:
    """A combat card goes to the discard pile."""
    del own(state, "combat")[event["seat"]]
    own(state, "discard").append(event["card"])


def final_turns_started(state: Any, event: Event, own: Own) -> None:
    """Each of these seats has one more turn."""
    state["final_turns"] = list(event["seats"])


FACTS: Mapping[str, tuple[Fact, Fields]] = {
    **lifecycle(
        SEAT,
        PHASE_NAMES,
        REASONS,
        DOCUMENT,
        SCORE,
        {"turn_ended": turn_record_cleared, "seat_withdrawn": seat_withdrawn, "match_ended": match_ended},
    ),
    "units_withdrawn": (units_withdrawn, {"seat": SEAT}),
    "combat_card_expired": (combat_card_expired, {"seat": SEAT, "card": CARD}),
    "final_turns_started": (final_turns_started, {"seats": listing(SEAT, about="the seats that have one more turn, the next one first")}),
}
