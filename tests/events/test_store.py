"""The store's contract, on a single server and on a cluster of three: one atomic step; no version lost, doubled or reordered."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from events.errors import StoreRefused
from events.keeping.journal import Journal
from events.store import Store
from events.store.due import Counts
from events.store.heads import MISSED, Here, Row, Said
from events.store.log import Appended, Changes, Claim, Conflict, Known, Loaded, Since
from events.store.packed import unpack_standing
from events.store.signing import signed, signing_key
from events.telemetry import metrics
from table.data import DAY_MS
from tests.conftest import Servers


def fresh() -> str:
    return "m" + secrets.token_hex(8).translate(str.maketrans("0189", "ghij"))


@pytest.fixture
def keep(store: Store, servers: Servers) -> Callable[..., Any]:
    """Send a command that the service's user may not send."""
    return servers.keeper.execute_command if store.client.url == servers.store_url else store.client.ask


def raws(*numbers: int) -> list[bytes]:
    return [b'{"n":%d}' % number for number in numbers]


def test_an_appended_entry_has_its_version_as_its_id(store: Store) -> None:
    match = fresh()
    assert store.log.append(match, 0, raws(1), Changes()) == Appended()
    assert store.log.append(match, 1, raws(2, 3), Changes()) == Appended()
    assert [item[:3] for item in store.log.items(match)] == [(f"{n}-0", b'{"n":%d}' % n, False) for n in (1, 2, 3)]
    assert store.log.head(match) == 3


def test_the_newest_entries_and_spans_of_many_matches_are_read_at_once_and_what_is_no_stream_has_none(
    store: Store, keep: Callable[..., Any]
) -> None:
    one, two, odd = fresh(), fresh(), fresh()
    store.log.append(one, 0, raws(1, 2, 3), Changes())
    store.log.append(two, 0, raws(4), Changes())
    assert store.log.newest([one, two, odd]) == [(3, raws(3)[0]), (1, raws(4)[0]), (0, b"")]
    assert store.log.spans([(one, 2, 9), (odd, 1, 9), (two, 1, 1)]) == [list(zip((2, 3), raws(2, 3), strict=True)), [], [(1, raws(4)[0])]]
    keep("SET", store.keys.of(odd).stream, "x")
    assert store.log.newest([odd, two]) == [(0, b""), (1, raws(4)[0])]
    assert store.log.spans([(odd, 1, 9), (two, 1, 9)]) == [[], [(1, raws(4)[0])]]
    keep("DEL", store.keys.of(odd).stream)
    keep("XADD", store.keys.of(odd).stream, "1-0", "x", "foreign")
    assert (store.log.newest([odd]), store.log.spans([(odd, 1, 9)])) == ([(1, b"\0")], [[(1, b"\0")]])
    keep("DEL", store.keys.of(odd).stream)


def test_a_journal_of_any_store_finds_a_lost_match(store: Store, keep: Callable[..., Any], tmp_path: Path) -> None:
    lost, whole = fresh(), fresh()
    for match in (lost, whole):
        store.log.append(match, 0, raws(1, 2), Changes())
    journal = Journal(tmp_path)
    journal.compare(store)
    assert (journal.version(lost), journal.version(whole)) == (2, 2)
    keep("DEL", store.keys.of(lost).stream)
    assert [loss[:4] for loss in journal.compare(store).lost] == [(lost, 1, 2, "gone")]
    assert journal.version(lost) == 0
    journal.close()


def test_another_version_than_the_head_is_a_conflict_that_brings_the_missing_tail(store: Store) -> None:
    match = fresh()
    store.log.append(match, 0, raws(1, 2, 3), Changes())
    assert store.log.append(match, 1, raws(9), Changes(standing=b"x")) == Conflict(3, raws(2, 3))
    assert store.log.append(match, 7, raws(9), Changes()) == Conflict(3, [])
    assert store.log.head(match) == 3
    assert store.client.ask("GET", store.keys.of(match).standing) is None, "a conflict writes nothing"


