from __future__ import annotations

import hmac
import threading
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from events import play
from events.audit import audit
from events.errors import StoreUnavailable
from events.platform import Platform
from games import GAMES
from record.trail import Report, audit_entries
from service.app import create_app
from service.http.settings import Settings
from service.shown_entries import ShownEntries
from tests.conftest import within
from tests.each import each
from tests.service.conftest import Caller, streams_open
from tests.service.test_matches import played_out

ADD = {"type": "add", "by": 1, "stay": True}


def test_entries_come_in_order_page_by_page(ada: Caller, anybody: Caller, tally: str) -> None:
    for _ in range(5):
        ada.act(tally, ADD)
    found, after = [], 0
    while page := anybody.get(f"/v1/matches/{tally}/entries?after={after}&limit=3").json["entries"]:
        found += page
        after = page[-1]["version"]
    assert [entry["version"] for entry in found] == list(range(1, 9))
    assert [entry["action"]["type"] for entry in found[:4]] == ["create_match", "take_seat", "advance", "add"]


def test_ndjson_has_the_same_entries_one_a_line(ada: Caller, anybody: Caller, tally: str) -> None:
    ada.act(tally, ADD)
    in_json = anybody.get(f"/v1/matches/{tally}/entries")
    in_lines = anybody.get(f"/v1/matches/{tally}/entries", Accept="application/x-ndjson")
    assert (in_json.mimetype, in_lines.mimetype) == ("application/json", "application/x-ndjson")
    assert [orjson.loads(line) for line in in_lines.data.splitlines()] == in_json.json["entries"]
    assert "Accept" in in_lines.headers["Vary"]


def test_there_is_no_entry_after_the_last(anybody: Caller, tally: str) -> None:
    page = anybody.get(f"/v1/matches/{tally}/entries?after=3").json
    assert (page["after"], page["version"], page["entries"]) == (3, 3, [])
    assert anybody.get(f"/v1/matches/{tally}/entries?after=3", Accept="application/x-ndjson").data == b""


