"""Due work: the index that the append script keeps, and the sweep that lets what is lost wait again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from events import due, play, recall
from events.due import ADVANCE, DEADLINE, THINK, Kind, Owed, owed, split
from events.platform import Platform
from events.rebuild import rebuild
from games.kernel import SYSTEM
from record.positions import Position
from tests.conftest import Servers, take_seat, waits
from workers.sweep import overdue, sweep

Begin = Callable[..., str]
More = Callable[[], Platform]
HOUR = 3_600_000
ADVANCED = [{"type": "advance"}]


def add(by: int, stay: bool = True) -> dict[str, Any]:
    return {"type": "add", "by": by, "stay": stay}


def members(platform: Platform, match: str) -> dict[str, int]:
    """Return the members of a match in the index, with their moments, but for the moment when a match is over that all have left alone."""
    found = platform.store.client.ask("ZRANGE", platform.store.keys.of(match).due, 0, -1, "WITHSCORES")
    return {member.decode(): int(moment) for member, moment in found if match in member.decode() and not member.startswith(b"deadline|")}


# ---------------------------------------------------------------- the index


def test_the_index_has_what_is_due_since_the_entry_that_made_it_due(
    platform: Platform, ann: str, bob: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(1_000_000, 2_000_000, 1000))
    monkeypatch.setattr(platform.clock, "now", lambda: next(clock))
    match = play.create(platform, ann, "tally", {"one": "ai:random", "two": "open", "three": "ai:greedy"}, {"target": 9}).match
    expires = recall.position(platform, match).table["expires"]
    assert members(platform, match) == {f"expire|{match}|": expires}, "nobody must act while a seat is open"
    at = take_seat(platform, match, bob, "two").position.at
    assert at == 1_001_000
    assert members(platform, match) == {f"advance|{match}|": at}
    at = play.play(platform, match, SYSTEM, ADVANCED).position.at
    assert members(platform, match) == {f"think|{match}|one": at}
    later = play.play(platform, match, "one", [add(1), add(1)]).position.at
    assert later > at
    assert members(platform, match) == {f"think|{match}|one": later}, "the seat must act again, since later"
    play.play(platform, match, "one", [add(1, stay=False)])
    assert members(platform, match) == {}, "a person must act"
    at = play.play(platform, match, "two", [add(1, stay=False)]).position.at
    assert members(platform, match) == {f"think|{match}|three": at}
    at = play.play(platform, match, "three", [add(1, stay=False)]).position.at
    assert members(platform, match) == {f"advance|{match}|": at}
    at = play.play(platform, match, SYSTEM, ADVANCED).position.at
    assert members(platform, match) == {f"think|{match}|one": at}
    assert play.play(platform, match, "one", [add(3), add(3)]).position.status == "over"
    assert members(platform, match) == {}


def test_a_refused_or_repeated_request_does_not_change_what_is_due(platform: Platform, begin: Begin) -> None:
    match = begin(one="ai:random", two="me")
    play.play(platform, match, "one", [add(1)], request="r")
    before = members(platform, match)
    assert play.play(platform, match, "one", [add(1)], request="r").repeated
    with pytest.raises(play.Refused):
        play.play(platform, match, "one", [add(9)])
    assert members(platform, match) == before != {}


def test_what_is_due_for_one_match_is_independent_of_others(platform: Platform, begin: Begin) -> None:
    made = [begin(one="ai:random", two="me") for _ in range(20)]
    play.play(platform, made[0], "one", [add(1, stay=False)])
    assert members(platform, made[0]) == {}
    for match in made[1:]:
        assert members(platform, match) == {f"think|{match}|one": recall.position(platform, match).at}
    assert platform.store.due.counts(0) == (19 + 20, 0), "each is over one day if nobody plays"


def test_a_member_names_its_kind_its_match_and_its_target() -> None:
    for work in (Owed(ADVANCE, "m1", 3, "", 5, "p1"), Owed(THINK, "m1", 3, "one", 5, "p1")):
        assert split(work.member) == (work.kind, work.match, work.target)


def test_work_is_due_for_the_system_first_and_for_one_ai_seat_at_a_time(platform: Platform, begin: Begin) -> None:
    position = recall.position(platform, begin(one="ai:random", two="ai:greedy", three="me"))

    def to_act(*actors: str) -> list[tuple[str, str]]:
        return [
            (work.kind, work.target)
            for work in owed(position._replace(document={**position.document, "to_act": list(actors)}))
            if work.kind != DEADLINE
        ]

    assert to_act("one", SYSTEM) == [(ADVANCE, "")]
    assert to_act("three", "two", "one") == [(THINK, "two")]
    assert to_act("three") == to_act() == []


# ---------------------------------------------------------------- deadlines


@pytest.fixture
def with_deadlines(platform: Platform, another_platform: More, monkeypatch: pytest.MonkeyPatch) -> Platform:
    """A platform with one more kind of work: every entry makes it due an hour later."""

    def owed_with_hook(position: Position) -> tuple[Owed, ...]:
        return (*owed(position), Owed("hook", position.match, position.version, "one", position.at + HOUR, position.table["creator"]))

    monkeypatch.setitem(due.KINDS, "hook", Kind(5, 3000, at_once=False))  # type: ignore[arg-type]
    for module in ("events.standings", "events.play", "events.deriving", "workers.sweep"):
        monkeypatch.setattr(f"{module}.owed", owed_with_hook)
    return another_platform()


def test_two_kinds_are_due_side_by_side_at_their_own_moments(with_deadlines: Platform, begin: Begin) -> None:
    platform, match = with_deadlines, begin(one="ai:random", two="me")
    at = recall.position(platform, match).at
    assert members(platform, match) == {f"think|{match}|one": at, f"hook|{match}|one": at + HOUR}
    at = play.play(platform, match, "one", [add(1, stay=False)]).position.at
    assert members(platform, match) == {f"hook|{match}|one": at + HOUR}, "one kind is due no more, the other is due later"
    rebuild(platform)
    assert members(platform, match) == {f"hook|{match}|one": at + HOUR}


def test_a_deadline_waits_when_its_moment_has_come_and_not_before(with_deadlines: Platform, begin: Begin, servers: Servers) -> None:
    platform, match = with_deadlines, begin()
    moment = recall.position(platform, match).at + HOUR
    assert waits(servers, "hook") == [], "an append does not let a deadline wait"
    for now in (moment - 10 * HOUR, moment - HOUR, moment - 1):
        assert overdue(platform, now) == {}
        assert sweep(platform, now) == 0
    assert overdue(platform, moment) == {f"hook|{match}|one": moment}
    assert sweep(platform, moment) == 1
    assert waits(servers, "hook") == [f"hook|{match}|one"]
    assert platform.jobs.take(["hook"], now=moment) == Owed("hook", match, 2, "one", 0, recall.position(platform, match).table["creator"])
    assert sweep(platform, moment + 2999) == 0, "the worker has the patience of its kind"
    assert sweep(platform, moment + 3000) == 1
    assert waits(servers, "hook") == [f"hook|{match}|one"]


def test_the_sweep_tells_a_deadline_from_a_wrong_clock(with_deadlines: Platform, begin: Begin, servers: Servers) -> None:
    """Both moments lie in the future. Only work that is due at once cannot be due in the future."""
    platform, match = with_deadlines, begin(one="ai:random", two="me")
    servers.queue.flushall()
    now = recall.position(platform, match).at - HOUR
    assert overdue(platform, now) == {f"think|{match}|one": now + HOUR}
    assert sweep(platform, now) == 1
    assert (waits(servers, THINK), waits(servers, "hook")) == ([f"think|{match}|one"], [])


def test_an_advance_in_the_future_is_found(platform: Platform, ann: str, servers: Servers) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {}).match
    now = recall.position(platform, match).at
    servers.keeper.zadd(platform.store.keys.of(match).due, {f"advance|{match}|": now + HOUR})
    servers.queue.flushall()
    assert sweep(platform, now) == 1
    assert waits(servers, ADVANCE) == [f"advance|{match}|"]


# ---------------------------------------------------------------- members that mean nothing


def test_unknown_members_and_members_that_are_not_due_any_more_do_no_harm(platform: Platform, begin: Begin, servers: Servers) -> None:
    match = begin(one="ai:random", two="me")
    at = recall.position(platform, match).at
    index = platform.store.keys.of(match).due
    foreign = [
        *("", "|", "||", "nonsense", "advance", "think", "advance|", f"advance|{match}", "hook_|x|y", f"archive|{match}|", "\xff|m|"),
        *(f"advance|{match}|", f"think|{match}|two", f"think|{match}|nine", f"advance|{match}|one", "advance|m" + "a" * 16 + "|"),
        *("advance|../x|", "think||", f"think|{match}|one|more"),
    ]
    servers.keeper.zadd(index, dict.fromkeys(foreign, 1))
    servers.queue.flushall()
    assert sweep(platform, at + 2000) == 1
    assert (waits(servers, ADVANCE), waits(servers, THINK)) == ([], [f"think|{match}|one"])
    rebuild(platform)
    assert servers.keeper.zrange(index, 0, -1) == [f"think|{match}|one".encode(), f"deadline|{match}|".encode()]
