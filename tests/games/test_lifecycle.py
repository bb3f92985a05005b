"""The life-cycle events: every game has them, with the same fields."""

from __future__ import annotations

from typing import Any

import pytest

from games.documents import copied
from games.lifecycle import lifecycle
from games.schema import ids, record, whole
from tests.games.matches import ALL

SHARED = {kind: set(fields) for kind, (_, fields) in lifecycle(ids([]), [], [], record({}), whole()).items()}


@pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in ALL])
def test_the_life_cycle_events_have_the_fields_that_all_games_share(game):
    assert {kind: set(game.events.get(kind, ())) for kind in SHARED} == SHARED
    assert SHARED.keys() <= game.facts.keys()


SEAT = {"type": "string", "enum": ["red", "blue"], "description": "a seat"}
SEATS = {"type": "array", "items": SEAT}
PHASE = {"type": "string", "enum": ["setup", "moves"], "description": "the kind of decision that is due"}
ROUND = {"type": "integer", "minimum": 1, "description": "the number of the round, from 1"}
ACTIVE = {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, {"type": "null"}], "description": "the seat whose turn it is, or null"}
ACTOR = {"type": "string", "enum": ["red", "blue", "system"], "description": "a seat, or the system"}


def two_seats(**more: Any) -> Any:
    return lifecycle(ids(["red", "blue"], "a seat"), ["setup", "moves"], ["last_seat"], record({}, "the document"), whole(0), more)


def test_the_fields_of_the_life_cycle_have_their_schemas():
    found = {kind: {name: shape.schema for name, shape in fields.items()} for kind, (_, fields) in two_seats().items()}
    assert found == {
        "match_prepared": {"document": record({}, "the document").schema},
        "match_restored": {
            "version": {"type": "integer", "minimum": 1, "description": "the version of the match whose document this is"},
            "document": record({}, "the document").schema,
            "memory": {
                "type": "object",
                "additionalProperties": True,
                "description": "what everybody who watched knew beyond the document at that version",
            },
        },
        "match_started": {"seats": {**SEATS, "description": "in turn order"}},
        "round_started": {"round": ROUND},
        "turn_started": {"seat": SEAT, "phase": PHASE},
        "phase_changed": {
            "phase": PHASE,
            "active": ACTIVE,
            "to_act": {"type": "array", "items": ACTOR, "description": "who must decide now"},
        },
        "turn_ended": {"seat": SEAT},
        "round_ended": {"round": ROUND},
        "seat_withdrawn": {"seat": SEAT},
        "match_ended": {
            "winners": {**SEATS, "description": "one seat, or those that share the victory; none if the match does not count"},
            "reason": {"type": "string", "enum": ["last_seat"], "description": "why the match is over"},
            "scores": {
                "type": "object",
                "propertyNames": {"enum": ["red", "blue"]},
                "additionalProperties": {"type": "integer", "minimum": 0},
                "description": "points by seat; empty after a draw or a match that does not count",
            },
        },
    }


@pytest.mark.parametrize(
    ("kind", "fields", "changes"),
    [
        ("match_prepared", {"document": {"seats": ["blue"]}}, None),
        ("match_restored", {"version": 3, "document": {"seats": ["blue"]}, "memory": {"seen": [1]}}, None),
        ("match_started", {"seats": ["blue", "red"]}, {"seats": ["blue", "red"]}),
        ("round_started", {"round": 4}, {"round": 4}),
        ("turn_started", {"seat": "blue", "phase": "moves"}, {"active": "blue", "to_act": ["blue"], "phase": "moves"}),
        (
            "phase_changed",
            {"phase": "moves", "active": "red", "to_act": ["red", "blue"]},
            {"phase": "moves", "active": "red", "to_act": ["red", "blue"]},
        ),
        ("turn_ended", {"seat": "red"}, {}),
        ("seat_withdrawn", {"seat": "red"}, {}),
        ("round_ended", {"round": 4}, {"phase": "round_end", "active": None, "to_act": ["system"]}),
        (
            "match_ended",
            {"winners": ["red"], "reason": "last_seat", "scores": {"red": 1}},
            {
                "outcome": {"winners": ["red"], "reason": "last_seat", "scores": {"red": 1}},
                "phase": "over",
                "active": None,
                "to_act": [],
            },
        ),
        (
            "match_ended",
            {"winners": [], "reason": "void", "scores": {}},
            {"outcome": {"winners": [], "reason": "void", "scores": {}}, "phase": "over", "active": None, "to_act": []},
        ),
    ],
)
def test_each_event_of_the_life_cycle_changes_what_the_conventions_say(kind, fields, changes):
    before = {"seats": ["red", "blue"], "round": 3, "phase": "setup", "active": "red", "to_act": ["red"], "outcome": None}
    fold, _ = two_seats()[kind]
    state = dict(before)
    fold(state, {"type": kind, **fields}, copied)
    assert state == (fields["document"] if changes is None else {**before, **changes})
    for name, value in fields.items():
        if isinstance(value, (list, dict)):  # the document shares nothing with the event
            assert all(kept is not value for kept in (state.get(name), (state.get("outcome") or {}).get(name)))


def test_a_game_adds_to_what_an_event_changes():
    def clear(state: Any, event: Any, own: Any) -> None:
        """The record of the turn is cleared."""
        own(state, "marks").clear()
        state["cleared_for"] = [state["active"], event["seat"]]

    shared, marks = two_seats(turn_started=clear), [1]
    fold, fields = shared["turn_started"]
    state = {"marks": marks}
    fold(state, {"type": "turn_started", "seat": "red", "phase": "moves"}, copied)
    assert state == {"marks": [], "active": "red", "to_act": ["red"], "phase": "moves", "cleared_for": ["red", "red"]}
    assert marks == [1]
    assert fields.keys() == {"seat", "phase"}
    assert fold.__doc__ == "The seat is active and decides in this phase. The record of the turn is cleared."
    assert shared["turn_ended"] == two_seats()["turn_ended"]
