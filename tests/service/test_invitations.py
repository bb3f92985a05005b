"""Invitations, codes and closed matches over HTTP: who may take a seat, who sees the code, and what is left of a match that never began."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from events import recall
from events.audit import audit
from events.platform import Platform
from events.rebuild import rebuild
from record.trail import audit_entries
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import Servers
from tests.service.conftest import Caller
from tests.service.test_table import leave, offered, opened, take

NOBODY = "p" + "z" * 16


def coded(caller: Caller, **seats: str) -> tuple[str, str]:
    """Create a match that asks for a code, and return its id and the code."""
    body = {"game": "tally", "seats": seats or {"one": "me", "two": "open", "three": "open"}, "code": True}
    made = caller.post("/v1/matches", body)
    assert made.status_code == 201
    return made.json["id"], made.json["code"]


def listed(caller: Caller, query: str) -> list[str]:
    return [match["id"] for match in caller.get(f"/v1/matches?{query}").json["matches"]]


def logged(servers: Servers, platform: Platform, match: str) -> bytes:
    """Return everything that the store has of a match, but its secret, as one text."""
    keys = platform.store.keys.of(match)
    entries = [field for _, fields in servers.keeper.xrange(keys.stream) for field in fields.values()]  # type: ignore[union-attr]
    requests = [text for pair in servers.keeper.hgetall(keys.requests).items() for text in pair]  # type: ignore[union-attr]
    return b"\n".join([*entries, *requests, servers.keeper.get(keys.standing)])  # type: ignore[list-item]


# ---------------------------------------------------------------- invitations


def test_only_the_invited_player_takes_the_seat(ada: Caller, ben: Caller, cleo: Caller, anybody: Caller) -> None:
    match = opened(ada, one="me", two=f"player:{ben.id}", three="open")
    found = anybody.get(f"/v1/matches/{match}").json
    assert (found["seats"]["two"], found["invited"], found["code_needed"]) == ({"open": True}, {"two": ben.id}, False)
    for caller in (ada, cleo):
        refused = caller.post(f"/v1/matches/{match}/seats/two")
        assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (403, "not_invited", "TBL-INV-01")
    assert offered(ben, match) == (None, [take("three"), take("two"), {"type": "decline_seat", "seat": "two"}])
    assert offered(cleo, match) == (None, [take("three")])
    taken = ben.post(f"/v1/matches/{match}/seats/two")
    assert (taken.status_code, taken.json["seats"]["two"], taken.json["invited"]) == (200, {"player": ben.id}, {})


def test_a_player_finds_the_matches_to_which_he_is_invited(ada: Caller, ben: Caller, anybody: Caller) -> None:
    invited = [opened(ada, one="me", two=f"player:{ben.id}", three="open") for _ in range(3)]
    opened(ada)
    assert listed(ben, "invited=me") == listed(anybody, f"invited={ben.id}") == invited[::-1]
    assert listed(ben, "player=me") == listed(ada, "invited=me") == []
    ben.act(invited[0], take("two"))
    ben.act(invited[1], {"type": "decline_seat", "seat": "two"})
    assert listed(ben, "invited=me&status=open&game=tally") == [invited[2]]
    assert listed(ada, "invited=me") == [invited[1]], "a declined seat is kept for the creator"
    ben.act(invited[0], leave("two"))
    assert listed(ben, "invited=me") == [invited[2], invited[0]]
    refused = anybody.get("/v1/matches?invited=me")
    assert (refused.status_code, refused.json["code"]) == (401, "no_key")


def test_an_invitation_of_nobody_is_refused_and_creates_nothing(ada: Caller, ben: Caller, anybody: Caller) -> None:
    refused = ada.post("/v1/matches", {"game": "tally", "seats": {"one": f"player:{ben.id}", "two": f"player:{NOBODY}"}})
    assert (refused.status_code, refused.json["code"]) == (404, "no_such_player")
    assert NOBODY in refused.json["detail"]
    assert listed(anybody, "") == []
    for asked in ("player:", "player:me", f"player:{ben.id}x", f"player: {ben.id}", "PLAYER:" + ben.id):
        refused = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": asked}})
        assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (422, "bad_seats", "TBL-CRE-03")


def test_a_repeated_creation_with_an_invitation_gets_the_same_answer_also_when_the_player_is_gone(
    ada: Caller, ben: Caller, servers: Servers
) -> None:
    body = {"game": "tally", "seats": {"one": "me", "two": f"player:{ben.id}"}, "code": True}
    first = ada.post("/v1/matches", body, Idempotency_Key="k")
    assert ben.ask("DELETE", f"/v1/players/me?confirm={ben.id}").status_code == 204
    servers.keeper.delete(f"{{players}}:p:{ben.id}")
    again = ada.post("/v1/matches", body, Idempotency_Key="k")
    assert (again.status_code, again.data) == (201, first.data.replace(b'{"name":"Ben"}', b'{"name":null}'))
    other = ada.post("/v1/matches", {**body, "options": {"target": 9}}, Idempotency_Key="k")
    assert (other.status_code, other.json["code"]) == (422, "request_reused")


# ---------------------------------------------------------------- codes


def test_a_seat_needs_the_code(ada: Caller, ben: Caller, cleo: Caller, anybody: Caller) -> None:
    match, code = coded(ada)
    assert anybody.get(f"/v1/matches/{match}").json["code_needed"] is True
    assert offered(ben, match) == (None, [])
    for body in ({}, {"code": "a" * 16}):
        refused = ben.post(f"/v1/matches/{match}/seats/two", body)
        assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (403, "wrong_code", "TBL-INV-04")
        assert ben.act(match, {**take("two"), **body}).json["code"] == "wrong_code"
    assert ben.post(f"/v1/matches/{match}/seats/two", {"code": code.upper()}).json["code"] == "bad_body"
    assert ben.post(f"/v1/matches/{match}/seats/two", {"code": code}).status_code == 200
    last = cleo.act(match, {**take("three"), "code": code})
    assert (last.status_code, anybody.get(f"/v1/matches/{match}").json["code_needed"]) == (200, False)


def test_what_the_record_has_of_a_code_opens_nothing(ada: Caller, ben: Caller, cleo: Caller, anybody: Caller) -> None:
    match, code = coded(ada)
    ben.post(f"/v1/matches/{match}/seats/two", {"code": code})
    created, taken = anybody.get(f"/v1/matches/{match}/entries").json["entries"]
    lock = sha256(f"{created['events'][0]['commitment']}:{code}".encode()).hexdigest()
    assert taken["action"]["code"] == created["events"][0]["lock"] == lock
    ben.act(match, leave("two"))
    refused = cleo.act(match, {**take("two"), "code": lock})
    assert (refused.status_code, refused.json["code"]) == (403, "wrong_code")


def test_the_code_is_shown_to_the_creator_alone_and_is_nowhere_in_the_log(
    platform: Platform, servers: Servers, app: Any, ada: Caller, ben: Caller, anybody: Caller, referee: Caller, admin: Caller
) -> None:
    match, code = coded(ada)
    assert ada.get(f"/v1/matches/{match}").json["code"] == code
    ben.post(f"/v1/matches/{match}/seats/two", {"code": code}, Idempotency_Key="k")
    paths = ["", "/state", "/entries?proof=true", "/choices", "/record", "/audit", "/state?viewer=auditor", "/stream?seconds=0&proof=true"]
    for caller in (anybody, ben, referee, admin):
        for path in paths:
            assert code.encode() not in caller.get(f"/v1/matches/{match}{path}").data
        assert code.encode() not in caller.get("/v1/matches").data
    assert code.encode() not in logged(servers, platform, match)
    secret = recall.newest(platform, match).secret
    assert code == base64.b32encode(hmac.digest(secret, b"code", "sha256")[:10]).decode().lower(), "as docs/auditing.md says"


def test_a_repeated_creation_gets_the_same_code_in_every_process(
    another_platform: Callable[[], Platform], settings: Settings, ada: Caller, ben: Caller
) -> None:
    body = {"game": "tally", "seats": {"one": "me", "two": "open"}, "code": True}
    first = ada.post("/v1/matches", body, Idempotency_Key="k")
    ben.post(f"/v1/matches/{first.json['id']}/seats/two", {"code": first.json["code"]})
    elsewhere = Caller(create_app(another_platform(), settings).test_client(), ada.key)
    for caller in (ada, elsewhere):
        assert caller.post("/v1/matches", body, Idempotency_Key="k").data == first.data
    assert "code" not in ada.get(f"/v1/matches/{first.json['id']}").json, "it is of no use once the match has started"
    plain = ada.post("/v1/matches", {**body, "code": False}).json
    assert "code" not in plain
    assert plain["code_needed"] is False


def test_an_invited_player_needs_no_code(ada: Caller, ben: Caller, cleo: Caller) -> None:
    match, code = coded(ada, one="me", two=f"player:{ben.id}", three="open")
    refused = cleo.post(f"/v1/matches/{match}/seats/two", {"code": code})
    assert refused.json["code"] == "not_invited"
    assert ben.post(f"/v1/matches/{match}/seats/two", {"code": "a" * 16}).status_code == 200
    assert "code" not in ben.get(f"/v1/matches/{match}/entries?after=1").json["entries"][0]["action"]


# ---------------------------------------------------------------- closing


def test_the_creator_closes_a_match_that_never_began(platform: Platform, ada: Caller, ben: Caller, anybody: Caller) -> None:
    match, code = coded(ada, one="me", two="open", three=f"player:{ben.id}")
    refused = ben.act(match, {"type": "close_match"})
    assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (403, "not_creator", "TBL-CLO-01")
    closed = ada.act(match, {"type": "close_match"})
    assert (closed.status_code, closed.json["to_act"], closed.json["choices"]) == (200, [], [])
    found = anybody.get(f"/v1/matches/{match}").json
    assert (found["status"], found["to_act"], found["outcome"], found["invited"]) == ("closed", [], None, {})
    assert sha256(bytes.fromhex(found["secret"])).hexdigest() == found["commitment"]
    assert found["secret"] == anybody.get(f"/v1/matches/{match}/entries").json["entries"][-1]["secret"]
    assert "code" not in ada.get(f"/v1/matches/{match}").json
    for caller, action in ((ben, take("three")), (ben, {**take("two"), "code": code}), (ada, leave("one")), (ada, {"type": "close_match"})):
        refused = caller.act(match, action)
        assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (409, "match_closed", "TBL-CLO-02")
    refused = ada.act(match, {"type": "add", "by": 1, "stay": True})
    assert (refused.status_code, refused.json["code"]) == (409, "match_closed")
    assert listed(anybody, "status=closed") == [match]
    assert listed(anybody, "status=open") == listed(ben, "invited=me") == []
    assert listed(ada, "player=me") == [match]


def test_a_closed_match_passes_every_audit(platform: Platform, ada: Caller, ben: Caller, anybody: Caller) -> None:
    match, code = coded(ada, one="me", two="open", three=f"player:{ben.id}")
    ben.act(match, {**take("two"), "code": code})
    ben.act(match, {"type": "decline_seat", "seat": "three"})
    ada.act(match, {"type": "close_match"})
    assert audit(platform, match).findings == []
    report = anybody.get(f"/v1/matches/{match}/audit").json
    assert (report["ok"], report["chain"], report["commitment"], report["dice"]) == (True, "verified", "kept", "verified")
    record = anybody.get(f"/v1/matches/{match}/record", Accept="application/x-ndjson").data.splitlines()
    assert audit_entries(platform.games, record).findings == []
    rebuild(platform)
    assert audit(platform, match).findings == []


def test_a_lock_that_does_not_follow_from_the_secret_is_found(platform: Platform, ada: Caller) -> None:
    match, _ = coded(ada)
    ada.act(match, {"type": "close_match"})
    header, *lines = ada.get(f"/v1/matches/{match}/record", Accept="application/x-ndjson").data.splitlines()
    lock = recall.position(platform, match).table["lock"]
    assert lock is not None
    other = sha256(b"another").hexdigest()
    findings = audit_entries(platform.games, [header, lines[0].replace(lock.encode(), other.encode()), *lines[1:]]).findings
    assert "events_differ" in {finding.code for finding in findings}


def test_a_closed_match_ends_its_streams_and_long_polls(ada: Caller, anybody: Caller) -> None:
    match = opened(ada)
    ada.act(match, {"type": "close_match"})
    body = anybody.get(f"/v1/matches/{match}/stream").data
    assert body.endswith(b'event: over\ndata: {"version":2}\n\n')
    assert anybody.get(f"/v1/matches/{match}/stream?after=2").status_code == 204
    assert anybody.get(f"/v1/matches/{match}/entries?after=2&wait=5").json["entries"] == []
    for viewer in ("one", "two", "spectator", "auditor"):
        assert anybody.get(f"/v1/matches/{match}/state?viewer={viewer}").status_code == 200


def test_a_match_that_has_started_is_not_closed(ada: Caller, tally: str) -> None:
    refused = ada.act(tally, {"type": "close_match"})
    assert (refused.status_code, refused.json["code"], refused.json["rule"]) == (409, "already_started", "TBL-CLO-01")


@pytest.mark.parametrize("body", [{"code": 1}, {"code": "yes"}, {"code": "true"}, {"code": None}])
def test_a_match_asks_for_a_code_or_not(ada: Caller, body: Any) -> None:
    refused = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, **body})
    assert (refused.status_code, refused.json["code"]) == (400, "bad_body")
