"""Rated matches are counted from their records, in their order, up to a match that the ratings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from events import accounts, play, rating, recall
from events.platform import Platform
from events.rating import LAG_MS, count
from events.rebuild import rebuild
from events.store.ratings import Mark, Rated
from record.ratings import DEVIATION, Rating, Result, ratings, result_of
from tests.conftest import Servers, take_seat

GAME = "tally"


@pytest.fixture
def over(platform: Platform, ann: str, bob: str) -> Callable[..., str]:
    """Play a match of Ann and Bob, or another one, that Ann resigns, or the other. Return its id."""

    def played(loser: str = "one", rated: bool = True, other: str = bob) -> str:
        settings: dict[str, Any] = {"rated": True} if rated else {}
        match = play.create(platform, ann, GAME, {"one": "me", "two": "open"}, {}, settings=settings).match
        take_seat(platform, match, other, "two")
        play.act_at_table(platform, match, loser, {"type": "resign"})
        return match

    return played


def result(platform: Platform, match: str) -> Result:
    found = result_of(recall.position(platform, match))
    assert found is not None
    return found


def count_all(platform: Platform, late: int = LAG_MS + 1000) -> None:
    while count(platform, GAME, platform.clock.now() + late):
        pass


def served(platform: Platform) -> tuple[Mark, dict[str, Rating]]:
    (generations,) = platform.store.ratings.generations([GAME])
    page = platform.store.ratings.page(GAME, generations.serving, None, 100)
    return generations.served, dict(page)


def expected(platform: Platform, matches: list[str]) -> dict[str, Rating]:
    return ratings(sorted((result(platform, match) for match in matches), key=lambda one: one.order))


def test_ratings_are_what_the_records_of_rated_matches_lead_to(platform: Platform, over: Callable[..., str]) -> None:
    matches = [over("one"), over("two"), over("one")]
    over(rated=False)
    count_all(platform)
    mark, found = served(platform)
    last = max((result(platform, match) for match in matches), key=lambda one: one.order)
    assert (mark.matches, mark.match, mark.at) == (3, last.match, last.at)
    assert found == expected(platform, matches)


def test_a_match_counts_only_a_minute_after_it_was_over(platform: Platform, over: Callable[..., str]) -> None:
    over()
    count_all(platform, late=0)
    assert served(platform) == (Mark(), {})


def test_what_is_counted_a_match_at_a_time_is_what_is_counted_at_once(
    platform: Platform, over: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = [over("two" if number % 3 else "one") for number in range(5)]
    count_all(platform)
    at_once = served(platform)
    monkeypatch.setattr(rating, "AT_ONCE", 1)
    assert rating.count_anew(platform, platform.clock.now() + LAG_MS + 1000) == 5
    assert served(platform) == at_once
    assert at_once[1] == expected(platform, matches)


def test_two_who_count_at_once_count_nothing_twice(
    platform: Platform, over: Callable[..., str], another_platform: Callable[..., Platform], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is overtaken before it stores what follows from the first match. What it would store knows nothing of the others."""
    matches = [over(), over(other=accounts.register(platform, "Cleo")[0].id), over()]
    monkeypatch.setattr(rating, "AT_ONCE", 1)
    other, store = another_platform(), platform.store.ratings.store

    def overtaken(*given: Any, **more: Any) -> bool:
        monkeypatch.setattr(platform.store.ratings, "store", store)
        count_all(other)
        return store(*given, **more)

    monkeypatch.setattr(platform.store.ratings, "store", overtaken)
    count_all(platform)
    assert served(platform)[0].matches == 3
    assert served(platform)[1] == expected(platform, matches)


