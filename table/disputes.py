"""Disputes: a seat says that something went wrong, a referee decides, and once more on appeal (DIS).

A dispute freezes the match for a while (table/freezing.py). It is `open` until a referee rules, then `ruled` until the time for an appeal
is over, or `appealed` until another referee rules. At last it is `settled`: what was ruled has happened. Or it was `withdrawn`, or has
`lapsed` because nobody ruled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from games.kernel import Action, Refusal, no
from games.lifecycle import RULING
from games.schema import described, known, optional, whole
from games.sentences import say
from table import state
from table.data import APPEAL_MS, DISPUTABLE_MS, LAPSE_MS, MOST_DISPUTES
from table.document import Dispute
from table.freezing import clock_now, cost, freezes, patience, tell
from table.progress import forfeit, is_over, void
from table.seats import ANY_SEAT
from table.session import BY_REFEREE, BY_SEAT, BY_SYSTEM, Session, TableDeed, unlisted

Seat = str


# ---------------------------------------------------------------- questions


def find(session: Session, number: int, *states: str) -> Dispute | None:
    """Return the dispute with a number, counted from 1, if it is in one of some states; else None."""
    disputes = session.table["disputes"]
    one = disputes[number - 1] if 0 < number <= len(disputes) else None
    return one if one is not None and one["state"] in states else None


def not_a_party(session: Session, seat: Seat) -> Refusal | None:
    """Return why somebody is no party of a dispute, or None. A party is a player with a seat in a match that has started (TBL-DIS-01). The
    seat may be out of play or played by a substitute, and the match may be over."""
    phase = session.table["phase"]
    if phase in (state.NEW, state.OPEN):
        return no("not_started", "TBL-SEA-06")
    if phase == state.CLOSED:
        return no("match_closed", "TBL-CLO-02")
    return no("not_your_seat", "TBL-SEA-04", seat=seat) if state.player_of(session.table, seat) is None else None


def each_dispute(kind: str) -> Callable[[Session, str], list[Action]]:
    """Return the `offers` of a deed with one action for each dispute. Its `refusal` leaves out those that are not due."""
    return lambda session, actor: [{"type": kind, "dispute": number} for number in range(1, len(session.table["disputes"]) + 1)]


def must_accept(session: Session, dispute: Dispute) -> list[Seat]:
    """Return the seats that have not accepted a ruling: the one that disputes, and those in play that players have (TBL-DIS-09)."""
    over = is_over(session)
    concerned = [seat for seat in session.state["seats"] if state.player_of(session.table, seat) is not None]
    asked = [seat for seat in concerned if over or seat == dispute["seat"] or seat in session.playing]
    return [seat for seat in asked if seat not in dispute["accepted"]]


# ---------------------------------------------------------------- raising a dispute


def dispute_refusal(session: Session, seat: Seat, action: Action) -> Refusal | None:
    """Return why a dispute is refused, or None (TBL-DIS-01, TBL-DIS-03, TBL-DIS-04)."""
    refusal = not_a_party(session, seat)
    if refusal is not None:
        return refusal
    if not 1 <= action["version"] <= session.now.version:
        return no("no_such_past", "TBL-DIS-01", version=action["version"], last=session.now.version)
    if session.now.finished is not None and session.now.at > session.now.finished + DISPUTABLE_MS:
        return no("too_late", "TBL-DIS-03", until=session.now.finished + DISPUTABLE_MS)
    own = [one["state"] for one in session.table["disputes"] if one["seat"] == seat]
    if any(each in state.UNDECIDED for each in own):
        return no("already_disputed", "TBL-DIS-04", seat=seat)
    return no("too_many_disputes", "TBL-DIS-04", seat=seat, limit=MOST_DISPUTES) if len(own) >= MOST_DISPUTES else None


def dispute(session: Session, seat: Seat, action: Action) -> None:
    """Dispute what happened at a version. The match may be frozen, but not for ever (TBL-DIS-01, TBL-DIS-02, TBL-DIS-11, TBL-DIS-14,
    TBL-DIS-15)."""
    frozen = freezes(session, seat)
    left = None if frozen is None else clock_now(session, seat)
    session.emit(
        "dispute_opened",
        dispute=len(session.table["disputes"]) + 1,
        seat=seat,
        version=action["version"],
        opened=session.now.version + 1,
        text=action["text"],
        field=action.get("field"),
        until=session.now.at + session.now.escalation,
        **({} if frozen is None else {"freezes": frozen}),
        **({} if left is None else {"left": left}),
    )
    if frozen is not None and session.table["phase"] != state.DISPUTED:
        session.emit("match_frozen", since=session.now.at)


def withdraw_dispute_offers(session: Session, seat: Seat) -> list[Action]:
    """Return one action for each open dispute of the seat (TBL-DIS-05)."""
    return [
        {"type": "withdraw_dispute", "dispute": number} for number, one in enumerate(session.table["disputes"], 1) if one["seat"] == seat
    ]


def withdraw_dispute_refusal(session: Session, seat: Seat, action: Action) -> Refusal | None:
    """Return why withdrawing a dispute is refused, or None (TBL-DIS-05)."""
    refusal = not_a_party(session, seat)
    if refusal is not None:
        return refusal
    one = find(session, action["dispute"], state.OPEN)
    return no("no_dispute", "TBL-DIS-05", dispute=action["dispute"]) if one is None or one["seat"] != seat else None


def withdraw_dispute(session: Session, seat: Seat, action: Action) -> None:
    """Withdraw a dispute that nobody has ruled on. The match goes on (TBL-DIS-05)."""
    tell(session, "dispute_withdrawn", action["dispute"])


# ---------------------------------------------------------------- sides and the report


def state_side_refusal(session: Session, seat: Seat, action: Action) -> Refusal | None:
    """Return why stating a side is refused, or None (TBL-DIS-05)."""
    refusal = not_a_party(session, seat)
    if refusal is not None:
        return refusal
    one = find(session, action["dispute"], state.OPEN, state.APPEALED)
    if one is None:
        return no("no_dispute", "TBL-DIS-05", dispute=action["dispute"])
    return no("already_stated", "TBL-DIS-05", seat=seat) if seat in (one["seat"], *one["sides"]) else None


def state_side(session: Session, seat: Seat, action: Action) -> None:
    """State the side of another seat than the one that disputes, once (TBL-DIS-05)."""
    tell(session, "side_stated", action["dispute"], seat=seat, text=action["text"])


def attach_report_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why a report is refused, or None (TBL-DIS-06)."""
    one = find(session, action["dispute"], *state.UNDECIDED)
    return no("no_dispute", "TBL-DIS-06", dispute=action["dispute"]) if one is None or one["reported"] else None


