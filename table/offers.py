"""Offers: what the seats may agree on, which are a draw, a void match, a pause and its end, and a takeback (OFR, PAU, TBK)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from games.choices import Ranges
from games.kernel import RESTORED, Action, Refusal, no
from games.lifecycle import DRAW, VOID
from games.schema import optional
from games.sentences import joined
from table.data import HOUR_MS, MOST_OFFERS, NOTICE_MS, PAUSE_HOURS, USUAL_PAUSE_HOURS
from table.document import Offer
from table.progress import artificial, not_going_on, not_taking_part, present, void
from table.session import BY_SEAT, BY_SYSTEM, Session, TableDeed
from table.state import HOURS, PAUSE, PAUSED, PROPOSAL, PROPOSALS, RESUME, TAKEBACK, VERSION, may_offer

Seat = str

# ---------------------------------------------------------------- offering


def offer_offers(session: Session, seat: Seat) -> list[Action]:
    """Return one action for each thing that can be offered, and another for a pause whose hours are chosen (TBL-OFR-01, TBL-PAU-04)."""
    listed: list[Action] = [{"type": "offer", "what": what} for what in PROPOSALS]
    return [*listed, {"type": "offer", "what": PAUSE, "hours": USUAL_PAUSE_HOURS}]


def offer_ranges(session: Session, seat: Seat, action: Action) -> Ranges:
    """Return the versions that a takeback can go back to, and the hours that a pause can last (TBL-TBK-02, TBL-PAU-04)."""
    if "hours" in action:
        return {"hours": list(PAUSE_HOURS)}
    return {"version": [session.now.fixed, session.now.version - 1]} if action["what"] == TAKEBACK else {}


def offer_refusal(session: Session, seat: Seat, action: Action) -> Refusal | None:
    """Return why an offer is refused, or None (TBL-OFR-01, TBL-OFR-03, TBL-OFR-04, TBL-OFR-07, TBL-OFR-09, TBL-PAU-01, TBL-PAU-03,
    TBL-PAU-05, TBL-TBK-02)."""
    refusal = not_taking_part(session, seat)
    if refusal is not None:
        return refusal
    table, what = session.table, action["what"]
    if "version" in action and what != TAKEBACK:
        return no("bad_action", reason="offer: only a takeback has a version")
    if "hours" in action and not (what == PAUSE and PAUSE_HOURS[0] <= action["hours"] <= PAUSE_HOURS[1]):
        return no("bad_action", reason=f"offer: only a pause has hours, from {PAUSE_HOURS[0]} to {PAUSE_HOURS[1]}")
    if what in table["offers"]:
        return no("already_offered", "TBL-OFR-01", what=what, seat=table["offers"][what]["by"])
    refusal = _TERMS[what](session, action) if what in _TERMS else None
    if refusal is not None:
        return refusal
    return None if may_offer(table, seat) else no("too_many_offers", "TBL-OFR-04", limit=MOST_OFFERS)


def offer(session: Session, seat: Seat, action: Action) -> None:
    """Offer something to the others. It happens once all who must agree do, at once if there is nobody else. To offer the end of a pause
    gives notice (TBL-OFR-01, TBL-OFR-02, TBL-PAU-04, TBL-PAU-06)."""
    what = action["what"]
    more = (
        {"version": action["version"]} if what == TAKEBACK else {"hours": action.get("hours", USUAL_PAUSE_HOURS)} if what == PAUSE else {}
    )
    session.emit("offer_made", seat=seat, what=what, **more)
    _agree(session, what)
    until = session.table["paused_until"]
    if what == RESUME and until is not None and until > session.now.at + NOTICE_MS:
        session.emit("pause_shortened", until=session.now.at + NOTICE_MS)


def _draw_terms(session: Session, action: Action) -> Refusal | None:
    """Return why no draw can be offered, or None: an artificial player never agrees, and nobody draws alone (TBL-OFR-03, TBL-OFR-07)."""
    if artificial(session):
        return no("ai_declines", "TBL-OFR-03", seats=joined(artificial(session)))
    return _alone(session, DRAW, "TBL-OFR-07")


def _alone(session: Session, what: str, rule: str) -> Refusal | None:
    """Return why something cannot be agreed on, or None: no other player is there to agree."""
    return no("nobody_to_agree", rule, what=what) if len(present(session)) < 2 else None


def _void_terms(session: Session, action: Action) -> Refusal | None:
    """Return why the match cannot be made void, or None. Nobody does so alone unless it is practice (TBL-OFR-09, TBL-OFR-10)."""
    away = _undoing_terms(session, action)
    return away or (None if session.table["practice"] else _alone(session, VOID, "TBL-OFR-10"))


def _pause_terms(session: Session, action: Action) -> Refusal | None:
    """Return why no pause can be offered, or None. Nobody pauses alone while a substitute plays for another (TBL-PAU-01, TBL-PAU-02,
    TBL-PAU-05)."""
    if session.table["phase"] == PAUSED:
        return no("match_paused", "TBL-PAU-02")
    if session.table["votes"]:
        return no("vote_open", "TBL-PAU-01")
    return _alone(session, PAUSE, "TBL-PAU-05") if _away(session) else None


def _resume_terms(session: Session, action: Action) -> Refusal | None:
    """Return why the end of a pause cannot be offered, or None (TBL-PAU-03)."""
    return None if session.table["phase"] == PAUSED else no("not_paused", "TBL-PAU-03")


def _undoing_terms(session: Session, action: Action) -> Refusal | None:
    """Return why what was played cannot be undone, or None: a player is away who would have to agree (TBL-OFR-09)."""
    away = _away(session)
    return no("player_away", "TBL-OFR-09", seats=joined(away)) if away else None


def _away(session: Session) -> list[Seat]:
    """Return the seats in play that a substitute plays."""
    return [seat for seat in session.playing if seat in session.table["substitutes"]]


def _takeback_terms(session: Session, action: Action) -> Refusal | None:
    """Return why nothing can be taken back to a version, or to any if none is chosen yet, or None (TBL-OFR-09, TBL-TBK-02, TBL-RAT-02)."""
    if session.table["rated"]:
        return no("match_rated", "TBL-RAT-02")
    away = _undoing_terms(session, action)
    if away is not None:
        return away
    first, last = session.now.fixed, session.now.version - 1
    given = action.get("version", last)
    if 0 < first <= given <= last:
        return None
    return no("cannot_take_back", "TBL-TBK-02", version=given, first=first)


_TERMS: Mapping[str, Callable[[Session, Action], Refusal | None]] = {
    DRAW: _draw_terms,
    VOID: _void_terms,
    PAUSE: _pause_terms,
    RESUME: _resume_terms,
    TAKEBACK: _takeback_terms,
}

# ---------------------------------------------------------------- answering


def must_agree(session: Session, what: str) -> list[Seat]:
    """Return the seats that have not agreed to an offer yet and must (TBL-OFR-02)."""
    made = session.table["offers"][what]
    return [seat for seat in present(session) if seat != made["by"] and seat not in made["accepted"]]


def accept_offers(session: Session, seat: Seat) -> list[Action]:
    """Return one action for each offer that is made (TBL-OFR-02)."""
    return [{"type": "accept", "what": what} for what in PROPOSALS if what in session.table["offers"]]


def accept_refusal(session: Session, seat: Seat, action: Action) -> Refusal | None:
    """Return why the seat may not accept an offer, or None (TBL-OFR-02)."""
    return not_taking_part(session, seat) or _no_offer(session, action["what"], "TBL-OFR-02", seat)


def _no_offer(session: Session, what: str, rule: str, asked: Seat | None = None) -> Refusal | None:
    """Return why there is no such offer to answer, or None. `asked`: the seat that must not have answered it yet."""
    there = what in session.table["offers"] and (asked is None or asked in must_agree(session, what))
    return None if there else no("no_offer", rule, what=what)


def accept(session: Session, seat: Seat, action: Action) -> None:
    """Agree to an offer. It happens once all who must agree do (TBL-OFR-02)."""
    session.emit("offer_accepted", seat=seat, what=action["what"])
    _agree(session, action["what"])


def decline_offers(session: Session, seat: Seat) -> list[Action]:
    """Return one action for each offer that is made (TBL-OFR-05)."""
    return [{**action, "type": "decline"} for action in accept_offers(session, seat)]


def decline_refusal(session: Session, seat: Seat, action: Action) -> Refusal | None:
    """Return why the seat may not decline an offer, or None (TBL-OFR-05)."""
    return not_taking_part(session, seat) or _no_offer(session, action["what"], "TBL-OFR-05")


def decline(session: Session, seat: Seat, action: Action) -> None:
    """Do not agree to an offer, or take one's own back. The offer is gone (TBL-OFR-05)."""
    session.emit("offer_declined", seat=seat, what=action["what"])


