"""The side log of a match: bounded, in the background where it must not cost time, before the answer where it must not be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any
from unittest.mock import ANY

import pytest

from events.errors import StoreRefused, StoreUnavailable
from events.notary import sidelog
from events.notary.sidelog import RefusedAction, SideLog
from events.platform import Platform
from events.rebuild import rebuild
from events.store import Store, library
from events.store.log import Changes
from events.store.sidelog import BYTES_OF_SEAT, LONGEST, MOST, Seen, running
from evidence.notes import opened, parse_vkey
from evidence.running import EMPTY, Running
from evidence.statements import Read, parse_read, read_text
from record.entries import canonical
from tests.conftest import Servers, within

ADD = {"type": "add", "by": 9}
REFEREE = "p" + "r" * 16


def note(platform: Platform, match: str, seat: str = "one", version: int = 2, action: Any = ADD) -> None:
    platform.sidelog.note_refusal(match, seat, "p" + "a" * 16, version, 5, action, "too_much", "TAL-ADD-01")


def test_a_refused_action_is_written_soon_and_as_it_was(platform: Platform, begin: Callable[..., str]) -> None:
    match = begin()
    note(platform, match)
    found = within(20, lambda: platform.sidelog.refusals(match).refused)
    assert found == [RefusedAction("one", "p" + "a" * 16, 2, 5, ADD, None, "too_much", "TAL-ADD-01")]
    assert found[0].as_json() == {
        "seat": "one",
        "player": "p" + "a" * 16,
        "version": 2,
        "at": 5,
        "action": ADD,
        "code": "too_much",
        "rule": "TAL-ADD-01",
    }
    within(20, lambda: platform.sidelog._thread is None)
    note(platform, match, version=3)
    within(20, lambda: len(platform.sidelog.refusals(match).refused) == 2)


@pytest.mark.parametrize(
    "action", [{"type": "add", "text": "x" * 980}, {"type": "x" * 60_000}, {"by": 1.5}, {"by": 2**70}, {"by": "\ud800"}]
)
def test_of_a_large_action_or_one_without_canonical_json_a_hash_is_kept(platform: Platform, begin: Callable[..., str], action: Any) -> None:
    match = begin()
    note(platform, match, action=action)
    platform.sidelog.flush()
    ((refused,), dropped) = platform.sidelog.refusals(match)
    assert (refused.action, dropped) == (None, {})
    assert refused.as_json()["sha256"] == refused.sha256
    if "by" not in action:
        assert refused.sha256 == sha256(canonical(action)).hexdigest()


def test_an_action_of_a_thousand_bytes_is_kept_whole_and_fits(platform: Platform, begin: Callable[..., str]) -> None:
    match, action = begin(), {"type": "€" * 329}
    assert len(canonical(action)) == 998
    platform.sidelog.note_refusal(match, "s" * 32, "p" + "a" * 16, 10**15, 10**15, action, "c" * 40, "WOTW-ABCD-99")
    platform.sidelog.flush()
    assert platform.sidelog.refusals(match).refused[0].action == action


def size_of(platform: Platform, match: str, seat: str | None = None) -> int:
    """Return how many bytes the kept refused actions of a match, or of a seat, have."""
    kept = platform.store.sidelog.refusals(match).refused
    return sum(len(text) for text in kept if seat is None or f'"seat":"{seat}"'.encode() in text)


def test_of_a_seat_only_so_many_bytes_are_kept_and_the_rest_is_counted(platform: Platform, begin: Callable[..., str]) -> None:
    match = begin()
    for number in range(130):
        note(platform, match, "one", number)
        note(platform, match, "two", number, {"type": "x" * 900})
        if number % 40 == 39:
            platform.sidelog.flush()
    platform.sidelog.flush()
    refused, dropped = platform.sidelog.refusals(match)
    assert BYTES_OF_SEAT - 1100 < size_of(platform, match, "two") < size_of(platform, match, "one") <= BYTES_OF_SEAT
    assert size_of(platform, match, "one") > BYTES_OF_SEAT - 200
    for seat in ("one", "two"):
        versions = [one.version for one in refused if one.seat == seat]
        assert versions == list(range(130 - len(versions), 130)), "the newest"
        assert dropped[seat].number == 130 - len(versions)


def test_a_match_has_a_bound_whatever_its_seats_send(platform: Platform, begin: Callable[..., str], servers: Servers) -> None:
    match = begin()
    for number in range(12):
        for _ in range(60):
            note(platform, match, f"seat_{number}")
        platform.sidelog.flush()
    assert 20_000 < size_of(platform, match) <= 24_000
    stored = servers.keeper.hgetall(platform.store.keys.of(match).refusals)
    assert sum(map(len, stored.values())) < 38_000, "and little is kept beside them"  # type: ignore[union-attr]


def test_refused_actions_end_where_none_came_for_thirty_days_and_beyond_a_thousand_matches(
    platform: Platform, begin: Callable[..., str], servers: Servers
) -> None:
    keys = platform.store.keys
    match, *others = (begin() for _ in range(2 * keys.partitions))
    tag, (other, *_) = keys.tag(match), [one for one in others if keys.tag(one) == keys.tag(match)] or [begin()]
    for each in (match, other):
        note(platform, each)
    platform.sidelog.flush()
    order, day = f"{tag}:refused", 86_400_000
    moment = int(servers.keeper.zscore(order, match))  # type: ignore[arg-type]
    servers.keeper.zadd(order, {match: moment - 30 * day + 60_000})
    platform.sidelog.note_refusal(other, "one", "p" + "a" * 16, 3, 5, ADD, "too_much", None)
    platform.sidelog.flush()
    assert platform.sidelog.refusals(match).refused, "thirty days"
    servers.keeper.zadd(order, {match: moment - 30 * day - 1})
    note(platform, other)
    platform.sidelog.flush()
    if keys.tag(other) == tag:
        assert platform.sidelog.refusals(match) == ([], {"one": Running(1, ANY)})
        assert servers.keeper.zscore(order, match) is None
    note(platform, match)
    platform.sidelog.flush()
    servers.keeper.zadd(order, {f"m{number}": moment + 10 * day for number in range(1001)})
    note(platform, match)
    platform.sidelog.flush()
    assert servers.keeper.zcard(order) <= 1000
    assert platform.sidelog.refusals(match) == ([], {"one": ANY}), "the match where nothing was refused for longest"


def test_a_process_holds_only_so_many_and_goes_on(platform: Platform, begin: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidelog, "WAITING", 10)
    match, other = begin(), begin()
    for number in range(30):
        note(platform, match, f"seat_{number}")
    note(platform, other)
    platform.sidelog.flush()
    assert len(platform.sidelog.refusals(match).refused) == 10
    note(platform, other)
    platform.sidelog.flush()
    assert len(platform.sidelog.refusals(other).refused) == 1


def test_whoever_is_refused_all_the_time_pushes_out_only_refusals_of_the_own_seat(
    platform: Platform, begin: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidelog, "OF_SEAT", 5)
    match = begin()
    note(platform, match, "two")
    for version in range(20):
        note(platform, match, "one", version)
    platform.sidelog.flush()
    assert [(one.seat, one.version) for one in platform.sidelog.refusals(match).refused] == [
        ("two", 2),
        *(("one", n) for n in range(15, 20)),
    ]


def test_while_the_store_is_away_they_wait_and_nobody_waits_for_them(
    platform: Platform, begin: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    match = begin()
    kept = platform.store.sidelog.add_refusals

    def away(*given: Any) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(platform.store.sidelog, "add_refusals", away)
    for version in range(60):
        note(platform, match, version=version)
    platform.sidelog.flush()
    for version in range(60, 65):
        note(platform, match, version=version)
    platform.sidelog.flush()
    monkeypatch.setattr(platform.store.sidelog, "add_refusals", kept)
    refused, dropped = within(20, lambda: platform.sidelog.refusals(match) if platform.sidelog.refusals(match).refused else None)
    assert [one.version for one in refused] == list(range(65 - len(refused), 65))
    assert dropped["one"].number == 65 - len(refused) > 15


def test_an_unexpected_error_is_logged_and_the_others_are_written(
    platform: Platform, begin: Callable[..., str], servers: Servers, capfdbinary: Any
) -> None:
    broken, match = begin(), begin()
    servers.keeper.set(platform.store.keys.of(broken).refusals, "x")
    note(platform, broken)
    note(platform, match)
    platform.sidelog.flush()
    assert len(platform.sidelog.refusals(match).refused) == 1


def test_many_processes_keep_refused_actions_of_one_match(
    platform: Platform, another_platform: Callable[[], Platform], begin: Callable[..., str]
) -> None:
    match = begin()
    others = [another_platform() for _ in range(4)]

    def some(other: Platform) -> None:
        for version in range(6):
            note(other, match, version=version)
            other.sidelog.flush()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(some, others))
    assert Counter(one.version for one in platform.sidelog.refusals(match).refused) == dict.fromkeys(range(6), 4)


def test_a_call_that_is_sent_twice_counts_once_and_a_match_that_is_gone_has_nothing(store: Store) -> None:
    match = "m" + "a" * 16
    stream = store.keys.stream(match)
    store.sidelog.add_refusals(match, [("one", b"{}")])
    store.sidelog.add_read(match, Seen(1, 1, "admin", "audit"), "text", "note")
    assert (store.sidelog.refusals(match), store.sidelog.reads(match)) == (([], {}), ([], [], EMPTY))
    store.log.append(match, 0, [b"x"], Changes(secret="ab" * 32))
    for _ in range(2):
        store.client.run(library.script("note_refusals"), [stream], ["mark", '{"one":""}', "one", "{}", EMPTY.after(b"{}").hash])
    assert store.sidelog.refusals(match) == ([b"{}"], {})
    store.sidelog.add_refusals(match, [("one", b"[]")])
    assert store.sidelog.refusals(match) == ([b"{}", b"[]"], {})


NONE, HEAD = '{"one":"","gone":""}', f"1 {EMPTY.hash}"
HOSTILE: list[tuple[str, list[Any]]] = [
    ("note_refusals", ["mark", NONE]),
    ("note_refusals", ["mark", NONE, "one", "{}"]),
    ("note_refusals", ["mark", -1, "one", "{}", EMPTY.hash]),
    ("note_refusals", ["mark", "{}", "one", "{}", EMPTY.hash]),
    ("note_refusals", ["m" * 65, NONE, "one", "{}", EMPTY.hash]),
    ("note_refusals", ["mark", NONE, "gone", "{}", EMPTY.hash, "", "{}", EMPTY.hash]),
    ("note_refusals", ["mark", '{"a b":""}', "a b", "{}", EMPTY.hash]),
    ("note_refusals", ["mark", f'{{"{"s" * 33}":""}}', "s" * 33, "{}", EMPTY.hash]),
    ("note_refusals", ["mark", NONE, "one", "x" * (LONGEST + 1), EMPTY.hash]),
    ("note_refusals", ["mark", NONE, "one", "{}", "0" * 63]),
    ("note_refusals", ["mark", NONE, "one", "{}", "X" * 64]),
    ("note_refusals", ["mark", NONE, *["one", "{}", EMPTY.hash] * (MOST + 1)]),
    ("note_read", ["admin", "view:one"]),
    ("note_read", ["admin", "view:one", "x" * 2001, 1, 1, "", HEAD]),
    ("note_read", ["admin", "view:", "x", 1, 1, "", HEAD]),
    ("note_read", ["admin", "view:" + "x" * 33, "x", 1, 1, "", HEAD]),
    ("note_read", ["admin", "anything", "x", 1, 1, "", HEAD]),
    ("note_read", ["nobody", "audit", "x", 1, 1, "", HEAD]),
    ("note_read", ["p" + "a" * 17, "audit", "x", 1, 1, "", HEAD]),
    ("note_read", ["p" + "1" * 16, "audit", "x", 1, 1, "", HEAD]),
    ("note_read", ["admin", "audit", "x", "1 1", 1, "", HEAD]),
    ("note_read", ["admin", "audit", "x", 1, -1, "", HEAD]),
    ("note_read", ["admin", "audit", "x", 1, 1, "", "1 abc"]),
    ("note_read", ["admin", "audit", "x", 1, 1, "", f"2 {EMPTY.hash}"]),
]


@pytest.mark.parametrize(("function", "words"), HOSTILE, ids=str)
def test_hostile_arguments_are_refused_and_keep_nothing(
    platform: Platform, begin: Callable[..., str], function: str, words: list[Any]
) -> None:
    match = begin()
    keys = platform.store.keys.of(match)
    with pytest.raises(StoreRefused):
        platform.store.client.run(library.script(function), [keys.stream], words)
    assert not platform.store.client.ask("EXISTS", keys.refusals, keys.reads)


def chained(platform: Platform, match: str, seat: str) -> Running:
    """Return the running hash of the refused actions of a seat: that of the dropped ones, and then over the kept ones."""
    kept = platform.sidelog.refusals(match)
    head = kept.dropped.get(seat, EMPTY)
    for one in kept.refused:
        if one.seat == seat:
            head = head.after(canonical({"line": "refused", **one.as_json()}))
    return head


def told(platform: Platform, match: str, seat: str) -> Running:
    """Return the running hash that a receipt of the seat names."""
    answer = platform.store.client.ask("HGET", platform.store.keys.of(match).reads, f"head:{seat}")
    return running(answer)


def test_the_running_hash_of_refused_actions_goes_on_whatever_is_dropped(
    platform: Platform, another_platform: Callable[[], Platform], begin: Callable[..., str], servers: Servers
) -> None:
    match, processes = begin(), [platform, another_platform()]
    for number in range(130):
        for seat in ("one", "two")[: 1 + (number % 3 == 0)]:
            note(processes[number % 2], match, seat, number, {"type": "x" * (1 + 7 * number)})
        if number % 10 == 9:
            for process in processes:
                process.sidelog.flush()
            for seat, count in (("one", number + 1), ("two", number // 3 + 1)):
                assert chained(platform, match, seat) == told(platform, match, seat)
                assert told(platform, match, seat).number == count
    assert platform.sidelog.refusals(match).dropped.keys() == {"one", "two"}
    servers.keeper.delete(platform.store.keys.of(match).refusals)  # as after thirty days
    assert chained(platform, match, "one") == told(platform, match, "one")
    for number in range(2):
        note(platform, match, version=number)
        platform.sidelog.flush()
        assert chained(platform, match, "one") == told(platform, match, "one") == (131 + number, ANY)
        assert len(platform.sidelog.refusals(match).refused) == number + 1


def test_the_running_hash_of_reads_goes_on_whatever_is_dropped(
    platform: Platform, another_platform: Callable[[], Platform], begin: Callable[..., str], servers: Servers
) -> None:
    match, processes = begin(), [platform, another_platform()]
    for version in range(100):
        processes[version % 2].sidelog.note_read(match, version, ("admin", REFEREE)[version % 3 % 2], f"view:{'s' * 20}")
    found = platform.sidelog.all_reads(match)
    head = found.dropped
    for seen in found.newest:
        head = head.after(read_text(Read(match, seen.version, seen.reader, seen.what, seen.at)).encode())
    assert [seen.version for seen in found.newest] == list(range(100 - len(found.newest), 100)), "in their order"
    assert head == running(platform.store.client.ask("HGET", platform.store.keys.of(match).reads, "head")) == (100, ANY)
    assert sum(read.number for read in found.reads) == 100
    assert 40 < len(found.newest) < 80
    assert sum(map(len, servers.keeper.hvals(platform.store.keys.of(match).reads))) < 10_000  # type: ignore[arg-type]


def test_a_read_is_signed_and_of_each_kind_the_first_and_the_newest_are_kept(
    platform: Platform, another_platform: Callable[[], Platform], begin: Callable[..., str]
) -> None:
    match = begin()
    for version in (2, 3, 3, 4):
        platform.sidelog.note_read(match, version, REFEREE, "view:one")
    platform.sidelog.note_read(match, 4, REFEREE, "audit")
    platform.sidelog.note_read(match, 4, "admin", "view:one")
    found = {(read.reader, read.what): read for read in another_platform().sidelog.reads(match)}
    assert {place: read.number for place, read in found.items()} == {
        (REFEREE, "view:one"): 3,
        (REFEREE, "audit"): 1,
        ("admin", "view:one"): 1,
    }
    keys = [parse_vkey(vkey) for vkey in platform.signer.vkeys()]
    read = found[REFEREE, "view:one"]
    first, newest = (parse_read(opened(signed, keys).text) for signed in (read.first, read.newest))
    assert first == Read(match, 2, REFEREE, "view:one", first.at)
    assert newest == Read(match, 4, REFEREE, "view:one", newest.at)
    assert first.at <= newest.at


def test_the_same_read_within_a_minute_is_one_read_of_each_process(
    platform: Platform, another_platform: Callable[[], Platform], begin: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    match = begin()
    for process in (platform, another_platform()):
        for _ in range(3):
            process.sidelog.note_read(match, 2, REFEREE, "audit")
    assert platform.sidelog.reads(match)[0].number == 2
    monkeypatch.setattr(sidelog, "AGAIN", 0.0)
    later = SideLog(platform.store, platform.signer, platform.clock)
    for _ in range(2):
        later.note_read(match, 2, REFEREE, "audit")
    assert platform.sidelog.reads(match)[0].number == 4


def test_a_read_that_cannot_be_kept_is_an_error(platform: Platform, begin: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*given: Any) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(platform.store.sidelog, "add_read", away)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            platform.sidelog.note_read(begin(), 2, REFEREE, "audit")


def test_a_rebuild_leaves_both_and_an_audit_of_the_store_names_what_belongs_to_no_match(
    platform: Platform, begin: Callable[..., str], servers: Servers
) -> None:
    match = begin()
    note(platform, match)
    platform.sidelog.flush()
    platform.sidelog.note_read(match, 2, REFEREE, "audit")
    before = platform.sidelog.refusals(match), platform.sidelog.reads(match)
    rebuild(platform)
    assert (platform.sidelog.refusals(match), platform.sidelog.reads(match)) == before
    assert list(platform.store.sidelog.strays()) == []
    keys = platform.store.keys.of(match)
    servers.keeper.delete(keys.stream)
    assert sorted(platform.store.sidelog.strays()) == [keys.refusals, keys.reads]
