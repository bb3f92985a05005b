"""Disputes over HTTP: who may do what, who sees what, and how much of it there may be."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.serving import make_server

from events import play, recall
from events.audit import audit
from events.platform import Platform
from events.rebuild import rebuild
from events.reports import report
from tests.conftest import within
from tests.events.keyspace import projections
from tests.service.conftest import Caller
from tests.service.test_matches import played_out
from tools.desk import main as desk_main
from workers.reviewing import Reviewed

TEXT = "The seventh die was a lie."
OTHER = "No die was ever thrown."
ADD = {"type": "add", "by": 3, "stay": False}


def begun(platform: Platform, one: Caller, two: Caller, **settings: Any) -> str:
    """Return a match of the test game in which the first seat has played."""
    seats = {"one": "me", "two": f"player:{two.id}"}
    match = str(one.post("/v1/matches", {"game": "tally", "seats": seats, "options": {"target": 12}, **settings}).json["id"])
    assert two.post(f"/v1/matches/{match}/seats/two").status_code == 200
    play.play(platform, match, "system", [{"type": "advance"}])
    assert one.act(match, ADD).status_code == 200
    return match


def disputed(platform: Platform, one: Caller, two: Caller, **settings: Any) -> str:
    """Return a match that the second seat disputes."""
    match = begun(platform, one, two, **settings)
    assert two.post(f"/v1/matches/{match}/disputes", {"version": 3, "text": TEXT}).status_code == 201
    return match


def everything(caller: Caller, match: str) -> bytes:
    """Return all that a caller is told of a match."""
    paths = (f"/{match}", f"/{match}/state", f"/{match}/entries", f"/{match}/entries?proof=true", f"/{match}/disputes", "?limit=5")
    answers = [caller.get(f"/v1/matches{path}").data for path in (*paths, f"/{match}/stream?seconds=0")]
    return b"".join([*answers, caller.get(f"/v1/matches/{match}/state", Accept="text/plain").data])


def test_the_texts_are_for_the_seats_and_referees_until_the_match_is_over(
    platform: Platform, ada: Caller, ben: Caller, cleo: Caller, referee: Caller, anybody: Caller
) -> None:
    match = disputed(platform, ada, ben)
    assert ada.post(f"/v1/matches/{match}/disputes/1/statements", {"text": OTHER}).status_code == 200
    for caller in (cleo, anybody):
        told = everything(caller, match)
        assert TEXT.encode() not in told
        assert OTHER.encode() not in told
        (one,) = caller.get(f"/v1/matches/{match}/disputes").json["disputes"]
        assert (one["state"], one["seat"], one["sides"]) == ("open", "two", ["one"])
        assert [step["event"].get("text") for step in one["steps"]] == [None, None]
    for caller in (ada, ben, referee):
        (one,) = caller.get(f"/v1/matches/{match}/disputes").json["disputes"]
        assert [step["event"]["text"] for step in one["steps"]] == [TEXT, OTHER]
    entries = cleo.get(f"/v1/matches/{match}/entries?proof=true").json["entries"]
    (hidden,) = [entry for entry in entries if entry["action"]["type"] == "dispute"]
    assert hidden["action"] == {"type": "dispute"}
    assert "salt" not in hidden["proof"]["action"]
    assert "salt" not in hidden["proof"]["events"][0]
    reads = anybody.get(f"/v1/matches/{match}/reads").json["reads"]
    assert [(read["reader"], read["what"]) for read in reads] == [(referee.id, "view:auditor")]
    assert ben.act(match, {"type": "withdraw_dispute", "dispute": 1}).status_code == 200
    assert ben.act(match, {"type": "resign"}).status_code == 200
    (one,) = anybody.get(f"/v1/matches/{match}/disputes").json["disputes"]
    assert one["steps"][0]["event"]["text"] == TEXT


def test_a_case_is_told_as_the_caller_may_see_it(platform: Platform, ada: Caller, ben: Caller, referee: Caller, anybody: Caller) -> None:
    match = begun(platform, ada, ben)
    assert ada.act(match, ADD, "?seat=one").json["code"] == "not_your_turn"
    path = f"/v1/matches/{match}/disputes"
    assert ben.post(path, {"version": 4, "text": TEXT, "field": "/counts/one"}).status_code == 201
    newest = recall.position(platform, match)
    made = within(20, lambda: (found := report(platform, newest, 1, Reviewed))["refused"] and found)
    assert made["refused"] == [{**made["refused"][0], "seat": "one", "version": 4, "code": "not_your_turn", "action": ADD}]
    play.act_at_table(platform, match, "system", {"type": "attach_report", "dispute": 1, "report": made})
    told = {caller: caller.get(f"{path}?case=1").json["disputes"][0] for caller in (ada, ben, referee, anybody)}
    assert [one["case"]["viewer"] for one in told.values()] == ["one", "two", "auditor", "spectator"]
    for caller, one in told.items():
        entries = one["case"]["entries"]
        assert [entry["version"] for entry in entries] == [1, 2, 3, 4, 5, 6]
        assert [entry["receipt"] for entry in entries] == [ada.id, ben.id, None, ada.id, ben.id, None]
        viewer, after = (
            one["case"]["viewer"],
            caller.get(f"/v1/matches/{match}/state?at=4&viewer={one['case']['viewer']}", Accept="text/plain"),
        )
        assert "\n".join(one["case"]["after"]) + "\n" == after.text
        assert one["case"]["before"] != one["case"]["after"]
        frames = caller.get(f"/v1/matches/{match}/frames?viewer={viewer}").json["frames"]
        assert [" ".join(part["text"] for part in entry["happened"]) for entry in entries] == [" ".join(frame["text"]) for frame in frames]
        assert (one["case"]["why"] is None) == (caller is anybody), "which field it is about is as hidden as the text"
        seen = one["steps"][1]["event"]["report"]
        assert (seen and len(seen["refused"])) == {ada: 1, ben: 0, referee: 1, anybody: None}[caller]
    assert [change["version"] for change in told[ben]["case"]["why"]["changes"]] == [4, 1]
    for number, code in (("2", "no_such_dispute"), ("0", "bad_query")):
        assert ben.get(f"{path}?case={number}").json["code"] == code
    assert "case" not in ben.get(path).json["disputes"][0]


def test_a_hidden_match_does_not_tell_strangers_of_a_dispute(platform: Platform, ada: Caller, ben: Caller, anybody: Caller) -> None:
    match = begun(platform, ada, ben, spectators="none")
    before = everything(anybody, match)
    assert ben.post(f"/v1/matches/{match}/disputes", {"version": 3, "text": TEXT}).status_code == 201
    assert everything(anybody, match) == before
    assert anybody.get(f"/v1/matches/{match}/disputes").json["disputes"] == []


def test_a_seat_sees_of_a_report_only_its_own_refused_actions(
    platform: Platform, ada: Caller, ben: Caller, referee: Caller, anybody: Caller
) -> None:
    match = disputed(platform, ada, ben)
    refused = [{"seat": seat, "version": 3, "at": 1, "code": "not_your_turn", "rule": None} for seat in ("one", "one", "two")]
    report = {"version": 5, "audit": {"state": "holds", "findings": [], "found": 0}, "refused": refused, "decisions": []}
    play.act_at_table(platform, match, "system", {"type": "attach_report", "dispute": 1, "report": report})

    def seen(caller: Caller) -> Any:
        return caller.get(f"/v1/matches/{match}/disputes").json["disputes"][0]["steps"][1]["event"]["report"]

    assert (len(seen(ada)["refused"]), len(seen(ben)["refused"]), len(seen(referee)["refused"])) == (2, 1, 3)
    assert seen(anybody) is None
    for caller, seats in ((ada, {"one"}), (ben, {"two"})):
        (entry,) = [
            each for each in caller.get(f"/v1/matches/{match}/entries").json["entries"] if each["action"]["type"] == "attach_report"
        ]
        assert entry["action"] == {"type": "attach_report"}
        assert {each["seat"] for each in entry["events"][0]["report"]["refused"]} == seats


def test_the_proof_of_a_report_does_not_tell_whether_others_were_refused(platform: Platform, ada: Caller, ben: Caller) -> None:
    shown = []
    for seats in ((), ("one",)):
        match = disputed(platform, ada, ben)
        refused = [{"seat": seat, "version": 3, "at": 1, "code": "not_your_turn", "rule": None} for seat in seats]
        report = {"version": 5, "audit": {"state": "holds", "findings": [], "found": 0}, "refused": refused, "decisions": []}
        play.act_at_table(platform, match, "system", {"type": "attach_report", "dispute": 1, "report": report})
        entry = ben.get(f"/v1/matches/{match}/entries?proof=true").json["entries"][-1]
        parts = [entry["proof"]["action"], *entry["proof"]["events"]]
        shown.append((entry["action"], entry["events"], [list(part) for part in parts]))
    assert shown[0] == shown[1]


def test_only_a_referee_who_never_had_a_seat_rules(
    platform: Platform, join: Callable[..., Caller], ada: Caller, ben: Caller, referee: Caller
) -> None:
    judge, former, boss = join("Judy", "referee"), join("Rita", "referee"), join("Al", "admin")
    match = begun(platform, judge, former)
    assert former.act(match, {"type": "hand_over", "player": ben.id}).status_code == 200
    assert ben.act(match, {"type": "take_over", "seat": "two"}).status_code == 200
    assert ben.post(f"/v1/matches/{match}/disputes", {"version": 3, "text": TEXT}).status_code == 201
    ruling = {"verdict": "rejected", "text": OTHER}
    for caller, code in ((judge, "is_party"), (former, "is_party"), (ada, "role_needed"), (ben, "role_needed")):
        answer = caller.post(f"/v1/matches/{match}/disputes/1/ruling", ruling)
        assert (answer.status_code, answer.json["code"]) == (403, code)
    by_action = ada.act(match, {"type": "rule_dispute", "dispute": 1, "remedy": "none", **ruling})
    assert (by_action.status_code, by_action.json["code"]) == (403, "not_a_referee")
    assert referee.post(f"/v1/matches/{match}/disputes/9/ruling", ruling).json["code"] == "no_dispute"
    assert referee.post(f"/v1/matches/{match}/disputes/x/ruling", ruling).json["code"] == "no_such_dispute"
    assert referee.post(f"/v1/matches/{match}/disputes/1/ruling", {**ruling, "remedy": "void"}).json["code"] == "bad_remedy"
    assert referee.post(f"/v1/matches/{match}/disputes/1/ruling", ruling).json["disputes"][0]["state"] == "ruled"
    assert ben.post(f"/v1/matches/{match}/disputes/1/appeal", {"text": OTHER}).status_code == 200
    answer = referee.post(f"/v1/matches/{match}/disputes/1/ruling", ruling)
    assert (answer.status_code, answer.json["code"]) == (403, "same_referee")
    assert boss.post(f"/v1/matches/{match}/disputes/1/ruling", ruling).json["disputes"][0]["state"] == "settled"
    assert ben.act(match, ADD).status_code == 200, "the match goes on"
    assert audit(platform, match).findings == []


def test_what_everybody_accepts_takes_effect_at_once(platform: Platform, ada: Caller, ben: Caller, referee: Caller) -> None:
    match = disputed(platform, ada, ben)
    ruling = {"verdict": "upheld", "remedy": "forfeit", "seat": "one", "text": OTHER}
    assert referee.post(f"/v1/matches/{match}/disputes/1/ruling", ruling).status_code == 200
    accept = {"type": "accept_ruling", "dispute": 1}
    assert accept in [choice["action"] for choice in ada.get(f"/v1/matches/{match}/choices").json["choices"]]
    assert ada.act(match, accept).json["outcome"] is None
    assert ben.act(match, accept).json["outcome"]["winners"] == ["two"]


def test_disputes_are_bounded(platform: Platform, ada: Caller, ben: Caller) -> None:
    match = begun(platform, ada, ben)
    path = f"/v1/matches/{match}/disputes"
    refused = [
        ({"version": 99, "text": TEXT}, 409, "no_such_past"),
        ({"version": 3, "text": ""}, 422, "bad_action"),
        ({"version": 3, "text": "x" * 2001}, 422, "bad_action"),
        ({"version": 3, "text": "a\x1b[31mred"}, 422, "bad_action"),
        ({"version": 3, "text": "turned \u202e round"}, 422, "bad_action"),
        ({"version": 3}, 400, "bad_body"),
        ({"version": 0, "text": TEXT}, 400, "bad_body"),
        ({"version": 3, "text": TEXT, "more": 1}, 400, "bad_body"),
        ({"version": 3, "text": TEXT, "field": "scores"}, 422, "bad_action"),
        ({"version": 3, "text": TEXT, "field": "/a" * 7}, 422, "bad_action"),
        ({"version": 3, "text": TEXT, "field": "/\u202e"}, 422, "bad_action"),
    ]
    for body, status, code in refused:
        answer = ben.post(path, body)
        assert (answer.status_code, answer.json["code"]) == (status, code), body
    assert ben.post(path, {"version": 3, "text": "é\n" * 1000}, Idempotency_Key="d1").status_code == 201
    assert ben.post(path, {"version": 3, "text": "é\n" * 1000}, Idempotency_Key="d1").status_code == 201
    assert len(ben.get(path).json["disputes"]) == 1, "the same request is carried out once"
    assert ben.post(path, {"version": 3, "text": TEXT}).json["code"] == "already_disputed"
    for caller in (ada, ben):
        if caller is ada:
            assert ada.post(path, {"version": 3, "text": TEXT}).status_code == 201
        number = 1 if caller is ben else 2
        assert caller.act(match, {"type": "withdraw_dispute", "dispute": number}).status_code == 200
    assert ada.post(path, {"version": 3, "text": TEXT}).status_code == 201
    for number in (3, 4):
        assert ada.act(match, {"type": "withdraw_dispute", "dispute": number}).status_code == 200
        refused_again = ada.post(path, {"version": 3, "text": TEXT})
        assert refused_again.status_code == (201 if number == 3 else 409)
    assert refused_again.json["code"] == "too_many_disputes"
    assert ben.post(path, {"version": 3, "text": TEXT}).status_code == 201, "the others still may"


def test_a_match_that_is_over_is_disputed_without_a_change(
    platform: Platform, ada: Caller, ben: Caller, referee: Caller, anybody: Caller
) -> None:
    match = begun(platform, ada, ben)
    played_out(platform, ada, ben, match)
    before = anybody.get(f"/v1/matches/{match}").json
    assert ben.post(f"/v1/matches/{match}/disputes", {"version": 3, "text": TEXT}).status_code == 201
    ruling = {"verdict": "upheld", "remedy": "void", "text": OTHER}
    assert referee.post(f"/v1/matches/{match}/disputes/1/ruling", ruling).status_code == 200
    for caller in (ada, ben):
        assert caller.act(match, {"type": "accept_ruling", "dispute": 1}).status_code == 200
    after = anybody.get(f"/v1/matches/{match}").json
    marked = {**before["outcome"], "overruled": {"dispute": 1, "remedy": "void"}}
    assert (after["outcome"], after["secret"], after["status"]) == (marked, before["secret"], "over")
    counted = ada.get(f"/v1/players/{ada.id}").json["finished"]["tally"]
    assert counted == {"matches": 0, "won": 0, "stood_in": 0, "drawn": 0, "void": 1}
    assert after["version"] == before["version"] + 4
    report = anybody.get(f"/v1/matches/{match}/audit").json
    assert (report["ok"], report["commitment"], report["dice"]) == (True, "kept", "verified")
    stream = anybody.get(f"/v1/matches/{match}/stream").data
    assert stream.count(b"event: entry") == after["version"]
    assert stream.endswith(b'event: over\ndata: {"version":%d}\n\n' % after["version"])
    record = anybody.get(f"/v1/matches/{match}/record").json["entries"]
    assert [entry["version"] for entry in record if "secret" in entry] == [before["version"]]
    kept = projections(platform.store.client)
    rebuild(platform)
    assert projections(platform.store.client) == kept


def test_the_desk_is_for_referees(platform: Platform, ada: Caller, ben: Caller, referee: Caller, anybody: Caller) -> None:
    first, second = disputed(platform, ada, ben), disputed(platform, ada, ben, spectators="none")
    assert anybody.get("/v1/disputes").json["code"] == "no_key"
    assert ada.get("/v1/disputes").json["code"] == "role_needed"
    assert [each["match"] for each in referee.get("/v1/disputes").json["disputes"]] == [first, second]
    page = referee.get("/v1/disputes?limit=1").json
    assert [each["match"] for each in referee.get(f"/v1/disputes?limit=1&cursor={page['next']}").json["disputes"]] == [second]
    assert ben.act(first, {"type": "withdraw_dispute", "dispute": 1}).status_code == 200
    assert [each["match"] for each in referee.get("/v1/disputes").json["disputes"]] == [second]
    found = {each["match"]: each["state"] for each in referee.get("/v1/disputes?open=false").json["disputes"]}
    assert found == {first: "withdrawn", second: "open"}
    (row,) = referee.get("/v1/disputes").json["disputes"]
    (standing,) = referee.get(f"/v1/matches/{second}").json["disputes"]
    assert row == {"match": second, "game": "tally", "number": 1, **standing}, "of a hidden match the desk shows nothing else"


@pytest.mark.parametrize("after", ["escalation", "appeal", "freeze"])
def test_what_nobody_does_in_time_is_due(platform: Platform, ada: Caller, ben: Caller, referee: Caller, after: str) -> None:
    """What then happens is in the table's scenarios."""
    match = disputed(platform, ada, ben, clock={"kind": "none"}, dispute_days=14 if after == "freeze" else 0)
    if after == "appeal":
        referee.post(f"/v1/matches/{match}/disputes/1/ruling", {"verdict": "rejected", "text": OTHER})
    one = recall.position(platform, match).table["disputes"][0]
    until = one["freezes"]["until"] if one["freezes"] else one["until"]
    assert until is not None
    due = platform.store.client.ask("ZSCORE", platform.store.keys.of(match).due, f"deadline|{match}|")
    assert int(due) == until


