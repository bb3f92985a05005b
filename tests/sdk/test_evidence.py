"""A server that changes what it has said of a match is found out, by this program or a later one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from examples import check_chain
from sdk.python.warledger_client import BadReceipt, BrokenChain, Client, Evidence, Receipt, Receipts, TwoHistories
from sdk.python.warledger_client.evidence import digest_of
from tests.sdk.hostile import Fault, Hostile
from tests.sdk.notes import FORGER, note_of, vkey_of
from tools import private


@pytest.fixture(scope="module")
def played(place: private.Place) -> tuple[str, str, list[dict[str, Any]]]:
    """A key, a match that is over, and its entries with proofs."""
    client = Client(place.url)
    client.register("Ada")
    match = client.create("war", {"red": "me", "blue": "ai:random"})
    match.play(lambda turn: random.Random(turn.version).choice(turn.choices))
    assert client.key is not None
    return client.key, match.id, [dict(entry) for entry in match.entries(proof=True)]


def forged(entries: list[dict[str, Any]], version: int, **changes: Any) -> list[dict[str, Any]]:
    """Return entries of which one is changed."""
    return [{**entry, **changes} if entry["version"] == version else entry for entry in entries]


def test_a_chain_that_holds_ends_in_the_digest_of_the_last_entry(played: Any) -> None:
    _, match, entries = played
    evidence = Evidence(match)
    for entry in entries:
        evidence.entry(entry)
    assert evidence.version == len(entries)
    assert evidence.digest == entries[-1]["digest"]


@pytest.mark.parametrize(
    "change",
    [
        lambda entries: forged(entries, 9, at=entries[8]["at"] + 1),
        lambda entries: forged(entries, 9, actor="green"),
        lambda entries: forged(entries, 9, events=entries[8]["events"] + entries[8]["events"]),
        lambda entries: forged(entries, 9, events=[]),
        lambda entries: forged(entries, 9, digest=entries[7]["digest"]),
        lambda entries: forged(entries, 9, proof={}),
        lambda entries: forged(entries, len(entries), secret="00" * 32),
        lambda entries: entries[:8] + entries[9:],
        lambda entries: [*entries[:8], entries[9], entries[8], *entries[10:]],
    ],
)
def test_an_entry_that_does_not_follow_breaks_the_chain(played: Any, change: Any) -> None:
    _, match, entries = played
    evidence = Evidence(match)
    with pytest.raises(BrokenChain) as broken:
        [evidence.entry(entry) for entry in change(entries)]
    assert broken.value.match == match
    assert broken.value.entry in change(entries)


def test_an_entry_that_is_read_again_must_be_the_same(played: Any) -> None:
    _, match, entries = played
    evidence = Evidence(match)
    for entry in [*entries, entries[8], *entries]:
        evidence.entry(entry)
    assert evidence.version == len(entries)
    other = {**entries[8], "at": entries[8]["at"] + 1}
    with pytest.raises(BrokenChain, match="does not follow"):
        evidence.entry(other)
    with pytest.raises(BrokenChain, match="shown before"):
        evidence.entry({**other, "digest": digest_of(entries[7]["digest"], match, other)})


def test_a_chain_of_another_match_breaks_at_once(played: Any) -> None:
    with pytest.raises(BrokenChain, match="version 1:"):
        Evidence("m" + "a" * 16).entry(played[2][0])


def test_a_bot_stops_where_an_entry_was_changed_on_the_way(place: private.Place, hostile: Hostile) -> None:
    hostile.fault = lambda method, path: (
        Fault(changed=lambda body: body.replace(b'"unit_placed"', b'"unit_plcaed"').replace(b'"type":"place_unit"', b'"type":"end_moves"'))
        if "/entries" in path
        else None
    )
    client = Client(hostile.url)
    client.register("Ada")
    match = client.create("war", {"red": "me", "blue": "ai:random"})
    with pytest.raises(BrokenChain):
        match.play(lambda turn: turn.choices[0])
    assert match.evidence.version < match.standing()["version"]


def changed(note: str, digest: str) -> str:
    """Return a receipt of the same version with another digest; the signature stays."""
    return note.replace(Receipt.of(note).digest, digest)


def forged_note(note: str, digest: str = "00" * 32) -> str:
    """Return a receipt of the same version with another digest, signed by the forger."""
    return note_of(changed(note, digest).partition("\n\n")[0] + "\n")


def trusting(folder: Path, url: str) -> Receipts:
    """Return a folder for which the forger's key is one of the server's."""
    return Receipts(folder, [*check_chain.keys_of(url), vkey_of(FORGER)])


def test_two_receipts_of_one_version_are_an_alarm_with_both_and_stay_one(place: private.Place, played: Any, tmp_path: Path) -> None:
    key, id, _ = played
    note = Client(place.url, key, receipts=tmp_path).match(id).receipt(7)
    other = forged_note(note)
    later = Client(place.url, key, receipts=trusting(tmp_path, place.url)).match(id)
    with pytest.raises(TwoHistories) as alarm:
        later.keep(other)
    assert (alarm.value.kept, alarm.value.received, alarm.value.version) == (note, other, 7)
    assert [json.loads(line) for line in (tmp_path / f"{id}.jsonl").read_text().splitlines()] == [note, other]
    assert alarm.value.file is not None
    assert str(alarm.value.file) in str(alarm.value)
    saved = json.loads(alarm.value.file.read_text())
    assert (saved["alarm"], saved["kept"], saved["received"]) == ("TwoHistories", note, other)
    assert set(check_chain.keys_of(place.url)) < set(saved["server_keys"])
    with pytest.raises(TwoHistories):
        Client(place.url, key, receipts=tmp_path).match(id)


def test_a_receipt_that_was_kept_is_held_against_the_entries_and_the_alarm_has_what_is_signed_now(
    place: private.Place, played: Any, tmp_path: Path
) -> None:
    key, id, entries = played
    note = Client(place.url, key).match(id).receipt(7)
    other = forged_note(note)
    Client(place.url, key, receipts=trusting(tmp_path, place.url)).match(id).keep(other)
    with pytest.raises(TwoHistories) as alarm:
        list(Client(place.url, key, receipts=tmp_path).match(id).stream())
    assert (alarm.value.version, alarm.value.received) == (7, entries[6]["digest"])
    assert alarm.value.file is not None
    saved = json.loads(alarm.value.file.read_text())
    assert saved["digest_before"] == entries[5]["digest"]
    assert (saved["receipts"], Receipt.of(saved["receipt_now"])) == ([other], Receipt.of(note))
    match = Client(place.url, key, receipts=False).match(id)
    list(match.stream())
    with pytest.raises(TwoHistories):  # and the other way round: the entries came first
        match.keep(other)


def test_the_signature_of_each_receipt_is_checked(place: private.Place, played: Any, tmp_path: Path) -> None:
    key, id, _ = played
    match = Client(place.url, key, receipts=tmp_path).match(id)
    note = match.receipt(7)
    assert (tmp_path / "server-keys.txt").read_text().split() == check_chain.keys_of(place.url)
    with pytest.raises(BadReceipt, match="no key"):
        match.keep(changed(note, "00" * 32))
    with pytest.raises(BadReceipt, match="no key"):
        match.keep(changed(note, "00" * 32).partition("\n\n")[0] + "\n\n— nobody AAAA\n")
    match.keep(note)
    with pytest.raises(BadReceipt, match="no receipt"):
        match.keep("hello")
    with pytest.raises(BadReceipt, match="for the match"):
        Client(place.url, key, receipts=tmp_path).match("m" + "a" * 16).keep(note)


def test_a_key_that_was_given_is_the_only_one(place: private.Place, played: Any, tmp_path: Path) -> None:
    key, id, _ = played
    (vkey,) = check_chain.keys_of(place.url)
    name, _, rest = vkey.split("+", 2)
    Client(place.url, key, receipts=Receipts(tmp_path / "right", [vkey])).match(id).receipt(7)
    with pytest.raises(BadReceipt):
        Client(place.url, key, receipts=Receipts(tmp_path / "other", [f"{name}+00000000+{rest}"])).match(id).receipt(7)
    assert not (tmp_path / "right" / "server-keys.txt").exists()
