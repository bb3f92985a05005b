"""The settings of a match at the edges of their bounds, and the rematch, which has the same ones."""

from __future__ import annotations

from typing import Any

import pytest

from games.kernel import Refused
from table import rules
from table.deeds import DEEDS
from table.progress import present
from table.rematch import rematch
from table.session import BY_SEAT, NewMatch, Now, Session
from table.votes import voters
from tests.tally import TALLY

ADA, BEN = "p" + "a" * 16, "p" + "b" * 16
MATCH = "m" + "c" * 16
DAY = 86_400
SECONDS = {"kind": "per_action", "seconds": 60}


def created(seats: dict[str, str], **settings: Any) -> Session:
    """Return a match that Ada has created. Raises Refused."""
    session = Session(TALLY, new=NewMatch("5a" * 32, expires=1), now=Now(1))
    rules.carry_out(session, ADA, {"type": "create_match", "game": "tally", "seats": seats, "options": {}, **settings})
    return session


BOUNDS: list[tuple[str, Any, int, int]] = [
    ("clock.seconds", lambda n: {"clock": {"kind": "per_action", "seconds": n}}, 5, 60 * DAY),
    ("clock.seconds", lambda n: {"clock": {"kind": "bank", "seconds": n, "delay": 4}}, 5, 60 * DAY),
    ("clock.increment", lambda n: {"clock": {"kind": "bank", "seconds": 5, "increment": n}}, 0, DAY),
    ("clock.delay", lambda n: {"clock": {"kind": "bank", "seconds": 5, "delay": n}}, 0, DAY),
    ("clock.hours", lambda n: {"clock": {"kind": "days", "hours": n}}, 1, 60 * 24),
    ("clock.vacation_days", lambda n: {"clock": {"kind": "days", "hours": 1, "vacation_days": n}}, 0, 60),
    ("time_out.in_a_row", lambda n: {"clock": SECONDS, "time_out": {"in_a_row": n}}, 1, 10),
    ("spectators.delay", lambda n: {"spectators": {"delay": n}}, 1, 500),
]


@pytest.mark.parametrize(("name", "settings", "least", "most"), BOUNDS)
def test_a_setting_may_be_at_its_bounds_and_not_beyond_them(name: str, settings: Any, least: int, most: int) -> None:
    for number in (least, most):
        chosen = created({"one": "me", "two": "me"}, **settings(number)).table
        part, field = name.split(".")
        assert chosen[part][field] == number  # type: ignore[literal-required]
    for number in (least - 1, most + 1):
        if number >= 0:
            with pytest.raises(Refused) as refused:
                created({"one": "me", "two": "me"}, **settings(number))
            assert (refused.value.code, refused.value.refusal.facts["setting"]) == ("bad_settings", name)


def test_a_bank_may_be_empty_only_with_a_delay() -> None:
    assert created({"one": "me", "two": "me"}, clock={"kind": "bank", "seconds": 0, "delay": 5}).table["clock"]["seconds"] == 0
    for delay in ({}, {"delay": 4}):
        with pytest.raises(Refused) as refused:
            created({"one": "me", "two": "me"}, clock={"kind": "bank", "seconds": 0, **delay})
        assert refused.value.refusal.facts["reason"] == "it may be 0 only with a delay of at least 5 seconds"


def test_a_rematch_has_the_same_settings_and_everybody_has_the_next_seat() -> None:
    settings: dict[str, Any] = {
        "clock": SECONDS,
        "time_out": {"policy": "wait"},
        "spectators": {"delay": 3},
        "signed": "required",
        "order": ["two", "three", "one"],
    }
    session = created({"one": "me", "two": "open", "three": "ai:random"}, **settings)
    rules.carry_out(session, BEN, {"type": "take_seat", "seat": "two"})
    asked = rematch(session.table, session.state, BEN, MATCH)
    assert asked == {
        "type": "create_match",
        "game": "tally",
        "seats": {"two": f"player:{ADA}", "three": "me", "one": "ai:random"},
        "options": session.state["options"],
        "order": ["two", "three", "one"],
        "rematch_of": MATCH,
        "clock": SECONDS,
        "time_out": {"policy": "wait", "level": "greedy", "in_a_row": 3, "then": "substitute"},
        "spectators": {"delay": 3},
        "dispute_days": 3,
        "signed": "required",
    }
    again = Session(TALLY, new=NewMatch("5a" * 32, expires=1), now=Now(1))
    rules.carry_out(again, BEN, asked)
    assert {name: again.table[name] for name in ("clock", "time_out", "spectators", "signed")} == {  # type: ignore[literal-required]
        name: session.table[name]  # type: ignore[literal-required]
        for name in ("clock", "time_out", "spectators", "signed")
    }