def test_a_request_is_carried_out_once(store: Store) -> None:
    match, claim = fresh(), Claim("p/1", "f00")
    asked = [b'{"n":%d,"request":{"fingerprint":"f00"}}' % number for number in (2, 3)]
    store.log.append(match, 0, raws(1), Changes())
    assert store.log.append(match, 1, asked, Changes(), claim) == Appended()
    for number in range(4, 40):  # later on, the request is beside the stream
        assert store.log.append(match, number - 1, raws(9), Changes(), claim) == Known(2, 3, "f00", asked)
        assert store.log.append(match, 1, raws(9), Changes(), Claim("p/1", "other")) == Known(2, 3, "f00", asked)
        assert store.log.since(match, number - 2, "p/1") == Since(
            number - 1, raws(number - 1) if number > 4 else asked[1:], Known(2, 3, "f00", asked)
        )
        assert store.log.since(match, number - 1, "p/2") == Since(number - 1, [], None)
        assert store.log.append(match, number - 1, raws(number), Changes(), Claim(f"p/{number}", "f")) == Appended()


def test_a_request_is_known_for_a_day_after_the_next_entry(store: Store) -> None:
    """What came before a day without an entry is dropped with the next eight entries."""

    def entry(at: int) -> bytes:
        return b'{"at":%d,"request":{"fingerprint":"f"}}' % at

    match = fresh()
    for version in range(1, 25):
        at = version + (DAY_MS if version > 8 else 0) + (DAY_MS + 1 if version > 16 else 0)
        assert store.log.append(match, version - 1, [entry(at)], Changes(), Claim(f"p/{version}", "f")) == Appended()
    found = [version for version in range(1, 25) if store.log.since(match, 24, f"p/{version}").known]
    assert found == list(range(17, 25))


def test_all_that_follows_from_an_entry_is_written_in_the_same_step(store: Store) -> None:
    match = fresh()
    keys = store.keys.of(match)
    advance, think = f"advance|{match}|", f"think|{match}|one"
    due, belongs = {advance: 1234, think: 5678}, {"all": 99, "status:x": 99}
    changes = Changes(due=due, standing=b"{}", indexes=belongs, snapshot=(1, b"s", None), secret="ab" * 32)
    store.log.append(match, 0, raws(1), changes)
    ask = store.client.ask

    def owed() -> list[list[Any]]:
        """Return what the match is due; a partition of a cluster may have other matches, too."""
        return [pair for pair in ask("ZRANGE", keys.due, 0, -1, "WITHSCORES") if match.encode() in pair[0]]

    assert owed() == [[advance.encode(), 1234], [think.encode(), 5678]]
    assert unpack_standing(ask("GET", keys.standing)) == (1, b"{}")
    assert ask("ZSCORE", keys.indexes + "all", match) == ask("ZSCORE", keys.indexes + "status:x", match) == 99
    assert ask("HGETALL", keys.snapshots) == {}, "a snapshot needs a secret to be signed with"
    assert store.log.load(match, 1).secret == "ab" * 32
    later = Changes(due={advance: None, think: 9}, indexes={"status:x": None}, snapshot=(2, b"t", 1))
    store.log.append(match, 1, raws(2), later)
    assert owed() == [[think.encode(), 9]]
    assert ask("ZSCORE", keys.indexes + "status:x", match) is None
    assert ask("HGETALL", keys.snapshots) == {b"2": signed(signing_key("ab" * 32), 2, b"t")}
    with pytest.raises(StoreRefused):
        store.log.append(match, 2, raws(3), Changes(secret="cd" * 32))
    assert store.log.load(match).secret == "ab" * 32, "a secret is written once"
    assert store.log.head(match) == 2


def test_empty_changes_change_nothing(store: Store) -> None:
    match = fresh()
    store.log.append(match, 0, raws(1), Changes(due={"advance|m|": 5}, standing=b"{}", indexes={"all": 1}))
    store.log.append(match, 1, raws(2), Changes())
    keys = store.keys.of(match)
    assert store.client.ask("ZSCORE", keys.due, "advance|m|") == 5
    assert unpack_standing(store.client.ask("GET", keys.standing)) == (1, b"{}")


def test_a_match_is_loaded_from_the_newest_snapshot_that_is_not_past_the_version_asked_for(store: Store) -> None:
    match = fresh()
    for version in range(1, 8):
        snapshot = (version, b"s%d" % version, None) if version % 2 == 0 else None
        store.log.append(match, version - 1, raws(version), Changes(snapshot=snapshot, secret="ab" * 32 if version == 1 else ""))
    assert store.log.load(match)[:3] == (7, b"s6", raws(7))
    assert store.log.load(match, 5)[:3] == (7, b"s4", raws(5))
    assert store.log.load(match, 4)[:3] == (7, b"s4", [])
    assert store.log.load(match, 1)[:3] == (7, None, raws(1))
    assert store.log.load(match).secret == "ab" * 32
    assert store.log.load(fresh()) == Loaded(0, None, [], None)


