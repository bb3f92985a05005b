"""Expiry: matches that have not started in time are removed with all their keys, and no others are, whoever asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from events import due, expiry, play, recall
from events.audit import audit
from events.due import EXPIRE, Owed
from events.errors import NoMatch, Reused
from events.platform import Platform
from events.rebuild import rebuild
from events.standings import indexes
from events.store import Store
from events.store.client import RedisClient
from events.store.log import Changes, Conflict
from games.kernel import SYSTEM, Refused
from table.data import CLOSED_MS, DAY_MS, OPEN_MS
from tests.conftest import Servers, take_seat
from tools.audit_all import audit_all
from workers import jobs
from workers.sweep import overdue, sweep

More = Callable[[], Platform]
Aged = Callable[..., str]
OPEN = {"one": "me", "two": "open"}


@pytest.fixture
def aged(platform: Platform, ann: str, monkeypatch: pytest.MonkeyPatch) -> Aged:
    """Create a match as if some days ago."""

    def made(days: float = 15, request: str | None = None, game: str = "tally", **seats: str) -> str:
        with monkeypatch.context() as earlier:
            earlier.setattr(platform.clock, "now", lambda: time.time_ns() // 1_000_000 - round(days * DAY_MS))
            return play.create(platform, ann, game, seats or OPEN, {}, request=request).match

    return made


def traces(servers: Servers, match: str) -> list[str]:
    """Return every key and every member of a key that names the match."""
    found = []
    for key in servers.keeper.scan_iter():
        if match.encode() in key:
            found.append(key.decode())
        elif servers.keeper.type(key) == b"zset":
            found += [f"{key.decode()} {member}" for member in servers.keeper.zrange(key, 0, -1) if match.encode() in member]  # type: ignore[union-attr]
    return sorted(found)


def test_a_match_that_has_not_started_in_time_is_removed_with_all_its_keys(
    platform: Platform, aged: Aged, bob: str, servers: Servers
) -> None:
    match, other = aged(two=f"player:{bob}", one="me", three="open", request="k"), aged(6.9)
    take_seat(platform, match, bob, "two", request="r")
    for each in (match, other):
        platform.sidelog.note_refusal(each, "two", bob, 2, 5, {"type": "offer"}, "not_in_play", None)
        platform.sidelog.note_read(each, 2, "admin", "audit")
    platform.sidelog.flush()
    assert len(traces(servers, match)) > 10
    kept = traces(servers, other)
    assert expiry.remove(platform, match)
    assert traces(servers, match) == []
    for act in (
        lambda: recall.position(platform, match),
        lambda: take_seat(platform, match, bob, "three"),
        lambda: expiry.remove(platform, match),
    ):
        with pytest.raises(NoMatch):
            act()
    assert not expiry.remove(platform, other)
    assert traces(servers, other) == kept


def test_a_closed_match_is_removed_a_day_later(platform: Platform, aged: Aged, ann: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh, old = aged(3), aged(3)
    play.act_at_table(platform, fresh, ann, {"type": "close_match"})
    monkeypatch.setattr(platform.clock, "now", lambda: time.time_ns() // 1_000_000 - CLOSED_MS - 1000)
    play.act_at_table(platform, old, ann, {"type": "close_match"})
    assert (expiry.remove(platform, fresh), expiry.remove(platform, old)) == (False, True)


def test_what_is_due_is_the_removal_at_the_moment_that_is_published(platform: Platform, aged: Aged, ann: str, bob: str) -> None:
    match = aged(3)
    (work,) = due.owed(recall.position(platform, match))
    assert (work.kind, work.due) == (EXPIRE, recall.position(platform, match).created + OPEN_MS)
    closed = play.act_at_table(platform, match, ann, {"type": "close_match"}).position
    assert [work.due for work in due.owed(closed)] == [closed.at + CLOSED_MS]
    assert [work.kind for work in due.owed(take_seat(platform, aged(3), bob, "two").position)] == [due.ADVANCE]
    rebuild(platform)
    assert audit(platform, match).findings == []


def test_the_time_is_a_setting_and_is_published(platform: Platform, ann: str) -> None:
    shorter = replace(platform, settings=platform.settings._replace(unstarted_days=0.5))
    hours = play.create(shorter, ann, "tally", OPEN, {})
    assert abs(hours.table["expires"] - hours.created - DAY_MS / 2) < 60_000  # type: ignore[operator]
    assert audit(platform, hours.match).findings == []


# ---------------------------------------------------------------- hostile callers


def removed(platform: Platform, match: str, head: int, open_ms: int = 0, closed_ms: int = 0) -> bool:
    """Ask the store itself, with arguments of one's own."""
    now = recall.position(platform, match)
    return platform.store.removal.remove(match, head, indexes(now), [work.member for work in due.owed(now)], open_ms, closed_ms)


def test_a_match_that_has_started_is_removed_by_nobody(platform: Platform, aged: Aged, ann: str, bob: str, servers: Servers) -> None:
    at_once, filled, over = aged(one="me", two="me"), aged(), aged(one="me", two="me")
    take_seat(platform, filled, bob, "two")
    play.play(platform, over, SYSTEM, [{"type": "advance"}])
    for match in (at_once, filled, over):
        for head in (0, 1, recall.position(platform, match).version):
            assert not removed(platform, match, head)
        assert audit(platform, match).findings == []


