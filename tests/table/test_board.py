"""The table as text."""

from __future__ import annotations

import re

from table.board import WIDTH, board
from table.document import Table
from table.rules import carry_out
from table.session import Session
from tests.tally import TALLY
from web.languages import words_of

ADA, BOB, CYD = ("p" + letter * 16 for letter in "abc")


def name(player: str) -> str | None:
    return {ADA: "Ada", BOB: 'Bob "the open"', CYD: "Cyd"}[player]


def test_the_roster_is_shown_with_names() -> None:
    session = Session(TALLY)
    seats = {"one": "me", "two": "open", "three": "ai:greedy", "four": f"player:{BOB}"}
    create = {"type": "create_match", "game": "tally", "seats": seats, "options": {}, "clock": {"kind": "none"}}
    carry_out(session, ADA, create)
    lines = board(session.table, name)
    assert " ".join(lines) == r'Waiting for players. four: kept for "Bob \"the open\"", one: "Ada", three: greedy, two: open '
    assert all(len(line) <= WIDTH for line in lines)
    carry_out(session, BOB, {"type": "take_seat", "seat": "four"})
    carry_out(session, CYD, {"type": "take_seat", "seat": "two"})
    assert " ".join(board(session.table, name)) == (r'four: "Bob \"the open\"", one: "Ada", three: greedy, two: "Cyd" ')
    assert board(session.table, lambda _: None)[0].startswith("four: deleted player, one: deleted player, three: greedy")


def test_kept_seats_and_a_closed_match_are_named() -> None:
    session = Session(TALLY)
    seats = {"one": "me", "two": f"player:{BOB}"}
    carry_out(session, ADA, {"type": "create_match", "game": "tally", "seats": seats, "options": {}})
    assert " ".join(board(session.table, name)) == r'Waiting for players. one: "Ada", two: kept for "Bob \"the open\"" '
    assert " ".join(board(session.table, lambda _: None)) == "Waiting for players. one: deleted player, two: kept for deleted player "
    carry_out(session, ADA, {"type": "close_match"})
    assert board(session.table, name) == ["The match was closed before it began.", ""]


def test_time_offers_votes_and_substitutes_are_told() -> None:
    session = Session(TALLY)
    create = {"type": "create_match", "game": "tally", "seats": dict.fromkeys(("one", "two", "three"), "me"), "options": {}}
    carry_out(session, ADA, {**create, "clock": {"kind": "bank", "seconds": 93784, "delay": 5}, "time_out": {"policy": "wait"}})
    seats = session.table["clocks"]["seats"]
    clocks = {"one": {**seats["one"], "since": 5}, "two": {**seats["two"], "bank": 3_600_999}, "three": {**seats["three"], "bank": 59_999}}
    table: Table = {**session.table, "clocks": {"returned": 0, "seats": clocks}}
    lines = board(table, name)
    assert lines[0] == 'one: "Ada", three: "Ada", two: "Ada"'
    assert " ".join(lines[1:-1]) == "Time left: one 1 d 2:03:09 when its clock began to run, three 1:04, two 1:00:05."
    table = {
        **table,
        "phase": "paused",
        "clocks": {"returned": 0, "seats": {}},
        "substitutes": {"two": "greedy"},
        "offers": {
            "takeback": {"by": "two", "version": 4, "accepted": []},
            "draw": {"by": "one", "accepted": ["two", "three"]},
        },
        "handovers": {"three": BOB},
        "votes": {"one": {"until": 9, "votes": {}}, "two": {"until": 9, "votes": {"three": "void", "one": "forfeit"}}},
    }
    lines = board(table, name)
    assert all(len(line) <= WIDTH for line in lines)
    assert lines[0] == 'one: "Ada", three: "Ada", two: "Ada", played by greedy'
    assert " ".join(lines[1:]) == (
        "The match is paused. one offers a draw, accepted by two, three. two offers a takeback to version 4. "
        r'three is offered to "Bob \"the open\"". Vote about one: nobody has voted yet. '
        "Vote about two: one is for forfeit, three is for void. "
    )
    russian = " ".join(board(table, name, words_of("ru")))
    assert set(re.findall("[A-Za-z]{3,}", russian)) == {"one", "two", "three", "Ada", "Bob", "the", "open"}, "names of players stay"
