"""The table as text."""

from __future__ import annotations

from table.board import WIDTH, board
from table.rules import carry_out
from table.session import Session
from tests.tally import TALLY

ADA, BOB = "p" + "a" * 16, "p" + "b" * 16


def name(player: str) -> str | None:
    return {ADA: "Ada", BOB: 'Bob "the open"'}[player]


def test_the_roster_is_shown_with_names() -> None:
    session = Session(TALLY)
    seats = {"one": "me", "two": "open", "three": "ai:greedy", "four": "open"}
    carry_out(session, ADA, {"type": "create_match", "game": "tally", "seats": seats, "options": {}})
    lines = board(session.table, name)
    assert " ".join(lines) == 'Waiting for players. four: open, one: "Ada", three: greedy, two: open '
    assert all(len(line) <= WIDTH for line in lines)
    for seat in ("two", "four"):
        carry_out(session, BOB, {"type": "take_seat", "seat": seat})
    assert " ".join(board(session.table, name)) == (r'four: "Bob \"the open\"", one: "Ada", three: greedy, two: "Bob \"the open\"" ')
    assert board(session.table, lambda _: None)[0].startswith("four: deleted player, one: deleted player, three: greedy")


def test_kept_seats_and_a_closed_match_are_named() -> None:
    session = Session(TALLY)
    seats = {"one": "me", "two": f"player:{BOB}"}
    carry_out(session, ADA, {"type": "create_match", "game": "tally", "seats": seats, "options": {}})
    assert " ".join(board(session.table, name)) == r'Waiting for players. one: "Ada", two: kept for "Bob \"the open\"" '
    assert " ".join(board(session.table, lambda _: None)) == "Waiting for players. one: deleted player, two: kept for deleted player "
    carry_out(session, ADA, {"type": "close_match"})
    assert board(session.table, name) == ["The match was closed before it began.", ""]
