"""What a process keeps in memory: bounded, never older than it was, and the same after it was packed away."""

from __future__ import annotations

from collections.abc import Callable

from events import play
from events.cache import PACKED, Cache
from events.connect import House

Begin = Callable[..., str]


def test_a_position_that_was_packed_away_comes_back_the_same(house: House, begin: Begin) -> None:
    cache = Cache(2)
    held = [house.cache.get(begin()) for _ in range(2 + 2 * PACKED + 5)]
    for one in held:
        assert one is not None
        cache.put(one)
    kept = [cache.get(one.position.match) for one in held if one]
    assert kept[:5] == [None] * 5, "the least recently used are gone"
    assert kept[7:] == held[7:]


def test_an_older_position_does_not_replace_a_newer_one(house: House, begin: Begin) -> None:
    match = begin()
    older = house.cache.get(match)
    play.play(house, match, "one", [{"type": "add", "by": 1, "stay": True}])
    newer = house.cache.get(match)
    assert older is not None
    house.cache.put(older)
    assert house.cache.get(match) == newer != older


def test_play_goes_on_with_a_memory_of_one(house: House, begin: Begin) -> None:
    small = House(house.settings, house.store, house.jobs, Cache(1), house.games)
    made = [begin() for _ in range(5)]
    for number in range(10):
        for match in made:
            assert play.play(small, match, "one", [{"type": "add", "by": 1, "stay": True}]).last == 3 + number