def test_a_match_that_turns_up_late_is_counted_where_it_belongs(
    platform: Platform, over: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    early, later = over("one"), over("two")
    keys = platform.store.keys.of(early)
    moment = servers.keeper.zscore(f"{keys.indexes}rated:{GAME}", early)
    servers.keeper.zrem(f"{keys.indexes}rated:{GAME}", early)
    count_all(platform)
    assert served(platform)[0].matches == 1
    servers.keeper.zadd(f"{keys.indexes}rated:{GAME}", {early: moment or 0})
    count_all(platform)
    assert served(platform)[0].matches == 2
    assert served(platform)[1] == expected(platform, [early, later])


def test_a_ruling_that_makes_a_match_void_is_counted(platform: Platform, over: Callable[..., str], ann: str) -> None:
    matches = [over("one"), over("two")]
    count_all(platform)
    play.act_at_table(platform, matches[0], "one", {"type": "dispute", "version": 1, "text": "The dice."})
    rule = {"type": "rule_dispute", "dispute": 1, "verdict": "upheld", "remedy": "void", "text": "So be it."}
    play.act_at_table(platform, matches[0], "p" + "r" * 16, rule, role="referee")
    play.act_at_table(platform, matches[0], "one", {"type": "accept_ruling", "dispute": 1})
    play.act_at_table(platform, matches[0], "two", {"type": "accept_ruling", "dispute": 1})
    assert recall.position(platform, matches[0]).table["overruled"] is not None
    count_all(platform)
    mark, found = served(platform)
    assert mark.matches == 2
    assert found == expected(platform, [matches[1]])
    assert {each.matches for each in found.values()} == {1}


def test_while_matches_are_counted_anew_the_old_ratings_are_served(
    platform: Platform, over: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        over()
    count_all(platform)
    before = served(platform)
    monkeypatch.setattr(rating, "AT_ONCE", 1)
    rating.begin_anew(platform, GAME)
    for _ in range(3):
        assert count(platform, GAME, platform.clock.now() + LAG_MS + 1000)
        assert served(platform) == before
    count_all(platform)
    assert served(platform) == before
    (generations,) = platform.store.ratings.generations([GAME])
    assert list(generations.marks) == [generations.serving] == [2]
    assert [key for key in platform.store.client.keys("{ratings}:*") if ":1:" in key] == []


def test_lost_ratings_come_back_and_a_rebuild_gives_the_same(
    platform: Platform, over: Callable[..., str], servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    matches = [over("one"), over("two")]
    count_all(platform)
    before = served(platform)
    for key in servers.keeper.scan_iter("{ratings}:*"):
        servers.keeper.delete(key)
    assert served(platform) == (Mark(), {})
    count_all(platform)
    assert served(platform) == before
    now = platform.clock.now()
    monkeypatch.setattr(platform.clock, "now", lambda: now + LAG_MS + 1000)
    assert rebuild(platform).rated == 2
    assert served(platform)[1] == before[1] == expected(platform, matches)


def test_a_record_that_cannot_be_read_holds_nobody_up(platform: Platform, over: Callable[..., str], servers: Servers) -> None:
    broken, whole = over("one"), over("two")
    platform.cache.drop(broken)
    keys = platform.store.keys.of(broken)
    servers.keeper.delete(keys.stream, keys.snapshots)
    servers.keeper.xadd(keys.stream, {"e": "no entry"}, id="1-0")
    count_all(platform)
    assert served(platform)[0].matches == 2
    assert served(platform)[1] == expected(platform, [whole])


def test_pages_have_everybody_once_and_in_order_also_with_equal_ratings(platform: Platform) -> None:
    store = platform.store.ratings
    means = {letter: 1500.0 + 10 * (number // 3) for number, letter in enumerate("abcdefgh")}
    rated = [Rated(f"p{letter * 16}", Rating(mean, DEVIATION, 1, 0)) for letter, mean in means.items()]
    assert store.store(GAME, 1, None, Mark(8, 1, "m"), rated)
    found, after = [], None
    while page := store.page(GAME, 1, after, 3):
        found += page
        after = (page[-1].rating.low, page[-1].player)
    assert [each.player[1] for each in found] == list("hgfedcba")
    moved = found[2]._replace(rating=Rating(100.0, DEVIATION, 2, 0))
    store.store(GAME, 1, Mark(8, 1, "m"), Mark(9, 2, "m"), [moved])
    rest = store.page(GAME, 1, (found[2].rating.low, moved.player), 8)
    assert [each.player[1] for each in rest] == list("edcbaf")


def test_nothing_of_a_hidden_match_shows_in_ratings_before_it_is_over(platform: Platform, ann: str, bob: str) -> None:
    settings = {"rated": True, "spectators": "none"}
    match = play.create(platform, ann, GAME, {"one": "me", "two": "open"}, {}, settings=settings).match
    take_seat(platform, match, bob, "two")
    play.play(platform, match, "system", [{"type": "advance"}])
    assert platform.store.lists.sizes([f"rated:{GAME}"]) == [0]
    play.act_at_table(platform, match, "one", {"type": "resign"})
    assert platform.store.lists.sizes([f"rated:{GAME}"]) == [1]
    count_all(platform)
    assert served(platform)[1] == expected(platform, [match])
