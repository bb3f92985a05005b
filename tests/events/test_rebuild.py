"""Projections: lists that are right at once, and a rebuild that gives the same bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from events import lists, play, recall
from events.audit import audit
from events.errors import BadCursor
from events.platform import Platform, check_store, open_platform
from events.rebuild import Rebuilt, rebuild
from events.standings import indexes, standing
from events.store import WrongStore
from events.store.log import RedisLog
from games.chance import Drawn
from games.kernel import SYSTEM
from players import choose
from tests.conftest import ALL_GAMES, Servers, take_seat
from tests.events.keyspace import projections

Begin = Callable[..., str]


def some_matches(platform: Platform, ann: str, bob: str) -> list[str]:
    """Play matches of every game to every state: open, just begun, in the middle, long, over. Return their ids."""
    made = []
    for number, game in enumerate([*ALL_GAMES, "tally", "tally", "war"]):
        played = ALL_GAMES[game]
        chance = Drawn(random.Random(number).randrange)
        seats = played.seats.ids[: played.seats.least]
        asked = {seats[0]: "me", **dict.fromkeys(seats[1:], "open")}
        match = play.create(platform, ann, game, asked, {"target": 150} if game == "tally" else {}, request=f"c{number}").match
        made.append(match)
        for seat in seats[1:]:
            take_seat(platform, match, bob, seat, "00", request=f"j{seat}")
        position = recall.position(platform, match)
        while position.status == "playing" and position.version < 30 + number * 40:
            actor = position.to_act[0]
            action = {"type": "advance"} if actor == SYSTEM else choose(played, "random", position.document, actor, chance)
            request = None if actor == SYSTEM else f"r{position.version}"
            position = play.play(platform, match, actor, [action], request=request).position
    made.append(play.create(platform, bob, "tally", {"one": "me", "two": "open"}, {}).match)
    made.append(play.create(platform, bob, "tally", {"one": "me", "two": "ai:greedy"}, {}).match)
    return made


def test_everything_is_rebuilt_from_the_logs_to_the_same_content(platform: Platform, ann: str, bob: str, servers: Servers) -> None:
    matches = some_matches(platform, ann, bob)
    kept = projections(platform.store.client)
    entries = sum(platform.store.log.head(match) for match in matches)
    assert rebuild(platform) == Rebuilt(len(matches), entries, 0)
    assert projections(platform.store.client) == kept
    for key in kept:
        servers.keeper.delete(key)
    rebuild(platform)
    assert projections(platform.store.client) == kept
    assert all(audit(platform, match).ok for match in matches)


def test_a_rebuild_removes_what_belongs_to_no_log_and_corrects_the_rest(platform: Platform, ann: str, bob: str, servers: Servers) -> None:
    matches = some_matches(platform, ann, bob)
    kept = projections(platform.store.client)
    strays = ("m" + letter * 16 for letter in "zyx")
    names = platform.store.keys
    stray = next(name for name in strays if names.tag(name) != names.tag(matches[0]))  # else their keys would be the same
    keys, known = names.of(stray), names.of(matches[0])
    for key in (keys.indexes + "all", keys.indexes + "no:such", known.indexes + "status:lost"):
        servers.keeper.zadd(key, {stray if key.startswith(names.tag(stray)) else matches[0]: 1})
    for member in (f"advance|{stray}|", f"think|{stray}|one", "nonsense", stray, b"\xff|\xfe|", "||"):
        servers.keeper.zadd(keys.due, {member: 1})
    for member in (f"advance|{matches[0]}|nobody", f"hook|{matches[0]}|3", f"think|{matches[0]}|".encode() + b"\xff"):
        servers.keeper.zadd(known.due, {member: 1})
    for key in (keys.standing, known.standing):
        servers.keeper.set(key, b"wrong")
    for key in (keys.snapshots, keys.requests, known.requests, known.snapshots):
        servers.keeper.hset(key, "7", "wrong")
    assert rebuild(platform).strays == 11
    assert projections(platform.store.client) == kept


def test_a_log_that_cannot_be_replayed_is_named_and_left_alone(platform: Platform, begin: Begin, servers: Servers) -> None:
    broken, sound = begin(), begin()
    servers.keeper.xadd(platform.store.keys.of(broken).stream, {"e": b"nonsense"}, id="3-0")
    kept = projections(platform.store.client)
    servers.keeper.delete(platform.store.keys.of(sound).standing)
    assert rebuild(platform) == Rebuilt(1, 2, 0, (broken,))
    assert projections(platform.store.client) == kept


def test_a_rebuild_while_matches_are_played_leaves_everything_right(platform: Platform, begin: Begin, ann: str) -> None:
    made = [begin() for _ in range(6)]

    def on(match: str) -> None:
        for number in range(60):
            actor = recall.position(platform, match).to_act[0]
            action = {"type": "advance"} if actor == SYSTEM else {"type": "add", "by": 1, "stay": number % 3 > 0}
            play.play(platform, match, actor, [action], request=f"r{number}")

    with ThreadPoolExecutor(7) as pool:
        playing = [pool.submit(on, match) for match in made]
        while not all(one.done() for one in playing):
            rebuild(platform)
        assert all(one.result() is None for one in playing)
    kept = projections(platform.store.client)
    rebuild(platform)
    assert projections(platform.store.client) == kept


def test_requests_are_still_known_after_a_rebuild(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin()
    first = play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 3, request="r", player=ann)
    rebuild(platform)
    assert play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 3, request="r", player=ann) == first._replace(
        repeated=True
    )


def test_a_seat_that_was_left_is_derived_too(platform: Platform, ann: str, bob: str, servers: Servers) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open", "three": "open"}, {}).match
    for number in range(3):
        take_seat(platform, match, bob, "two", "00", request=f"take-{number}")
        play.act_at_table(platform, match, bob, {"type": "leave_seat", "seat": "two"}, request=f"leave-{number}")
    take_seat(platform, match, "p" + "c" * 16, "two", request="take-0")
    assert lists.matches(platform, {"player": bob}).standings == []
    kept = projections(platform.store.client)
    for key in kept:
        servers.keeper.delete(key)
    rebuild(platform)
    assert projections(platform.store.client) == kept
    left = play.act_at_table(platform, match, bob, {"type": "leave_seat", "seat": "two"}, request="leave-2")
    assert (left.repeated, left.last) == (True, 7)


def test_a_standing_is_written_only_when_it_changes(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin()
    before = recall.position(platform, match)
    after = play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}]).position
    assert standing(before) == standing(after)
    assert lists.standing_of(platform, match) == standing(after)


def test_nothing_hidden_is_in_a_standing(platform: Platform, ann: str, bob: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    take_seat(platform, match, bob, "two", "c0ffee")
    position = play.play(platform, match, SYSTEM, [{"type": "advance"}]).position
    hidden = position._replace(document={**position.document, "pile": position.document["pile"][::-1]})
    assert standing(hidden) == standing(position)
    assert indexes(hidden) == indexes(position)


# ---------------------------------------------------------------- lists


def test_matches_are_listed_by_what_they_are_and_who_must_act(platform: Platform, ann: str, bob: str) -> None:
    one = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    two = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    take_seat(platform, two, bob, "two")

    def listed(**filters: str) -> set[str]:
        return {standing["id"] for standing in lists.matches(platform, filters).standings}

    assert listed() == listed(game="tally") == listed(player=ann) == {one, two}
    assert listed(status="open") == {one}
    assert listed(status="playing", player=bob) == listed(player=bob) == {two}
    assert listed(to_act=ann) == listed(game="war") == listed(status="over") == set()
    play.play(platform, two, SYSTEM, [{"type": "advance"}])
    assert listed(to_act=ann) == {two}
    play.play(platform, two, "one", [{"type": "add", "by": 1, "stay": False}])
    assert (listed(to_act=ann), listed(to_act=bob), listed(to_act=bob, status="playing")) == (set(), {two}, {two})


@pytest.mark.parametrize("limit", [1, 7, 50, 200])
def test_a_long_list_is_paged_newest_first_without_gaps_or_repeats(platform: Platform, ann: str, bob: str, limit: int) -> None:
    made = [play.create(platform, ann if n % 3 else bob, "tally", {"one": "me", "two": "open"}, {}) for n in range(60)]
    of_bob = [one for one in made if one.table["creator"] == bob]
    for filters, expected in (({}, made), ({"player": bob, "game": "tally"}, of_bob)):
        found, cursor = [], None
        while True:
            page = lists.matches(platform, filters, limit, cursor)
            found += page.standings
            cursor = page.cursor
            if cursor is None:
                break
        order = [(standing["created"], standing["id"]) for standing in found]
        assert order == sorted(order, reverse=True)
        assert sorted(standing["id"] for standing in found) == sorted(one.match for one in expected)


@pytest.mark.parametrize("cursor", ["", "x", "1", ".", "-5.m", "1.5"])
def test_a_cursor_that_no_page_gave_is_refused(platform: Platform, cursor: str) -> None:
    if cursor == "1.5":
        assert lists.matches(platform, {}, cursor=cursor).standings == []
        return
    with pytest.raises(BadCursor):
        lists.matches(platform, {}, cursor=cursor)


# ---------------------------------------------------------------- settings


def again(platform: Platform, partitions: int = 16) -> Platform:
    """Open the store of a platform again. The caller waits for a store that is away."""
    return open_platform(platform.settings._replace(partitions=partitions), ALL_GAMES, patient=True)


def test_the_number_of_partitions_is_kept_for_good(platform: Platform) -> None:
    with pytest.raises(WrongStore, match="created with 16 partitions, not 32"):
        again(platform, 32)


@pytest.mark.parametrize("mark", ["3 16", "10 16", "16", "1 16", "", None])
def test_a_store_of_another_format_is_refused_and_not_marked(
    platform: Platform, begin: Callable[..., str], servers: Servers, mark: str | None
) -> None:
    begin()
    servers.keeper.delete("{store}:begun") if mark is None else servers.keeper.set("{store}:begun", mark)
    for refused in (lambda: again(platform), lambda: check_store(platform.settings)):
        with pytest.raises(WrongStore, match="reads only format 3"):
            refused()
    assert servers.keeper.get("{store}:begun") == (None if mark is None else mark.encode())


def test_a_store_that_another_process_begins_while_this_one_looks_is_taken(
    platform: Platform, begin: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin()
    mark, matches = servers.keeper.get("{store}:begun"), RedisLog.matches
    servers.keeper.delete("{store}:begun")

    def begun_meanwhile(log: RedisLog) -> Iterator[str]:
        servers.keeper.set("{store}:begun", mark)
        return matches(log)

    monkeypatch.setattr(RedisLog, "matches", begun_meanwhile)
    opened = again(platform)
    assert opened.store.secret == platform.store.secret
    opened.close()


def test_an_empty_store_is_begun_in_this_format(platform: Platform, servers: Servers) -> None:
    servers.keeper.flushdb()
    again(platform).close()
    mark = servers.keeper.get("{store}:begun")
    assert re.fullmatch(rb"3 16 [0-9a-f]{64}", mark)
    servers.keeper.delete("{store}:begun")
    again(platform).close()
    assert servers.keeper.get("{store}:begun") != mark, "each store has a secret of its own"