def test_a_match_is_not_removed_before_its_time_or_within_an_hour_or_at_another_version(
    platform: Platform, aged: Aged, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    young = aged(6)
    assert not removed(platform, young, 1)
    old = aged()
    assert not removed(platform, old, 2)
    monkeypatch.setattr("events.platform.DAY_MS", 0)
    monkeypatch.setattr("events.play.DAY_MS", 0)
    hasty = play.create(platform, ann, "tally", OPEN, {})
    assert hasty.table["expires"] == hasty.created
    assert not removed(platform, hasty.match, 1), "an hour at least"
    assert removed(platform, old, 1)


def test_arguments_of_another_match_are_refused_or_ignored(platform: Platform, aged: Aged, servers: Servers) -> None:
    """Nobody can use the removal of one match to change another."""
    match, victim = aged(), aged(one="me", two="me")
    before = traces(servers, victim)
    work, _ = due.owed(recall.position(platform, victim))
    assert platform.store.removal.remove(match, 1, ["all"], [work.member], 0, 0)
    assert traces(servers, victim) == before


# ---------------------------------------------------------------- memory and repeats


def test_no_memory_brings_back_a_part_of_a_match(
    platform: Platform, another_platform: More, aged: Aged, bob: str, servers: Servers
) -> None:
    match, other = aged(request="k"), another_platform()
    before = recall.newest(other, match)
    assert expiry.remove(platform, match)
    assert isinstance(other.store.log.append(match, 1, [b"{}"], Changes(standing=b"x", indexes={"all": 1})), Conflict)
    with pytest.raises(NoMatch):
        take_seat(other, match, bob, "two")
    other.cache.put(before)
    with pytest.raises(NoMatch):
        recall.position(other, match)
    assert traces(servers, match) == []


def test_the_same_request_makes_a_new_match_and_old_memory_learns_of_it(
    platform: Platform, another_platform: More, aged: Aged, ann: str, bob: str
) -> None:
    match, other = aged(request="k"), another_platform()
    before = recall.newest(other, match)
    expiry.remove(platform, match)
    again = play.create(platform, ann, "tally", OPEN, {}, request="k")
    assert again.match == match
    other.cache.put(before)
    taken = take_seat(other, match, bob, "two").position
    assert taken.table["commitment"] == again.table["commitment"] != before.position.table["commitment"]
    assert audit(platform, match).findings == []
    with pytest.raises(Reused):
        play.create(platform, ann, "tally", OPEN, {"target": 5}, request="k")


def test_a_removal_during_a_rebuild_or_an_audit_is_no_finding(
    platform: Platform, aged: Aged, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    seats = {"red": "me", "blue": "open"}
    match, stays = aged(game="war", **seats), aged(1, game="war", **seats)
    matches = platform.store.live.matches

    def removed_meanwhile() -> Iterator[str]:
        found = sorted(matches())
        expiry.remove(platform, match)
        yield from found

    monkeypatch.setattr(platform.store.live, "matches", removed_meanwhile)
    assert rebuild(platform).unreadable == ()
    match = aged(game="war", **seats)
    overview = audit_all(platform, tmp_path / "file", 1)
    assert (overview.strays, [(one.match, one.findings) for one in overview.audited]) == ([], [(one, []) for one in sorted([match, stays])])


# ---------------------------------------------------------------- workers


def test_the_sweep_asks_for_the_removal_when_its_time_has_come(platform: Platform, aged: Aged, ann: str) -> None:
    match = aged(6)
    moment = recall.position(platform, match).table["expires"]
    assert moment is not None
    assert overdue(platform, moment - 1) == {}
    assert sweep(platform, moment - 1) == 0
    assert sweep(platform, moment) == 1
    assert platform.jobs.take([EXPIRE], now=moment) == Owed(EXPIRE, match, 1, "", 0, ann)


def test_a_job_removes_what_may_be_removed_and_nothing_else(platform: Platform, aged: Aged, ann: str, bob: str) -> None:
    old, young, started = aged(), aged(1), aged()
    take_seat(platform, started, bob, "two")
    for match in (old, young, started, old, "m" + "a" * 16):
        assert jobs.carry_out(platform, Owed(EXPIRE, match, 1, "", 0, ann)) == ()
    assert [platform.store.log.head(match) for match in (old, young, started)] == [0, 1, 2]


def test_a_seat_that_is_taken_at_the_last_moment_keeps_the_match(
    platform: Platform, aged: Aged, bob: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The removal is decided on a position at which the seat was open."""
    match = aged()
    before = recall.position(platform, match)
    take_seat(platform, match, bob, "two")
    monkeypatch.setattr("events.expiry.position", lambda *_: before)
    assert not expiry.remove(platform, match)
    with pytest.raises(Refused):
        take_seat(platform, match, bob, "two")


def test_a_cluster_removes_a_match_too(cluster_url: str) -> None:
    """All keys of a match are in one slot."""
    store = Store(RedisClient(cluster_url, cluster=True))
    match = "m" + "c" * 16
    entry = b'{"at":1,"events":[{"type":"match_created","expires":2}]}'
    changed = Changes(standing=b"s", indexes={"all": 1}, secret="00" * 32, due={f"expire|{match}|": 2})
    store.log.append(match, 0, [entry], changed)
    assert store.removal.remove(match, 1, ["all"], [f"expire|{match}|"], 0, 0)
    assert (store.log.head(match), store.lists.standings([match]), match in store.log.secrets()) == (0, [None], False)
    store.close()