def attach_report(session: Session, system: str, action: Action) -> None:
    """Attach the first report to a dispute: the audit, and what no entry tells of the versions around it (TBL-DIS-06)."""
    tell(session, "report_attached", action["dispute"], report=action["report"])


# ---------------------------------------------------------------- ruling


def take_dispute_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why taking a case is refused, or None (TBL-DIS-07, TBL-DIS-11, TBL-DIS-15)."""
    refusal = may_not_rule(session, player, action)
    if refusal is not None:
        return refusal
    one = session.table["disputes"][action["dispute"] - 1]
    return no("case_taken", "TBL-DIS-15", dispute=action["dispute"]) if one["taken"] is not None else None


def take_dispute(session: Session, player: str, action: Action) -> None:
    """Take a case: the clock of the seat that disputes goes on no longer (TBL-DIS-15)."""
    one = session.table["disputes"][action["dispute"] - 1]
    tell(
        session,
        "dispute_taken",
        action["dispute"],
        referee=player,
        role=session.now.role,
        cost=cost(session, one),
    )


def may_not_rule(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why somebody may not rule on a dispute, or None (TBL-DIS-07, TBL-DIS-10, TBL-DIS-11)."""
    if session.now.role is None:
        return no("not_a_referee", "TBL-DIS-07")
    one = find(session, action["dispute"], state.OPEN, state.APPEALED)
    if one is None:
        return no("no_dispute", "TBL-DIS-07", dispute=action["dispute"])
    if player in (*state.players_of(session.table), *session.table["former"]):
        return no("is_party", "TBL-DIS-07")
    if any(ruling["referee"] == player for ruling in one["rulings"]):
        return no("same_referee", "TBL-DIS-10")
    if one["escalated"] and session.now.role != state.ADMIN:
        return no("needs_admin", "TBL-DIS-11")
    return None


