"""Archived matches in memory: only what somebody needs of them is unpacked and linked, and they take a bounded number of bytes."""

from __future__ import annotations

import threading
import tracemalloc
from typing import Any

import pytest

from events import play, recall
from events.archive import matches as objects_of
from events.archive import unpacked
from events.archive.reading import Archive
from events.archive.returning import bring_back
from events.audit import audit
from events.errors import ArchiveDamaged
from events.platform import Platform
from events.store.archiving import Away
from record import lean, packing
from tests.events.archives import Begin, finished, logged, moved
from tests.events.test_archiving import told


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 16 entries and stretches of 8, of which a match keeps a few. So a short match is a long one."""
    every = ((place, "EVERY", 16) for place in (packing, objects_of, unpacked))
    for place, name, value in ((packing, "BLOCK", 32), (packing, "STRETCH", 8), (unpacked, "STRETCH", 8), *every):
        monkeypatch.setattr(place, name, value)
    for name, value in (("BLOCKS", 2), ("SNAPSHOTS", 2)):
        monkeypatch.setattr(unpacked, name, value)


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The versions that are linked from now on."""
    versions, link = list[int](), lean.link

    def noted(previous: str, entry: Any, blind: bytes) -> Any:
        versions.append(entry.version)
        return link(previous, entry, blind)

    monkeypatch.setattr(lean, "link", noted)
    return versions


def filed(platform: Platform, match: str) -> Away:
    (where,) = platform.store.archiving.where([match])
    assert where.away is not None
    return where.away


@pytest.mark.usefixtures("short")
def test_a_match_of_many_blocks_is_told_as_before(platform: Platform, keeper: Platform, begin: Begin, ann: str) -> None:
    match = finished(platform, begin, 12)
    before, claims = told(platform, match), [f"{ann}/r{number}one" for number in (0, 6, 11)]
    known = [platform.store.log.since(match, 1, claim).known for claim in claims]
    moved(keeper, match)
    for again in (platform, keeper):
        again.cache.drop(match)
        assert told(again, match) == before
    assert [platform.store.log.since(match, 1, claim).known for claim in claims] == known
    assert platform.store.log.since(match, 1, f"{ann}/never").known is None
    assert None not in known
    assert bring_back(platform, match)
    assert told(platform, match) == before


@pytest.mark.usefixtures("short")
def test_play_that_was_hidden_from_spectators_has_the_digests_that_it_had(platform: Platform, keeper: Platform, ann: str) -> None:
    match = play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {"target": 9}, settings={"spectators": "none"}).match
    hidden = 0
    while recall.position(platform, match).status != "over":
        (actor,) = recall.position(platform, match).to_act
        action = {"type": "advance"} if actor == "system" else {"type": "add", "stay": False, "by": 1}
        play.play(platform, match, actor, [action])
        hidden += recall.position(platform, match).begun is not None
    before = told(platform, match)
    assert hidden
    logged(platform)
    moved(keeper, match)
    platform.cache.drop(match)
    assert told(platform, match) == before


@pytest.mark.usefixtures("short")
def test_a_first_read_links_what_it_shows_and_no_more(platform: Platform, keeper: Platform, begin: Begin, linked: list[int]) -> None:
    match = finished(platform, begin, 20)
    head = platform.store.log.head(match)
    entries = platform.store.log.read(match)
    moved(keeper, match)

    def first(read: Any) -> Any:
        platform.archive.forget()
        platform.cache.drop(match)
        linked.clear()
        return read()

    assert first(lambda: recall.position(platform, match)).version == head
    assert linked == [], "the head has the digest that the store knows"
    assert first(lambda: recall.state_at(platform, match, 21)).version == 21
    assert linked == list(range(17, 25))
    assert first(lambda: platform.store.log.read(match, 33, 4)) == entries[33:37]
    assert linked == list(range(33, 41))
    assert first(lambda: platform.store.log.last([match])) == entries[-1:]
    assert len(linked) <= 8
    platform.store.log.last([match])
    assert len(linked) <= 8, "it is in memory"


