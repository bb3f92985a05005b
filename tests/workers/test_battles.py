"""Battles of War of Civilizations among people, AI seats and the system: who is beaten at home is out, and the match goes on by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from events import play, players, recall
from events.entries import parse
from events.platform import Platform
from events.projections import rebuild
from games.kernel import SYSTEM, State
from service.app import create_app
from service.settings import Settings
from tests.conftest import within
from tests.events.keyspace import projections
from tests.prepared import begun, position
from tests.service.conftest import Caller
from tests.service.test_negotiating import KEPT, NOTES, offer
from tests.workers.conftest import ANN, TEN_SECONDS, Hire, check

REAL = "workers.run"
SEATS = ("fox", "rhino", "tiger")
END_TURN = {"type": "end_turn"}
STRONG, WEAK = {"type": "bid", "ammo": 9, "cards": []}, {"type": "bid", "ammo": 1, "cards": []}


def assault(loser: str, *seats: str, hands: dict[str, int] | None = None) -> State:
    """Fox's fleet lies before another seat's home base, in fox's turn."""
    patch = {"players": {"fox": {"ammo": 9, "fleets": {f"{loser}_haven": {"destroyer": 4}}}}}
    return position(seats or SEATS, patch, hands)


def attack(loser: str) -> list[dict[str, Any]]:
    move = {"type": "move", "from": f"{loser}_haven", "to": f"{loser}_home", "ships": {"destroyer": 4}}
    return [{"type": "begin", "action": "move"}, move]


@pytest.fixture
def people(lonely: Platform) -> dict[str, Caller]:
    """Whoever sits at the table, by seat, over HTTP."""
    app = create_app(lonely, Settings(log_requests=False))
    found = {}
    for seat in SEATS:
        player, key = players.register(lonely, seat)
        found[seat] = Caller(app.test_client(), key, player.id)
    return found


@pytest.fixture
def laid(lonely: Platform, people: dict[str, Caller]) -> Callable[..., tuple[Platform, str]]:
    """Begin a match in a position; each seat is held by its own player, unless it is an AI's."""

    def begin(state: State, **seats: str) -> tuple[Platform, str]:
        others = {seat: seats.get(seat, "open") for seat in state["seats"][1:]}
        prepared, match = begun(lonely, state, people["fox"].id, **others)
        for seat, holder in others.items():
            if holder == "open":
                assert people[seat].post(f"/v1/matches/{match}/seats/{seat}").status_code == 200
        return prepared, match

    return begin


def listed(caller: Caller, query: str) -> list[str]:
    return [match["id"] for match in caller.get(f"/v1/matches?{query}").json["matches"]]


def acted(caller: Caller, match: str, action: Any) -> Any:
    answer = caller.act(match, action)
    assert answer.status_code == 200, answer.json
    return answer.json


@pytest.mark.parametrize("last", ["attacker", "defender"])
@pytest.mark.parametrize(("loser", "other"), [("rhino", "tiger"), ("tiger", "rhino")])
def test_a_seat_beaten_at_home_is_passed_over_from_then_on(
    lonely: Platform, hire: Hire, people: dict[str, Caller], laid: Callable[..., Any], loser: str, other: str, last: str
) -> None:
    """Be it the next to act or the last of the round, and whoever has bid last."""
    hire(REAL)
    prepared, match = laid(assault(loser))
    acted(people["fox"], match, attack(loser))
    bids = [("fox", STRONG), (loser, WEAK)]
    for seat, bid in bids if last == "defender" else bids[::-1]:
        told = acted(people[seat], match, bid)
    assert "seat_eliminated" in [event["type"] for event in told["entries"][0]["events"]]
    assert (told["to_act"], bool(told["choices"])) == (["fox"], last == "attacker")
    out = people[loser]
    assert [listed(out, query) for query in ("to_act=me", "player=me", "status=playing")] == [[], [match], [match]]
    assert out.get(f"/v1/matches/{match}/choices").json["choices"] == []
    assert out.get(f"/v1/matches/{match}/state").json["view"]["players"][loser]["eliminated"]
    assert acted(people["fox"], match, END_TURN)["to_act"] == [other]
    refused = out.act(match, END_TURN)
    assert (refused.status_code, refused.json["code"]) == (422, "not_your_turn")
    assert [listed(people[seat], "to_act=me") for seat in (other, loser)] == [[match], []]
    assert acted(people[other], match, END_TURN)["to_act"] == [SYSTEM]
    within(TEN_SECONDS, lambda: recall.position(lonely, match).to_act == ["fox"])
    standing = out.get(f"/v1/matches/{match}").json
    assert [standing[name] for name in ("round", "phase", "active", "to_act", "outcome")] == [2, "turn", "fox", ["fox"], None]
    in_lists = projections(lonely.store.wire)
    rebuild(lonely)
    assert projections(lonely.store.wire) == in_lists
    check(prepared, match)


