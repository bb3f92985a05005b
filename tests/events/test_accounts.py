"""Players and keys in the store: each change is one script, which no odd argument and no race leads astray."""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from events import accounts, lists, play, recall
from events.accounts import MOST_KEYS, SCOPES, Account, Key
from events.errors import KeyRevoked, NoSuchKey, NoSuchPlayer, ScopeNeeded, StillSeated, StoreRefused, TooManyKeys
from events.platform import Platform
from events.store import Store
from events.store.accounts import ADMIN, Result, Signer, StoredKey
from games import patterns
from tests.conftest import Servers, take_seat

ID = "p" + "a" * 16
FIRST = "k" + "a" * 16
OTHER = "k" + "b" * 16


def stored(id: str = FIRST, hash: str = "1" * 64) -> StoredKey:
    return StoredKey(id, '{"name":"x","scopes":["read"],"created":1}', hash)


def content(store: Store, id: str = ID) -> dict[str, str]:
    return store.accounts.fields_of(id)


def added(store: Store, role: str = "player") -> Signer:
    assert store.accounts.add(ID, "Ada", role, 1, stored()) is Result.DONE
    return Signer(FIRST, "1" * 64)


@pytest.fixture(autouse=True)
def nobody(request: pytest.FixtureRequest) -> None:
    """Remove the player of these tests from a cluster, which is not emptied between tests."""
    if "store" in request.fixturenames:
        store: Store = request.getfixturevalue("store")
        if request.node.callspec.params["store"] == "cluster":
            store.client.ask("DEL", f"{{players}}:p:{ID}")


# ---------------------------------------------------------------- the scripts, on one server and on a cluster


def test_a_player_is_added_once_and_never_overwritten(store: Store) -> None:
    added(store)
    before = content(store)
    assert added(store), "the same call, sent again after a lost connection"
    assert store.accounts.add(ID, "Eve", "player", 2, stored(hash="2" * 64)) is Result.MISSING
    with pytest.raises(StoreRefused):
        store.accounts.add(ID, "Eve", "player", 2, stored(OTHER, "2" * 64))
    assert content(store) == before


@pytest.mark.parametrize("role", ["", "owner", "ADMIN", "admin ", " admin", "admin\x00", "player\nadmin", "1"])
def test_a_role_is_one_of_three(store: Store, role: str) -> None:
    with pytest.raises(StoreRefused):
        store.accounts.add(ID, "Eve", role, 1, stored())
    assert content(store) == {}
    added(store)
    with pytest.raises(StoreRefused):
        store.accounts.set_role(ID, role)
    assert content(store)["role"] == "player"


@pytest.mark.parametrize(
    "id", ["role", "x:role", "", "name", "k' role admin", "k" + "a" * 15 + "\n", "K" + "b" * 16, "k" + "1" * 16, "k*", "k%w+"]
)
def test_no_odd_id_of_a_key_reaches_another_field(store: Store, id: str) -> None:
    signer = added(store)
    before = content(store)
    for send in (
        lambda: store.accounts.add_key(ID, signer, StoredKey(id, "admin", "9" * 64), MOST_KEYS),
        lambda: store.accounts.rotate_key(ID, signer, StoredKey(id, "admin", "9" * 64)),
        lambda: store.accounts.note_use(ID, Signer(id, "9" * 64), 7),
    ):
        with pytest.raises(StoreRefused):
            send()
    assert store.accounts.revoke_key(ID, ADMIN, id) is Result.MISSING
    assert content(store) == before


@pytest.mark.parametrize("hash", ["", "1" * 63, "1" * 65, "g" * 64, "1" * 63 + "\n", "*"])
def test_no_odd_hash_is_stored_or_asks(store: Store, hash: str) -> None:
    """An empty hash says that a first key is revoked, so it must never count as the hash of a key."""
    signer = added(store)
    for send in (
        lambda: store.accounts.add_key(ID, signer, stored(OTHER, hash), MOST_KEYS),
        lambda: store.accounts.rotate_key(ID, signer, stored(FIRST, hash)),
        lambda: store.accounts.note_use(ID, Signer(FIRST, hash), 7),
        lambda: store.accounts.delete(ID, Signer(FIRST, hash), 5),
    ):
        with pytest.raises(StoreRefused):
            send()
    store.accounts.revoke_key(ID, ADMIN, FIRST)
    assert store.accounts.rename(ID, Signer(FIRST, hash), "Eve") is Result.REVOKED
    assert store.accounts.add_key(ID, Signer(FIRST, hash), stored(OTHER, "2" * 64), MOST_KEYS) is Result.REVOKED


