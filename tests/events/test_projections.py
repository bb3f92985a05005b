"""What is worked out from streams: lists that are right at once, and the same to the byte when they are worked out anew."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from events import lists, play, players, recall
from events.audit import audit
from events.platform import Platform, Settings, WrongStore, open_platform
from events.projections import Rebuilt, rebuild
from events.standings import indexes, standing
from games.chance import Drawn
from games.kernel import SYSTEM
from tests.conftest import ALL_GAMES, Servers
from tests.events.keyspace import projections
from workers.search import choose

Begin = Callable[..., str]


def some_matches(platform: Platform, ann: str, bob: str) -> list[str]:
    """Matches of every game in every state: open, just begun, in the middle, long, over."""
    made = []
    for number, game in enumerate([*ALL_GAMES, "tally", "tally", "war"]):
        played = ALL_GAMES[game]
        chance = Drawn(random.Random(number).randrange)
        seats = played.seats.ids[: played.seats.least]
        asked = {seats[0]: "me", **dict.fromkeys(seats[1:], "open")}
        match = play.create(platform, ann, game, asked, {"target": 150} if game == "tally" else {}, request=f"c{number}").match
        made.append(match)
        for seat in seats[1:]:
            play.join(platform, match, bob, seat, "00", request=f"j{seat}")
        position = recall.position(platform, match)
        while position.status == "playing" and position.version < 30 + number * 40:
            actor = position.to_act[0]
            action = {"type": "advance"} if actor == SYSTEM else choose(played, "random", position.document, actor, chance)
            request = None if actor == SYSTEM else f"r{position.version}"
            position = play.play(platform, match, actor, [action], request=request).position
    made.append(play.create(platform, bob, "tally", {"one": "me", "two": "open"}, {}).match)
    made.append(play.create(platform, bob, "tally", {"one": "me", "two": "ai:greedy"}, {}).match)
    return made


def test_everything_is_rebuilt_from_the_streams_to_the_same_content(platform: Platform, ann: str, bob: str, servers: Servers) -> None:
    matches = some_matches(platform, ann, bob)
    kept = projections(platform.store.wire)
    entries = sum(platform.store.head(match) for match in matches)
    assert rebuild(platform) == Rebuilt(len(matches), entries, 0)
    assert projections(platform.store.wire) == kept
    for key in kept:
        servers.keeper.delete(key)
    rebuild(platform)
    assert projections(platform.store.wire) == kept
    assert all(audit(platform, match).ok for match in matches)


def test_what_belongs_to_no_stream_is_removed_and_what_is_wrong_is_put_right(
    platform: Platform, ann: str, bob: str, servers: Servers
) -> None:
    matches = some_matches(platform, ann, bob)
    kept = projections(platform.store.wire)
    strays = ("m" + letter * 16 for letter in "zyx")
    stray = next(name for name in strays if platform.store.tag(name) != platform.store.tag(matches[0]))  # else their keys would be the same
    keys, known = platform.store.keys(stray), platform.store.keys(matches[0])
    for key in (keys.due, keys.lists + "all", keys.lists + "never:heard", known.lists + "status:lost"):
        servers.keeper.zadd(key, {stray if key.startswith(platform.store.tag(stray)) else matches[0]: 1})
    for key in (keys.standing, known.standing):
        servers.keeper.set(key, b"wrong")
    for key in (keys.snapshots, keys.requests, known.requests, known.snapshots):
        servers.keeper.hset(key, "7", "wrong")
    assert rebuild(platform).strays == 6
    assert projections(platform.store.wire) == kept


def test_a_stream_that_cannot_be_replayed_is_named_and_left_alone(platform: Platform, begin: Begin, servers: Servers) -> None:
    spoilt, sound = begin(), begin()
    servers.keeper.xadd(platform.store.keys(spoilt).stream, {"e": b"nonsense"}, id="3-0")
    kept = projections(platform.store.wire)
    servers.keeper.delete(platform.store.keys(sound).standing)
    assert rebuild(platform) == Rebuilt(1, 2, 0, (spoilt,))
    assert projections(platform.store.wire) == kept


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
    kept = projections(platform.store.wire)
    rebuild(platform)
    assert projections(platform.store.wire) == kept


def test_requests_are_still_known_after_a_rebuild(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin()
    first = play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 3, request="r", player=ann)
    rebuild(platform)
    assert play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}] * 3, request="r", player=ann) == first._replace(
        repeated=True
    )


def test_a_standing_is_written_only_when_it_changes(platform: Platform, begin: Begin, ann: str) -> None:
    match = begin()
    before = recall.position(platform, match)
    after = play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}]).position
    assert standing(before) == standing(after)
    assert lists.standing_of(platform, match) == standing(after)


def test_a_standing_holds_nothing_hidden(platform: Platform, ann: str, bob: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    play.join(platform, match, bob, "two", "c0ffee")
    position = play.play(platform, match, SYSTEM, [{"type": "advance"}]).position
    hidden = position._replace(document={**position.document, "pile": position.document["pile"][::-1]})
    assert standing(hidden) == standing(position)
    assert indexes(hidden) == indexes(position)


# Lists


def test_matches_are_listed_by_what_they_are_and_who_must_act(platform: Platform, ann: str, bob: str) -> None:
    one = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    two = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    play.join(platform, two, bob, "two")

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
    for filters, fitting in (({}, made), ({"player": bob, "game": "tally"}, [one for one in made if one.creator == bob])):
        found, cursor = [], None
        while True:
            page = lists.matches(platform, filters, limit, cursor)
            found += page.standings
            cursor = page.cursor
            if cursor is None:
                break
        order = [(standing["created"], standing["id"]) for standing in found]
        assert order == sorted(order, reverse=True)
        assert sorted(standing["id"] for standing in found) == sorted(one.match for one in fitting)


@pytest.mark.parametrize("cursor", ["", "x", "1", ".", "-5.m", "1.5"])
def test_a_cursor_that_no_page_gave_is_refused(platform: Platform, cursor: str) -> None:
    if cursor == "1.5":
        assert lists.matches(platform, {}, cursor=cursor).standings == []
        return
    with pytest.raises(lists.BadCursor):
        lists.matches(platform, {}, cursor=cursor)


# Players and settings


def test_a_player_is_known_by_a_key_that_is_kept_only_as_a_hash(platform: Platform, servers: Servers) -> None:
    ann, key = players.register(platform, "Ann Ö", "referee")
    assert players.find(platform, key) == players.get(platform, ann.id) == ann
    assert (ann.name, ann.role) == ("Ann Ö", "referee")
    assert players.find(platform, key + "x") is None
    assert players.get(platform, "p" + "a" * 16) is None
    everything = b"".join(servers.keeper.dump(name) for name in servers.keeper.keys("*"))  # type: ignore[misc, union-attr]
    assert key.encode() not in everything


def test_the_number_of_partitions_is_kept_for_good(platform: Platform) -> None:
    with pytest.raises(WrongStore):
        open_platform(Settings(store_url=platform.settings.store_url, queue_url=platform.settings.queue_url, partitions=32), ALL_GAMES)
