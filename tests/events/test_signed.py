"""Signed moves: what the writer accepts, what it refuses, and what an audit finds (TBL-SIG, docs/auditing.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from events import play, recall
from events.audit import audit
from events.errors import HistoryDiffers, SignatureInvalid, SigningKeyUnknown, Stale
from events.platform import Platform
from evidence.notes import made_by
from games.kernel import SYSTEM, Refused
from record.entries import START, Entry, blind_key, link, parse
from record.signatures import Signing
from record.trail import audit_entries
from tests.conftest import ALL_GAMES, take_seat
from tests.signing import Signer

ADD = {"type": "add", "by": 1, "stay": True}
PASS = {"type": "add", "by": 1, "stay": False}
SIGNER = Signer()


@pytest.fixture
def match(platform: Platform, ann: str, bob: str) -> str:
    """A match that requires signatures, in which Ann is to act as one, and Bob has two. Both have the same key, which is allowed."""
    seats = {"one": "me", "two": "open"}
    match = play.create(platform, ann, "tally", seats, {"target": 1000}, settings={"signed": "required"}).match
    take_seat(platform, match, bob, "two")
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    for player in (ann, bob):
        SIGNER.register(platform, player)
    return match


def signed(platform: Platform, game: str, seat: str, actions: Sequence[Any], signer: Signer = SIGNER, **change: Any) -> Signing:
    """Return the signatures of actions over the newest version."""
    now = recall.position(platform, game)
    about = {"match": game, "actor": seat, "seen": now.version, "digest": now.digest, **change}
    return signer.sign(about["match"], about["actor"], about["seen"], about["digest"], actions)


def test_each_action_of_a_list_has_its_signature_and_the_audit_holds(platform: Platform, match: str, ann: str) -> None:
    actions = [ADD, ADD, PASS]
    signing = signed(platform, match, "one", actions)
    played = play.play(platform, match, "one", actions, player=ann, expected=signing.seen, signing=signing, request="r")
    assert [entry.signed for entry in played.entries] == [
        {"count": 3, "key": SIGNER.key, "place": place, "seen": signing.seen, "signature": signature}
        for place, signature in enumerate(signing.signatures, 1)
    ]
    assert [parse(raw).signed for raw in platform.store.log.read(match, signing.seen, 3)] == [entry.signed for entry in played.entries]
    again = play.play(platform, match, "one", actions, player=ann, expected=signing.seen, signing=signing, request="r")
    assert again == played._replace(repeated=True)
    report = audit(platform, match)
    assert (report.ok, report.signed, report.signatures) == (True, 3, "verified")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"match": "m" + "a" * 16}, SignatureInvalid),
        ({"actor": "two"}, SignatureInvalid),
        ({"digest": "00" * 32}, SignatureInvalid),
        ({"seen": 2}, Stale),
        ({"seen": 99}, Stale),
        ({"signer": Signer(2)}, SigningKeyUnknown),
    ],
)
def test_a_signature_over_anything_else_is_refused_and_changes_nothing(
    platform: Platform, match: str, ann: str, change: dict[str, Any], error: type[Exception]
) -> None:
    before = recall.position(platform, match)
    signing = signed(platform, match, "one", [ADD], **change)
    with pytest.raises(error):
        play.play(platform, match, "one", [ADD], player=ann, expected=signing.seen, signing=signing)
    assert platform.store.log.head(match) == before.version


def test_the_signature_is_over_the_action_as_it_is_recorded(platform: Platform, match: str, ann: str) -> None:
    signing = signed(platform, match, "one", [ADD, PASS])
    with pytest.raises(SignatureInvalid, match=r"^Signature 2 is not one") as wrong:
        play.play(platform, match, "one", [ADD, ADD], player=ann, expected=signing.seen, signing=signing)
    assert wrong.value.place == 1
    assert wrong.value.statement.splitlines()[-2:] == ["2/2", '{"by":1,"stay":true,"type":"add"}']


def test_a_digest_that_the_server_does_not_have_is_told_apart(platform: Platform, match: str, ann: str) -> None:
    signing = signed(platform, match, "one", [ADD], digest="00" * 32)._replace(digest="00" * 32)
    with pytest.raises(HistoryDiffers) as differs:
        play.play(platform, match, "one", [ADD], player=ann, expected=signing.seen, signing=signing)
    assert differs.value.facts == {"version": signing.seen, "digest": recall.position(platform, match).digest}
    right = signed(platform, match, "one", [ADD])._replace(digest=differs.value.facts["digest"])
    assert play.play(platform, match, "one", [ADD], player=ann, expected=right.seen, signing=right).last == right.seen + 1


def test_a_revoked_key_signs_no_more(platform: Platform, match: str, ann: str) -> None:
    signing = signed(platform, match, "one", [ADD])
    SIGNER.revoke(platform, ann)
    with pytest.raises(SigningKeyUnknown):
        play.play(platform, match, "one", [ADD], player=ann, expected=signing.seen, signing=signing)


def test_where_signatures_are_required_people_sign_and_nobody_else(platform: Platform, match: str, ann: str, bob: str) -> None:
    with pytest.raises(Refused) as refused:
        play.play(platform, match, "one", [ADD], player=ann)
    assert (refused.value.code, refused.value.refusal.rule) == ("signature_needed", "TBL-SIG-02")
    with pytest.raises(Refused, match="signature_needed"):
        play.act_at_table(platform, match, "two", {"type": "offer", "what": "void"}, player=bob)
    action = {"type": "resign"}
    signing = signed(platform, match, "two", [action])
    played = play.act_at_table(platform, match, "two", action, player=bob, expected=signing.seen, signing=signing)
    assert played.entries[0].signed is not None
    assert audit(platform, match).ok


# ---------------------------------------------------------------- what an audit finds


def relinked(platform: Platform, match: str, change: Callable[[list[Entry]], list[Entry]]) -> list[bytes]:
    """Return the record of a match whose entries somebody has changed who has its secret, and can compute every digest anew."""
    secret = platform.store.log.load(match, 1).secret
    assert secret is not None
    digest, raws = START, []
    for version, entry in enumerate(change([parse(raw) for raw in platform.store.log.read_all(match)]), 1):
        linked, raw = link(digest, entry._replace(version=version), blind_key(bytes.fromhex(secret)))
        digest = linked.digest
        raws.append(raw)
    header = {"blind": blind_key(bytes.fromhex(secret)).hex(), "match": match}
    return [json.dumps(header).encode(), *raws]


def with_signed(entries: list[Entry], at: int, **change: Any) -> list[Entry]:
    given = entries[at].signed
    assert given is not None
    return [*entries[:at], entries[at]._replace(signed={**given, **change}), *entries[at + 1 :]]


@pytest.mark.parametrize(
    ("change", "findings"),
    [
        (lambda entries: entries, []),
        (lambda entries: [*entries[:3], entries[3]._replace(signed=None), *entries[4:]], [(4, "not_legal"), (5, "move_list_broken")]),
        (lambda entries: with_signed(entries, 5, seen=6), [(6, "seen_not_before")]),
        (lambda entries: with_signed(entries, 5, seen=4), [(6, "move_signature_broken"), (6, "move_stale")]),
        (lambda entries: entries[:4], [(4, "move_list_broken")]),
        (lambda entries: with_signed(entries, 4, place=1), [(4, "move_list_broken"), (5, "move_signature_broken"), (5, "move_stale")]),
        (lambda entries: with_signed(entries, 5, key=Signer(2).key), [(6, "move_signature_broken")]),
        (lambda entries: [entries[0]._replace(at=entries[0].at - 1), *entries[1:]], [(4, "move_signature_broken")]),
    ],
    ids=["nothing", "unsigned", "seen itself", "seen too early", "cut", "another place", "another key", "another past"],
)
def test_an_audit_finds_what_the_owner_of_the_server_changes(
    platform: Platform, match: str, ann: str, bob: str, change: Callable[[list[Entry]], list[Entry]], findings: list[tuple[int, str]]
) -> None:
    for seat, player, actions in (("one", ann, [ADD, PASS]), ("two", bob, [PASS])):
        signing = signed(platform, match, seat, actions)
        play.play(platform, match, seat, actions, player=player, expected=signing.seen, signing=signing)
    found = [(each.version, each.code) for each in audit_entries(ALL_GAMES, relinked(platform, match, change), verifies=made_by).findings]
    assert found[: len(findings)] == findings or sorted(set(found)) == sorted(findings), found
    assert bool(found) == bool(findings)
