"""What matches tell is read from the log page by page, from any version on, and a process reads each entry once."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from events import play
from events.due import owed
from events.errors import NoMatch
from events.hearing import PAGE, Hearing, Told
from events.platform import Platform
from events.standings import CALLED, MADE, NEWS, NEWS_MS, changes, indexes
from games import GAMES
from games.kernel import SYSTEM
from record.entries import parse
from record.notices import notices
from record.positions import Position, follow
from tests.conftest import Servers, take_seat
from tests.record.test_notices import gathered, played, told
from tests.table.going_on import PLAYERS, Run
from tests.tally import TALLY

ADD = {"type": "add", "by": 1, "stay": True}


@pytest.fixture
def long(platform: Platform, ann: str, bob: str) -> str:
    """A match of two and a half pages, with something to tell here and there."""
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {"target": 10**6}).match
    take_seat(platform, match, bob, "two")
    play.play(platform, match, SYSTEM, [{"type": "advance"}])
    for number in range(16):  # a seat may make twenty offers
        play.play(platform, match, "one", [ADD] * (PAGE // 8))
        for action in ({"type": "offer", "what": "draw"}, {"type": "decline", "what": "draw"}):
            play.act_at_table(platform, match, "two", action)
        for actor in ("one", "two", SYSTEM) if number % 5 == 4 else ():
            play.play(platform, match, actor, [{"type": "advance"} if actor == SYSTEM else {**ADD, "stay": False}])
    return match


def replayed(platform: Platform, match: str) -> list[Told]:
    """Return what a match tells, from its whole log."""
    position, found = None, []
    for raw in platform.store.log.read_all(match):
        entry, before = parse(raw), position
        position = follow(TALLY, before, entry)
        found += [Told(entry.version, notice) for notice in notices(before, entry, position)]
    return found


def heard(hearing: Hearing, match: str, after: int = 0) -> list[Told]:
    """Hear all that comes after a version."""
    found, more = [], True
    while more:
        told, after, more = hearing.after(match, after)
        found += told
    return found


def test_a_match_tells_the_same_from_wherever_it_is_heard(platform: Platform, long: str) -> None:
    expected, head = replayed(platform, long), platform.store.log.head(long)
    assert head > 2 * PAGE
    assert len({told.notice.kind for told in expected}) >= 5
    hearing, dice = Hearing(platform), random.Random(1)
    for after in (0, head, head - 1, PAGE, *(dice.randrange(head) for _ in range(20)), 0):
        for one in (hearing, Hearing(platform)):
            assert heard(one, long, after) == [told for told in expected if told.version > after]


def test_a_match_that_goes_on_is_not_loaded_again(platform: Platform, long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hearing, log = Hearing(platform), platform.store.log
    heard(hearing, long)
    calls: list[str] = []
    for name in ("load", "read", "since"):
        real: Callable[..., Any] = getattr(log, name)
        monkeypatch.setattr(log, name, lambda *given, real=real, name=name, **more: calls.append(name) or real(*given, **more))
    before = log.head(long)
    play.act_at_table(platform, long, "two", {"type": "offer", "what": "draw"})
    calls.clear()
    first = hearing.after(long, before, least=before + 1)
    assert ([told.notice.kind for told in first.told], first.reached, first.more, calls) == (["offer"], before + 1, False, ["since"])
    assert hearing.after(long, before, least=before + 1) == first
    assert calls == ["since"], "what another stream has heard is not read again"


def test_entries_that_the_store_has_lost_are_forgotten(platform: Platform, long: str, servers: Servers) -> None:
    hearing, head, stream = Hearing(platform), platform.store.log.head(long), platform.store.keys.stream(long)
    earlier = servers.keeper.dump(stream)
    play.act_at_table(platform, long, "two", {"type": "offer", "what": "draw"})
    assert [told.notice.kind for told in heard(hearing, long, head)] == ["offer"]
    servers.keeper.restore(stream, 0, earlier, replace=True)
    assert heard(hearing, long, head) == []
    play.act_at_table(platform, long, "two", {"type": "offer", "what": "pause", "hours": 24})
    assert [told.notice.data["what"] for told in heard(hearing, long, head)] == ["pause"]


def test_a_match_that_does_not_exist_tells_nothing(platform: Platform) -> None:
    with pytest.raises(NoMatch):
        Hearing(platform).after("m" + "a" * 16, 0)


def test_the_first_version_since_a_moment_is_found(platform: Platform, long: str, ann: str) -> None:
    other = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    moments = {match: [parse(raw).at for raw in platform.store.log.read_all(match)] for match in (long, other)}
    wanted = {at + step for at in random.Random(2).sample(moments[long], 20) for step in (-1, 0, 1)} | {0, 10**14}
    for moment in wanted:
        expected = [next((n for n, at in enumerate(ats, 1) if at >= moment), len(ats) + 1) for ats in moments.values()]
        assert platform.store.lists.first_since([long, other], moment) == expected
    assert platform.store.lists.first_since([long, "m" + "b" * 16], 0) == [1, 1]


def test_an_append_names_whom_its_entries_tell_something_and_moves_the_match_in_their_indexes() -> None:
    """Over random play in which everything happens at the table, hidden from spectators or not."""
    for run in (*played(), *gathered()):
        positions: list[Position | None] = [None, *run.positions]
        listed: dict[str, int] = {}
        waiting: dict[str, int] = {}
        for before, after, found in zip(positions, run.positions, told(run), strict=False):
            changed = changes(before, after, owed(after))
            assert not changed.due.items() & waiting.items(), "what stays due is not written again"
            waiting = {member: at for member, at in {**waiting, **changed.due}.items() if at is not None}
            assert waiting == {work.member: work.due for work in owed(after)}
            organisers = {f"*{notice.organiser}" for notice in found if notice.organiser is not None}
            assert set(changed.tell) == organisers | {player for notice in found for player in notice.to}
            listed = {name: at for name, at in {**listed, **changed.indexes}.items() if at is not None}
            assert listed == indexes(after)
            for name in changed.tell:
                kinds = [f"{MADE}:{name[1:]}"] if name.startswith("*") else [f"{NEWS}:{name}", f"{CALLED}:{name}"]
                moments = [after.at if kind.startswith(CALLED) else after.at - after.at % NEWS_MS for kind in kinds if kind in listed]
                assert [listed[kind] for kind in kinds if kind in listed] == moments
                assert len(moments) == 1


def test_a_position_does_not_remember_every_stranger_who_came_and_went(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers can take a seat and leave it without end. Who is at the table is remembered."""
    monkeypatch.setattr("record.notices.STRANGERS", 3)
    seats = {"red": "me", "blue": "open", "green": "open", "yellow": f"player:{PLAYERS[1]}"}
    run = Run(GAMES["war"], seats, {}, {})
    strangers = [f"p{letter * 16}" for letter in "efghijkl"]
    run.act_at_table(strangers[0], {"type": "take_seat", "seat": "blue"}, 2)
    for number, stranger in enumerate(strangers[1:], 1):
        mine, other = ("blue", "green") if number % 2 == 0 else ("green", "blue")
        run.act_at_table(stranger, {"type": "take_seat", "seat": mine}, 2)
        run.act_at_table(strangers[number - 1], {"type": "leave_seat", "seat": other}, 2)
        told_ever = {player for found in told(run) for notice in found for player in notice.to}
        assert {*PLAYERS[:2], stranger, *strangers[max(0, number - 3) : number]} <= {*run.now.told, stranger}
    assert len(told_ever) > len(run.now.told) - 1
    assert len(run.now.told) <= 3 + len({"organiser", *PLAYERS[:2], strangers[-1]})