# ---------------------------------------------------------------- effects


def _agree(session: Session, what: str) -> None:
    """Do what was offered if all who must agree do (TBL-OFR-02, TBL-OFR-07, TBL-OFR-08, TBL-PAU-01, TBL-PAU-03, TBL-TBK-01)."""
    if not must_agree(session, what):
        made = session.table["offers"][what]
        session.emit("offer_agreed", what=what)
        _EFFECTS[what](session, made)


def _draw(session: Session, made: Offer) -> None:
    """End the match with all seats in play as winners (TBL-OFR-07)."""
    session.emit("match_ended", winners=session.playing, reason=DRAW, scores={})


def _void(session: Session, made: Offer) -> None:
    """End the match without a winner (TBL-OFR-08)."""
    void(session)


def _pause(session: Session, made: Offer) -> None:
    """Stop play and clocks for the hours that were agreed (TBL-PAU-01, TBL-PAU-04)."""
    session.emit("match_paused", until=session.now.at + made["hours"] * HOUR_MS)


def _resume(session: Session, made: Offer) -> None:
    """Let the match go on (TBL-PAU-03)."""
    session.emit("match_resumed")


def _take_back(session: Session, made: Offer) -> None:
    """Bring the document of an earlier version back, with what was remembered then (TBL-TBK-01)."""
    version = made["version"]
    document, memory = session.now.earlier(version)
    session.emit(RESTORED, version=version, document=document, memory=memory)


