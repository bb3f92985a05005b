"""A dispute taken through report, ruling and appeal over HTTP, while workers are killed: every step is there once, and the record holds."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from events import play, recall
from events.audit import audit
from events.platform import Platform
from record.entries import parse
from service.app import create_app
from service.http.settings import Settings
from table.unseen import seen_by_some
from tests.conftest import ALL_GAMES, within
from tests.service.conftest import ADMIN, Caller
from tests.workers.conftest import PATIENCE, Hire

SYSTEM = "system"


class Bench:
    """The players of a match of the test game, and two referees."""

    def __init__(self, platform: Platform) -> None:
        self.app = create_app(platform, Settings(admin_key=ADMIN, log_requests=False))
        self.platform = platform
        self.ada, self.ben = self.join("Ada"), self.join("Ben")
        self.rex, self.quin = self.join("Rex", "referee"), self.join("Quin", "referee")

    def join(self, name: str, role: str = "player") -> Caller:
        made = Caller(self.app.test_client(), ADMIN).post("/v1/players", {"name": name, "role": role})
        return Caller(self.app.test_client(), made.json["key"], made.json["id"])

    def begun(self, **settings: Any) -> str:
        """Return a match in which Ada has played and Ben is to act."""
        seats = {"one": "me", "two": f"player:{self.ben.id}"}
        match = str(self.ada.post("/v1/matches", {"game": "tally", "seats": seats, "options": {"target": 90}, **settings}).json["id"])
        assert self.ben.post(f"/v1/matches/{match}/seats/two").status_code == 200
        if recall.position(self.platform, match).to_act == [SYSTEM]:
            play.play(self.platform, match, SYSTEM, [{"type": "advance"}])
        assert self.ada.act(match, {"type": "add", "by": 3, "stay": False}).status_code == 200
        assert recall.position(self.platform, match).to_act == ["two"]
        return match

    def disputes(self, match: str, caller: Caller) -> list[Any]:
        return list(caller.get(f"/v1/matches/{match}/disputes").json["disputes"])


@pytest.fixture
def bench(lonely: Platform) -> Bench:
    return Bench(lonely)


def reports(platform: Platform, match: str) -> int:
    """Return how many reports are in the record."""
    return sum(parse(raw).action["type"] == "attach_report" for raw in platform.store.log.read_all(match))


@pytest.mark.parametrize("moment", ["after"])
def test_a_worker_that_is_killed_over_a_report_leaves_one(lonely: Platform, bench: Bench, hire: Hire, tmp_path: Path, moment: str) -> None:
    match = bench.begun()
    doomed = hire("tests.workers.halting", moment)
    assert bench.ben.post(f"/v1/matches/{match}/disputes", {"version": 4, "text": "The die."}).status_code == 201
    within(PATIENCE, lambda: list(tmp_path.glob(f"{moment}-*")))
    assert reports(lonely, match) == (moment == "after")
    doomed.send_signal(signal.SIGKILL)
    doomed.wait()
    hire()
    within(PATIENCE, lambda: bench.disputes(match, bench.ben)[0]["reported"])
    assert reports(lonely, match) == 1
    assert audit(lonely, match).findings == []


def test_a_dispute_is_taken_through_ruling_and_appeal_and_play_goes_on(lonely: Platform, bench: Bench, hire: Hire, tmp_path: Path) -> None:
    ada, ben, rex, quin = bench.ada, bench.ben, bench.rex, bench.quin
    match = bench.begun(spectators="all")
    disputed = recall.position(lonely, match).version
    doomed = hire("tests.workers.halting", "before")
    raised = ben.post(f"/v1/matches/{match}/disputes", {"version": disputed, "text": "I meant to roll."})
    assert (raised.status_code, raised.json["disputes"][0]["state"]) == (201, "open")
    assert "receipt" in raised.json
    assert ada.act(match, {"type": "add", "by": 1, "stay": True}).json["code"] == "match_disputed"
    within(PATIENCE, lambda: list(tmp_path.glob("before-*")))
    doomed.kill()
    doomed.wait()
    assert ada.post(f"/v1/matches/{match}/disputes/1/statements", {"text": "You added three."}).status_code == 200
    hire()
    within(PATIENCE, lambda: bench.disputes(match, rex)[0]["reported"])
    (waiting,) = [each for each in rex.get("/v1/disputes").json["disputes"] if each["match"] == match]
    assert (waiting["number"], waiting["state"], waiting["seat"]) == (1, "open", "two")
    ruled = rex.post(f"/v1/matches/{match}/disputes/1/ruling", {"verdict": "rejected", "text": "It stands."})
    assert (ruled.status_code, ruled.json["disputes"][0]["state"]) == (200, "ruled")
    assert rex.get("/v1/disputes").json["disputes"] == []
    assert ben.post(f"/v1/matches/{match}/disputes/1/appeal", {"text": "Look at my side."}).status_code == 200
    assert rex.post(f"/v1/matches/{match}/disputes/1/ruling", {"verdict": "rejected", "text": "Still."}).json["code"] == "same_referee"
    before = recall.state_at(lonely, match, disputed - 1)
    body = {"verdict": "upheld", "remedy": "play_on", "version": disputed - 1, "text": "Ben rolls."}
    final = quin.post(f"/v1/matches/{match}/disputes/1/ruling", body)
    assert final.json["disputes"][0]["state"] == "settled"
    over = ada.get(f"/v1/matches/{match}").json
    assert (over["status"], over["outcome"]["reason"], over["secret"]) == ("over", "ruling", None)
    successor = over["continued"]["match"]
    within(PATIENCE, lambda: ada.get(f"/v1/matches/{match}").json["continued"]["begun"])
    found = ben.get(f"/v1/matches/{successor}").json
    assert (found["origin"], found["practice"]) == ({"match": match, "version": disputed - 1, "digest": before.digest, "dispute": 1}, False)
    assert found["seats"] == over["seats"]
    begun = recall.state_at(lonely, successor, 1).document
    assert seen_by_some(ALL_GAMES["tally"], begun) == seen_by_some(ALL_GAMES["tally"], before.document)
    assert begun != before.document, "what nobody had seen is drawn anew"
    # What was hidden there is still in play here: the match that has ended stays closed until the other one is over.
    assert bench.join("Eve").get(f"/v1/matches/{match}/state?viewer=auditor").json["code"] == "hidden_view"
    assert bench.join("Fay").get(f"/v1/matches/{match}/record").json["code"] == "audit_closed"
    assert ben.post("/v1/matches", {"fork_of": match, "at": 3}).json["code"] == "origin_not_over"
    assert ben.act(successor, {"type": "resign"}).status_code == 200
    within(PATIENCE, lambda: ada.get(f"/v1/matches/{match}").json["secret"] is not None)
    within(PATIENCE, lambda: ada.get(f"/v1/matches/{successor}").json["origin"].get("opened"))
    assert bench.join("Gus").get(f"/v1/matches/{match}/state?viewer=auditor").status_code == 200
    for each in (match, successor):
        report = audit(lonely, each)
        assert report.findings == []
    assert audit(lonely, successor).origin == "verified"
