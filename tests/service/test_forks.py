"""Practice matches over HTTP: they begin from a position of a match that is over, and are marked wherever they are shown."""

from __future__ import annotations

from typing import Any

import pytest

from events import play, recall
from events.audit import audit, record_header
from events.platform import Platform
from events.rebuild import rebuild
from record.trail import audit_entries
from tests.conftest import ALL_GAMES
from tests.events.keyspace import projections
from tests.service.conftest import Caller
from tests.service.test_matches import played_out


@pytest.fixture
def over(platform: Platform, ada: Caller, cleo: Caller) -> str:
    """A match of the test game between Ada and Cleo that is over."""
    made = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, "options": {"target": 20}})
    match = str(made.json["id"])
    assert cleo.post(f"/v1/matches/{match}/seats/two").status_code == 200
    played_out(platform, ada, cleo, match)
    return match


def test_a_practice_match_begins_from_a_position_and_names_it(platform: Platform, ada: Caller, ben: Caller, over: str) -> None:
    before = list(platform.store.log.read_all(over))
    origin = recall.state_at(platform, over, 6)
    made = ben.post("/v1/matches", {"fork_of": over, "at": 6, "seats": {"one": "me", "two": "open"}}, Idempotency_Key="f1")
    assert made.status_code == 201
    fork = made.json
    assert fork["origin"] == {"match": over, "version": 6, "digest": origin.digest}
    assert (fork["practice"], fork["game"], fork["status"], fork["options"]) == (True, "tally", "open", origin.document["options"])
    again = ben.post("/v1/matches", {"fork_of": over, "at": 6, "seats": {"one": "me", "two": "open"}}, Idempotency_Key="f1")
    assert again.json == fork
    joined = ada.post(f"/v1/matches/{fork['id']}/seats/two").json
    assert (joined["status"], joined["to_act"]) == ("playing", origin.document["to_act"])
    state = ben.get(f"/v1/matches/{fork['id']}/state?viewer=one").json
    assert state["view"] == platform.games["tally"].view(recall.position(platform, fork["id"]).document, "one")
    (first,) = ben.get(f"/v1/matches/{fork['id']}/entries?limit=1").json["entries"]
    assert [event["type"] for event in first["events"]] == ["match_created", "match_restored"]
    assert fork["commitment"] != ada.get(f"/v1/matches/{over}").json["commitment"], "the dice are new"
    assert list(platform.store.log.read_all(over)) == before, "the origin is untouched"
    assert "Practice from version 6" in ben.get(f"/v1/matches/{fork['id']}/state", Accept="text/plain").text


def test_whoever_asks_for_nothing_else_has_all_seats(ben: Caller, over: str) -> None:
    made = ben.post("/v1/matches", {"fork_of": over, "at": 4})
    assert (made.status_code, made.json["status"]) == (201, "playing")
    assert made.json["seats"] == {"one": {"player": ben.id}, "two": {"player": ben.id}}


def test_practice_is_filtered_in_lists_and_counts_for_no_results(platform: Platform, ada: Caller, ben: Caller, over: str) -> None:
    fork = ben.post("/v1/matches", {"fork_of": over, "at": 4}).json["id"]
    found = {wanted: [each["id"] for each in ben.get(f"/v1/matches?practice={wanted}").json["matches"]] for wanted in ("true", "false")}
    assert found == {"true": [fork], "false": [over]}
    assert [each["practice"] for each in ben.get("/v1/matches").json["matches"]] == [True, False]
    assert [each["id"] for each in ben.get("/v1/matches?practice=true&player=me").json["matches"]] == [fork]
    assert ada.get("/v1/matches?practice=true&player=me").json["matches"] == []
    assert ben.get("/v1/matches?practice=maybe").json["code"] == "bad_query"
    assert ben.act(fork, {"type": "resign"}, "?seat=one").status_code == 200
    assert ben.get(f"/v1/matches/{fork}").json["status"] == "over"
    assert ben.get(f"/v1/players/{ben.id}").json["finished"] == {}
    assert ben.get(f"/v1/players/{ada.id}").json["finished"]["tally"]["matches"] == 1
    kept = projections(platform.store.client)
    rebuild(platform)
    assert projections(platform.store.client) == kept


