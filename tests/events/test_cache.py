"""What a process keeps in memory: bounded, never older than it was, and the same after it was packed away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from events import play, recall
from events.audit import audit
from events.cache import PACKED, Cache
from events.platform import Platform
from events.projections import rebuild
from tests.conftest import Servers

Begin = Callable[..., str]


def test_a_position_that_was_packed_away_comes_back_the_same(platform: Platform, begin: Begin) -> None:
    cache = Cache(2)
    held = [platform.cache.get(begin()) for _ in range(2 + 2 * PACKED + 5)]
    for one in held:
        assert one is not None
        cache.put(one)
    kept = [cache.get(one.position.match) for one in held if one]
    assert kept[:5] == [None] * 5, "the least recently used are gone"
    assert kept[7:] == held[7:]


def test_an_older_position_does_not_replace_a_newer_one(platform: Platform, begin: Begin) -> None:
    match = begin()
    older = platform.cache.get(match)
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}])
    newer = platform.cache.get(match)
    assert older is not None
    platform.cache.put(older)
    assert platform.cache.get(match) == newer != older


@pytest.mark.parametrize("more", [0, 2])
def test_memory_of_entries_that_others_have_taken_the_place_of_is_given_up(
    platform: Platform, another_platform: Callable[[], Platform], begin: Begin, servers: Servers, more: int
) -> None:
    """As after a power cut without fsync, a failover, or a backup that was put back while processes went on."""
    match, stale = begin(), another_platform()
    stream = platform.store.keys(match).stream
    backup = servers.keeper.dump(stream)
    for _ in range(2):
        play.play(stale, match, "one", [{"type": "add", "by": 3, "stay": True}])
    servers.keeper.restore(stream, 0, backup, replace=True)  # type: ignore[arg-type]
    platform.cache.drop(match)
    for _ in range(2 + more):
        play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}])
    assert recall.position(another_platform(), match).document["counts"]["one"] == 2 + more
    assert stale.cache.get(match).position.document["counts"]["one"] == 6  # type: ignore[union-attr]
    played = play.play(stale, match, "one", [{"type": "add", "by": 2, "stay": True}])
    assert (played.last, played.position.document["counts"]["one"]) == (5 + more, 4 + more)
    assert recall.position(stale, match).document["counts"]["one"] == 4 + more
    rebuild(platform)
    assert audit(platform, match).ok


def test_play_goes_on_with_a_memory_of_one(platform: Platform, begin: Begin) -> None:
    small = Platform(platform.settings, platform.store, platform.jobs, Cache(1), platform.games)
    made = [begin() for _ in range(5)]
    for number in range(10):
        for match in made:
            assert play.play(small, match, "one", [{"type": "add", "by": 1, "stay": True}]).last == 3 + number
