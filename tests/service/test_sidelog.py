"""The side log of a match: what was refused to its seats, and what staff was shown that others do not see."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from events import play, recall
from events.errors import StoreUnavailable
from events.notary import sidelog
from events.platform import Platform
from evidence.notes import opened, parse_vkey
from evidence.running import Running
from evidence.statements import Read, SideLog, parse_read, parse_receipt
from service.api.routes import OPERATIONS
from tests.conftest import within
from tests.service.conftest import Caller, Live
from tests.service.test_spectators import LATE, hidden

ADD = {"type": "add", "by": 1, "stay": True}
WHOLE = {"record", "audit", "dossier"}
# These show staff nothing of play that spectators do not see: a hint is for the own seat alone, an analysis of a match that is over.
# `refusals` has a test of its own.
NOTHING = {"choices", "reads", "refusals", "leaves", "disputes", "hint", "analysis"}


def shown(caller: Caller, match: str) -> set[tuple[str, str]]:
    """Return which readers were shown what, as everybody may see it."""
    return {(read["reader"], read["what"]) for read in caller.get(f"/v1/matches/{match}/reads").json["reads"]}


def statement(platform: Platform, note: str) -> Read:
    return parse_read(opened(note, map(parse_vkey, platform.signer.vkeys())).text)


def routes(match: str) -> Iterator[tuple[str, str]]:
    """Yield what each route that reads a match shows, and its address."""
    for operation in OPERATIONS:
        if operation.method != "GET" or "{match}" not in operation.path:
            continue
        path = operation.path.format(match=match, version=3)
        what = path.removeprefix(f"/v1/matches/{match}").strip("/").split("/")[0] or "match"
        if what in NOTHING:
            continue
        fields = operation.query.fields if operation.query is not None else {}
        query = "&".join(
            f"{name}={value}" for name, value in {"viewer": "two", "seconds": 0, "pointer": "/round"}.items() if name in fields
        )
        yield what, f"{path}?{query}"


def test_every_route_that_shows_staff_what_is_hidden_keeps_it_before_it_answers(
    platform: Platform, referee: Caller, admin: Caller, anybody: Caller, tally: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*given: Any) -> None:
        raise StoreUnavailable("away")

    found = list(routes(tally))
    assert {what for what, _ in found} >= {"match", "state", "state.svg", "entries", "stream", "frames", "receipts", "record", "audit"}
    kept = platform.store.sidelog.add_read
    for what, path in found:
        expected = what if what in WHOLE else "view:two" if "viewer=" in path else None
        for caller in (referee, admin):
            monkeypatch.setattr(platform.store.sidelog, "add_read", away)
            platform.sidelog._known.clear()
            if what == "stream":
                with pytest.raises(StoreUnavailable):
                    assert caller.get(path).data
            else:
                assert (caller.get(path).status_code == 503) is (expected is not None), path
            monkeypatch.setattr(platform.store.sidelog, "add_read", kept)
            before = platform.sidelog.reads(tally)
            answer = caller.get(path)
            assert (answer.status_code, bool(answer.data)) == (200, True), path
            added = {read for read in platform.sidelog.reads(tally) if read not in before}
            assert {(read.reader, read.what) for read in added} == ({(caller.id or "admin", expected)} if expected else set()), path
    assert shown(anybody, tally) == {(reader, what) for reader in (referee.id, "admin") for what in ("view:two", *WHOLE)}


def test_a_read_says_who_was_shown_what_of_which_version(
    platform: Platform, ada: Caller, referee: Caller, anybody: Caller, tally: str
) -> None:
    base = f"/v1/matches/{tally}"
    for path in ("/state?viewer=auditor&at=2", "/state?viewer=auditor", "/entries?viewer=auditor&limit=1", "/state?viewer=one&at=1"):
        assert referee.get(base + path).status_code == 200
    ada.act(tally, ADD)
    assert referee.get(f"{base}/stream?viewer=auditor&seconds=0").data
    (auditor, one) = sorted(anybody.get(f"{base}/reads").json["reads"], key=lambda read: str(read["what"]))
    first, newest = statement(platform, auditor["first"]), statement(platform, auditor["newest"])
    assert (auditor["reader"], auditor["what"], auditor["count"]) == (referee.id, "view:auditor", 4)
    assert first == Read(tally, 2, referee.id, "view:auditor", first.at)
    assert newest == Read(tally, 4, referee.id, "view:auditor", newest.at)
    assert (one["what"], one["count"], one["first"]) == ("view:one", 1, one["newest"])
    assert recall.position(platform, tally).version == 4, "looking is no version"


def test_a_stream_of_staff_keeps_how_far_it_has_shown(platform: Platform, live: Live, referee: Caller, tally: str) -> None:
    address = f"{live.url}/v1/matches/{tally}/stream?viewer=two&after=3"
    with requests.get(address, headers={"Authorization": f"Bearer {referee.key}"}, stream=True, timeout=10) as stream:
        assert stream.status_code == 200
        for version in (4, 5):
            play.play(platform, tally, "one", [ADD])
            within(20, lambda version=version: [read for read in platform.sidelog.reads(tally) if f"\n{version}\n" in read.newest])


def test_nothing_is_kept_of_those_who_see_no_more_than_they_may(
    platform: Platform, ada: Caller, ben: Caller, referee: Caller, anybody: Caller, join: Callable[..., Caller]
) -> None:
    rex = join("Rex", "referee")
    match = rex.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, "options": {"target": 30}}).json["id"]
    ben.post(f"/v1/matches/{match}/seats/two")
    for caller in (rex, ben, anybody):
        for _, path in routes(match):
            for viewer in ("two", "one", "spectator"):
                assert caller.get(path.replace("viewer=two", f"viewer={viewer}")).data
    referee.get(f"/v1/matches/{match}/state")
    referee.get(f"/v1/matches/{match}/state?viewer=spectator")
    assert shown(anybody, match) == set()
    ben.act(match, {"type": "resign"})
    for _, path in routes(match):
        assert referee.get(path).status_code in (200, 204)
    assert shown(anybody, match) == set()


PAGES = ("/m/{}?viewer=one", "/m/{}/words?viewer=one", "/m/{}", "/m/{}/words", "/embed/{}")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_shows_staff_what_is_hidden_keeps_it_before_it_is_sent(
    platform: Platform, ada: Caller, ben: Caller, referee: Caller, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*given: Any) -> None:
        raise StoreUnavailable("away")

    match = hidden(ada, ada, ben, "none", target=30)
    play.play(platform, match, "system", [{"type": "advance"}])

    def ask(caller: Caller) -> int:
        return int(caller.client.get(page.format(match), headers={"Authorization": f"Bearer {caller.key}"}).status_code)

    assert ask(ada) == 200
    assert not platform.sidelog.reads(match)
    kept = platform.store.sidelog.add_read
    monkeypatch.setattr(platform.store.sidelog, "add_read", away)
    assert ask(referee) == 503
    monkeypatch.setattr(platform.store.sidelog, "add_read", kept)
    assert ask(referee) == 200
    (read,) = platform.sidelog.reads(match)
    assert (read.reader, read.what) == (referee.id, "view:one" if "viewer" in page else "view:spectator")


@pytest.mark.parametrize("spectators", ["none", LATE])
def test_of_a_hidden_match_staff_that_looks_as_a_spectator_sees_more_and_strangers_see_no_read(
    platform: Platform, ada: Caller, ben: Caller, anybody: Caller, referee: Caller, admin: Caller, spectators: Any
) -> None:
    match = hidden(ada, ada, ben, spectators, target=30)
    admin.get(f"/v1/matches/{match}/state?viewer=one&at=2")
    play.play(platform, match, "system", [{"type": "advance"}])
    ada.act(match, ADD)
    for what, path in routes(match):
        if what not in WHOLE:
            platform.sidelog._known.clear()
            before = platform.sidelog.reads(match)
            assert referee.get(path.replace("viewer=two", "viewer=spectator")).data
            assert platform.sidelog.reads(match) != before, path
    assert shown(ada, match) == {("admin", "view:one"), (referee.id, "view:spectator")}
    assert shown(anybody, match) == set(), "a read tells how far the match is"
    ada.act(match, {"type": "resign"})
    assert len(shown(anybody, match)) == 2


# ---------------------------------------------------------------- refused actions


def refused(platform: Platform, caller: Caller, match: str) -> list[Any]:
    """Return the refused actions that the caller may see, after all have been written."""
    platform.sidelog.flush()
    found = caller.get(f"/v1/matches/{match}/refusals")
    assert found.status_code == 200
    return list(found.json["refused"])


def test_a_refused_action_of_a_seat_is_kept_with_its_code_and_its_version(platform: Platform, ada: Caller, ben: Caller, tally: str) -> None:
    assert ben.act(tally, ADD).json["code"] == "not_your_turn"
    ada.act(tally, ADD)
    assert ada.act(tally, [ADD, {"type": "roll"}, ADD]).json["code"] == "must_be_last"
    assert ada.act(tally, [ADD, {"type": "add", "by": 99}]).json["place"] == 1
    assert ada.act(tally, ADD, If_Match='"3"').status_code == 412
    assert ada.act(tally, {"type": "accept", "what": "pause"}).json["code"] == "no_offer"
    assert ada.act(tally, {"type": "nonsense", "text": "x" * 2000}).json["code"] == "bad_action"
    (of_ben,) = refused(platform, ben, tally)
    assert of_ben == {
        "seat": "two",
        "player": ben.id,
        "version": 3,
        "at": of_ben["at"],
        "action": ADD,
        "code": "not_your_turn",
        "rule": of_ben["rule"],
    }
    found = refused(platform, ada, tally)
    assert [(one["version"], one["code"]) for one in found[:4]] == [(4, "must_be_last"), (4, "bad_action"), (4, "stale"), (4, "no_offer")]
    assert found[0]["action"] == {"type": "roll"}
    assert found[1]["action"] == {"type": "add", "by": 99}
    assert "action" not in found[4]
    assert re.fullmatch("[0-9a-f]{64}", found[4]["sha256"])
    assert {one["seat"] for one in found} == {"one"}


def test_what_was_accepted_for_another_seat_or_sent_by_a_stranger_is_not_kept(
    platform: Platform, ada: Caller, cleo: Caller, anybody: Caller
) -> None:
    match = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "me"}, "options": {"target": 30}}).json["id"]
    play.play(platform, match, "system", [{"type": "advance"}])
    assert ada.act(match, ADD).status_code == 200
    assert cleo.act(match, ADD).json["code"] == "not_seated"
    assert cleo.act(match, {"type": "take_seat", "seat": "one"}).json["code"] == "seat_taken"
    assert refused(platform, ada, match) == []
    for caller in (cleo, anybody):
        denied = caller.get(f"/v1/matches/{match}/refusals")
        assert (denied.status_code, denied.json["code"]) == (403, "hidden_refusals")


def test_each_sees_its_own_staff_all_and_everybody_all_in_the_end(
    platform: Platform, ada: Caller, ben: Caller, referee: Caller, anybody: Caller, tally: str
) -> None:
    for _ in range(60):
        ben.act(tally, ADD)
    ada.act(tally, {"type": "accept", "what": "pause"})
    assert [one["seat"] for one in refused(platform, ada, tally)] == ["one"]
    assert ada.get(f"/v1/matches/{tally}/refusals").json["dropped"] == 0, "how often others were refused is theirs to know"
    kept = len(refused(platform, ben, tally))
    assert 20 < kept < 30, "4,000 bytes"
    assert [one["seat"] for one in refused(platform, ben, tally)] == ["two"] * kept
    assert ben.get(f"/v1/matches/{tally}/refusals").json["dropped"] == 60 - kept
    assert len(refused(platform, referee, tally)) == kept + 1
    assert referee.get(f"/v1/matches/{tally}/refusals").json["dropped"] == 60 - kept
    assert ben.get(f"/v1/matches/{tally}/refusals").json["running"].keys() == {"two"}
    assert shown(anybody, tally) == {(referee.id, "view:auditor")}
    reads = anybody.get(f"/v1/matches/{tally}/reads").json["running"]
    named = parse_receipt(opened(ada.act(tally, {"type": "resign"}).json["receipt"], map(parse_vkey, platform.signer.vkeys())).text).sidelog
    assert named is not None
    assert named == SideLog("one", Running(1, named.refused.hash), Running(reads["count"], reads["hash"]))
    assert len(refused(platform, anybody, tally)) == kept + 1
    running = anybody.get(f"/v1/matches/{tally}/refusals").json["running"]
    assert running["one"] == {"count": 1, "hash": named.refused.hash}
    assert running["two"]["count"] == 60


def test_a_server_writes_them_within_seconds_and_no_answer_waits_for_it(
    platform: Platform, live: Live, ben: Caller, referee: Caller, tally: str
) -> None:
    address, headers = f"{live.url}/v1/matches/{tally}/actions", {"Authorization": f"Bearer {ben.key}"}
    for _ in range(3):
        assert requests.post(address, json=ADD, headers=headers, timeout=5).status_code == 422
    within(20, lambda: len(platform.sidelog.refusals(tally).refused) == 3)


def test_a_store_that_is_away_for_refused_actions_fails_no_answer(
    platform: Platform, ben: Caller, tally: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*given: Any) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(platform.store.sidelog, "add_refusals", away)
    monkeypatch.setattr(sidelog, "PAUSE", 0.01)
    assert ben.act(tally, ADD).json["code"] == "not_your_turn"


def test_who_has_read_what_seats_may_not_see_takes_no_seat_over(
    ada: Caller, referee: Caller, join: Callable[..., Caller], tally: str
) -> None:
    """The seats see the list of reads; the service keeps to it (TBL-HND-04)."""
    base, take = f"/v1/matches/{tally}", {"type": "take_over", "seat": "one"}
    other = join("Olga", "referee")
    assert other.get(f"{base}/state?viewer=spectator").status_code == 200
    assert referee.get(f"{base}/state?viewer=two").status_code == 200
    for reader, status in ((referee, 403), (other, 200)):
        assert ada.act(tally, {"type": "hand_over", "player": reader.id}).status_code == 200
        listed = [choice["action"] for choice in reader.get(f"{base}/choices").json["choices"]]
        assert listed == ([take] if status == 200 else [])
        answer = reader.act(tally, take)
        assert answer.status_code == status, answer.text
        assert status == 200 or answer.json["code"] == "was_shown"