def test_the_last_seat_left_has_won_and_nobody_is_asked_any_more(
    lonely: Platform, people: dict[str, Caller], laid: Callable[..., Any]
) -> None:
    prepared, match = laid(assault("rhino", "fox", "rhino"))
    acted(people["fox"], match, [*attack("rhino"), STRONG])
    told = acted(people["rhino"], match, WEAK)
    assert (told["phase"], told["to_act"], told["choices"]) == ("over", [], [])
    standing = people["tiger"].get(f"/v1/matches/{match}").json
    assert (standing["status"], standing["outcome"]["winners"], standing["outcome"]["reason"]) == ("over", ["fox"], "last_survivor")
    assert standing["secret"]
    for seat in ("fox", "rhino"):
        assert [listed(people[seat], query) for query in ("to_act=me", "status=playing", "player=me&status=over")] == [[], [], [match]]
        assert people[seat].act(match, END_TURN).json["code"] == "match_over"
    check(prepared, match)


def test_a_job_for_a_seat_that_has_been_eliminated_since_does_nothing(
    lonely: Platform, hire: Hire, people: dict[str, Caller], laid: Callable[..., Any], tmp_path: Path
) -> None:
    """Jobs for rhino wait in the queue when it is beaten; then they are delivered, and the match goes on without it."""
    prepared, match = laid(assault("rhino"), rhino="ai:random", tiger="ai:random")
    acted(people["fox"], match, attack("rhino"))
    acted(people["fox"], match, STRONG)
    beaten = play.play(lonely, match, "rhino", [WEAK])
    assert beaten.position.document["players"]["rhino"]["eliminated"]
    assert lonely.jobs.depth() == 2
    hire(REAL)
    within(TEN_SECONDS, lambda: lonely.jobs.depth() == 0)
    acted(people["fox"], match, END_TURN)
    within(TEN_SECONDS, lambda: listed(people["fox"], "to_act=me") == [match])
    assert people["fox"].get(f"/v1/matches/{match}").json["round"] == 2
    since = [parse(wire).actor for wire in lonely.store.read_all(match, beaten.last)]
    assert (since[0], since[-1], set(since)) == ("fox", SYSTEM, {"fox", "tiger", SYSTEM})
    assert [line["event"] for line in logged(tmp_path, match) if line["actor"] == "rhino"] == ["step_past", "step_past"]
    check(prepared, match)


# What a worker logs


def test_a_worker_logs_nothing_of_what_its_seats_seal(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    made = [begun(lonely, assault("rhino", hands={"rhino": 2}), ANN, rhino="ai:random")[1] for _ in range(8)]
    for match in made:
        play.play(lonely, match, "fox", attack("rhino"))
    hire(REAL)
    within(TEN_SECONDS, lambda: all(recall.position(lonely, match).to_act == ["fox"] for match in made))
    sealed = [recall.position(lonely, match).document["battle"]["bids"]["rhino"] for match in made]
    assert any(bid != sealed[0] for bid in sealed)
    assert_alike(tmp_path, made)


def test_a_worker_logs_nothing_of_a_note(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    hire(REAL)
    made = [begun(lonely, KEPT, ANN, rhino="ai:random")[1] for _ in NOTES]
    for match, note in zip(made, NOTES.values(), strict=True):
        play.play(lonely, match, "fox", [offer(note)])
    within(TEN_SECONDS, lambda: all(recall.position(lonely, match).to_act == ["fox"] for match in made))
    assert_alike(tmp_path, made)


def assert_alike(folder: Path, made: list[str]) -> None:
    """Of each match the same is logged, but for its id and for times."""
    lines = within(TEN_SECONDS, lambda: (found := [done(folder, match) for match in made]) and all(found) and found)
    assert lines == lines[:1] * len(made)


def done(folder: Path, match: str) -> list[dict[str, Any]]:
    lines = [line for line in logged(folder, match) if line["event"] == "step_done"]
    return [{name: what for name, what in line.items() if name not in ("match", "ms", "timestamp")} for line in lines]


def logged(folder: Path, match: str) -> list[dict[str, Any]]:
    """What the worker has logged of a match, in whole lines."""
    lines = [json.loads(line) for line in (folder / "worker.log").read_bytes().rpartition(b"\n")[0].splitlines()]
    allowed = {"match", "version", "actor", "first", "last", "ms", "event", "level", "timestamp", "code", "waited_ms"}
    assert all(set(line) <= allowed for line in lines)
    return [line for line in lines if line["match"] == match]
