"""Leaving the match, and the default action of a seat that does not decide."""

from __future__ import annotations

from games.kernel import Action, Seat
from games.war_of_the_worlds.actions import owed_plays, play_offers, play_refusal, toll
from games.war_of_the_worlds.data import GAIN, HUMANS, MOVE_CIVILIANS, TERMS, UNIT_MOVE, UNIT_PLACE
from games.war_of_the_worlds.document import Match, State
from games.war_of_the_worlds.outcome import end_by_leaving
from games.war_of_the_worlds.state import EVACUATING, STRIKING
from games.war_of_the_worlds.strike.damage import gathers, power


def playing(state: State) -> list[Seat]:
    """Return both seats. The match is over as soon as one of them leaves it (WOW-LEA-01)."""
    return list(state["seats"])


def leave(match: Match, seat: Seat) -> None:
    """Take a seat out, in any phase: the other seat wins. What is under way does not go on (WOW-LEA-01, WOW-LEA-02)."""
    match.emit("seat_withdrawn", seat=seat)
    end_by_leaving(match, next(other for other in match.state["seats"] if other != seat))


def default(state: State, seat: Seat) -> Action:
    """Return what a seat does that does not decide: it ends its turn, and before that plays what it must, in the way that harms the other
    side least; it lands an open strike with the least damage, and leaves out the second move of Evacuate (WOW-SKP-01, WOW-SKP-02,
    WOW-SKP-03)."""
    if state["phase"] == EVACUATING:
        return {"type": "end_moves"}
    if state["phase"] == STRIKING:
        return min(
            [play for play in play_offers(state, seat) if play_refusal(state, seat, play) is None], key=lambda play: _force(state, play)
        )
    return min(owed_plays(state, seat), key=lambda play: _harm(state, seat, play), default={"type": "end_turn"})


_MILDEST = (GAIN, MOVE_CIVILIANS, UNIT_MOVE, UNIT_PLACE)
"""The effects that hit nothing. What a seat gains by the first is lost at the end of its turn, by the last it stays."""


def _harm(state: State, seat: Seat, play: Action) -> tuple[int, int, int]:
    """Return how much a play takes from the other side, then from its own, and how much it does otherwise (WOW-SKP-01)."""
    terms = TERMS[play["card"], play["option"]]
    taken = toll(state, terms, play)
    lost = (taken.damage, taken.civilians + taken.pieces)
    theirs, own = lost if seat == HUMANS else lost[::-1]
    return theirs, own, _MILDEST.index(terms.effect) if terms.effect in _MILDEST else len(_MILDEST)


def _force(state: State, play: Action) -> tuple[bool, int]:
    """Return whether an attack leaves the strike open, and its damage (WOW-SKP-02)."""
    terms, strike = TERMS[play["card"], play["option"]], state["strike"]
    assert strike is not None, "a strike is open"
    return gathers(state, terms, strike["region"]), power(state, terms)