def rule_dispute_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why a ruling is refused, or None (TBL-DIS-07, TBL-DIS-08, TBL-DIS-10, TBL-DIS-11)."""
    refusal = may_not_rule(session, player, action)
    if refusal is not None:
        return refusal
    reason = _remedy_reason(session, action)
    return None if reason is None else no("bad_remedy", "TBL-DIS-08", reason=reason)


def _remedy_reason(session: Session, action: Action) -> str | None:
    """Return why a remedy is not possible, or None if it is (TBL-DIS-03, TBL-DIS-08)."""
    remedy = action["remedy"]
    if action["verdict"] == state.REJECTED and remedy != state.NO_REMEDY:
        return say("a dispute that is rejected has none")
    if ("seat" in action) != (remedy == state.FORFEIT_REMEDY):
        return say("a seat that forfeits is named, and no other")
    if ("version" in action) != (remedy == state.PLAY_ON_REMEDY):
        return say("to play on names the version, and nothing else does")
    if remedy == state.FORFEIT_REMEDY:
        if action["seat"] not in session.table["roster"]:
            return say("there is no seat {seat!r}", seat=action["seat"])
        if not is_over(session) and action["seat"] not in session.playing:
            return say("the seat {seat} is out of play", seat=action["seat"])
    if remedy == state.PLAY_ON_REMEDY:
        if is_over(session):
            return say("the match is over, so nothing is played on")
        if not 1 <= action["version"] <= session.now.version:
            return say("the match has the versions 1 to {last}", last=session.now.version)
    return None


def rule_dispute(session: Session, player: str, action: Action) -> None:
    """Rule on a dispute. A ruling on appeal is final and takes effect at once (TBL-DIS-07, TBL-DIS-08, TBL-DIS-09, TBL-DIS-10, TBL-DIS-14,
    TBL-DIS-15)."""
    one = session.table["disputes"][action["dispute"] - 1]
    final = one["state"] == state.APPEALED
    given: dict[str, Any] = {name: action[name] for name in ("verdict", "remedy", "seat", "version", "text") if name in action}
    until = session.now.at + APPEAL_MS
    given |= {} if final else {"until": until, **({"frozen_until": until} if one["freezes"] else {})}
    if one["taken"] is None:
        take_dispute(session, player, action)
        one = session.table["disputes"][action["dispute"] - 1]
    given |= _given_back(session, one, action)
    tell(session, "dispute_ruled", action["dispute"], referee=player, role=session.now.role, **given)
    if final:
        _settle(session, action["dispute"])


def _given_back(session: Session, one: Dispute, action: Action) -> dict[str, Any]:
    """Return the field with which a ruling gives the seat that disputes its time back, if the dispute is upheld and has cost it any
    (TBL-DIS-15)."""
    kept, now = one["left"], session.table["clocks"]["seats"].get(one["seat"])
    if action["verdict"] != state.UPHELD or kept is None or now is None:
        return {}
    if one["freezes"] is not None:
        return {"left": kept}
    return {"left": {"bank": now["bank"] + one["cost"], "free": now["free"]}} if one["cost"] else {}


# ---------------------------------------------------------------- accepting a ruling, or appealing


def accept_ruling_refusal(session: Session, seat: Seat, action: Action) -> Refusal | None:
    """Return why accepting a ruling is refused, or None (TBL-DIS-09)."""
    one = find(session, action["dispute"], state.RULED)
    concerned = one is not None and seat in must_accept(session, one)
    return not_a_party(session, seat) or (None if concerned else no("no_dispute", "TBL-DIS-09", dispute=action["dispute"]))


def accept_ruling(session: Session, seat: Seat, action: Action) -> None:
    """Accept a ruling. Once all whom it concerns do, it takes effect (TBL-DIS-09)."""
    tell(session, "ruling_accepted", action["dispute"], seat=seat)
    if not must_accept(session, session.table["disputes"][action["dispute"] - 1]):
        _settle(session, action["dispute"])


def appeal_refusal(session: Session, seat: Seat, action: Action) -> Refusal | None:
    """Return why an appeal is refused, or None (TBL-DIS-10)."""
    refusal = not_a_party(session, seat)
    if refusal is not None:
        return refusal
    one = find(session, action["dispute"], state.RULED)
    if one is None:
        return no("no_dispute", "TBL-DIS-10", dispute=action["dispute"])
    until = one["until"]
    return no("too_late", "TBL-DIS-10", until=until) if until is not None and session.now.at > until else None


def appeal(session: Session, seat: Seat, action: Action) -> None:
    """Appeal against a ruling, to another referee (TBL-DIS-10, TBL-DIS-11, TBL-DIS-14)."""
    until = session.now.at + session.now.escalation
    frozen = session.table["disputes"][action["dispute"] - 1]["freezes"]
    longer = {} if frozen is None else {"frozen_until": session.now.at + patience(session.table)}
    tell(session, "ruling_appealed", action["dispute"], seat=seat, text=action["text"], until=until, **longer)


# ---------------------------------------------------------------- when time has passed


def escalate_dispute_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why escalating a dispute is refused, or None (TBL-DIS-11)."""
    one = find(session, action["dispute"], state.OPEN, state.APPEALED)
    return no("not_due", "TBL-DIS-11") if one is None or one["escalated"] or not _is_past(session, one) else None


