"""Signing keys: who may register them, how many, what is left of them, and that each change is a leaf of the log, once."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from events import accounts, signing_keys
from events.errors import KeyRevoked, KeyUnproven, NoSuchKey, NoSuchPlayer, SigningKeyRevoked, TooManySigningKeys
from events.notary import key_leaves, sequencing, server_log, server_log_audit, signer
from events.platform import Platform
from events.rebuild import rebuild
from events.store.accounts import ADMIN, Signer
from tests.events.logserver import Server
from tests.signing import Signer as Private

NOBODY = "p" + "z" * 16


def key_lines(server: Server) -> list[dict[str, Any]]:
    """Return the leaves of the log that are of keys."""
    found = [json.loads(raw) for raw in server.everything()]
    return [leaf for leaf in found if leaf["kind"].startswith("signing_key")]


# ---------------------------------------------------------------- registered, found, revoked


def test_a_key_is_registered_with_a_proof_and_found_with_its_moments(platform: Platform, ann: str) -> None:
    private, before = Private(1), platform.clock.now()
    key, new = signing_keys.register(platform, ann, ADMIN, **private.body(ann, "phone"))
    assert (new, key.key, key.name, key.revoked) == (True, private.key, "phone", None)
    assert before <= key.registered <= platform.clock.now()
    assert signing_keys.find(platform, ann, private.key) == key
    assert signing_keys.listed(platform, ann) == [key]
    assert signing_keys.find(platform, ann, Private(2).key) is None
    private.revoke(platform, ann)
    found = signing_keys.find(platform, ann, private.key)
    assert found is not None
    assert found == key._replace(revoked=found.revoked)
    assert found.revoked is not None
    assert found.revoked >= key.registered
    private.revoke(platform, ann)
    assert signing_keys.find(platform, ann, private.key) == found, "the first moment counts"


def test_a_key_that_is_registered_again_stays_as_it_is(platform: Platform, ann: str) -> None:
    private = Private(1)
    key = private.register(platform, ann)
    assert signing_keys.register(platform, ann, ADMIN, **private.body(ann, "another name")) == (key, False)


def test_only_the_owner_of_a_key_can_register_it(platform: Platform, ann: str) -> None:
    private, thief = Private(1), Private(2)
    body = private.body(ann)
    unfit = base64.b64encode(bytes(32)).decode()  # a point of small order, for which some accept signatures of anything
    for wrong in (
        {**body, "signature": private.body(NOBODY)["signature"]},
        {**body, "signature": thief.sign_text("x")},
        {**body, "signature": "A" * 86 + "=="},
        {**body, "signature": body["signature"][:-3] + "B=="},
        {**body, "key": thief.key},
        {**body, "key": unfit, "signature": "A" * 86 + "=="},
        {**body, "key": body["key"][:-2] + "B="},
        {**body, "key": "", "signature": ""},
    ):
        with pytest.raises(KeyUnproven):
            signing_keys.register(platform, ann, ADMIN, **wrong)
    assert signing_keys.listed(platform, ann) == []


def test_two_players_may_have_the_same_key(platform: Platform, ann: str) -> None:
    bob, private = accounts.register(platform, "Bob")[0].id, Private(1)
    private.register(platform, ann)
    private.register(platform, bob)
    private.revoke(platform, bob)
    found = [signing_keys.find(platform, player, private.key) for player in (ann, bob)]
    assert [key is not None and key.revoked is None for key in found] == [True, False]


def test_a_revoked_key_is_not_registered_again(platform: Platform, ann: str) -> None:
    private = Private(1)
    private.register(platform, ann)
    private.revoke(platform, ann)
    with pytest.raises(SigningKeyRevoked):
        private.register(platform, ann)


def test_only_a_valid_key_of_an_account_changes_signing_keys(platform: Platform, ann: str) -> None:
    private = Private(1)
    thief = Signer("k" + "b" * 16, "2" * 64)
    with pytest.raises(KeyRevoked):
        signing_keys.register(platform, ann, thief, **private.body(ann))
    private.register(platform, ann)
    with pytest.raises(KeyRevoked):
        signing_keys.revoke(platform, ann, thief, private.key)
    with pytest.raises(NoSuchKey):
        Private(2).revoke(platform, ann)
    with pytest.raises(NoSuchPlayer):
        private.register(platform, NOBODY)
    with pytest.raises(NoSuchPlayer):
        signing_keys.listed(platform, NOBODY)
    with pytest.raises(NoSuchPlayer):
        signing_keys.listed(platform, "me")


def test_a_player_has_at_most_twenty_keys_that_are_not_revoked(platform: Platform, ann: str) -> None:
    for number in range(20):
        Private(number).register(platform, ann)
    with pytest.raises(TooManySigningKeys):
        Private(20).register(platform, ann)
    assert not signing_keys.register(platform, ann, ADMIN, **Private(0).body(ann))[1], "it is there"
    Private(0).revoke(platform, ann)
    Private(20).register(platform, ann)


def test_the_list_forgets_the_key_revoked_first_and_the_log_does_not(server: Server) -> None:
    """Beyond a hundred. A key that was forgotten cannot be registered again, and one that the log lacks is not forgotten."""
    platform, ann = server.platform, server.ann
    for number in range(100):
        Private(number).register(platform, ann)
        server.ms += 1
        Private(number).revoke(platform, ann)
    with pytest.raises(TooManySigningKeys):
        Private(100).register(platform, ann)
    assert server.sequence() == 200
    Private(100).register(platform, ann)
    assert signing_keys.find(platform, ann, Private(0).key) is None
    assert len(signing_keys.listed(platform, ann)) == 100
    with pytest.raises(SigningKeyRevoked):
        Private(0).register(platform, ann)
    logs = server_log.all_shown(platform)
    assert [leaf["leaf"]["kind"] for leaf in key_leaves.proven(platform, ann, Private(0).key, logs)] == [
        "signing_key",
        "signing_key_revoked",
    ]


# ---------------------------------------------------------------- players who are deleted


def test_of_a_deleted_player_the_keys_stay_revoked_and_without_names(server: Server) -> None:
    platform = server.platform
    bob, _ = accounts.register(platform, "Bob")
    before, after = Private(1), Private(2)
    for private in (before, after):
        private.register(platform, bob.id)
    before.revoke(platform, bob.id)
    server.ms += 5
    found = accounts.get(platform, bob.id)
    assert found is not None
    (key,) = found.keys.values()
    accounts.delete(platform, bob.id, Signer(key.id, key.hash))
    kept = {each.key: (each.name, each.revoked) for each in signing_keys.listed(platform, bob.id)}
    assert kept == {before.key: (None, server.ms - 5), after.key: (None, server.ms)}
    assert not any(b"browser" in value for value in platform.store.client.ask("HVALS", f"{{players}}:s:{bob.id}"))
    server.sequence()
    assert {(leaf["key"], leaf["kind"], leaf["at"]) for leaf in key_lines(server) if leaf["kind"] == "signing_key_revoked"} == {
        (before.key, "signing_key_revoked", server.ms - 5),
        (after.key, "signing_key_revoked", server.ms),
    }
    with pytest.raises(NoSuchPlayer):
        Private(3).register(platform, bob.id)


# ---------------------------------------------------------------- the log


def test_each_registration_and_each_revocation_is_a_leaf_of_the_log(server: Server) -> None:
    platform, ann, private = server.platform, server.ann, Private(1)
    key = private.register(platform, ann)
    assert signing_keys.logged(platform, ann, [key]) == [key_leaves.Places(None, None)]
    assert server.sequence() == 1
    assert server.everything() == [
        b'{"at":%d,"key":"%b","kind":"signing_key","player":"%b","signature":"%b"}'
        % (server.ms, private.key.encode(), ann.encode(), key.signature.encode())
    ]
    place = key_leaves.Place("log.example", 0)
    assert signing_keys.logged(platform, ann, [key]) == [key_leaves.Places(place, None)]
    server.ms += 7
    private.revoke(platform, ann)
    assert server.sequence() == 1
    assert server.everything()[1] == b'{"at":%d,"key":"%b","kind":"signing_key_revoked","player":"%b"}' % (
        server.ms,
        private.key.encode(),
        ann.encode(),
    )
    assert signing_keys.logged(platform, ann, [key]) == [key_leaves.Places(place, key_leaves.Place("log.example", 1))]
    assert b"browser" not in b"".join(server.everything()), "names can be erased, and the log cannot"


def test_the_leaf_of_a_key_comes_before_those_of_matches_and_these_wait_for_more_keys(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a leaf of a match never names a version that was signed with a key which the log does not have."""
    monkeypatch.setattr(key_leaves, "AT_ONCE", 2)
    match = server.begin(target=1)
    for number in range(3):
        Private(number).register(server.platform, server.ann)
    server.act(match)
    assert sequencing.sequence(server.platform).added == 2
    assert server.sequence() == 3
    assert [json.loads(leaf)["kind"] for leaf in server.everything()] == ["signing_key"] * 3 + ["begin", "end"]


