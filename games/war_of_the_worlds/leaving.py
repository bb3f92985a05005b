"""Leaving the match, and the default action of a seat that does not decide."""

from __future__ import annotations

from games.kernel import Action, Seat
from games.war_of_the_worlds.actions import owed_plays, play_offers, play_refusal
from games.war_of_the_worlds.data import GAIN, TERMS
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.outcome import end_by_leaving
from games.war_of_the_worlds.state import EVACUATING, STRIKING


def playing(state: State) -> list[Seat]:
    """Return both seats. The match is over as soon as one of them leaves it (WOW-LEA-01)."""
    return list(state["seats"])


def leave(match: Match, seat: Seat) -> None:
    """Take a seat out, in any phase: the other seat wins. What is under way does not go on (WOW-LEA-01, WOW-LEA-02)."""
    match.emit("seat_withdrawn", seat=seat)
    end_by_leaving(match, next(other for other in match.state["seats"] if other != seat))


def default(state: State, seat: Seat) -> Action:
    """Return what a seat does that does not decide: it ends its turn, and before that plays what it must; it goes on with an open strike,
    and leaves out the second move of Evacuate (WOW-SKP-01, WOW-SKP-02, WOW-SKP-03)."""
    if state["phase"] == EVACUATING:
        return {"type": "end_moves"}
    if state["phase"] == STRIKING:
        return next(action for action in play_offers(state, seat) if play_refusal(state, seat, action) is None)
    owed = list(owed_plays(state, seat))
    return min(owed, key=lambda play: TERMS[play["card"], play["option"]].effect != GAIN) if owed else {"type": "end_turn"}
