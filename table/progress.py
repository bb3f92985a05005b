"""A match that has started: who may act at its table, who is in play, and what a change of play does to offers and votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from games.kernel import Action, Event, Refusal, State, carry_out, no, withdraw
from games.lifecycle import DRAW, FORFEITED, RESIGNED, VOID
from table.document import Table
from table.session import Session
from table.settings import FORFEIT, PER_ACTION, SUBSTITUTE
from table.state import CLOSED, DISPUTED, NEW, OPEN, STRETCH, TAKEBACK, TO_THE_END, player_of

_MOST_DEFAULTS = 200
"""How many actions one time-out may play for a seat. Games end a turn long before."""

Seat = str


# ---------------------------------------------------------------- questions


def not_going_on(session: Session) -> Refusal | None:
    """Return why the match does not go on, or None: it has not started, is over, or is frozen (TBL-SEA-06, TBL-CLO-02, TBL-DIS-02)."""
    return not_running(session) or stopped(session)


def not_running(session: Session) -> Refusal | None:
    """Return why the match has not started or is over, or None. It may be frozen (TBL-SEA-06, TBL-CLO-02)."""
    phase = session.table["phase"]
    if phase in (NEW, OPEN):
        return no("not_started", "TBL-SEA-06")
    if phase == CLOSED:
        return no("match_closed", "TBL-CLO-02")
    return no("match_over") if is_over(session) else None


def stopped(session: Session) -> Refusal | None:
    """Return why a match that has started does not go on, or None: it is over or frozen (TBL-DIS-02)."""
    if is_over(session):
        return no("match_over")
    return no("match_disputed", "TBL-DIS-02") if session.table["phase"] == DISPUTED else None


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
    """Return why a seat is not in play in a match that goes on, or None (TBL-SEA-04, TBL-RES-02)."""
    return not_going_on(session) or out_of_play(session, seat)


def out_of_play(session: Session, seat: Seat) -> Refusal | None:
    """Return why a seat is not one in play that a player has, or None (TBL-SEA-04, TBL-RES-02)."""
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


def held_refusal(session: Session, seat: Seat, rule: str) -> Refusal | None:
    """Return why a seat cannot be taken back from its substitute yet, or None (TBL-TIM-05, TBL-TIM-09)."""
    until = session.table["held"].get(seat)
    if until is None:
        return None
    when = "it has played what was to be decided when the time ran out" if until == STRETCH else "the match is over"
    return no("substitute_stays", rule, seat=seat, until=when)


def awaited(session: Session) -> list[Seat]:
    """Return the seats of players that must act in the game, in turn order (TBL-TIM-10)."""
    return [seat for seat in session.playing if seat in session.state["to_act"] and player_of(session.table, seat) is not None]


# ---------------------------------------------------------------- what follows


def lapsing(table: Table, state: State, seat: Seat) -> Iterator[Event]:
    """Yield the facts of the table that follow from an action of a seat in the game, or from the end of the match.

    Its action ends the vote about the seat and the seat's offer of a draw. Any action ends the offer of a takeback. The end of the match
    ends all. A substitute may have played the stretch that ran out (TBL-OFR-06, TBL-VOT-04, TBL-TIM-05). `state`: the game's document after
    it.
    """
    over = state["outcome"] is not None
    for what, offer in sorted(table["offers"].items()):
        if over or what == TAKEBACK or (what == DRAW and offer["by"] == seat):
            yield {"type": "offer_lapsed", "what": what}
    for about in sorted(table["votes"]):
        if over or about == seat:
            yield {"type": "vote_closed", "about": about, "decision": None}
    if not over:
        yield from played_stretches(table, state, seat)


def played_stretches(table: Table, state: State, seat: Seat = "") -> Iterator[Event]:
    """Yield that substitutes have played the stretches that ran out: their seats need not act any more (TBL-TIM-05).

    `seat`: whose action of the game this was, if it was one. With a time for each action, an action ends a stretch.
    """
    for one, until in sorted(table["held"].items()):
        if until == STRETCH and (one not in state["to_act"] or (one == seat and table["clock"]["kind"] == PER_ACTION)):
            yield {"type": "stretch_played", "seat": one}


def lapse(session: Session, seat: Seat) -> None:
    """End the offers and votes that an action of a seat in the game ends (TBL-OFR-06, TBL-VOT-04)."""
    if session.table["offers"] or session.table["votes"]:
        for event in list(lapsing(session.table, session.state, seat)):
            session.emit(**event)


def lapse_offers(session: Session) -> None:
    """End all offers, because those who must agree have changed (TBL-OFR-06)."""
    for what in sorted(session.table["offers"]):
        session.emit("offer_lapsed", what=what)


def leave_game(session: Session, seat: Seat, reason: str = RESIGNED) -> None:
    """Let the game take a seat out of play (TBL-RES-02). `reason`: why the match is over, if it then is because all others have left it."""
    lapse_offers(session)
    match = withdraw(session.game, session.state, seat, session.now.chance)
    outcome = match.state["outcome"]
    if reason != RESIGNED and outcome is not None and outcome["reason"] == RESIGNED:
        match.events = [{**event, "reason": reason} if event["type"] == "match_ended" else event for event in match.events]
        match.state = {**match.state, "outcome": {**outcome, "reason": reason}}
    session.take(match)


def forfeit(session: Session, seat: Seat, reason: str = FORFEITED) -> None:
    """Take a seat out of play by rule: its time has run out, it has left the match alone, or a ruling says so (TBL-TIM-03, TBL-TIM-10,
    TBL-DIS-08). `reason`: as for `leave_game`."""
    session.emit("seat_forfeited", seat=seat)
    leave_game(session, seat, reason)


def substitute(session: Session, seat: Seat) -> None:
    """Let an artificial player play a seat whose time has run out, at least until it has played the stretch that ran out (TBL-TIM-04)."""
    session.emit("seat_substituted", seat=seat, level=session.table["time_out"]["level"], until=STRETCH)
    lapse_offers(session)


def substitute_for_good(session: Session, seat: Seat) -> None:
    """Let an artificial player play a seat whose time has run out too often, to the end of the match (TBL-TIM-09)."""
    session.emit("seat_substituted", seat=seat, level=session.table["time_out"]["level"], until=TO_THE_END)
    lapse_offers(session)


FINALLY: Mapping[str, Callable[[Session, Seat], None]] = {FORFEIT: forfeit, SUBSTITUTE: substitute_for_good}
"""What `then` of a match does (TBL-TIM-09, TBL-VOT-02, TBL-VOT-05)."""


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
