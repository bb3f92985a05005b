"""Forks: a practice match begins from a position of a match that is over (FRK)."""

from __future__ import annotations

from games.kernel import RESTORED, Action, Refusal, no
from games.schema import described, mapping, optional
from games.sentences import joined
from table.creating import CODE_WANTED, REQUESTED, announce, request_refusal, start_if_full
from table.labels import GIVEN as LABELS_GIVEN
from table.session import Session, TableDeed, unlisted
from table.settings import CLOCK_GIVEN, DISPUTE_DAYS, SIGNED_GIVEN, SPECTATORS_GIVEN, TIME_OUT_GIVEN
from table.state import MATCH_ID, NEW, SEAT, VERSION

FORK = "fork_match"


def fork_match_refusal(session: Session, player: str, action: Action) -> Refusal | None:
    """Return why a fork is refused, or None (TBL-CRE-01, TBL-FRK-01, TBL-FRK-02, TBL-CRE-03, TBL-CLK-01, TBL-TIM-01, TBL-PRV-01)."""
    if session.table["phase"] != NEW:
        return no("already_created", "TBL-CRE-01")
    origin = session.new.origin
    assert origin is not None, "whoever forks a match knows where it begins"
    if not origin.over:
        return no("origin_not_over", "TBL-FRK-01", match=origin.match)
    if origin.document["outcome"] is not None:
        return no("nothing_to_play", "TBL-FRK-01", version=origin.version)
    seats: list[str] = origin.document["seats"]
    if sorted(action["seats"]) != sorted(seats):
        return no("other_seats", "TBL-FRK-02", seats=joined(sorted(seats)))
    return request_refusal(player, action)


def fork_match(session: Session, player: str, action: Action) -> None:
    """Publish what every new match publishes, name the origin, and bring its document back, with what was remembered then.

    (TBL-FRK-01, TBL-FRK-03, TBL-FRK-04, TBL-CRE-02, TBL-SEA-06)
    """
    origin = session.new.origin
    assert origin is not None, "whoever forks a match knows where it begins"
    announce(session, player, action, origin={"match": origin.match, "version": origin.version, "digest": origin.digest})
    session.emit(RESTORED, version=origin.version, document=origin.document, memory=origin.memory)
    start_if_full(session)


FORK_MATCH = TableDeed(
    {
        "fork_of": described(MATCH_ID, "the match that is over from which this one begins"),
        "at": described(VERSION, "the version of it"),
        "seats": mapping(SEAT, REQUESTED, about="who takes which seat"),
        "code": optional(CODE_WANTED),
        "clock": optional(CLOCK_GIVEN),
        "time_out": optional(TIME_OUT_GIVEN),
        "spectators": optional(SPECTATORS_GIVEN),
        "dispute_days": optional(DISPUTE_DAYS),
        "signed": optional(SIGNED_GIVEN),
        **LABELS_GIVEN,
    },
    unlisted,
    fork_match_refusal,
    fork_match,
)
