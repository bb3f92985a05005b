"""Playing on by a ruling: another match goes on from an earlier position of one that ends (DIS-08, DIS-13).

What was hidden at that position is still in play in the new match. So the match that ends stays as hidden as it was, and its secret is
not told, until the new one is over.
"""

from __future__ import annotations

from typing import Any

from games.kernel import RESTORED, Action, Refusal, no, only
from games.schema import described
from table.labels import chosen_labels
from table.progress import is_over
from table.session import BY_SYSTEM, Session, TableDeed, unlisted
from table.settings import ACCEPTED, ALL, NONE
from table.state import DISPUTE_NUMBER, MATCH_ID, NEW, VERSION, is_sealed
from table.unseen import drawn_anew

CONTINUE = "continue_match"
CARRIED_ON = ("creator", "roster", "clock", "time_out", "spectators", "dispute_days", "signed", "practice", "rated", "name", "tags")
"""What the match that goes on has from the table of the one before."""


def continue_match_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why going on from another match is refused, or None (TBL-CRE-01)."""
    return no("already_created", "TBL-CRE-01") if session.table["phase"] != NEW else None


def continue_match(session: Session, system: str, action: Action) -> None:
    """Begin a match from an earlier position of one that ends by a ruling, with its seats, settings and players.

    The dice and the clocks are new, everybody plays their own seat, and what nobody had seen is drawn anew
    (TBL-DIS-13, TBL-CRE-02, TBL-LBL-02, TBL-SIG-03).
    """
    origin = session.new.origin
    assert origin is not None, "whoever lets a match go on knows where it begins"
    table = origin.table
    named = {"match": origin.match, "version": origin.version, "digest": origin.digest, "dispute": action["dispute"]}
    given: dict[str, Any] = {"clock": table["clock"], "time_out": table["time_out"]} if table["clock"]["kind"] != NONE else {}
    if len(table["clock"]) > 1:
        given["clock"] = table["clock"]
    if table["spectators"] != ALL:
        given["spectators"] = table["spectators"]
    if table["signed"] != ACCEPTED:
        given["signed"] = table["signed"]
    given |= {name: True for name in ("practice", "rated") if table[name]}
    given |= chosen_labels(table)
    session.emit(
        "match_created",
        game=session.game.id,
        creator=table["creator"],
        commitment=session.new.commitment,
        roster=table["roster"],
        origin=named,
        dispute_days=table["dispute_days"],
        **given,
    )
    document = drawn_anew(session.game, origin.document, session.now.chance, origin.memory)
    session.emit(RESTORED, version=origin.version, document=document, memory=origin.memory)
    session.emit("seats_filled")


def begin_continuation_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why beginning the match that goes on is refused, or None (TBL-DIS-13)."""
    continued = session.table["continued"]
    return no("not_continued", "TBL-DIS-13") if continued is None or continued["begun"] else None


def begin_continuation(session: Session, system: str, action: Action) -> None:
    """Note that the match which goes on from this one has been created (TBL-DIS-13)."""
    session.emit("continuation_begun")


def open_record_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why opening a match to everybody is refused, or None (TBL-DIS-13). Whoever asks knows that the match that goes on from it is
    over."""
    return None if is_sealed(session.table) else no("not_continued", "TBL-DIS-13")


def open_record(session: Session, system: str, action: Action) -> None:
    """Open a match to everybody, and tell its secret: the match that went on from it is over (TBL-DIS-13)."""
    session.emit("record_opened")


def open_origin_refusal(session: Session, system: str, action: Action) -> Refusal | None:
    """Return why opening the match from which this one went on is refused, or None (TBL-DIS-13)."""
    origin = session.table["origin"]
    there = origin is not None and "dispute" in origin and "opened" not in origin
    return None if there and is_over(session) and not is_sealed(session.table) else no("not_continued", "TBL-DIS-13")


def open_origin(session: Session, system: str, action: Action) -> None:
    """Note that the match from which this one went on is open to everybody (TBL-DIS-13)."""
    session.emit("origin_opened")


CONTINUE_MATCH = TableDeed(
    {
        "continues": described(MATCH_ID, "the match that ends by a ruling"),
        "at": described(VERSION, "the version of it from which this one goes on"),
        "dispute": DISPUTE_NUMBER,
    },
    unlisted,
    continue_match_refusal,
    continue_match,
    BY_SYSTEM,
)
BEGIN_CONTINUATION = TableDeed(
    {}, only("begin_continuation"), begin_continuation_refusal, begin_continuation, BY_SYSTEM, after_the_end=True
)
OPEN_RECORD = TableDeed({}, only("open_record"), open_record_refusal, open_record, BY_SYSTEM, after_the_end=True)
OPEN_ORIGIN = TableDeed({}, only("open_origin"), open_origin_refusal, open_origin, BY_SYSTEM, after_the_end=True)