def test_a_snapshot_without_its_own_signature_is_not_loaded_but_counted(store: Store, keep: Callable[..., Any]) -> None:
    match, key = fresh(), signing_key("ab" * 32)
    for version in (1, 2, 3, 4):
        store.log.append(
            match, version - 1, raws(version), Changes(snapshot=(version, b"s%d" % version, None), secret="ab" * 32 if version == 1 else "")
        )
    snapshots, ask = store.keys.of(match).snapshots, store.client.ask
    assert store.log.load(match).snapshot == b"s4"
    forged = [
        b"s4",
        b"",
        b"x" * 32 + b"s4",
        signed(signing_key("cd" * 32), 4, b"s4"),  # by another match's secret
        ask("HGET", snapshots, 3),  # of another version
        ask("HGET", snapshots, 4)[:-1] + b"5",
    ]
    for number, stored in enumerate(forged, 1):
        keep("HSET", snapshots, 4, stored)
        before = metrics.snapshots_refused._value.get()
        with capture_logs() as logged:
            assert store.log.load(match) == Loaded(4, None, [], "ab" * 32), number
        assert logged == [{"event": "snapshot_refused", "match": match, "version": 4, "log_level": "warning"}]
        assert metrics.snapshots_refused._value.get() == before + 1
    keep("HSET", snapshots, 4, signed(key, 4, b"s4"))
    assert store.log.load(match).snapshot == b"s4"