def test_a_rematch_of_a_match_without_settings_has_none() -> None:
    session = created({"one": "me", "two": "me"})
    assert rematch(session.table, session.state, ADA, MATCH).keys() == {
        *("type", "game", "seats", "options", "order", "rematch_of", "clock", "dispute_days")
    }


def test_what_a_seat_does_at_the_table_is_told_from_what_a_player_does_there_and_from_play() -> None:
    assert {kind for kind in DEEDS if rules.by_seat({"type": kind})} == {kind for kind, deed in DEEDS.items() if deed.by == BY_SEAT}
    assert not any(rules.by_seat(action) for action in ({"type": "roll"}, {"type": []}, {}, "resign", None))


def test_who_votes_about_a_seat() -> None:
    """Neither the seat itself nor one about which there is a vote, too (TBL-VOT-02)."""
    session = created({"one": "me", "two": "me", "three": "me"}, clock=SECONDS, time_out={"policy": "wait"})
    session.emit("vote_opened", seat="one", until=9)
    assert (voters(session, "one"), present(session)) == (["two", "three"], ["one", "two", "three"])
    session.emit("vote_opened", seat="two", until=9)
    assert (voters(session, "one"), voters(session, "two")) == (["three"], ["three"])


@pytest.mark.parametrize(("start", "end", "returned"), [(5, 5, False), (4, 5, True), (0, 10, True), (0, 11, False)])
def test_an_outage_has_a_length_and_is_over_before_it_is_given_back(start: int, end: int, returned: bool) -> None:
    session = created({"one": "me", "two": "me"}, clock=SECONDS)
    session.table = {**session.table, "clocks": {"returned": 0, "seats": {"one": {"bank": 0, "free": 9, "since": 1, "late": 0}}}}
    session.now = Now(10)
    refusal = DEEDS["return_time"].refusal(session, "system", {"type": "return_time", "from": start, "to": end})
    assert (refusal is None) == returned


@pytest.mark.parametrize("fact", ["seat_resigned", "seat_forfeited"])
def test_no_vote_is_left_about_a_seat_that_is_out_or_by_it(fact: str) -> None:
    session = created({"one": "me", "two": "me", "three": "me"}, clock=SECONDS, time_out={"policy": "wait"})
    session.emit("vote_opened", seat="one", until=9)
    session.emit("vote_opened", seat="two", until=9)
    session.emit("vote_cast", **{"seat": "three", "about": "two", "for": "void"})
    session.emit(fact, seat="one")
    assert session.table["votes"] == {"two": {"until": 9, "votes": {"three": "void"}}}
    session.emit(fact, seat="three")
    assert session.table["votes"] == {"two": {"until": 9, "votes": {}}}
    assert DEEDS["end_vote"].offers(session, "system") == [{"type": "end_vote", "seat": "two"}]


def test_the_first_rule_that_is_broken_is_named() -> None:
    session = created({"one": "me", "two": "open"}, clock=SECONDS)
    refusal = DEEDS["return_time"].refusal(session, "system", {"type": "return_time", "from": 0, "to": 1})
    assert refusal is not None
    assert refusal.code == "not_started"
    session = created({"one": "me", "two": "me"}, clock=SECONDS)
    session.emit("seat_substituted", seat="one", level="greedy", until="stretch")
    session.emit("offer_made", seat="two", what="pause")
    refusal = DEEDS["accept"].refusal(session, "one", {"type": "accept", "what": "pause"})
    assert refusal is not None
    assert refusal.code == "substituted"
