"""The cache of a process: it is bounded, never goes back to an older version, and restores what it has packed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from events import play, recall
from events.audit import audit
from events.cache import PACKED, Cache
from events.platform import Platform
from events.rebuild import rebuild
from tests.conftest import Servers

Begin = Callable[..., str]


def test_a_packed_position_is_restored_unchanged(platform: Platform, begin: Begin) -> None:
    cache = Cache(2)
    begun = [platform.cache.get(begin()) for _ in range(2 + 2 * PACKED + 5)]
    for one in begun:
        assert one is not None
        cache.put(one)
    kept = [cache.get(one.position.match) for one in begun if one]
    assert kept[:5] == [None] * 5, "the least recently used are gone"
    assert kept[7:] == [one and one._replace(works=None) for one in begun[7:]], "what is due can be derived again"


def test_an_older_position_does_not_replace_a_newer_one(platform: Platform, begin: Begin) -> None:
    match = begin()
    older = platform.cache.get(match)
    play.play(platform, match, "one", [{"type": "add", "by": 1, "stay": True}])
    newer = platform.cache.get(match)
    assert older is not None
    platform.cache.put(older)
    assert platform.cache.get(match) == newer != older


@pytest.mark.parametrize("more", [0, 2])
def test_a_cached_position_is_dropped_when_other_entries_have_replaced_its_own(
    platform: Platform, another_platform: Callable[[], Platform], begin: Begin, servers: Servers, more: int
) -> None:
    """This happens after a power cut without fsync, a failover, or a backup that is restored while processes run."""
    match, stale = begin(), another_platform()
    stream = platform.store.keys.of(match).stream
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
    small = dataclasses.replace(platform, cache=Cache(1))
    made = [begin() for _ in range(5)]
    for number in range(10):
        for match in made:
            assert play.play(small, match, "one", [{"type": "add", "by": 1, "stay": True}]).last == 3 + number