@pytest.mark.parametrize("id", ["p" + "a" * 15 + "*", "", "P" + "a" * 16, "{p1}", "p" + "a" * 15 + ":", "../x", "p\n"])
def test_no_odd_id_of_a_player_reaches_another_key(store: Store, id: str) -> None:
    for send in (
        lambda: store.accounts.add(id, "Eve", "admin", 1, stored()),
        lambda: store.accounts.set_role(id, "admin"),
        lambda: store.accounts.rename(id, ADMIN, "Eve"),
        lambda: store.accounts.add_key(id, ADMIN, stored(), MOST_KEYS),
        lambda: store.accounts.rotate_key(id, ADMIN, stored()),
        lambda: store.accounts.revoke_key(id, ADMIN, FIRST),
        lambda: store.accounts.note_use(id, Signer(FIRST, "1" * 64), 1),
        lambda: store.accounts.delete(id, Signer(FIRST, "1" * 64), 5),
    ):
        with pytest.raises(StoreRefused):
            send()


def test_a_new_key_takes_the_id_of_no_key(store: Store) -> None:
    signer = added(store)
    assert store.accounts.add_key(ID, signer, stored(OTHER, "2" * 64), MOST_KEYS) is Result.DONE
    before = content(store)
    with pytest.raises(StoreRefused):
        store.accounts.add_key(ID, signer, stored(FIRST, "3" * 64), MOST_KEYS)
    assert store.accounts.add_key(ID, signer, stored(OTHER, "3" * 64), MOST_KEYS) is Result.REUSED
    assert content(store) == before


def test_a_key_that_was_revoked_is_not_added_again(store: Store) -> None:
    """The player keeps the newest hundred ids for that, however many keys come and go."""
    signer = added(store)
    for number in range(101):
        id = f"k{number:016d}".translate(str.maketrans("0189", "cdef"))
        assert store.accounts.add_key(ID, signer, stored(id, "2" * 64), MOST_KEYS) is Result.DONE
        assert store.accounts.revoke_key(ID, signer, id) is Result.DONE
        assert store.accounts.add_key(ID, signer, stored(id, "2" * 64), MOST_KEYS) is Result.REUSED
    assert len(content(store)["revoked"]) == 100 * 18


def test_a_revoked_key_changes_nothing_any_more(store: Store) -> None:
    added(store)
    thief = Signer(OTHER, "2" * 64)
    store.accounts.add_key(ID, ADMIN, stored(*thief), MOST_KEYS)
    assert store.accounts.revoke_key(ID, ADMIN, OTHER) is Result.DONE
    before = content(store)
    for signer in (thief, Signer(FIRST, "2" * 64), Signer("k" + "c" * 16, "2" * 64)):
        assert store.accounts.add_key(ID, signer, stored("k" + "d" * 16, "4" * 64), MOST_KEYS) is Result.REVOKED
        assert store.accounts.rename(ID, signer, "Eve") is Result.REVOKED
        assert store.accounts.rotate_key(ID, signer, stored(FIRST, "4" * 64)) is Result.REVOKED
        assert store.accounts.revoke_key(ID, signer, FIRST) is Result.REVOKED
        assert store.accounts.delete(ID, signer, 5) is Result.REVOKED
    with pytest.raises(StoreRefused):
        store.accounts.delete(ID, ADMIN, 5)  # only players delete themselves
    assert content(store) == before


def test_every_change_may_be_sent_twice(store: Store) -> None:
    signer = added(store)
    other, rotated = stored(OTHER, "2" * 64), stored(FIRST, "3" * 64)
    for send in (
        lambda: store.accounts.add_key(ID, signer, other, 2),
        lambda: store.accounts.rename(ID, signer, "Ada II"),
        lambda: store.accounts.set_role(ID, "referee"),
        lambda: store.accounts.note_use(ID, Signer(OTHER, "2" * 64), 20_000),
        lambda: store.accounts.rotate_key(ID, signer, rotated),
        lambda: store.accounts.delete(ID, Signer(FIRST, "3" * 64), 5),
    ):
        assert send() is Result.DONE
        before = content(store)
        assert send() is Result.DONE
        assert content(store) == before


def test_the_id_of_a_deleted_player_is_never_used_again(store: Store) -> None:
    signer = added(store)
    assert store.accounts.delete(ID, signer, 5) is Result.DONE
    assert content(store) == {"deleted": "5", "revision": "1"}
    for send in (
        lambda: store.accounts.add(ID, "Eve", "admin", 6, stored()),
        lambda: store.accounts.add_key(ID, ADMIN, stored(OTHER, "2" * 64), MOST_KEYS),
        lambda: store.accounts.set_role(ID, "admin"),
        lambda: store.accounts.rename(ID, ADMIN, "Eve"),
        lambda: store.accounts.rotate_key(ID, ADMIN, stored()),
        lambda: store.accounts.revoke_key(ID, ADMIN, FIRST),
        lambda: store.accounts.note_use(ID, Signer(FIRST, "1" * 64), 7),
        lambda: store.accounts.delete(ID, signer, 6),
    ):
        assert send() is Result.MISSING
    assert content(store) == {"deleted": "5", "revision": "1"}
    assert store.accounts.names([ID, OTHER]) == [(None, 1), (None, 0)]


