"""The side log of a match: bounded, in the background where it must not cost time, before the answer where it must not be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import pytest

from events.errors import StoreRefused, StoreUnavailable
from events.notary import sidelog
from events.notary.sidelog import RefusedAction, SideLog
from events.platform import Platform
from events.rebuild import rebuild
from events.store import Store, library
from events.store.log import Changes
from events.store.sidelog import BYTES_OF_SEAT, LONGEST, MOST
from evidence.notes import opened, parse_vkey
from evidence.statements import Read, parse_read
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
    assert (refused.action, dropped) == (None, 0)
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
    assert dropped == 260 - len(refused)
    for seat in ("one", "two"):
        versions = [one.version for one in refused if one.seat == seat]
        assert versions == list(range(130 - len(versions), 130)), "the newest"


def test_a_match_has_a_bound_whatever_its_seats_send(platform: Platform, begin: Callable[..., str], servers: Servers) -> None:
    match = begin()
    for number in range(12):
        for _ in range(60):
            note(platform, match, f"seat_{number}")
        platform.sidelog.flush()
    assert 20_000 < size_of(platform, match) <= 24_000
    stored = servers.keeper.hgetall(platform.store.keys.of(match).refusals)
    assert sum(map(len, stored.values())) < 28_000, "and little is kept beside them"  # type: ignore[union-attr]


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
        assert platform.sidelog.refusals(match) == ([], 0)
        assert servers.keeper.zscore(order, match) is None
    note(platform, match)
    platform.sidelog.flush()
    servers.keeper.zadd(order, {f"m{number}": moment + 10 * day for number in range(1001)})
    note(platform, match)
    platform.sidelog.flush()
    assert servers.keeper.zcard(order) <= 1000
    assert platform.sidelog.refusals(match) == ([], 0), "the match where nothing was refused for longest"


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
    assert dropped == 65 - len(refused) > 15


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
    store.sidelog.add_read(match, "admin", "audit", "note")
    assert (store.sidelog.refusals(match), store.sidelog.reads(match)) == (([], 0), [])
    store.log.append(match, 0, [b"x"], Changes(secret="ab" * 32))
    for _ in range(2):
        store.client.run(library.script("note_refusals"), [stream], ["mark", 3, "one", "{}"])
    assert store.sidelog.refusals(match) == ([b"{}"], 3)
    store.sidelog.add_refusals(match, [("one", b"[]")])
    assert store.sidelog.refusals(match) == ([b"{}", b"[]"], 3)


HOSTILE: list[tuple[str, list[Any]]] = [
    ("note_refusals", ["mark", 0]),
    ("note_refusals", ["mark", 0, "one"]),
    ("note_refusals", ["mark", -1, "one", "{}"]),
    ("note_refusals", ["m" * 65, 0, "one", "{}"]),
    ("note_refusals", ["mark", 0, "gone", "{}", "", "{}"]),
    ("note_refusals", ["mark", 0, "a b", "{}"]),
    ("note_refusals", ["mark", 0, "s" * 33, "{}"]),
    ("note_refusals", ["mark", 0, "one", "x" * (LONGEST + 1)]),
    ("note_refusals", ["mark", 0, *["one", "{}"] * (MOST + 1)]),
    ("note_read", ["admin", "view:one"]),
    ("note_read", ["admin", "view:one", "x" * 2001]),
    ("note_read", ["admin", "view:", "x"]),
    ("note_read", ["admin", "view:" + "x" * 33, "x"]),
    ("note_read", ["admin", "anything", "x"]),
    ("note_read", ["nobody", "audit", "x"]),
    ("note_read", ["p" + "a" * 17, "audit", "x"]),
    ("note_read", ["p" + "1" * 16, "audit", "x"]),
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