def escalate_dispute(session: Session, system: str, action: Action) -> None:
    """Let only an admin rule on a dispute that no referee has answered in time (TBL-DIS-11)."""
    tell(session, "dispute_escalated", action["dispute"], until=session.now.at + LAPSE_MS)


def lapse_dispute_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why the end of an unanswered dispute is refused, or None (TBL-DIS-12)."""
    one = find(session, action["dispute"], state.OPEN, state.APPEALED)
    return no("not_due", "TBL-DIS-12") if one is None or not one["escalated"] or not _is_past(session, one) else None


def lapse_dispute(session: Session, system: str, action: Action) -> None:
    """End a dispute that no admin has answered either: the match goes on, or the ruling stands that was appealed (TBL-DIS-12)."""
    if find(session, action["dispute"], state.APPEALED) is not None:
        _settle(session, action["dispute"])
    else:
        tell(session, "dispute_lapsed", action["dispute"])


def close_appeal_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why the end of the time for an appeal is refused, or None (TBL-DIS-09)."""
    one = find(session, action["dispute"], state.RULED)
    return no("not_due", "TBL-DIS-09") if one is None or not _is_past(session, one) else None


def close_appeal(session: Session, system: str, action: Action) -> None:
    """Let a ruling take effect against which nobody has appealed in time (TBL-DIS-09)."""
    _settle(session, action["dispute"])