_EFFECTS: Mapping[str, Callable[[Session, Offer], None]] = {
    DRAW: _draw,
    VOID: _void,
    PAUSE: _pause,
    RESUME: _resume,
    TAKEBACK: _take_back,
}

# ---------------------------------------------------------------- the end of a pause


def end_pause_offers(session: Session, system: str) -> list[Action]:
    """Return the action of the system for a match that is paused (TBL-PAU-04)."""
    return [{"type": "end_pause"}] if session.table["phase"] == PAUSED else []


def end_pause_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why ending a pause is refused, or None (TBL-PAU-03, TBL-PAU-04)."""
    refusal = not_going_on(session)
    if refusal is not None:
        return refusal
    until = session.table["paused_until"]
    if until is None:
        return no("not_paused", "TBL-PAU-03")
    return no("not_due", "TBL-PAU-04") if session.now.at < until else None


def end_pause(session: Session, system: str, action: Action) -> None:
    """Let the match go on when the pause is over (TBL-PAU-04)."""
    if RESUME in session.table["offers"]:
        session.emit("offer_lapsed", what=RESUME)
    session.emit("match_resumed")


WHAT = {"what": PROPOSAL}
OFFER = TableDeed(
    {**WHAT, "version": optional(VERSION), "hours": optional(HOURS)},
    offer_offers,
    offer_refusal,
    offer,
    BY_SEAT,
    offer_ranges,
)
ACCEPT = TableDeed(WHAT, accept_offers, accept_refusal, accept, BY_SEAT)
DECLINE = TableDeed(WHAT, decline_offers, decline_refusal, decline, BY_SEAT)
END_PAUSE = TableDeed({}, end_pause_offers, end_pause_refusal, end_pause, BY_SYSTEM)
