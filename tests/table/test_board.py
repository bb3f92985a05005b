"""The table as text."""

from __future__ import annotations

from table.board import WIDTH, board
from table.rules import carry_out
from table.session import Session
from tests.tally import TALLY

ADA, BOB = "p" + "a" * 16, "p" + "b" * 16


def test_the_roster_is_shown_while_seats_are_open() -> None:
    session = Session(TALLY)
    seats = {"one": "me", "two": "open", "three": "ai:greedy", "four": "open"}
    carry_out(session, ADA, {"type": "create_match", "game": "tally", "seats": seats, "options": {}})
    lines = board(session.table)
    assert " ".join(lines) == f"Waiting for players. four: open, one: {ADA}, three: greedy, two: open "
    assert all(len(line) <= WIDTH for line in lines)
    for seat in ("two", "four"):
        carry_out(session, BOB, {"type": "take_seat", "seat": seat})
    assert board(session.table) == []