def test_a_long_poll_ends_with_the_next_entry(platform: Platform, ada: Caller, tally: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is woken: it does not end because its time is up, and nobody looks for what was missed."""
    monkeypatch.setattr("service.http.hub.LOOK_SECONDS", 600.0)
    client = create_app(platform, Settings(wait_limit=60.0, log_requests=False)).test_client()
    answers: list[Any] = []
    before = streams_open()
    waiting = threading.Thread(target=lambda: answers.append(client.get(f"/v1/matches/{tally}/entries?after=3&wait=60").json), daemon=True)
    waiting.start()
    within(20, lambda: streams_open() > before)
    ada.act(tally, ADD)
    waiting.join(30)
    assert [entry["version"] for entry in answers[0]["entries"]] == [4]


def test_a_long_poll_without_a_new_entry_ends_when_the_time_is_up(anybody: Caller, tally: str) -> None:
    assert anybody.get(f"/v1/matches/{tally}/entries?after=3&wait=1").json["entries"] == []


def test_a_long_poll_does_not_wait_when_the_match_is_over(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, tally: str
) -> None:
    version = played_out(platform, ada, ben, tally)["version"]
    assert anybody.get(f"/v1/matches/{tally}/entries?after={version}&wait=60").json["entries"] == []


def test_a_stream_sends_the_entries_that_exist_and_resumes_after_the_last_event(ada: Caller, anybody: Caller, tally: str) -> None:
    ada.act(tally, ADD)
    streamed = events(anybody.get(f"/v1/matches/{tally}/stream?seconds=0").text)
    assert [event["id"] for event in streamed] == ["1", "2", "3", "4"]
    assert [orjson.loads(event["data"]) for event in streamed] == anybody.get(f"/v1/matches/{tally}/entries").json["entries"]
    later = anybody.get(f"/v1/matches/{tally}/stream?seconds=0", Last_Event_ID="3")
    assert [event["id"] for event in events(later.text)] == ["4"]
    assert later.mimetype == "text/event-stream"
    both = anybody.get(f"/v1/matches/{tally}/stream?seconds=0&after=1", Last_Event_ID="3")
    assert [event["id"] for event in events(both.text)] == ["4"]


def test_a_stream_of_a_match_that_is_over_ends_and_tells_clients_to_stop(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, tally: str
) -> None:
    version = played_out(platform, ada, ben, tally)["version"]
    streamed = events(anybody.get(f"/v1/matches/{tally}/stream").text)
    assert [streamed[-2]["id"], streamed[-1]["event"]] == [str(version), "over"]
    assert anybody.get(f"/v1/matches/{tally}/stream", Last_Event_ID=str(version)).status_code == 204


@each("given", ["x", "-1", "1.5", "", "9" * 16])
def test_a_last_event_id_that_is_no_version_is_400(anybody: Caller, tally: str, given: str) -> None:
    refused = anybody.get(f"/v1/matches/{tally}/stream?seconds=0", Last_Event_ID=given)
    assert (refused.status_code, refused.json["code"]) == (400, "bad_header")


def test_entries_are_shown_as_the_caller_may_see_them(anybody: Caller, ada: Caller, referee: Caller, tally: str) -> None:
    def pile(caller: Caller, query: str = "") -> Any:
        entries = caller.get(f"/v1/matches/{tally}/entries{query}").json["entries"]
        assert all("proof" not in entry for entry in entries)
        return entries[2]["events"][0]["pile"], entries[2]["digest"]

    shown, digest = pile(anybody)
    assert shown == 30
    assert pile(anybody) == pile(ada) == pile(referee) == (30, digest)
    hidden, same_digest = pile(referee, "?viewer=auditor")
    assert (len(hidden), same_digest) == (30, digest)
    for caller in (anybody, ada):
        assert caller.get(f"/v1/matches/{tally}/entries?viewer=auditor").status_code == 403
        assert caller.get(f"/v1/matches/{tally}/stream?viewer=auditor").status_code == 403


def test_an_audit_is_for_referees_and_for_everybody_once_it_is_over(
    platform: Platform, anybody: Caller, ada: Caller, ben: Caller, cleo: Caller, referee: Caller, admin: Caller, tally: str
) -> None:
    def statuses() -> list[int]:
        callers = (anybody, ada, ben, cleo, referee, admin)
        return [caller.get(f"/v1/matches/{tally}/{path}").status_code for path in ("audit", "record") for caller in callers]

    assert statuses() == [403, 403, 403, 403, 200, 200] * 2
    played_out(platform, ada, ben, tally)
    assert statuses() == [200] * 12
    assert anybody.get(f"/v1/matches/{tally}/record").data == ada.get(f"/v1/matches/{tally}/record").data


def test_a_process_does_one_audit_at_a_time(
    platform: Platform, anybody: Caller, ada: Caller, ben: Caller, tally: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    played_out(platform, ada, ben, tally)
    began, end = threading.Event(), threading.Event()

    def slow(platform: Platform, match: str) -> Report:
        began.set()
        assert end.wait(10)
        return audit(platform, match)

    monkeypatch.setattr("service.api.audits.audit", slow)
    answers: list[Any] = []
    first = threading.Thread(target=lambda: answers.append(ada.get(f"/v1/matches/{tally}/audit")), daemon=True)
    first.start()
    assert began.wait(10)
    refused = anybody.get(f"/v1/matches/{tally}/audit")
    assert (refused.status_code, refused.json["code"], refused.headers["Retry-After"]) == (503, "busy", "1")
    assert anybody.get(f"/v1/matches/{tally}/record").status_code == 200
    end.set()
    first.join(10)
    assert answers[0].status_code == anybody.get(f"/v1/matches/{tally}/audit").status_code == 200


@pytest.mark.parametrize("path", ["entries?after={}", "entries?after={}&wait=5", "stream?after={}&seconds=5"])
def test_entries_after_a_version_that_is_still_to_come_are_404(
    platform: Platform, anybody: Caller, ada: Caller, ben: Caller, tally: str, path: str
) -> None:
    head = anybody.get(f"/v1/matches/{tally}").json["version"]
    for _ in range(2):
        refused = anybody.get(f"/v1/matches/{tally}/{path.format(head + 1)}")
        assert (refused.status_code, refused.json["code"]) == (404, "no_such_version")
        assert refused.json["detail"] == f"The match has the versions 1 to {head}. There is no version {head + 1}."
        head = played_out(platform, ada, ben, tally)["version"]
    assert anybody.get(f"/v1/matches/{tally}/entries?after={head}").json["entries"] == []


def test_a_last_event_that_is_still_to_come_is_404(anybody: Caller, tally: str) -> None:
    refused = anybody.get(f"/v1/matches/{tally}/stream?seconds=0", Last_Event_ID="99")
    assert (refused.status_code, refused.json["code"]) == (404, "no_such_version")


def test_a_referee_who_plays_in_a_match_is_a_player_there_until_it_is_over(platform: Platform, ada: Caller, referee: Caller) -> None:
    created = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}}).json
    match = created["id"]
    assert referee.get(f"/v1/matches/{match}/audit").status_code == 200
    assert referee.post(f"/v1/matches/{match}/seats/two").status_code == 200
    views = ("state?viewer=auditor", "state?viewer=one", "state.svg?viewer=one", "entries?viewer=auditor", "stream?viewer=one")
    for path in ("audit", "record", *views):
        assert referee.get(f"/v1/matches/{match}/{path}").status_code == 403, path
    assert referee.get(f"/v1/matches/{match}/state").json["viewer"] == "two"
    played_out(platform, ada, referee, match)
    assert referee.get(f"/v1/matches/{match}/audit").status_code == 200


def test_a_referee_who_takes_a_seat_gets_nothing_more_from_an_open_stream(platform: Platform, ada: Caller, referee: Caller) -> None:
    match = ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}).json["id"]
    stream = referee.get(f"/v1/matches/{match}/stream?viewer=auditor&after=1&seconds=9").response
    chunks = iter(stream)
    assert next(chunks) == b"retry: 1000\n\n"
    waited: list[Any] = []
    poll = threading.Thread(
        target=lambda: waited.append(referee.get(f"/v1/matches/{match}/entries?viewer=auditor&after=1&wait=9")), daemon=True
    )
    poll.start()
    assert referee.post(f"/v1/matches/{match}/seats/blue").status_code == 200
    play.play(platform, match, "system", [{"type": "advance"}])
    assert list(chunks) == []
    poll.join(10)
    assert waited[0].status_code == 403 or waited[0].json["entries"] == []  # its answer may have begun before
    assert referee.get(f"/v1/matches/{match}/entries?viewer=auditor&after=1").json["code"] == "hidden_view"


def test_a_record_that_cannot_be_read_to_its_end_is_not_sent(
    platform: Platform, ada: Caller, ben: Caller, tally: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    played_out(platform, ada, ben, tally)

    def broken(store: Any, match: str) -> Iterator[bytes]:
        yield b"{}"
        raise StoreUnavailable("gone")

    monkeypatch.setattr("events.archive.reading.ArchivedLog.read_all", broken)
    for accept in ("application/json", "application/x-ndjson"):
        refused = ada.get(f"/v1/matches/{tally}/record", Accept=accept)
        assert (refused.status_code, refused.json["code"]) == (503, "store_away")


def test_the_audit_of_a_sound_match_finds_nothing(platform: Platform, ada: Caller, ben: Caller, tally: str) -> None:
    version = played_out(platform, ada, ben, tally)["version"]
    report = ada.get(f"/v1/matches/{tally}/audit").json
    assert (report["ok"], report["findings"], report["versions"], report["commitment"], report["dice"]) == (
        True,
        [],
        version,
        "kept",
        "verified",
    )


def test_the_record_is_enough_for_an_audit_elsewhere(platform: Platform, ada: Caller, ben: Caller, tally: str) -> None:
    played_out(platform, ada, ben, tally)
    record = ada.get(f"/v1/matches/{tally}/record", Accept="application/x-ndjson").data
    report = audit_entries({**GAMES, **platform.games}, record.splitlines())
    assert report.ok
    assert report.dice == "verified"
    in_json = ada.get(f"/v1/matches/{tally}/record").json
    header, *entries = (orjson.loads(line) for line in record.splitlines())
    secret = bytes.fromhex(ada.get(f"/v1/matches/{tally}").json["secret"])
    assert header == {"match": tally, "blind": hmac.new(secret, b"blind", "sha256").hexdigest()}
    assert in_json == {**header, "entries": entries}


@pytest.mark.parametrize("path", ["", "/state", "/state.svg", "/choices", "/entries", "/stream", "/audit", "/record"])
def test_an_unknown_match_is_404_by_every_route(ada: Caller, referee: Caller, path: str) -> None:
    caller = referee if path in ("/audit", "/record") else ada
    for match in ("maaaaaaaaaaaaaaaa", "nothing", "%00", "m" * 17, "..", "M" + "A" * 16, "maaaaaaaaaaaaaaaa%0A"):
        refused = caller.get(f"/v1/matches/{match}{path}")
        assert (match, refused.status_code) == (match, 404)
        assert refused.json["code"] in ("no_such_match", "no_such_path")


def test_more_streams_than_allowed_are_refused(ada: Caller, anybody: Caller, tally: str) -> None:
    streams = [anybody.client.get(f"/v1/matches/{tally}/stream") for _ in range(8)]
    refused = anybody.get(f"/v1/matches/{tally}/stream")
    assert (refused.status_code, refused.json["code"], refused.headers["Retry-After"]) == (503, "streams_full", "5")
    assert anybody.get(f"/v1/matches/{tally}/entries?after=3&wait=1").json["code"] == "streams_full"
    assert ada.act(tally, ADD).status_code == 200
    streams[0].close()
    streams.append(anybody.client.get(f"/v1/matches/{tally}/stream"))
    assert streams[-1].status_code == 200
    for answer in streams:
        answer.close()


def test_actions_of_the_system_are_visible(platform: Platform, ada: Caller, ben: Caller, anybody: Caller, tally: str) -> None:
    ada.act(tally, {**ADD, "stay": False})
    ben.act(tally, {**ADD, "stay": False})
    play.play(platform, tally, "system", [{"type": "advance"}])
    assert anybody.get(f"/v1/matches/{tally}/entries?after=5").json["entries"][0]["actor"] == "system"


def test_new_entries_that_another_viewer_has_read_come_from_the_cache(
    platform: Platform, ada: Caller, tally: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.act(tally, ADD)
    game, entries = platform.games["tally"], ShownEntries(platform)
    first = entries.read_new(game, tally, 1, 4, "spectator", False)
    assert [entry.version for entry in first] == [2, 3, 4]
    ada.act(tally, ADD)
    assert [entry.version for entry in entries.read_new(game, tally, 3, 5, "spectator", False)] == [4, 5]
    monkeypatch.setattr(entries, "read", None)
    assert entries.read_new(game, tally, 1, 4, "spectator", False) == first
    for viewer, proof in (("auditor", False), ("spectator", True)):
        with pytest.raises(TypeError):
            entries.read_new(game, tally, 1, 4, viewer, proof)


def events(text: str) -> list[dict[str, str]]:
    """Return the server-sent events in a text."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if "event" in fields:
            found.append(fields)
    return found