def test_a_key_that_is_revoked_while_its_leaf_is_added_gets_the_other_leaf_too(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    private, logs = Private(1), server.platform.store.server_logs
    private.register(server.platform, server.ann)
    append = logs.sequence

    def revoked_then(*arguments: Any) -> bool:
        monkeypatch.setattr(logs, "sequence", append)
        done = append(*arguments)
        private.revoke(server.platform, server.ann)
        return done

    monkeypatch.setattr(logs, "sequence", revoked_then)
    assert sequencing.sequence(server.platform).added == 1
    assert server.sequence() == 1
    assert [leaf["kind"] for leaf in key_lines(server)] == ["signing_key", "signing_key_revoked"]


def test_a_server_with_another_name_adds_only_what_no_log_of_it_has(server: Server) -> None:
    first, second = Private(1), Private(2)
    key = first.register(server.platform, server.ann)
    server.sequence()
    signer.rotate(server.settings.keys_folder, "new.example")
    server.platform = platform = server.join()
    second.register(platform, server.ann)
    server.ms += 1
    first.revoke(platform, server.ann)
    while sequencing.sequence(platform).added:
        pass
    found = [json.loads(leaf) for leaf in server.everything()]
    assert [(leaf["kind"], leaf["key"]) for leaf in found] == [("signing_key", second.key), ("signing_key_revoked", first.key)]
    assert signing_keys.logged(platform, server.ann, [key]) == [
        key_leaves.Places(key_leaves.Place("log.example", 0), key_leaves.Place("new.example", 1))
    ]


def test_what_the_log_lacks_of_keys_is_rebuilt(server: Server) -> None:
    first, second = Private(1), Private(2)
    first.register(server.platform, server.ann)
    server.sequence()
    second.register(server.platform, server.ann)
    server.ms += 5
    second.revoke(server.platform, server.ann)
    first.revoke(server.platform, server.ann)
    unlogged = "{players}:unlogged"
    found = sorted(f"{server.ann} {private.key}".encode() for private in (first, second))
    assert server.servers.keeper.zrange(unlogged, 0, -1) == found
    server.servers.keeper.delete(unlogged)
    assert sequencing.sequence(server.platform).added == 0
    rebuild(server.platform)
    assert server.sequence() == 3
    rebuild(server.platform)
    assert server.servers.keeper.zcard(unlogged) == 0
    assert server.platform.store.signing_keys.late(server.ms + 1) == 0


def test_an_audit_finds_what_is_wrong_with_the_leaves_of_keys(server: Server) -> None:
    platform, keeper, ann = server.platform, server.servers.keeper, server.ann
    first, second = Private(1), Private(2)
    for private in (first, second):
        private.register(platform, ann)
    assert list(server_log_audit.of_log(platform)) == [], "their leaves are due"
    server.sequence()
    second.revoke(platform, ann)
    keeper.delete("{players}:unlogged")
    assert list(server_log_audit.of_log(platform)) == [
        f"The server's log lacks a leaf of the signing key {second.key} of {ann}, and none is scheduled. Rebuild it."
    ]
    rebuild(platform)
    server.sequence()
    assert list(server_log_audit.of_log(platform)) == []
    held = f"{{players}}:s:{ann}"
    kept = keeper.hget(held, second.key)
    keeper.hset(held, second.key, kept.replace(str(server.ms).encode(), str(server.ms + 1).encode()))
    keeper.hdel(held, first.key)
    index = {key.key: place.registered.number for key, place in logged_of(server) if place.registered is not None}
    public = base64.b64decode(first.key).hex()
    assert sorted(server_log_audit.of_log(platform)) == sorted(
        [
            *[
                f"The leaf {number} of the log log.example does not match the signing key {second.key} of {ann}."
                for number in (index[second.key], 2)
            ],
            f"The log log.example has a leaf of a signing key of {ann} that the player does not have, {public} in hex.",
        ]
    )


def logged_of(server: Server) -> list[tuple[signing_keys.SigningKey, key_leaves.Places]]:
    """Return the keys of Ann, and where the log has them."""
    keys = signing_keys.listed(server.platform, server.ann)
    return list(zip(keys, signing_keys.logged(server.platform, server.ann, keys), strict=True))


def test_what_the_log_lacks_for_long_is_counted(server: Server) -> None:
    Private(1).register(server.platform, server.ann)
    late = server.platform.store.signing_keys.late
    assert (late(server.ms - 1), late(server.ms)) == (0, 1)
    server.sequence()
    assert late(server.ms) == 0