def test_an_append_that_is_sent_twice_is_known_by_its_mark(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first answer was lost. Without a request nothing else says whose entries are there."""
    match, run = fresh(), store.client.run

    def sent_twice(*given: Any, **how: Any) -> Any:
        run(*given, **how)
        return run(*given, **how)

    monkeypatch.setattr(store.client, "run", sent_twice)
    assert store.log.append(match, 0, raws(1, 2), Changes()) == Appended()
    assert store.log.append(match, 2, raws(3), Changes()) == Appended()
    assert store.log.append(match, 0, raws(4), Changes()) == Conflict(3, raws(1, 2, 3))
    assert store.log.read(match) == raws(1, 2, 3)


def test_entries_are_read_page_by_page(store: Store) -> None:
    match = fresh()
    store.log.append(match, 0, raws(*range(1, 1201)), Changes())
    assert store.log.read(match, 1198) == raws(1199, 1200)
    assert store.log.read(match, 3, 2) == raws(4, 5)
    assert store.log.read(match, 1200) == []
    assert list(store.log.read_all(match)) == raws(*range(1, 1201))


def test_every_key_of_a_match_is_in_one_slot(store: Store) -> None:
    for _ in range(40):
        match = fresh()
        tag = store.keys.tag(match)
        assert all(key.startswith(f"{tag}:") for key in store.keys.of(match))
    assert len({store.keys.tag(fresh()) for _ in range(400)}) == 16


@pytest.mark.parametrize("writers", [2, 8])
def test_of_writers_who_expect_the_same_version_one_writes_and_the_others_get_its_entries(store: Store, writers: int) -> None:
    match = fresh()
    store.log.append(match, 0, raws(0), Changes())

    def write(writer: int) -> list[bytes]:
        version, mine = 1, []
        while len(mine) < 20:
            raw = b'{"w":%d,"n":%d}' % (writer, len(mine))
            answer = store.log.append(match, version, [raw], Changes())
            if isinstance(answer, Appended):
                mine.append(raw)
                version += 1
            else:
                assert isinstance(answer, Conflict)
                assert len(answer.tail) == answer.head - version > 0
                version = answer.head
        return mine

    with ThreadPoolExecutor(writers) as pool:
        written = list(pool.map(write, range(writers)))
    ids, found, *_ = zip(*store.log.items(match), strict=True)
    assert list(ids) == [f"{n}-0" for n in range(1, 20 * writers + 2)]
    for mine in written:
        assert [raw for raw in found if raw in set(mine)] == mine, "the entries of each writer are in its order, each once"


def test_every_match_with_a_stream_is_found(store: Store) -> None:
    made = {fresh() for _ in range(30)}
    for match in made:
        store.log.append(match, 0, raws(1), Changes())
    assert made <= set(store.log.matches())


def test_every_append_is_published(store: Store) -> None:
    match = fresh()
    heads = store.heads(0.05)
    assert next(heads) is MISSED
    store.log.append(match, 0, raws(1, 2), Changes())
    store.log.append(match, 2, raws(3), Changes())
    # On a cluster, messages of other tests may come late.
    assert [next(head for head in heads if head is not None and head.match == match)[:2] for _ in range(2)] == [(match, 2), (match, 3)]


def test_what_a_seat_says_is_published_and_kept_nowhere(store: Store) -> None:
    match = fresh()
    store.log.append(match, 0, raws(1), Changes())
    heard = store.heard(0.05)
    assert next(heard) is MISSED
    store.say(match, "red", "good_luck")
    assert next(one for one in heard if isinstance(one, Said) and one.match == match) == Said(match, "red", "good_luck")
    assert store.log.head(match) == 1
    for seat, phrase in (("Red", "hello"), ("red", "free text"), ("red", "x" * 33), ("", "hello")):
        with pytest.raises(StoreRefused):
            store.say(match, seat, phrase)


def test_who_follows_matches_is_published_and_kept_nowhere(store: Store) -> None:
    matches = [fresh() for _ in range(200)]  # so many that a partition has several messages on a store with one
    rows = {Row(match, number % 2 == 0, number, ("paaaaaaaaaaaaaaaa",) * (number % 3)) for number, match in enumerate(matches)}
    heard = store.heard(0.05)
    assert next(heard) is MISSED
    keys = set(store.client.keys("*"))
    store.tell_presence("0a1b", sorted(rows))
    found: set[Row] = set()
    while found < rows:
        one = next(heard)
        if isinstance(one, Here):
            assert one.process == "0a1b"
            found.update(one.rows)
    assert found == rows
    assert set(store.client.keys("*")) == keys
    for row in (Row("x", False, 1), Row(matches[0], False, 1, ("p\nq",)), Row(matches[0], False, 1, ("p" * 400,))):
        with pytest.raises(StoreRefused):
            store.tell_presence("0a1b", [row])
    with pytest.raises(StoreRefused):
        store.tell_presence("not hex", [Row(matches[0], False, 1)])


def test_an_append_after_other_entries_than_the_expected_ones_is_a_conflict_without_a_head(store: Store) -> None:
    """A store may lose what it acknowledged, and then get other entries at the same versions."""
    match = fresh()
    one, two = (b'{"digest":"%b"}' % (digit * 64) for digit in (b"a", b"b"))
    store.log.append(match, 0, [one, two], Changes())
    assert store.log.append(match, 2, raws(3), Changes(standing=b"x"), digest="cc" * 32) == Conflict(-1, [])
    assert store.log.append(match, 1, raws(3), Changes(), digest="cc" * 32) == Conflict(-1, [])
    assert store.log.append(match, 1, raws(3), Changes(), digest="aa" * 32) == Conflict(2, [two])
    assert store.log.since(match, 2, digest="cc" * 32) == Since(-1, [], None)
    assert store.log.since(match, 1, digest="aa" * 32) == Since(2, [two], None)
    assert store.log.head(match) == 2
    assert store.log.append(match, 2, raws(3), Changes(), digest="bb" * 32) == Appended()


def test_the_index_of_what_is_due_is_read_over_all_partitions(store: Store) -> None:
    """Other tests may have left members in the index of the cluster."""
    before = store.due.counts(0)
    moments = {fresh(): 1_000 + number for number in range(60)}
    for match, moment in moments.items():
        store.log.append(match, 0, raws(1), Changes(due={f"advance|{match}|": moment, f"hook|{match}|x": 3_000_000 + moment}))
    earliest = store.due.earliest(1_029, 1_000)
    assert {f"advance|{match}|": moment for match, moment in moments.items() if moment <= 1_029}.items() <= earliest.items()
    assert max(earliest.values()) <= 1_029
    limited = store.due.earliest(1_059, 1)
    assert len(limited) <= store.keys.partitions
    assert store.due.sample(10_000).items() >= {f"hook|{match}|x": 3_000_000 + moment for match, moment in moments.items()}.items()
    assert len(store.due.sample(1)) <= store.keys.partitions
    counts = store.due.counts(1_030)
    assert counts.all - before.all == 120
    assert counts.before >= 30
    assert isinstance(counts, Counts)