@pytest.mark.usefixtures("short")
def test_a_position_is_folded_from_the_one_before_it_in_the_object(
    platform: Platform, keeper: Platform, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = finished(platform, begin, 20)
    head = platform.store.log.head(match)
    expected = [recall.state_at(platform, match, version) for version in range(1, head + 1)]
    moved(keeper, match)
    folded, follow = [], unpacked.follow_with_tags
    monkeypatch.setattr(unpacked, "follow_with_tags", lambda *given: [folded.extend(given[2]), follow(*given)][1])

    def first(version: int) -> int:
        platform.archive.forget()
        platform.cache.drop(match)
        folded.clear()
        assert recall.state_at(platform, match, version) == expected[version - 1]
        return len(folded)

    assert head > 48
    assert max(map(first, range(1, head + 1))) <= 16, "so many are between two positions"
    monkeypatch.setattr(unpacked, "FORM", 0)
    assert first(head) == head, "positions of another form are ignored"


@pytest.mark.usefixtures("short")
def test_positions_that_lie_are_found_and_are_no_evidence(platform: Platform, keeper: Platform, begin: Begin) -> None:
    match, pack = finished(platform, begin, 20), objects_of.pack_position
    before = list(platform.store.log.read_all(match)), audit(platform, match)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objects_of, "pack_position", lambda position: pack(position._replace(at=1)))
        moved(keeper, match)
    with pytest.raises(ArchiveDamaged) as caught:
        objects_of.check(platform.archive.objects, match, filed(platform, match), platform.games)
    assert "positions" in caught.value.reason
    assert (list(platform.store.log.read_all(match)), audit(platform, match)) == before
    assert bring_back(platform, match)
    assert (list(platform.store.log.read_all(match)), audit(platform, match)) == before


@pytest.mark.usefixtures("short")
def test_a_match_takes_as_many_bytes_as_it_says_however_long_it_is(platform: Platform, keeper: Platform, begin: Begin) -> None:
    match = finished(platform, begin, 60)
    moved(keeper, match)
    whole = sum(map(len, platform.store.log.read_all(match)))
    platform.archive.forget()
    found = platform.archive.read(match, filed(platform, match))
    tracemalloc.start()
    try:
        for version in range(1, found.away.head + 1, 25):
            found.load(version)
            assert found.size < whole, "two blocks and some positions"
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 1.5 * found.size


def test_the_bytes_of_all_matches_in_memory_are_bounded_also_when_they_grow(platform: Platform, keeper: Platform, begin: Begin) -> None:
    matches = [finished(platform, begin, 4) for _ in range(6)]
    moved(keeper, *matches)
    keys = [(match, filed(platform, match)) for match in matches]
    archive = Archive("memory:", kept=4 * platform.archive.read(*keys[0]).size)
    archive.platform = platform
    archive.put(platform.archive.objects)
    found = [archive.read(*key) for key in keys[:3]]
    for one in found:
        one.fold()
        one.entries(0, one.away.head)
        assert sum(kept.size for kept in archive._kept.values()) <= archive._kept.maxsize
    assert len(archive._kept) < 3, "they have grown, so one is forgotten"
    for key in keys:
        archive.read(*key).load(None)
        assert sum(kept.size for kept in archive._kept.values()) <= archive._kept.maxsize


@pytest.mark.usefixtures("short")
def test_a_match_that_is_longer_than_all_that_is_kept_stays_in_memory(platform: Platform, keeper: Platform, begin: Begin) -> None:
    match = finished(platform, begin, 60)
    moved(keeper, match)
    whole = sum(map(len, platform.store.log.read_all(match)))
    archive, reads = Archive("memory:", kept=whole), []
    archive.platform = platform

    class Counting:
        def read(self, name: str) -> bytes | None:
            reads.append((name, threading.get_ident()))
            return keeper.archive.objects.read(name)

    archive.put(Counting())  # type: ignore[arg-type]
    for version in (60, 1, 100, 150):
        found = archive.read(match, filed(platform, match))
        assert found.load(version).head == found.away.head
        found.entries(version, version + 20)
    assert reads == [(objects_of.name_of(match, filed(platform, match)), threading.get_ident())], (
        "once, by the thread that is charged for it"
    )


def test_an_empty_page_of_a_match_in_the_store_costs_no_second_look(
    platform: Platform, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = finished(platform, begin)
    head = platform.store.log.head(match)
    entries = platform.store.log.read(match)
    monkeypatch.setattr(platform.store.archiving, "where", None)
    assert platform.store.log.read(match, head) == []
    assert platform.store.log.read(match, head - 1) == entries[-1:]
    assert platform.store.log.read(match, 1, 2) == entries[1:3]
    asked, page = [], platform.store.live.page

    def noted(*words: Any) -> Any:
        asked.append(words)
        return page(*words)

    monkeypatch.setattr(platform.store.live, "page", noted)
    assert list(platform.store.log.read_all(match)) == entries
    assert len(asked) == 1
