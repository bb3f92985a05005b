"""Votes: the others decide about a seat whose time has run out (VOT)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from games.kernel import Action, Refusal, no
from games.lifecycle import VOID
from table.data import VOTE_MS
from table.progress import FINALLY, forfeit, is_over, lapse_offers, not_going_on, not_taking_part, present, substitute, void
from table.seats import ANY_SEAT
from table.session import BY_SEAT, BY_SYSTEM, Session, TableDeed
from table.settings import DECISIONS, FORFEIT, SUBSTITUTE
from table.state import DECISION

Seat = str

_DECISIONS: Mapping[str, Callable[[Session, Seat], None]] = {
    FORFEIT: forfeit,
    SUBSTITUTE: substitute,
    VOID: lambda session, seat: void(session),
}

THEN = "then"


def voters(session: Session, about: Seat) -> list[Seat]:
    """Return the seats that may vote about another, in their order: those whose players are there and not late themselves (TBL-VOT-02)."""
    votes = session.table["votes"]
    return [seat for seat in present(session) if seat != about and seat not in votes]


def open_vote(session: Session, seat: Seat) -> None:
    """Let the others vote about a seat whose time has run out (TBL-TIM-08, TBL-VOT-01, TBL-OFR-06)."""
    session.emit("vote_opened", seat=seat, until=session.now.at + VOTE_MS)
    lapse_offers(session)


def settle_votes(session: Session) -> None:
    """Do what the votes have decided: more than half of those who may vote are for it, or all have voted and do not agree, or nobody may
    vote (TBL-VOT-02, TBL-VOT-03, TBL-VOT-05)."""
    undecided = [seat for seat in session.state["seats"] if seat in session.table["votes"]]
    while undecided and not is_over(session):
        seat = undecided.pop(0)
        decision = _decision(session, seat)
        if decision is not None:
            _close(session, seat, decision)
            undecided = [seat for seat in session.state["seats"] if seat in session.table["votes"]]


def _decision(session: Session, about: Seat) -> str | None:
    """Return what the vote about a seat has decided, or None if it has not yet. `THEN`: all have voted, and they do not agree."""
    who = voters(session, about)
    votes = session.table["votes"][about]["votes"]
    given = [votes[seat] for seat in who if seat in votes]
    agreed = next((decision for decision in DECISIONS if given.count(decision) * 2 > len(who)), None)
    if agreed == VOID and len(who) < 2:
        agreed = None
    return THEN if agreed is None and len(given) == len(who) else agreed


def _close(session: Session, about: Seat, decision: str) -> None:
    """End a vote and do what was decided. `THEN`: what the match names where nothing was (TBL-VOT-03, TBL-VOT-05)."""
    named: str = session.table["time_out"]["then"]
    session.emit("vote_closed", about=about, decision=named if decision == THEN else decision)
    if decision == THEN:
        FINALLY[named](session, about)
    else:
        _DECISIONS[decision](session, about)


# ---------------------------------------------------------------- deeds


def vote_offers(session: Session, seat: Seat) -> list[Action]:
    """Return one action for each decision about each seat that is voted on (TBL-VOT-01)."""
    return [{"type": "vote", "seat": about, "for": decision} for about in session.table["votes"] for decision in DECISIONS]


def vote_refusal(session: Session, seat: Seat, action: Action) -> Refusal | None:
    """Return why a vote is refused, or None (TBL-VOT-01, TBL-VOT-02, TBL-VOT-03)."""
    refusal = not_taking_part(session, seat)
    if refusal is not None:
        return refusal
    about = action["seat"]
    if about not in session.table["votes"] or seat not in voters(session, about):
        return no("no_vote", "TBL-VOT-02", seat=about)
    if seat in session.table["votes"][about]["votes"]:
        return no("already_voted", "TBL-VOT-01", seat=about)
    alone = action["for"] == VOID and len(voters(session, about)) < 2
    return no("nobody_to_agree", "TBL-VOT-03", what=VOID) if alone else None


def vote(session: Session, seat: Seat, action: Action) -> None:
    """Vote about a seat whose time has run out: it forfeits, is substituted, or the match is void (TBL-VOT-01, TBL-VOT-03)."""
    session.emit("vote_cast", **{"seat": seat, "about": action["seat"], "for": action["for"]})


def end_vote_offers(session: Session, system: str) -> list[Action]:
    """Return one action for each vote whose time is over (TBL-VOT-05)."""
    return [{"type": "end_vote", "seat": about} for about in session.table["votes"]]


def end_vote_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why ending a vote is refused, or None (TBL-VOT-05)."""
    refusal = not_going_on(session)
    if refusal is not None:
        return refusal
    open_one = session.table["votes"].get(action["seat"])
    return no("not_due", "TBL-VOT-05") if open_one is None or session.now.at < open_one["until"] else None


def end_vote(session: Session, system: str, action: Action) -> None:
    """End a vote in which nothing was decided in time: what the match names happens (TBL-VOT-05)."""
    _close(session, action["seat"], THEN)


VOTE = TableDeed({"seat": ANY_SEAT, "for": DECISION}, vote_offers, vote_refusal, vote, BY_SEAT)
END_VOTE = TableDeed({"seat": ANY_SEAT}, end_vote_offers, end_vote_refusal, end_vote, BY_SYSTEM)