def test_two_at_once_cannot_make_more_keys_than_there_may_be(store: Store) -> None:
    signer = added(store)

    def add(letter: str) -> None:
        for digit in "234567":
            store.accounts.add_key(ID, signer, stored(f"k{letter * 8}{digit * 8}", (letter + digit) * 32), MOST_KEYS)

    threads = [threading.Thread(target=add, args=[letter]) for letter in "bcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(name.startswith("key:") for name in content(store)) == MOST_KEYS
    assert store.accounts.add_key(ID, signer, stored("k" + "z" * 16, "5" * 64), MOST_KEYS) is Result.FULL


# ---------------------------------------------------------------- keys


def found(platform: Platform, key: str) -> tuple[Account, Key] | None:
    return accounts.Seals(platform).holder(key, lambda id: accounts.get(platform, id))


def test_a_key_names_its_player_and_itself(platform: Platform) -> None:
    player, key = accounts.register(platform, "Ann Ö", "referee")
    start, id, kid = key.split("_")[:3]
    assert (start, id, kid) == ("wl", player.id, accounts.first_key(player.id))
    account, held = found(platform, key) or pytest.fail("nobody has the key")
    assert account.player == player
    assert (held.id, held.scopes, held.used) == (kid, SCOPES, None)
    for wrong in (
        key + "x",
        key[:-1],
        key[:-1] + ("A" if key[-1] != "A" else "B"),
        key.replace(kid, OTHER),
        key.replace(id, ID),
        "wl_",
        "",
    ):
        assert found(platform, wrong) is None


def test_only_the_hash_of_a_key_is_stored(platform: Platform, servers: Servers) -> None:
    _, key = accounts.register(platform, "Ann")
    everything = b"".join(servers.keeper.dump(name) for name in servers.keeper.keys("*"))  # type: ignore[misc, union-attr]
    assert key.encode() not in everything
    assert key.split("_", 3)[3].encode() not in everything


def test_a_key_gives_no_scope_that_it_does_not_have(platform: Platform) -> None:
    player, key = accounts.register(platform, "Ann")
    signer = Signer(accounts.first_key(player.id), sha256(key.encode()).hexdigest())
    for scopes, missing in ((["play"], "play"), (["referee", "account"], "referee"), (SCOPES, "play")):
        with pytest.raises(ScopeNeeded, match=missing):
            accounts.add_key(platform, player.id, signer, "bot", scopes, ["account", "read"])
    with pytest.raises(ScopeNeeded):
        accounts.rotate_key(platform, player.id, signer, signer.key, ["account", "read"])
    assert accounts.add_key(platform, player.id, signer, "bot", ["play"], SCOPES)[0].scopes == ("play", "read")
    assert len(accounts.keys_of(platform, player.id)) == 2


def test_a_player_has_a_bounded_number_of_keys(platform: Platform) -> None:
    player, _ = accounts.register(platform, "Ann")
    made = [accounts.add_key(platform, player.id, ADMIN, "bot", ["read"], SCOPES)[0] for _ in range(MOST_KEYS - 1)]
    with pytest.raises(TooManyKeys):
        accounts.add_key(platform, player.id, ADMIN, "bot", ["read"], SCOPES)
    accounts.revoke_key(platform, player.id, ADMIN, made[0].id)
    accounts.add_key(platform, player.id, ADMIN, "bot", ["read"], SCOPES)
    assert len(accounts.keys_of(platform, player.id)) == MOST_KEYS


def test_unknown_players_and_keys_are_errors(platform: Platform) -> None:
    player, _ = accounts.register(platform, "Ann")
    for id in (ID, "me", "p", "", "{players}", player.id + ":x", player.id.upper()):
        assert accounts.get(platform, id) is None
        for ask in (
            lambda id=id: accounts.keys_of(platform, id),
            lambda id=id: accounts.set_role(platform, id, "admin"),
            lambda id=id: accounts.add_key(platform, id, ADMIN, "x", ["read"], SCOPES),
        ):
            with pytest.raises(NoSuchPlayer):
                ask()
    for key in (OTHER, "k", "", "name", player.id):
        with pytest.raises(NoSuchKey):
            accounts.revoke_key(platform, player.id, ADMIN, key)


# ---------------------------------------------------------------- deleting


def joined(platform: Platform, name: str) -> tuple[str, Signer]:
    player, key = accounts.register(platform, name)
    return player.id, Signer(accounts.first_key(player.id), sha256(key.encode()).hexdigest())


def test_a_deleted_player_leaves_an_id_and_nothing_else(platform: Platform, servers: Servers) -> None:
    id, signer = joined(platform, "Ann with a name of her own")
    accounts.add_key(platform, id, signer, "a bot of her own", ["play"], SCOPES)
    accounts.delete(platform, id, signer)
    everything = b"".join(name + servers.keeper.dump(name) for name in servers.keeper.keys("*"))  # type: ignore[misc, operator, union-attr]
    for text in (b"her own", signer.hash.encode()):
        assert text not in everything
    assert accounts.get(platform, id) == Account(accounts.Player(id, None, "player", None), {})


def test_a_deleted_player_leaves_open_seats_and_keeps_others(platform: Platform, begin: Callable[..., str], ann: str) -> None:
    id, signer = joined(platform, "Bob")
    running = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    seats = {"one": "me", "two": f"player:{id}", "three": f"player:{id}", "four": "open"}
    waiting = play.create(platform, ann, "tally", seats, {}).match
    take_seat(platform, running, id, "two")
    for seat in ("two", "three"):
        take_seat(platform, waiting, id, seat)
    accounts.delete(platform, id, signer)
    assert recall.position(platform, running).roster["two"] == {"player": id}
    assert recall.position(platform, waiting).open_seats() == ["two", "three", "four"]


def test_a_deleted_player_declines_invitations(platform: Platform, ann: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that had been accepted. Those beyond a bound, which strangers may have sent, do not prevent the deletion."""
    monkeypatch.setattr(accounts, "MOST_LEFT", 2)
    id, signer = joined(platform, "Bob")
    seats = {"one": "me", "two": f"player:{id}", "three": "open"}
    matches = [play.create(platform, ann, "tally", seats, {}).match for _ in range(3)]
    take_seat(platform, matches[2], id, "two")
    accounts.delete(platform, id, signer)
    kept = [recall.position(platform, match).table["invited"]["two"] for match in matches]
    assert sorted(kept) == sorted([id, ann, ann])
    assert recall.position(platform, matches[2]).open_seats() == ["two", "three"]
    assert lists.matches(platform, {"player": id}).standings == []
    with pytest.raises(NoSuchPlayer):
        play.create(platform, ann, "tally", seats, {})


def test_a_player_with_many_open_seats_is_deleted_in_several_requests(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "MOST_LEFT", 2)
    id, signer = joined(platform, "Bob")
    for _ in range(3):
        play.create(platform, id, "tally", {"one": "me", "two": "open"}, {})
    with pytest.raises(StillSeated):
        accounts.delete(platform, id, signer)
    assert accounts.get(platform, id).player.name == "Bob"  # type: ignore[union-attr]
    accounts.delete(platform, id, signer)
    assert lists.matches(platform, {"player": id}).standings == []


def test_a_deleted_player_cannot_be_deleted_again(platform: Platform) -> None:
    id, signer = joined(platform, "Ann")
    accounts.delete(platform, id, signer)
    with pytest.raises(NoSuchPlayer):
        accounts.delete(platform, id, signer)


def test_a_revoked_key_cannot_delete(platform: Platform) -> None:
    id, signer = joined(platform, "Ann")
    accounts.revoke_key(platform, id, ADMIN, signer.key)
    with pytest.raises(KeyRevoked):
        accounts.delete(platform, id, signer)


# ---------------------------------------------------------------- changes


def test_every_change_of_a_player_is_heard(store: Store) -> None:
    heard: Any = store.accounts.changed(0.05)
    assert next(heard) is not None, "a break at the start"
    signer = added(store)
    for change in (
        lambda: store.accounts.rename(ID, signer, "Ada II"),
        lambda: store.accounts.set_role(ID, "referee"),
        lambda: store.accounts.rotate_key(ID, ADMIN, stored(FIRST, "2" * 64)),
        lambda: store.accounts.revoke_key(ID, ADMIN, FIRST),
    ):
        change()
        assert next(id for id in heard if isinstance(id, str)) == ID
    store.accounts.add_key(ID, ADMIN, stored(OTHER, "4" * 64), MOST_KEYS)
    store.accounts.delete(ID, Signer(OTHER, "4" * 64), 1)
    assert next(id for id in heard if isinstance(id, str)) == ID


def test_ids_have_their_patterns(platform: Platform) -> None:
    player, _ = accounts.register(platform, "Ann")
    key, _ = accounts.add_key(platform, player.id, ADMIN, "bot", ["read"], SCOPES)
    assert patterns.matches(patterns.PLAYER, player.id)
    assert patterns.matches(patterns.KEY, key.id)
    assert patterns.matches(patterns.KEY, accounts.first_key(player.id))