def test_what_cannot_be_forked(ada: Caller, ben: Caller, over: str) -> None:
    last = ada.get(f"/v1/matches/{over}").json["version"]
    playing = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "ai:random"}}).json["id"]
    seats = {"one": "me", "two": "me"}
    refused: list[tuple[Any, int, str]] = [
        ({"fork_of": playing, "at": 1}, 409, "origin_not_over"),
        ({"fork_of": over, "at": last}, 409, "nothing_to_play"),
        ({"fork_of": over, "at": last + 1}, 404, "no_such_version"),
        ({"fork_of": "m" + "a" * 16, "at": 1}, 404, "no_such_match"),
        ({"fork_of": "you", "at": 1}, 400, "bad_body"),
        ({"fork_of": over}, 400, "bad_body"),
        ({"fork_of": over, "at": 0}, 400, "bad_body"),
        ({"fork_of": over, "at": "4"}, 400, "bad_body"),
        ({"fork_of": over, "at": 4, "options": {}}, 400, "bad_body"),
        ({"fork_of": over, "at": 4, "game": "tally"}, 400, "bad_body"),
        ({"at": 4, "game": "tally", "seats": seats}, 400, "bad_body"),
        ({"seats": seats}, 400, "bad_body"),
        ({"fork_of": over, "at": 4, "seats": {"one": "me"}}, 422, "other_seats"),
        ({"fork_of": over, "at": 4, "seats": {**seats, "three": "me"}}, 422, "other_seats"),
    ]
    for body, status, code in refused:
        answer = ben.post("/v1/matches", body)
        assert (answer.status_code, answer.json["code"]) == (status, code), body
    assert ben.get("/v1/matches?practice=true").json["matches"] == []
    answer = ben.act(playing, {"type": "fork_match", "fork_of": over, "at": 4, "seats": seats})
    assert answer.json["code"] == "already_created"


def test_an_audit_compares_the_position_with_the_origin_or_says_that_it_did_not(platform: Platform, ben: Caller, over: str) -> None:
    fork = ben.post("/v1/matches", {"fork_of": over, "at": 5}).json["id"]
    assert ben.act(fork, {"type": "resign"}, "?seat=one").status_code == 200
    report = ben.get(f"/v1/matches/{fork}/audit").json
    assert (report["ok"], report["origin"], report["replayed_only"]) == (True, "verified", 0)
    assert ben.get(f"/v1/matches/{over}/audit").json["origin"] is None
    lines = [record_header(platform, fork), *platform.store.log.read_all(fork)]
    origin = [record_header(platform, over), *platform.store.log.read_all(over)]
    alone, both = audit_entries(ALL_GAMES, lines), audit_entries(ALL_GAMES, lines, origin=origin)
    assert (alone.findings, alone.origin) == ([], "trusted")
    assert (both.findings, both.origin) == ([], "verified")
    other = ben.post("/v1/matches", {"fork_of": over, "at": 4}).json["id"]
    (first, *_) = platform.store.log.read(other, 0, 1)
    forged = [first.replace(b'"at":4', b'"at":5', 1).replace(b'"version":4', b'"version":5')]
    report_of = audit_entries(ALL_GAMES, forged, origin=origin)
    assert "origin_differs" in [finding.code for finding in report_of.findings]


def test_a_fork_whose_origin_is_not_in_the_store_is_taken_on_trust(platform: Platform, ben: Caller, over: str, servers: Any) -> None:
    fork = ben.post("/v1/matches", {"fork_of": over, "at": 6}).json["id"]
    for key in servers.keeper.keys(f"*:{over}"):
        servers.keeper.delete(key)
    platform.cache.drop(over)
    report = audit(platform, fork)
    assert (report.ok, report.origin) == (True, "trusted")
    assert play.play(platform, fork, recall.position(platform, fork).to_act[0], [{"type": "roll"}]).last == 2
