"""The archive has the full tiles of the server's log: everything that is read of the log stays the same."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from events.archive import shedding
from events.archive.objects import Memory
from events.archive.returning import bring_back
from events.errors import ArchiveDamaged, StoreRefused
from events.notary import sequencing, server_log, server_log_audit
from events.platform import Platform
from events.store.server_logs import Logged, NewLeaf, hash_of
from evidence import tiles
from record.entries import canonical
from tests.conftest import Servers
from tests.events.archives import Begin, finished, moved

LEAVES = 2 * 256 + 40


def grow(platform: Platform, number: int) -> None:
    """Add leaves to the log of a server, and sign a checkpoint."""
    origin = platform.signer.name
    size = platform.store.server_logs.state(origin).size
    for first in range(size, size + number, 300):
        count = min(300, size + number - first)
        leaves = [
            NewLeaf(canonical({"kind": "hour", "version": place}), "m" + "a" * 16, Logged(f"hour:{place}", 0, place, "0" * 64, 0, 0))
            for place in range(first, first + count)
        ]
        sequencing.append(platform, origin, platform.store.server_logs.state(origin), [], leaves)
    sequencing.publish(platform, platform.store.server_logs.state(origin), origin)


def told(platform: Platform) -> Iterator[Any]:
    """Yield what can be read of the log."""
    size = server_log.shown(platform).size
    yield size, server_log.shown(platform).note
    for level, number in ((0, 0), (0, 1), (0, 2), (1, 0)):
        if width := tiles.width_of(level, number, size):
            yield server_log.tile(platform, level, number, width)
    for number in range(-(-size // 256)):
        yield server_log.bundle(platform, number, min(256, size - 256 * number))
    for first, second in ((1, size), (255, 256), (256, 257), (200, 300), (0, 5), (511, 512), (512, size)):
        yield server_log.consistency(platform, first, second)
    yield server_log.leaves(platform, "m" + "a" * 16, first=250, limit=20)
    logs, origin = platform.store.server_logs, platform.signer.name
    for first in (0, 3, 250, 255, 256, 500, 511, 512, 540, size, size + 300):
        yield logs.leaves(origin, [(first, count) for count in (0, 1, 8, 400)])
        yield logs.hashes(origin, [(level, first, count) for level in (0, 1, 2) for count in (1, 9, 300)])


def test_everything_that_is_read_of_the_log_is_the_same(platform: Platform, keeper: Platform) -> None:
    grow(platform, LEAVES)
    before = list(told(platform))
    with pytest.raises(StoreRefused):
        shedding.shed(platform)
    assert list(told(platform)) == before
    assert not shedding.shed(keeper)
    logs, origin = platform.store.server_logs, platform.signer.name
    assert logs.held(origin) == 512
    assert list(told(platform)) == before
    assert sorted(keeper.archive.objects.names("log/")) == [
        f"log/{hash_of(origin)}/tile/{level}/00{number}" for level in ("0", "entries") for number in (0, 1)
    ]
    assert sorted(shedding.needed(platform)) == sorted(keeper.archive.objects.names("log/"))
    assert list(server_log_audit.of_log(platform)) == list(shedding.verify(platform)) == []
    grow(platform, 300)  # the log goes on
    assert server_log.shown(platform).size == LEAVES + 300
    assert not shedding.shed(keeper)
    assert logs.held(origin) == 768
    assert list(server_log_audit.of_log(platform)) == []


def test_the_last_leaf_and_what_is_not_signed_stay(platform: Platform, keeper: Platform) -> None:
    grow(platform, 512)
    logs, origin = platform.store.server_logs, platform.signer.name
    before = list(told(platform))
    assert not shedding.shed(keeper)
    assert logs.held(origin) == 256
    assert list(told(platform)) == before
    leaf = NewLeaf(b"{}", "m" + "b" * 16, Logged("hour:1", 0, 1, "0" * 64, 0, 0))
    sequencing.append(platform, origin, logs.state(origin), [], [leaf])
    assert not logs.shed(origin, 768)
    assert not shedding.shed(keeper)
    assert (logs.held(origin), logs.state(origin).size) == (512, 513)


def test_the_store_forgets_the_leaves_of_a_match_that_its_object_says(
    platform: Platform, keeper: Platform, begin: Begin, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, logs, origin = finished(platform, begin), platform.store.server_logs, platform.signer.name
    known, noted = logs.logged(origin, [match]), logs.noted([origin], match)
    with monkeypatch.context() as patch:
        patch.setattr(keeper.store.server_logs, "forget", lambda *_: None)  # as if it was killed
        moved(keeper, match)
    assert logs.noted([origin], match) == noted
    shedding.forget(keeper)
    assert logs.noted([origin], match) == {}
    assert logs.logged(origin, [match]) == known
    assert bring_back(platform, match)
    assert logs.noted([origin], match) == noted
    shedding.forget(keeper)
    assert logs.noted([origin], match) == noted, "it is in the store"
    with monkeypatch.context() as patch:
        patch.setattr(keeper.store.server_logs, "forget", lambda *_: None)
        moved(keeper, match)
    servers.keeper.hset(f"{{log}}:{'ab' * 8}:m:{match}", "end:1", "7 1 ab 5 5")  # a log that the object does not know
    monkeypatch.setattr(server_log, "origins", lambda _: [origin, "other.example"])
    monkeypatch.setattr(sys.modules["events.store.server_logs"], "hash_of", lambda name: "ab" * 8 if name != origin else hash_of(name))
    shedding.forget(keeper)
    assert logs.noted([origin, "other.example"], match) == {"ab" * 8: {"end:1": "7 1 ab 5 5"}}


@pytest.mark.parametrize("level", ["0", "entries"])
def test_a_damaged_tile_is_told(platform: Platform, keeper: Platform, level: str) -> None:
    grow(platform, LEAVES)
    name = f"log/{hash_of(platform.signer.name)}/tile/{level}/000"
    keeper.archive.objects.create(name, b"something else")
    with pytest.raises(ArchiveDamaged):
        shedding.shed(keeper)
    assert platform.store.server_logs.held(platform.signer.name) == 0
    objects = Memory()
    for each in (platform, keeper):
        each.archive.put(objects)
    shedding.shed(keeper)
    content = objects.read(name) or b""
    objects.remove(name)
    objects.create(name, content.replace(content[100:104], b"abcd"))
    with pytest.raises(ArchiveDamaged):
        server_log.bundle(platform, 0, 256)
    assert name in {reason.name for reason in shedding.verify(platform)}
    objects.remove(name)
    with pytest.raises(ArchiveDamaged):
        server_log.bundle(platform, 0, 256)
