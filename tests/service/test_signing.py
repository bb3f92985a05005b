"""Signatures over HTTP: the header, what it refuses, and who is shown a signature (docs/api.md)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from events import recall, signing_keys
from events.audit import audit
from events.platform import Platform
from record.signatures import Signing
from service.http.directory import Directory
from service.http.problems import Problem
from service.http.signing import signing_in
from tests.conftest import within
from tests.service.conftest import Caller
from tests.service.test_bidding import BEGAN, bid, hand, laid
from tests.signing import Signer, header

GUIDE = Path(__file__).parents[2] / "docs" / "api.md"
ADD = {"type": "add", "by": 1, "stay": False}
SIGNER = Signer()
KEY, ONE = f":{SIGNER.key}:", f":{86 * 'A'}==:"


def signed(platform: Platform, caller: Caller, match: str, seat: str, *actions: Any, seen: int | None = None) -> Signing:
    """Return the signatures of actions over a version, by default the newest."""
    SIGNER.register(platform, caller.id)
    now = recall.position(platform, match)
    then = now if seen is None else recall.state_at(platform, match, seen)
    return SIGNER.sign(match, seat, then.version, then.digest, actions)


def test_a_signed_action_is_in_the_answer_and_in_everybodys_entries(
    platform: Platform, ada: Caller, anybody: Caller, referee: Caller, tally: str
) -> None:
    signing = signed(platform, ada, tally, "one", ADD)
    played = ada.act(tally, ADD, Warledger_Signature=header(signing), Idempotency_Key="r")
    assert played.status_code == 200, played.json
    assert ada.act(tally, ADD, Warledger_Signature=header(signing), Idempotency_Key="r").data == played.data
    entry = played.json["entries"][0]
    assert entry["signed"] == {
        "count": 1, "key": SIGNER.key, "place": 1, "seen": signing.seen, "signature": signing.signatures[0],
    }  # fmt: skip
    shown = anybody.get(f"/v1/matches/{tally}/entries?after={signing.seen}&proof=true").json["entries"][0]
    assert shown["signed"] == entry["signed"]
    assert set(shown["proof"]["signed"]) == {"salt"}
    assert referee.get(f"/v1/matches/{tally}/record").json["entries"][-1]["signed"] == entry["signed"]
    report = referee.get(f"/v1/matches/{tally}/audit").json
    assert (report["ok"], report["signed"], report["signatures"]) == (True, 1, "verified")


def test_the_example_of_the_guide_signs(platform: Platform, ada: Caller, tally: str) -> None:
    (source,) = re.findall(r"## Signing moves.*?```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(source, names)
    SIGNER.register(platform, ada.id)
    now = recall.position(platform, tally)
    actions = [{"type": "add", "by": 1, "stay": True}, ADD]
    given = names["signature_header"](SIGNER.private, tally, "one", now.version, now.digest, actions)
    assert ada.act(tally, actions, Warledger_Signature=given).status_code == 200


def test_wrong_signatures_are_told_apart_and_change_nothing(platform: Platform, ada: Caller, anybody: Caller, tally: str) -> None:
    before = anybody.get(f"/v1/matches/{tally}/entries").data
    signing = signed(platform, ada, tally, "one", ADD)
    other = signing._replace(signatures=Signer(2).sign(tally, "one", 3, "00" * 32, [ADD]).signatures)
    for given, status, code in (
        (other, 422, "signature_invalid"),
        (other._replace(digest="00" * 32), 409, "history_differs"),
        (signing._replace(seen=2), 412, "stale"),
        (signing._replace(key=Signer(2).key), 403, "signing_key_unknown"),
    ):
        refused = ada.act(tally, ADD, Warledger_Signature=header(given))
        assert (refused.status_code, refused.json["code"]) == (status, code)
    wrong = ada.act(tally, ADD, Warledger_Signature=header(other)).json
    assert wrong["statement"].startswith(f"warledger.org/move/v1\n{tally}\none\n3\n")
    assert anybody.get(f"/v1/matches/{tally}/entries").data == before


def test_a_key_is_looked_up_once_and_a_revoked_one_is_heard_of(platform: Platform, ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    is_valid = signing_keys.is_valid
    monkeypatch.setattr(signing_keys, "is_valid", lambda *given: asked.append(given) or is_valid(*given))
    directory = Directory(platform, 60.0)
    assert not directory.signs_with(ada.id, SIGNER.key)
    SIGNER.register(platform, ada.id)
    assert [directory.signs_with(ada.id, SIGNER.key) for _ in range(3)] == [True] * 3
    assert len(asked) == 2, "what is not valid is asked for each time"
    other = Signer(2)
    other.register(platform, ada.id)
    assert [directory.signs_with(ada.id, signer.key) for signer in (other, SIGNER, other, other)] == [True] * 4
    assert len(asked) == 5, "the key that was used last is remembered, so that no other key is remembered for longer with it"
    assert Directory(platform, 3600.0)._signing.ttl == 30, "verifiers allow a minute"
    directory.signs_with(ada.id, SIGNER.key)
    SIGNER.revoke(platform, ada.id)
    assert within(10, lambda: not directory.signs_with(ada.id, SIGNER.key))


def test_the_version_seen_acts_like_if_match(platform: Platform, ada: Caller, tally: str) -> None:
    signing = signed(platform, ada, tally, "one", ADD)
    refused = ada.act(tally, ADD, If_Match='"2"', Warledger_Signature=header(signing))
    assert (refused.status_code, refused.json["code"]) == (400, "bad_header")
    assert ada.act(tally, ADD, If_Match='"3"', Warledger_Signature=header(signing)).status_code == 200


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", "it has the members"),
        (f"key={KEY}, seen=3", "it has no member `signatures`"),
        (f"key={KEY}, seen=3, signatures=({ONE}), more=1", "it has the members"),
        (f"key={KEY}, key={KEY}", "it has the members"),
        (f"key={KEY[1:-1]}", "`key` must be the 32 bytes of a public key in base64, between colons"),
        (f"key={KEY}, seen=03, signatures=({ONE})", "`seen` must be a version, from 1"),
        (f"key={KEY}, seen=3, signatures={ONE}", "`signatures` must be a list"),
        (f"key={KEY}, seen=3, signatures=({ONE} {ONE})", "`signatures` must have one signature for each action, 1, and has 2"),
        (f"key={KEY} seen=3", "a comma must stand"),
        (f"key={KEY}, seen=3, signatures=({ONE}), digest=00", "`digest` must be"),
        (f"key={KEY}, seen=3, signatures=({ONE.replace('A==', 'B==')})", "`signatures` must be a list"),
    ],
)
def test_a_header_of_another_form_is_refused_in_a_sentence(given: str, reason: str) -> None:
    with pytest.raises(Problem) as refused:
        signing_in(given, 1)
    assert refused.value.kind == "bad_header"
    assert refused.value.detail.startswith(f"The header Warledger-Signature has the wrong form: {reason}")


def test_a_header_may_have_its_members_in_any_order() -> None:
    given = f'signatures=( {ONE}  {ONE} ),digest="{"0f" * 32}" ,  seen=41,key={KEY}'
    assert signing_in(given, 2) == Signing(SIGNER.key, 41, (ONE[1:-1],) * 2, "0f" * 32)
    assert signing_in(None, 1) is None


def test_a_signed_bid_is_hidden_with_its_signature(platform: Platform, ada: Caller, ben: Caller, cleo: Caller, anybody: Caller) -> None:
    """With it, anybody could try out which bid it is for."""
    prepared, match = laid(platform, ada, ben, cleo)
    action = bid(3, hand("fox", 1))
    signing = signed(platform, ada, match, "fox", action)
    assert ada.act(match, action, Warledger_Signature=header(signing)).status_code == 200
    path = f"/v1/matches/{match}/entries?after={BEGAN}&proof=true"
    own = ada.get(path).json["entries"][0]
    assert own["signed"]["signature"] == signing.signatures[0]
    for viewer in (ben, cleo, anybody):
        entry = viewer.get(path).json["entries"][0]
        assert entry["action"] == {"type": "bid"}
        assert "signed" not in entry
        assert set(entry["proof"]["signed"]) == {"leaf"}
    second = signed(platform, ben, match, "rhino", bid(2), seen=BEGAN)
    assert ben.act(match, bid(2), Warledger_Signature=header(second)).status_code == 200, "he has seen all that he may see"
    assert audit(prepared, match).findings == []


def test_a_dispute_and_a_ruling_are_signed(platform: Platform, ada: Caller, join: Callable[..., Caller], tally: str) -> None:
    judge = join("Judge", "referee")
    disputed = {"version": 2, "text": "The die."}
    signing = signed(platform, ada, tally, "one", {"type": "dispute", **disputed})
    path = f"/v1/matches/{tally}/disputes"
    assert ada.post(path, disputed, Warledger_Signature=header(signing)).status_code == 201
    ruling = {"verdict": "rejected", "text": "It was fair."}
    recorded = {"type": "rule_dispute", "dispute": 1, "remedy": "none", **ruling}
    signing = signed(platform, judge, tally, judge.id, recorded)
    assert judge.post(f"{path}/1/ruling", ruling, Warledger_Signature=header(signing)).status_code == 200
    signers = [entry.get("signed", {}).get("key") for entry in judge.get(f"/v1/matches/{tally}/record").json["entries"]]
    assert signers.count(SIGNER.key) == 2
    assert judge.get(f"/v1/matches/{tally}/audit").json["ok"]