def test_the_seats_and_the_referee_are_told_on_their_streams(platform: Platform, ada: Caller, ben: Caller, referee: Caller) -> None:
    match = disputed(platform, ada, ben)

    def told(caller: Caller) -> list[Any]:
        text = caller.get("/v1/players/me/stream?seconds=0", Last_Event_ID="1").data.decode()
        found = [part for part in text.split("\n\n") if "event: dispute\n" in part]
        return [json.loads(line[6:])["step"] for part in found for line in part.split("\n") if line.startswith("data: ")]

    assert (told(ada), told(ben), told(referee)) == (["opened"], ["opened"], [])
    assert referee.post(f"/v1/matches/{match}/disputes/1/ruling", {"verdict": "rejected", "text": OTHER}).status_code == 200
    assert ben.post(f"/v1/matches/{match}/disputes/1/appeal", {"text": TEXT}).status_code == 200
    steps = ["taken", "ruled", "appealed"]
    assert (told(ada), told(ben), told(referee)) == (["opened", *steps], ["opened", *steps], steps)


def test_a_referee_works_at_the_desk_in_a_terminal(
    platform: Platform, app: Flask, ada: Caller, ben: Caller, referee: Caller, capsys: pytest.CaptureFixture[str]
) -> None:
    match = disputed(platform, ada, ben)
    made = report(platform, recall.position(platform, match), 1, Reviewed)
    play.act_at_table(platform, match, "system", {"type": "attach_report", "dispute": 1, "report": made})
    server = make_server("127.0.0.1", 0, app)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def desk(caller: Caller, *arguments: str) -> tuple[int, str]:
        status = desk_main([*arguments, "--url", f"http://127.0.0.1:{server.port}", "--key", str(caller.key)])
        said = capsys.readouterr()
        return status, said.out + said.err

    try:
        status, listed = desk(referee)
        assert (status, match in listed, "two disputes version 3; waits for a referee" in listed) == (0, True, True)
        status, shown = desk(referee, match)
        assert (status, TEXT in shown, "holds, 0 findings" in shown) == (0, True, True)
        status, case = desk(referee, match, "1")
        assert (status, "What happened, as seen by auditor:" in case, "->     3" in case, "The board after it:" in case) == (
            0,
            True,
            True,
            True,
        )
        assert "dispute_taken" not in case
        status, stated = desk(ada, match, "1", "state", "--text", OTHER)
        assert (status, OTHER in stated) == (0, True)
        status, taken = desk(referee, match, "1", "take")
        assert (status, "dispute_taken" in taken) == (0, True)
        status, refused = desk(ada)
        assert (status, "Only referees may do this" in refused) == (1, True)
        status, ruled = desk(referee, match, "1", "upheld", "--remedy", "forfeit", "--seat", "one", "--text", OTHER)
        assert (status, "dispute_ruled upheld, remedy forfeit one" in ruled, OTHER in ruled) == (0, True, True)
        assert desk(referee) == (0, "No dispute waits.\n")
        assert desk(referee, "--all")[1].endswith("ruled\n")
        assert "ruling_accepted" in desk(ben, match, "1", "accept")[1]
        status, appealed = desk(ada, match, "1", "appeal", "--text", TEXT)
        assert (status, "ruling_appealed" in appealed) == (0, True)
    finally:
        server.shutdown()
