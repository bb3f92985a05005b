"""A match that has started: who may act at its table, who is in play, and what a change of play does to offers and votes."""

from __future__ import annotations

from collections.abc import Iterator

from games.kernel import Action, Event, Refusal, carry_out, no, withdraw
from games.lifecycle import DRAW, VOID
from table.document import Table
from table.session import Session
from table.settings import PER_ACTION
from table.state import CLOSED, DISPUTED, NEW, OPEN, TAKEBACK, player_of

_MOST_DEFAULTS = 200
"""How many actions one time-out may play for a seat. Games end a turn long before."""

Seat = str


# ---------------------------------------------------------------- questions


def not_going_on(session: Session) -> Refusal | None:
    """Return why the match does not go on, or None: it has not started, is over, or is frozen (TBL-SEA-06, TBL-CLO-02, TBL-DIS-02)."""
    phase = session.table["phase"]
    if phase in (NEW, OPEN):
        return no("not_started", "TBL-SEA-06")
    if phase == CLOSED:
        return no("match_closed", "TBL-CLO-02")
    if is_over(session):
        return no("match_over")
    return no("match_disputed", "TBL-DIS-02") if phase == DISPUTED else None


def is_over(session: Session) -> bool:
    """Return True if the match is over."""
    return session.state.get("outcome") is not None


def not_taking_part(session: Session, seat: Seat) -> Refusal | None:
    """Return why a seat does not take part, or None: its player is not there, or it is not in play (TBL-SEA-04, TBL-RES-02, TBL-TIM-06)."""
    refusal = not_in_play(session, seat)
    if refusal is None and seat in session.table["substitutes"]:
        return no("substituted", "TBL-TIM-06", seat=seat)
    return refusal


def not_in_play(session: Session, seat: Seat) -> Refusal | None:
    """Return why a seat is not in play, or None (TBL-SEA-04, TBL-RES-02)."""
    refusal = not_going_on(session)
    if refusal is not None:
        return refusal
    if player_of(session.table, seat) is None:
        return no("not_your_seat", "TBL-SEA-04", seat=seat)
    return None if seat in session.playing else no("not_in_play", "TBL-RES-02", seat=seat)


def present(session: Session) -> list[Seat]:
    """Return the seats in play that a player has and plays, in their order (TBL-OFR-02, TBL-VOT-02)."""
    table = session.table
    return [seat for seat in session.playing if player_of(table, seat) is not None and seat not in table["substitutes"]]


def artificial(session: Session) -> list[Seat]:
    """Return the seats in play that no player has, in their order (TBL-OFR-03)."""
    return [seat for seat in session.playing if player_of(session.table, seat) is None]


# ---------------------------------------------------------------- what follows


def lapsing(table: Table, seat: Seat, over: bool) -> Iterator[Event]:
    """Yield the facts of the table that follow from an action of a seat in the game, or from the end of the match.

    Its action ends the vote about the seat and the seat's offer of a draw. Any action ends the offer of a takeback. The end of the match
    ends all (TBL-OFR-06, TBL-VOT-04).
    """
    for what, offer in sorted(table["offers"].items()):
        if over or what == TAKEBACK or (what == DRAW and offer["by"] == seat):
            yield {"type": "offer_lapsed", "what": what}
    for about in sorted(table["votes"]):
        if over or about == seat:
            yield {"type": "vote_closed", "about": about, "decision": None}


def lapse(session: Session, seat: Seat) -> None:
    """End the offers and votes that an action of a seat in the game ends (TBL-OFR-06, TBL-VOT-04)."""
    if session.table["offers"] or session.table["votes"]:
        for event in list(lapsing(session.table, seat, is_over(session))):
            session.emit(**event)


def lapse_offers(session: Session) -> None:
    """End all offers, because those who must agree have changed (TBL-OFR-06)."""
    for what in sorted(session.table["offers"]):
        session.emit("offer_lapsed", what=what)


def leave_game(session: Session, seat: Seat) -> None:
    """Let the game take a seat out of play (TBL-RES-02)."""
    lapse_offers(session)
    session.take(withdraw(session.game, session.state, seat, session.now.chance))


def forfeit(session: Session, seat: Seat) -> None:
    """Take a seat whose time has run out of play (TBL-TIM-03)."""
    session.emit("seat_forfeited", seat=seat)
    leave_game(session, seat)


def substitute(session: Session, seat: Seat) -> None:
    """Let an artificial player play a seat whose time has run out (TBL-TIM-04)."""
    session.emit("seat_substituted", seat=seat, level=session.table["time_out"]["level"])
    lapse_offers(session)


def skip(session: Session, seat: Seat) -> None:
    """Play what the game names for a seat that does not decide: one action, or until the seat's turn is over (TBL-TIM-07)."""
    for _ in range(_MOST_DEFAULTS):
        action: Action = session.game.default(session.state, seat)
        session.take(carry_out(session.game, session.state, seat, action, session.now.chance))
        if session.table["clock"]["kind"] == PER_ACTION or seat not in session.state["to_act"]:
            break
    lapse(session, seat)


def void(session: Session) -> None:
    """End the match without a winner (TBL-OFR-08)."""
    session.emit("match_ended", winners=[], reason=VOID, scores={})