def end_freeze_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why letting a match go on is refused, or None (TBL-DIS-14)."""
    one = find(session, action["dispute"], state.OPEN, state.APPEALED)
    due = one is not None and one["freezes"] is not None and session.now.at > one["freezes"]["until"]
    return None if due else no("not_due", "TBL-DIS-14")


def end_freeze(session: Session, system: str, action: Action) -> None:
    """Let a match go on that has waited for a referee long enough. The dispute stays open (TBL-DIS-14).

    What follows is the same as after every action that leaves a freeze without a reason (table.freezing.settle_freezes).
    """


def _is_past(session: Session, one: Dispute) -> bool:
    """Return True if what a dispute waits for has not happened in time."""
    return one["until"] is not None and session.now.at > one["until"]


# ---------------------------------------------------------------- effects


def _settle(session: Session, number: int) -> None:
    """Let the last ruling on a dispute take effect. In a match that is over it only says what holds (TBL-DIS-03, TBL-DIS-08)."""
    tell(session, "dispute_settled", number)
    ruling = session.table["disputes"][number - 1]["rulings"][-1]
    if not is_over(session):
        _EFFECTS[ruling["remedy"]](session, ruling.get("seat", ""), ruling.get("version", 0), number)
    elif ruling["remedy"] in (state.VOID_REMEDY, state.FORFEIT_REMEDY):
        seat = {"seat": ruling["seat"]} if "seat" in ruling else {}
        session.emit("outcome_overruled", dispute=number, remedy=ruling["remedy"], **seat)


def _forfeit(session: Session, seat: Seat, version: int, number: int) -> None:
    """Take a seat out of play, unless it has left meanwhile. If the match then is over, the outcome says by what (TBL-DIS-08)."""
    if seat in session.playing:
        forfeit(session, seat, RULING)


def _play_on(session: Session, seat: Seat, version: int, number: int) -> None:
    """End the match. Another one begins from the version (TBL-DIS-08, TBL-DIS-13)."""
    session.emit("match_continued", match=session.now.successor, version=version, dispute=number)
    session.emit("match_ended", winners=[], reason=RULING, scores={})


_EFFECTS: Mapping[str, Callable[[Session, Seat, int, int], None]] = {
    state.NO_REMEDY: lambda session, seat, version, number: None,
    state.VOID_REMEDY: lambda session, seat, version, number: void(session),
    state.FORFEIT_REMEDY: _forfeit,
    state.PLAY_ON_REMEDY: _play_on,
}

NUMBER = {"dispute": state.DISPUTE_NUMBER}
TEXTED = {**NUMBER, "text": state.DISPUTE_TEXT}
DISPUTE = TableDeed(
    {
        "version": whole(1, about="the version that the dispute is about"),
        "text": state.DISPUTE_TEXT,
        "field": optional(state.DISPUTED_FIELD),
    },
    unlisted,
    dispute_refusal,
    dispute,
    BY_SEAT,
    after_the_end=True,
)
WITHDRAW_DISPUTE = TableDeed(NUMBER, withdraw_dispute_offers, withdraw_dispute_refusal, withdraw_dispute, BY_SEAT, after_the_end=True)
STATE_SIDE = TableDeed(TEXTED, unlisted, state_side_refusal, state_side, BY_SEAT, after_the_end=True)
ATTACH_REPORT = TableDeed({**NUMBER, "report": state.REPORT}, unlisted, attach_report_refusal, attach_report, BY_SYSTEM, after_the_end=True)
RULE_DISPUTE = TableDeed(
    {
        **TEXTED,
        "verdict": known(state.VERDICTS, "a verdict: upheld or rejected"),
        "remedy": known(state.REMEDIES, "a remedy: none, void, forfeit or play_on"),
        "seat": optional(described(ANY_SEAT, "the seat that forfeits")),
        "version": optional(whole(1, about="the version from which another match goes on")),
    },
    unlisted,
    rule_dispute_refusal,
    rule_dispute,
    BY_REFEREE,
    after_the_end=True,
)
TAKE_DISPUTE = TableDeed(NUMBER, unlisted, take_dispute_refusal, take_dispute, BY_REFEREE, after_the_end=True)
ACCEPT_RULING = TableDeed(NUMBER, each_dispute("accept_ruling"), accept_ruling_refusal, accept_ruling, BY_SEAT, after_the_end=True)
APPEAL = TableDeed(TEXTED, unlisted, appeal_refusal, appeal, BY_SEAT, after_the_end=True)
ESCALATE_DISPUTE = TableDeed(
    NUMBER, each_dispute("escalate_dispute"), escalate_dispute_refusal, escalate_dispute, BY_SYSTEM, after_the_end=True
)
LAPSE_DISPUTE = TableDeed(NUMBER, each_dispute("lapse_dispute"), lapse_dispute_refusal, lapse_dispute, BY_SYSTEM, after_the_end=True)
END_FREEZE = TableDeed(NUMBER, each_dispute("end_freeze"), end_freeze_refusal, end_freeze, BY_SYSTEM)
CLOSE_APPEAL = TableDeed(NUMBER, each_dispute("close_appeal"), close_appeal_refusal, close_appeal, BY_SYSTEM, after_the_end=True)
