"""Handing a seat over: its owner offers it to a player, who takes it (HND)."""

from __future__ import annotations

from games.kernel import Action, Refusal, no
from games.schema import nullable
from games.sentences import joined
from table.data import MOST_OFFERS
from table.leaving import refilled
from table.progress import held_refusal, lapse_offers, not_in_play, stopped
from table.seats import ANY_SEAT
from table.session import BY_SEAT, Session, TableDeed
from table.state import NAMED_PLAYER, has_another, may_offer, player_of, was_shown


def hand_over_offers(session: Session, seat: str) -> list[Action]:
    """Return the action that takes an open offer back. Offering the seat names a player, so it is not listed (TBL-HND-01)."""
    return [{"type": "hand_over", "player": None}] if seat in session.table["handovers"] else []


def hand_over_refusal(session: Session, seat: str, action: Action) -> Refusal | None:
    """Return why offering a seat is refused, or None (TBL-HND-01, TBL-HND-03, TBL-TIM-05, TBL-CRE-06, TBL-RAT-02, TBL-GUI-02)."""
    refusal = not_in_play(session, seat)
    if refusal is not None:
        return refusal
    table, player = session.table, action["player"]
    if player in (table["handovers"].get(seat), player_of(table, seat)):
        return no("offered_already", "TBL-HND-01", seat=seat)
    if player is not None:
        if table["rated"]:
            return no("match_rated", "TBL-RAT-02")
        if table["dice"] is not None:
            return no("dice_known", "TBL-GUI-02")
        if has_another(table, player, seat):
            return no("one_seat_each", "TBL-CRE-06", player=player)
        held = held_refusal(session, seat, "TBL-HND-03")
        if held is not None:
            return held
    return None if player is None or may_offer(table, seat) else no("too_many_offers", "TBL-OFR-04", limit=MOST_OFFERS)


def hand_over(session: Session, seat: str, action: Action) -> None:
    """Offer the seat to a player, or take the offer back with null (TBL-HND-01)."""
    session.emit("seat_offered", seat=seat, player=action["player"])


def take_over_offers(session: Session, player: str) -> list[Action]:
    """Return one action for each seat that is offered to the player (TBL-HND-02)."""
    return [{"type": "take_over", "seat": seat} for seat, other in sorted(session.table["handovers"].items()) if other == player]


def take_over_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why taking over a seat is refused, or None (TBL-HND-02, TBL-HND-04, TBL-CRE-06).

    Whoever is not offered the seat learns nothing else, such as that the match is over (TBL-SEE-03).
    """
    table, seat = session.table, action["seat"]
    if seat not in table["roster"]:
        return no("no_such_seat", "TBL-SEA-04", seat=seat, seats=joined(sorted(table["roster"])))
    if table["handovers"].get(seat) != player:
        return no("not_offered", "TBL-HND-02", seat=seat)
    refusal = stopped(session)
    if refusal is not None:
        return refusal
    if has_another(table, player, seat):
        return no("one_seat_each", "TBL-CRE-06", player=player)
    return no("was_shown", "TBL-HND-04", seat=seat) if session.now.shown or was_shown(table, player, seat) else None


def take_over(session: Session, player: str, action: Action) -> None:
    """Take over a seat from the player who offers it (TBL-HND-02, TBL-HND-03, TBL-TIM-11)."""
    session.emit("seat_handed_over", seat=action["seat"], player=player, **refilled(session, action["seat"]))
    lapse_offers(session)


HAND_OVER = TableDeed({"player": nullable(NAMED_PLAYER)}, hand_over_offers, hand_over_refusal, hand_over, BY_SEAT)
TAKE_OVER = TableDeed({"seat": ANY_SEAT}, take_over_offers, take_over_refusal, take_over)
