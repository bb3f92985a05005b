"""Receipts: every accepted action is answered with one, everybody who may see a version gets the same, and the keys are published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from events import play, recall
from events.notary import signer
from events.platform import Platform
from evidence.notes import SigningKey, opened, parse_vkey
from evidence.statements import Receipt, parse_receipt
from examples import check_chain
from record.entries import parse
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import Servers, within
from tests.each import each
from tests.service.conftest import ADMIN, Caller, Live
from tests.service.secrecy import replace_entries
from tests.service.test_spectators import LATE, hidden

ADD = {"type": "add", "by": 1, "stay": True}


def read(caller: Caller, note: str) -> Receipt:
    """Return what a receipt says, after checking its signature with the keys that the server publishes."""
    published = caller.get("/.well-known/warledger-keys").json
    return parse_receipt(opened(note, [parse_vkey(key["vkey"]) for key in published["keys"]]).text)


def stored(platform: Platform, match: str, version: int) -> Receipt:
    """Return what the receipt of a version has to say."""
    entry = parse(platform.store.log.read(match, version - 1, 1)[0])
    return Receipt(match, version, entry.digest, entry.at)


def test_a_match_a_seat_and_an_action_are_answered_with_a_receipt(platform: Platform, ada: Caller, ben: Caller) -> None:
    made = ada.post("/v1/matches", {"game": "tally", "seats": {"one": "me", "two": "open"}, "options": {"target": 30}})
    match = made.json["id"]
    joined = ben.post(f"/v1/matches/{match}/seats/two")
    play.play(platform, match, "system", [{"type": "advance"}])
    one = ada.act(match, ADD)
    several = ada.act(match, [ADD, ADD])
    offered = ada.act(match, {"type": "offer", "what": "draw"})
    for answer, version in ((made, 1), (joined, 2), (one, 4), (several, 6), (offered, 7)):
        assert read(ada, answer.json["receipt"]) == stored(platform, match, version)
        assert answer.json["version"] == version
    assert "receipt" not in ada.get(f"/v1/matches/{match}").json


@pytest.mark.parametrize("prefer", ["return=minimal", 'wait=5, return="minimal"; foo', "Return=Minimal"])
def test_whoever_prefers_little_gets_the_receipt_and_the_version_alone(platform: Platform, ada: Caller, tally: str, prefer: str) -> None:
    answers = [ada.act(tally, [ADD, ADD], Prefer=prefer, Idempotency_Key="a") for _ in range(2)]
    head = platform.store.log.head(tally)
    for answer in answers:
        assert (answer.mimetype, answer.headers["ETag"], answer.headers["Preference-Applied"]) == (
            "text/plain",
            f'"{head}"',
            "return=minimal",
        )
        assert read(ada, answer.text) == stored(platform, tally, head)
    refused = ada.act(tally, {"type": "nothing"}, Prefer=prefer)
    assert refused.json["code"] == "bad_action"


@each("prefer", ["return=representation", "return=minimally", "min", ""])
def test_another_preference_changes_nothing(ada: Caller, tally: str, prefer: str) -> None:
    assert ada.act(tally, ADD, Prefer=prefer).json["choices"]


def test_a_repeated_request_gets_the_receipt_of_what_it_led_to(platform: Platform, ada: Caller, ben: Caller, tally: str) -> None:
    created = [ada.post("/v1/matches", {"game": "war", "seats": {"red": "me", "blue": "open"}}, Idempotency_Key="new") for _ in range(2)]
    assert created[0].json["receipt"] == created[1].json["receipt"]
    first = ada.act(tally, ADD, Idempotency_Key="a")
    ada.act(tally, ADD)
    again = ada.act(tally, ADD, Idempotency_Key="a")
    assert again.data == first.data
    assert read(ada, again.json["receipt"]) == stored(platform, tally, 4)


def test_a_rematch_is_answered_with_its_receipt(platform: Platform, ada: Caller, ben: Caller, tally: str) -> None:
    assert ada.act(tally, {"type": "resign"}).status_code == 200
    for caller, version in ((ada, 1), (ben, 2), (ada, 2)):
        again = caller.act(tally, {"type": "rematch"})
        assert (again.status_code, again.json["version"]) == (201, version)
        assert read(ada, again.json["receipt"]) == stored(platform, again.json["id"], version)


def test_a_refused_action_has_no_receipt(ada: Caller, ben: Caller, tally: str) -> None:
    assert "receipt" not in ben.act(tally, ADD).json


def test_anybody_may_ask_for_the_receipt_of_any_version_again(platform: Platform, ada: Caller, anybody: Caller, tally: str) -> None:
    answered = ada.act(tally, ADD).json["receipt"]
    for version in range(1, 5):
        found = anybody.get(f"/v1/matches/{tally}/receipts/{version}")
        assert found.json == {"match": tally, "version": version, "receipt": found.json["receipt"]}
        assert read(anybody, found.json["receipt"]) == stored(platform, tally, version)
    assert found.json["receipt"] == answered
    alone = anybody.get(f"/v1/matches/{tally}/receipts/4", Accept="text/plain")
    assert (alone.mimetype, alone.text) == ("text/plain", answered)
    assert alone.headers["ETag"] != found.headers["ETag"]
    assert found.headers["Vary"] == "Authorization, Accept"


@each("version", ["0", "5", "999999999999999", "1000000000000000", "-1", "x", "1.0", "٣"])
def test_a_version_that_there_is_not_has_no_receipt(anybody: Caller, tally: str, version: str) -> None:
    refused = anybody.get(f"/v1/matches/{tally}/receipts/{version}")
    assert (refused.status_code, refused.json["code"]) == (404, "no_such_version")
    assert anybody.get(f"/v1/matches/m{'a' * 16}/receipts/1").json["code"] == "no_such_match"


def test_head_and_if_none_match(anybody: Caller, tally: str) -> None:
    for accept in ("application/json", "text/plain"):
        found = anybody.get(f"/v1/matches/{tally}/receipts/3", Accept=accept)
        head = anybody.ask("HEAD", f"/v1/matches/{tally}/receipts/3", Accept=accept)
        assert (head.status_code, head.data, head.headers["ETag"]) == (200, b"", found.headers["ETag"])
        known = anybody.get(f"/v1/matches/{tally}/receipts/3", Accept=accept, If_None_Match=found.headers["ETag"])
        assert (known.status_code, known.data) == (304, b"")
        assert anybody.get(f"/v1/matches/{tally}/receipts/2", Accept=accept, If_None_Match=found.headers["ETag"]).status_code == 200


@pytest.mark.parametrize("spectators", ["none", LATE])
def test_a_hidden_match_has_receipts_up_to_what_the_caller_may_see(
    platform: Platform, ada: Caller, ben: Caller, cleo: Caller, anybody: Caller, referee: Caller, spectators: Any
) -> None:
    match = hidden(ada, ada, ben, spectators, target=30)
    play.play(platform, match, "system", [{"type": "advance"}])
    ada.act(match, ADD)
    for caller in (anybody, cleo):
        assert caller.get(f"/v1/matches/{match}/receipts/3").status_code == 200
        beyond = caller.get(f"/v1/matches/{match}/receipts/4")
        assert (beyond.status_code, beyond.json["detail"]) == (404, "The match has the versions 1 to 3. There is no version 4.")
    for caller in (ada, ben, referee):
        assert caller.get(f"/v1/matches/{match}/receipts/5").status_code == 200
    ada.act(match, {"type": "resign"})
    assert anybody.get(f"/v1/matches/{match}/receipts/6").status_code == 200


def test_a_receipt_after_a_rotation_is_signed_by_the_new_key_and_the_old_one_still_opens(
    platform: Platform, ada: Caller, anybody: Caller, tally: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = anybody.get(f"/v1/matches/{tally}/receipts/3")
    published = anybody.get("/.well-known/warledger-keys")
    monkeypatch.setattr(signer, "SECONDS", 0.0)
    signer.rotate(platform.settings.keys_folder)
    after = anybody.get(f"/v1/matches/{tally}/receipts/3", If_None_Match=before.headers["ETag"])
    assert after.status_code == 200
    assert after.json["receipt"] != before.json["receipt"]
    assert read(ada, before.json["receipt"]) == read(ada, after.json["receipt"]) == stored(platform, tally, 3)
    keys = anybody.get("/.well-known/warledger-keys", If_None_Match=published.headers["ETag"]).json["keys"]
    assert [key["vkey"] for key in keys[:-1]] == [key["vkey"] for key in published.json["keys"]]
    assert [key["until"] is None for key in keys] == [False] * (len(keys) - 1) + [True]


def test_the_keys_are_for_everybody_and_may_be_cached_for_minutes(platform: Platform, anybody: Caller) -> None:
    found = anybody.get("/.well-known/warledger-keys", Authorization="Bearer nonsense")
    assert found.json["name"] == platform.signer.name
    assert found.headers["Cache-Control"] == "public, max-age=300"
    for key in found.json["keys"]:
        assert parse_vkey(key["vkey"]).id.hex() == key["id"]
    assert json.loads((platform.settings.keys_folder / signer.PRIVATE).read_text())["secret"] not in found.text
    known = anybody.get("/.well-known/warledger-keys", If_None_Match=found.headers["ETag"])
    assert (known.status_code, known.data) == (304, b"")


def test_without_keys_the_service_does_not_start(platform: Platform, another_platform: Callable[[], Platform], tmp_path: Any) -> None:
    (tmp_path / "file").touch()
    other = another_platform()
    other.signer.__init__(tmp_path / "file")  # type: ignore[misc]
    with pytest.raises(signer.KeysUnfit):
        create_app(other, Settings(admin_key=ADMIN))


def test_the_processes_of_a_server_sign_by_one_key(live: Live, platform: Platform, ada: Caller, tally: str) -> None:
    """One process is a real server; the other is this one. Each notices within a second that an earlier test has rotated the keys."""
    keys = "/.well-known/warledger-keys"
    within(20, lambda: requests.get(f"{live.url}{keys}", timeout=5).json() == ada.get(keys).json)
    here = ada.get(f"/v1/matches/{tally}/receipts/3").json
    assert requests.get(f"{live.url}/v1/matches/{tally}/receipts/3", timeout=5).json() == here
    assert recall.position(platform, tally).version == 3


def test_a_client_that_keeps_its_receipts_finds_a_history_that_was_rewritten(
    live: Live, platform: Platform, servers: Servers, ada: Caller, tally: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The owner of the store writes another tail, or cuts it, with good digests. Only the receipts tell."""
    file, (vkey,) = tmp_path / "kept.jsonl", platform.signer.vkeys()[-1:]
    notes = [ada.act(tally, ADD).json["receipt"] for _ in range(3)]
    entries = [parse(raw) for raw in platform.store.log.read_all(tally)]

    def checked(*kept: str) -> tuple[int, str]:
        file.write_text("".join(json.dumps(note) + "\n" for note in kept))
        status = check_chain.main([live.url, tally, "--receipts", str(file), "--key", vkey])
        return status, capsys.readouterr().out

    assert checked(*notes) == (0, f"6 entries form one chain; the digest of version 6 is {entries[-1].digest}\n")
    stranger = SigningKey(platform.signer.name, bytes(32)).sign(notes[0].split("\n\n")[0] + "\n")
    assert checked(notes[1], stranger) == (1, "the receipt in line 2 is worthless: no key that you know has signed it\n")
    assert checked(notes[0].replace("\n4\n", "\n5\n"))[1].endswith("its signature does not fit its text\n")
    other = platform.signer.receipt(tally, 5, "0f" * 32, entries[4].at)
    assert checked(*notes, other)[1] == "the server has signed two histories: its receipts of version 5 disagree\n"
    replace_entries(servers, platform, tally, [*entries[:4], entries[4]._replace(at=entries[4].at + 1), entries[5]])
    assert checked()[0] == 0
    assert checked(*notes) == (1, f"version 5: the server has signed another entry before; its digest was {entries[4].digest}\n")
    replace_entries(servers, platform, tally, entries[:5])
    assert checked(*notes) == (1, "the server has signed version 6, but does not show it\n")
