"""The store's contract, on a single server and on a cluster of three: one atomic step; no version lost, doubled or reordered."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from events.store import Appended, Changes, Claim, Conflict, Known, Since, Store


def fresh() -> str:
    return "m" + secrets.token_hex(8).translate(str.maketrans("0189", "ghij"))


def wires(*numbers: int) -> list[bytes]:
    return [b'{"n":%d}' % number for number in numbers]


def test_an_appended_entry_has_its_version_as_its_id(store: Store) -> None:
    match = fresh()
    assert store.append(match, 0, wires(1), Changes()) == Appended()
    assert store.append(match, 1, wires(2, 3), Changes()) == Appended()
    assert [(id, fields[b"e"]) for id, fields in store.items(match)] == [(b"%d-0" % n, b'{"n":%d}' % n) for n in (1, 2, 3)]
    assert store.head(match) == 3


def test_another_version_than_the_head_is_a_conflict_that_brings_the_missing_tail(store: Store) -> None:
    match = fresh()
    store.append(match, 0, wires(1, 2, 3), Changes())
    assert store.append(match, 1, wires(9), Changes(standing=b"x")) == Conflict(3, wires(2, 3))
    assert store.append(match, 7, wires(9), Changes()) == Conflict(3, [])
    assert store.head(match) == 3
    assert store.wire.ask("GET", store.keys(match).standing) is None, "nothing of a conflict is written"


def test_a_request_is_carried_out_once(store: Store) -> None:
    match, claim = fresh(), Claim("p/1", "f00")
    store.append(match, 0, wires(1), Changes())
    assert store.append(match, 1, wires(2, 3), Changes(), claim) == Appended()
    assert store.append(match, 3, wires(4), Changes(), claim) == Known(2, 3, "f00", wires(2, 3))
    assert store.append(match, 1, wires(4), Changes(), Claim("p/1", "other")) == Known(2, 3, "f00", wires(2, 3))
    assert store.since(match, 1, "p/1") == Since(3, wires(2, 3), Known(2, 3, "f00", wires(2, 3)))
    assert store.since(match, 3, "p/2") == Since(3, [], None)


def test_all_that_follows_from_an_entry_is_written_in_the_same_step(store: Store) -> None:
    match = fresh()
    keys = store.keys(match)
    changes = Changes(
        due="1234", standing=b"{}", indexes={"all": True, "status:x": True}, created=99, snapshot=(1, b"s", None), secret="ab"
    )
    store.append(match, 0, wires(1), changes)
    ask = store.wire.ask
    assert ask("ZSCORE", keys.due, match) == 1234
    assert ask("GET", keys.standing) == b"{}"
    assert ask("ZSCORE", keys.lists + "all", match) == ask("ZSCORE", keys.lists + "status:x", match) == 99
    assert ask("HGETALL", keys.snapshots) == {b"1": b"s"}
    assert store.secret(match) == "ab"
    store.append(match, 1, wires(2), Changes(due="-", indexes={"status:x": False}, snapshot=(2, b"t", 1), secret="cd"))
    assert ask("ZSCORE", keys.due, match) is None
    assert ask("ZSCORE", keys.lists + "status:x", match) is None
    assert ask("HGETALL", keys.snapshots) == {b"2": b"t"}
    assert store.secret(match) == "ab", "a secret is written once"


def test_a_blank_change_changes_nothing(store: Store) -> None:
    match = fresh()
    store.append(match, 0, wires(1), Changes(due="5", standing=b"{}", indexes={"all": True}, created=1))
    store.append(match, 1, wires(2), Changes())
    keys = store.keys(match)
    assert store.wire.ask("ZSCORE", keys.due, match) == 5
    assert store.wire.ask("GET", keys.standing) == b"{}"


def test_a_match_is_loaded_from_the_newest_snapshot_that_is_not_past_the_version_asked_for(store: Store) -> None:
    match = fresh()
    for version in range(1, 7):
        store.append(match, version - 1, wires(version), Changes(snapshot=(version, b"s%d" % version, None) if version % 2 == 0 else None))
    store.append(match, 6, wires(7), Changes(secret="ab"))
    assert store.load(match)[:3] == (7, b"s6", wires(7))
    assert store.load(match, 5)[:3] == (7, b"s4", wires(5))
    assert store.load(match, 4)[:3] == (7, b"s4", [])
    assert store.load(match, 1)[:3] == (7, None, wires(1))
    assert store.load(match).secret == "ab"
    assert store.load(fresh()) == (0, None, [], None)


def test_entries_are_read_page_by_page(store: Store) -> None:
    match = fresh()
    store.append(match, 0, wires(*range(1, 1201)), Changes())
    assert store.read(match, 1198) == wires(1199, 1200)
    assert store.read(match, 3, 2) == wires(4, 5)
    assert store.read(match, 1200) == []
    assert list(store.read_all(match)) == wires(*range(1, 1201))


def test_every_key_of_a_match_lies_in_one_slot(store: Store) -> None:
    for _ in range(40):
        match = fresh()
        tag = store.tag(match)
        assert all(key.startswith(f"{tag}:") for key in store.keys(match))
    assert len({store.tag(fresh()) for _ in range(400)}) == 16


@pytest.mark.parametrize("writers", [2, 8])
def test_of_writers_who_expect_the_same_version_one_is_heard_and_the_others_learn_what_it_wrote(store: Store, writers: int) -> None:
    match = fresh()
    store.append(match, 0, wires(0), Changes())

    def write(writer: int) -> list[bytes]:
        version, mine = 1, []
        while len(mine) < 20:
            wire = b'{"w":%d,"n":%d}' % (writer, len(mine))
            answer = store.append(match, version, [wire], Changes())
            if isinstance(answer, Appended):
                mine.append(wire)
                version += 1
            else:
                assert isinstance(answer, Conflict)
                assert len(answer.tail) == answer.head - version > 0
                version = answer.head
        return mine

    with ThreadPoolExecutor(writers) as pool:
        written = list(pool.map(write, range(writers)))
    ids, found = zip(*[(id, fields[b"e"]) for id, fields in store.items(match)], strict=True)
    assert list(ids) == [b"%d-0" % n for n in range(1, 20 * writers + 2)]
    for mine in written:
        assert [wire for wire in found if wire in set(mine)] == mine, "each writer's entries stand in its order, each once"


def test_every_match_with_a_stream_is_found(store: Store) -> None:
    made = {fresh() for _ in range(30)}
    for match in made:
        store.append(match, 0, wires(1), Changes())
    assert made <= set(store.matches())


def test_what_is_appended_is_heard(store: Store) -> None:
    match = fresh()
    heard = store.wire.hear([f"{tag}:heads" for tag in store.tags()], 0.05)
    assert next(heard) is None
    store.append(match, 0, wires(1, 2), Changes())
    told = f"{match} 2".encode()  # on a cluster, what was said to other nodes before may come late
    assert next(word for word in heard if word is not None and word[1] == told)[0] == f"{store.tag(match)}:heads"
