"""Battles of War of Civilizations among people, AI seats and the system: a seat beaten at home is out, and the match goes on by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from events import accounts, play, recall
from events.due import THINK
from events.platform import Platform
from events.rebuild import rebuild
from games.kernel import SYSTEM, State
from record.entries import parse
from sdk.python.warledger_client import in_the_game
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import within
from tests.events.keyspace import projections
from tests.prepared import begun, position
from tests.service.conftest import Caller
from tests.service.test_negotiating import KEPT, NOTES, offer
from tests.workers.conftest import ANN, LOGGED, PATIENCE, Hire, check

REAL = "workers.run"
SEATS = ("fox", "rhino", "tiger")
END_TURN = {"type": "end_turn"}
REMATCH = {"action": {"type": "rematch"}, "at_table": True}
STRONG, WEAK = {"type": "bid", "ammo": 9, "cards": []}, {"type": "bid", "ammo": 1, "cards": []}


def assault(loser: str, *seats: str, hands: dict[str, int] | None = None) -> State:
    """Return a position in fox's turn, with its fleet next to another seat's home base."""
    patch = {"players": {"fox": {"ammo": 9, "fleets": {f"{loser}_haven": {"destroyer": 4}}}}}
    return position(seats or SEATS, patch, hands)


def attack(loser: str) -> list[dict[str, Any]]:
    move = {"type": "move", "from": f"{loser}_haven", "to": f"{loser}_home", "ships": {"destroyer": 4}}
    return [{"type": "begin", "action": "move"}, move]


@pytest.fixture
def people(lonely: Platform) -> dict[str, Caller]:
    """The players over HTTP, by the seat that they take."""
    app = create_app(lonely, Settings(log_requests=False))
    found = {}
    for seat in SEATS:
        player, key = accounts.register(lonely, seat)
        found[seat] = Caller(app.test_client(), key, player.id)
    return found


@pytest.fixture
def laid(lonely: Platform, people: dict[str, Caller]) -> Callable[..., tuple[Platform, str]]:
    """Create a match in a position. Each seat has a player of its own, unless it is an AI seat."""

    def begin(state: State, **seats: str) -> tuple[Platform, str]:
        others = {seat: seats.get(seat, "open") for seat in state["seats"][1:]}
        prepared, match = begun(lonely, state, people["fox"].id, **others)
        for seat, requested in others.items():
            if requested == "open":
                assert people[seat].post(f"/v1/matches/{match}/seats/{seat}").status_code == 200
        return prepared, match

    return begin


def listed(caller: Caller, query: str) -> list[str]:
    return [match["id"] for match in caller.get(f"/v1/matches?{query}").json["matches"]]


def listings(platform: Platform) -> dict[str, Any]:
    """Return everything that is derived from entries. When the leaves of a match are due in the server's log is left out: that
    depends on when the worker has looked."""
    found = projections(platform.store.client)
    return {key: dict(content).keys() if key.endswith(":pending") else content for key, content in found.items()}


def acted(caller: Caller, match: str, action: Any) -> Any:
    answer = caller.act(match, action)
    assert answer.status_code == 200, answer.json
    return answer.json


@pytest.mark.parametrize(
    ("loser", "other", "last"),
    [
        ("rhino", "tiger", "attacker"),
        ("tiger", "rhino", "defender"),
        pytest.param("rhino", "tiger", "defender", marks=pytest.mark.soak),
        pytest.param("tiger", "rhino", "attacker", marks=pytest.mark.soak),
    ],
)
def test_a_seat_beaten_at_home_is_skipped_from_then_on(
    lonely: Platform, hire: Hire, people: dict[str, Caller], laid: Callable[..., Any], loser: str, other: str, last: str
) -> None:
    """The beaten seat may be the next or the last of the round; the attacker or the defender may bid last."""
    hire(REAL)
    prepared, match = laid(assault(loser))
    acted(people["fox"], match, attack(loser))
    bids = [("fox", STRONG), (loser, WEAK)]
    for seat, bid in bids if last == "defender" else bids[::-1]:
        answer = acted(people[seat], match, bid)
    assert "seat_eliminated" in [event["type"] for event in answer["entries"][0]["events"]]
    assert (answer["to_act"], bool(in_the_game(answer["choices"]))) == (["fox"], last == "attacker")
    out = people[loser]
    assert [listed(out, query) for query in ("to_act=me", "player=me", "status=playing")] == [[], [match], [match]]
    assert out.get(f"/v1/matches/{match}/choices").json["choices"] == []
    assert out.get(f"/v1/matches/{match}/state").json["view"]["players"][loser]["eliminated"]
    assert acted(people["fox"], match, END_TURN)["to_act"] == [other]
    refused = out.act(match, END_TURN)
    assert (refused.status_code, refused.json["code"]) == (422, "not_your_turn")
    assert [listed(people[seat], "to_act=me") for seat in (other, loser)] == [[match], []]
    assert acted(people[other], match, END_TURN)["to_act"] == [SYSTEM]
    within(PATIENCE, lambda: recall.position(lonely, match).to_act == ["fox"])
    standing = out.get(f"/v1/matches/{match}").json
    assert [standing[name] for name in ("round", "phase", "active", "to_act", "outcome")] == [2, "turn", "fox", ["fox"], None]
    in_lists = listings(lonely)
    rebuild(lonely)
    assert listings(lonely) == in_lists
    check(prepared, match)


def test_the_last_seat_left_has_won_and_nobody_must_act(lonely: Platform, people: dict[str, Caller], laid: Callable[..., Any]) -> None:
    prepared, match = laid(assault("rhino", "fox", "rhino"))
    acted(people["fox"], match, [*attack("rhino"), STRONG])
    answer = acted(people["rhino"], match, WEAK)
    assert (answer["phase"], answer["to_act"], answer["choices"]) == ("over", [], [REMATCH])
    standing = people["tiger"].get(f"/v1/matches/{match}").json
    assert (standing["status"], standing["outcome"]["winners"], standing["outcome"]["reason"]) == ("over", ["fox"], "last_survivor")
    assert standing["secret"]
    for seat in ("fox", "rhino"):
        assert [listed(people[seat], query) for query in ("to_act=me", "status=playing", "player=me&status=over")] == [[], [], [match]]
        assert people[seat].act(match, END_TURN).json["code"] == "match_over"
    check(prepared, match)


def test_a_step_of_a_seat_that_has_been_eliminated_since_does_nothing(
    lonely: Platform, hire: Hire, people: dict[str, Caller], laid: Callable[..., Any], tmp_path: Path
) -> None:
    """A turn of rhino waits in the queue when it is beaten. Then a worker takes it, and the match goes on without it."""
    prepared, match = laid(assault("rhino"), rhino="ai:random", tiger="ai:random")
    acted(people["fox"], match, attack("rhino"))
    acted(people["fox"], match, STRONG)
    beaten = play.play(lonely, match, "rhino", [WEAK])
    assert beaten.position.document["players"]["rhino"]["eliminated"]
    assert lonely.jobs.depth() == 1
    hire(REAL)
    within(PATIENCE, lambda: lonely.jobs.depth() == 0)
    acted(people["fox"], match, END_TURN)
    within(PATIENCE, lambda: listed(people["fox"], "to_act=me") == [match])
    assert people["fox"].get(f"/v1/matches/{match}").json["round"] == 2
    since = [parse(raw).actor for raw in lonely.store.log.read_all(match, beaten.last)]
    assert (since[0], since[-1], set(since)) == ("fox", SYSTEM, {"fox", "tiger", SYSTEM})
    past = [(line["kind"], line["code"]) for line in logged(tmp_path, match) if line["event"] == "step_past"]
    assert past == [(THINK, "stale")]
    check(prepared, match)


# ---------------------------------------------------------------- what a worker logs


def test_a_worker_logs_nothing_of_sealed_bids(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    made = [begun(lonely, assault("rhino", hands={"rhino": 2}), ANN, rhino="ai:random")[1] for _ in range(8)]
    for match in made:
        play.play(lonely, match, "fox", attack("rhino"))
    hire(REAL)
    within(PATIENCE, lambda: all(recall.position(lonely, match).to_act == ["fox"] for match in made))
    sealed = [recall.position(lonely, match).document["battle"]["bids"]["rhino"] for match in made]
    assert any(bid != sealed[0] for bid in sealed)
    assert_alike(tmp_path, made)


def test_a_worker_logs_nothing_of_a_note(lonely: Platform, hire: Hire, tmp_path: Path) -> None:
    hire(REAL)
    made = [begun(lonely, KEPT, ANN, rhino="ai:random")[1] for _ in NOTES]
    for match, note in zip(made, NOTES.values(), strict=True):
        play.play(lonely, match, "fox", [offer(note)])
    within(PATIENCE, lambda: all(recall.position(lonely, match).to_act == ["fox"] for match in made))
    assert_alike(tmp_path, made)


def assert_alike(folder: Path, made: list[str]) -> None:
    """Check that the same is logged of each match, but for its id and the times."""
    lines = within(PATIENCE, lambda: (found := [done(folder, match) for match in made]) and all(found) and found)
    assert lines == lines[:1] * len(made)


def done(folder: Path, match: str) -> list[dict[str, Any]]:
    lines = [line for line in logged(folder, match) if line["event"] == "step_done"]
    return [{name: what for name, what in line.items() if name not in ("match", "ms", "at")} for line in lines]


def logged(folder: Path, match: str) -> list[dict[str, Any]]:
    """Return what the worker has logged of a match, in complete lines."""
    lines = [json.loads(line) for line in (folder / "worker.log").read_bytes().rpartition(b"\n")[0].splitlines()]
    assert all(set(line) <= LOGGED for line in lines)
    return [line for line in lines if line["match"] == match]
