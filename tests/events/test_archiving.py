"""Finished matches move to the archive and back. A kill or an error anywhere loses and doubles nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from events import play, recall
from events.archive import matches as objects_of
from events.archive import shedding
from events.archive.archivist import CHANGED, archive_one
from events.archive.matches import Whole
from events.archive.objects import Memory, Objects
from events.archive.reading import hurry
from events.archive.returning import bring_back
from events.audit import audit
from events.deriving import derive
from events.errors import ArchiveDamaged, ArchiveUnavailable, StoreRefused
from events.platform import Platform
from events.rebuild import rebuild
from events.standings import packed
from events.store.archiving import Away
from events.store.log import Changes, Claim, Conflict, Known
from events.store.projections import Listed
from events.store.server_logs import start_of
from events.store.sidelog import RawSideLog
from record.entries import parse
from tests.conftest import Servers, within
from tests.events.archives import Begin, away, finished, logged, moved
from tests.events.keyspace import projections


def told(platform: Platform, match: str) -> object:
    """Return everything that the log tells of a match."""
    log = platform.store.log
    head = log.head(match)
    return (
        *(head, log.last([match]), list(log.read_all(match)), log.newest([match]), log.spans([(match, 2, head), (match, head, head + 9)])),
        [(item.id, item.raw, item.foreign) for item in log.items(match)],
        [recall.state_at(platform, match, version) for version in range(1, head + 1)],
        [log.since(match, version) for version in (0, 1, head - 1, head)],
        log.since(match, head, digest="00" * 32),
        platform.sidelog.refusals(match),
        platform.sidelog.all_reads(match),
    )


def test_an_archived_match_is_told_as_before(platform: Platform, keeper: Platform, begin: Begin, ann: str) -> None:
    match, other = finished(platform, begin), finished(platform, begin, 3)
    platform.sidelog.note_refusal(match, "one", ann, 4, 1_000, {"type": "add"}, "too_late", None)
    platform.sidelog.flush()
    before, requests = told(platform, match), platform.store.log.since(match, 3, f"{ann}/r0one")
    moved(keeper, match)
    assert away(platform, match)
    assert not away(platform, other)
    assert told(platform, match) == before
    platform.cache.drop(match)
    assert told(platform, match) == before
    assert platform.store.log.since(match, 3, f"{ann}/r0one") == requests
    assert requests.known is not None
    assert audit(platform, match, Listed(set(), set())).ok
    assert sorted(platform.store.log.matches()) == sorted([match, other])


def test_only_the_archivist_may_remove_a_match(platform: Platform, keeper: Platform, begin: Begin) -> None:
    match = finished(platform, begin)
    with pytest.raises(StoreRefused):
        archive_one(platform, match)
    assert not away(platform, match)
    assert audit(platform, match).ok
    moved(keeper, match)


def test_what_is_brought_back_is_what_was_archived(platform: Platform, keeper: Platform, begin: Begin, ann: str, servers: Servers) -> None:
    match = finished(platform, begin, 40)
    platform.sidelog.note_refusal(match, "one", ann, 4, 1_000, {"type": "add"}, "too_late", None)
    platform.sidelog.flush()
    before, kept = told(platform, match), projections(platform.store.client)
    moved(keeper, match)
    for _ in range(2):
        assert bring_back(platform, match)
        assert not away(platform, match)
        assert told(platform, match) == before
        assert projections(platform.store.client) == kept
    assert audit(platform, match).ok
    moved(keeper, match)  # the object is there already
    assert away(platform, match)


class Faulty(Memory):
    """Objects that fail or act at a step, once."""

    def __init__(self) -> None:
        super().__init__()
        self.at: dict[str, Callable[[], object]] = {}

    def create(self, name: str, content: bytes) -> bool:
        self._reach("before create")
        done = super().create(name, content)
        self._reach("after create")
        return done

    def read(self, name: str) -> bytes | None:
        self._reach("before read")
        found = super().read(name)
        self._reach("after read")
        return found

    def _reach(self, step: str) -> None:
        self.at.pop(step, lambda: None)()


def killed() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("step", ["before create", "after create", "before read", "after read", "before removal", "after removal"])
def test_a_kill_between_two_steps_loses_and_doubles_nothing(platform: Platform, keeper: Platform, begin: Begin, step: str) -> None:
    match = finished(platform, begin)
    before = told(platform, match)
    objects = Faulty()
    for each in (platform, keeper):
        each.archive.put(objects)
    remove = keeper.store.archiving.remove
    with pytest.MonkeyPatch.context() as patch:
        if "removal" in step:
            patch.setattr(keeper.store.archiving, "remove", lambda *words: (step == "after removal" and remove(*words), killed()))
        else:
            objects.at[step] = killed
        with pytest.raises(KeyboardInterrupt):
            archive_one(keeper, match)
    assert away(platform, match) == (step == "after removal")
    assert told(platform, match) == before
    if not away(platform, match):
        assert archive_one(keeper, match) == ""
    assert told(platform, match) == before
    assert list(objects.names(objects_of.PREFIX)) == [objects_of.name_of(match, _filed(platform, match))]


def test_what_was_not_written_as_it_should_be_is_not_removed(platform: Platform, keeper: Platform, begin: Begin) -> None:
    class Forgetful(Memory):
        def create(self, name: str, content: bytes) -> bool:
            return super().create(name, content[:-1])

    match = finished(platform, begin)
    keeper.archive.put(Forgetful())
    with pytest.raises(ArchiveDamaged):
        archive_one(keeper, match)
    (name,) = objects_of.all_names(keeper.archive.objects, match)
    keeper.archive.put(Memory())
    keeper.archive.objects.create(name, b"{}")
    with pytest.raises(ArchiveDamaged):
        archive_one(keeper, match)
    assert not away(platform, match)
    assert audit(platform, match).ok


def test_another_past_of_a_match_does_not_keep_it_from_the_archive(
    platform: Platform, keeper: Platform, begin: Begin, ann: str, servers: Servers
) -> None:
    match = begin(target=3)
    backup = {key: servers.keeper.dump(key) for key in servers.keeper.keys("{p*}:*")}
    pasts = []
    for request in ("before", "after"):  # the store is restored in between
        play.play(platform, match, "one", [{"type": "add", "stay": False, "by": 3}], request=request)
        logged(platform)
        moved(keeper, match)
        pasts.append((_filed(platform, match), told(platform, match)))
        servers.keeper.delete(*servers.keeper.keys("{p*}:*"))
        if request == "before":
            for key, value in backup.items():
                servers.keeper.restore(key, 0, value)
        platform.cache.drop(match)
        keeper.cache.drop(match)
    (first, _), (second, later) = pasts
    assert (first.head, first.digest == second.digest) == (second.head, False)
    assert rebuild(platform).filed == 1, "of both, what came later counts"
    assert _filed(platform, match) == second
    assert told(platform, match) == later


@pytest.mark.parametrize("news", ["entry", "refusal", "leaf"])
def test_a_match_that_changes_meanwhile_stays(platform: Platform, keeper: Platform, begin: Begin, ann: str, news: str) -> None:
    match = finished(platform, begin)
    head = platform.store.log.head(match)

    def change() -> None:
        if news == "entry":
            play.act_at_table(platform, match, "one", {"type": "dispute", "version": 2, "text": "no"})
            assert platform.store.server_logs.settle(match, head + 1, None), "the leaf that it needs is not what keeps it"
        elif news == "refusal":
            platform.sidelog.note_refusal(match, "one", ann, 4, 1_000, {"type": "add"}, "too_late", None)
            platform.sidelog.flush()
        else:
            assert platform.store.server_logs.settle(match, head, 1)

    objects = Faulty()
    objects.at["after read"] = change
    for each in (platform, keeper):
        each.archive.put(objects)
    assert archive_one(keeper, match) == CHANGED
    assert not away(platform, match)
    assert platform.store.log.head(match) == head + (news == "entry")
    if news == "refusal":
        before = told(platform, match)
        moved(keeper, match)
        assert told(platform, match) == before
        assert len(objects_of.all_names(objects, match)) == 2


def test_a_match_that_is_to_go_on_is_brought_back_first(platform: Platform, keeper: Platform, begin: Begin, ann: str) -> None:
    match = finished(platform, begin)
    head = platform.store.log.head(match)
    moved(keeper, match)
    done = play.act_at_table(platform, match, "one", {"type": "dispute", "version": 2, "text": "no"}, request="late")
    assert (done.first, done.last) == (head + 1, head + 1)
    assert not away(platform, match)
    assert audit(platform, match).ok
    assert play.act_at_table(platform, match, "one", {"type": "dispute", "version": 2, "text": "no"}, request="late").repeated


@pytest.mark.parametrize("late", ["moving", "tidying"])
def test_a_match_that_is_back_before_the_archivist_is_done_keeps_its_leaves(
    platform: Platform, keeper: Platform, begin: Begin, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    match, logs, origin = finished(platform, begin), platform.store.server_logs, platform.signer.name
    known, forget = logs.logged(origin, [match]), keeper.store.server_logs.forget

    def come_back(*words: Any) -> None:
        assert bring_back(platform, match)
        forget(*words)

    with monkeypatch.context() as patch:
        patch.setattr(keeper.store.server_logs, "forget", come_back if late == "moving" else lambda *_: None)
        moved(keeper, match)
        patch.setattr(keeper.store.server_logs, "forget", come_back)
        shedding.forget(keeper)
    assert not away(platform, match)
    assert logs.logged(origin, [match]) == known
    moved(keeper, match)
    assert logs.noted([origin], match) == {}
    assert logs.logged(origin, [match]) == known
    assert bring_back(platform, match)
    assert logs.logged(origin, [match]) == known


def test_a_leaf_that_its_object_does_not_say_stays(platform: Platform, keeper: Platform, begin: Begin, servers: Servers) -> None:
    match, logs, origin = finished(platform, begin), platform.store.server_logs, platform.signer.name
    write = objects_of.write

    def slow(objects: Objects, whole: Whole, games: Any) -> Away:
        servers.keeper.hset(f"{start_of(origin)}m:{match}", "hour:9", f"9 1 {'ab' * 32} 5 5")
        return write(objects, whole, games)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objects_of, "write", slow)
        moved(keeper, match)
    assert [leaf.name for leaf in logs.logged(origin, [match])[0]][-1] == "hour:9"


def test_there_are_never_two_histories(platform: Platform, keeper: Platform, begin: Begin, ann: str) -> None:
    match = finished(platform, begin)
    entries = list(platform.store.log.read_all(match))
    head, last = len(entries), parse(entries[-1])
    moved(keeper, match)
    log = platform.store.log
    assert isinstance(platform.store.live.append(match, 0, [entries[0]], Changes()), Conflict)
    again = log.append(match, 0, [entries[0]], Changes())
    assert again == Conflict(head, entries)
    assert log.append(match, head - 1, [entries[-1]], Changes()) == Conflict(head, [entries[-1]])
    assert log.append(match, head, [entries[-1]], Changes(), digest="00" * 32) == Conflict(-1, [])
    assert away(platform, match)
    filed = _filed(platform, match)
    assert filed[:2] == (head, last.digest)
    derived, _ = derive(platform, match)
    secret = platform.store.log.load(match).secret or ""
    shorter, another = Away(head - 1, parse(entries[-2]).digest, filed.object), filed._replace(object="00" * 8)
    for other, wrong, lines in ((match, shorter, entries[:-1]), (match, another, entries), ("m" + "a" * 16, filed, entries)):
        assert not platform.store.archiving.bring_back(other, wrong, secret, lines, derived, RawSideLog())
        assert platform.store.live.head(other) == 0
    row = packed(recall.position(platform, match), last.at, filed.object)
    assert bytes.fromhex(last.digest) in row.row
    assert not platform.store.lists.file_away(match, row._replace(row=row.row.replace(bytes.fromhex(last.digest), bytes(32))))
    assert _filed(platform, match) == filed
    known = log.append(match, head, [b"{}"], Changes(), Claim(f"{ann}/r0one", "f"))
    assert isinstance(known, Known)
    assert away(platform, match)


def test_while_the_archive_is_away_its_matches_wait(platform: Platform, keeper: Platform, begin: Begin) -> None:
    class Gone(Memory):
        def read(self, name: str) -> bytes | None:
            raise ArchiveUnavailable("away")

    match, other = finished(platform, begin), finished(platform, begin)
    moved(keeper, match)
    objects = keeper.archive.objects
    platform.cache.drop(match)
    platform.archive.put(Gone())
    platform.archive.forget()
    with pytest.raises(ArchiveUnavailable):
        recall.position(platform, match)
    assert recall.position(platform, other).status == "over"
    assert platform.store.log.head(match) > 0
    assert platform.store.log.heads([match, other, "m" + "a" * 16]) == [6, 6, 0]
    platform.archive.put(objects)
    assert recall.position(platform, match).status == "over"
    name = next(iter(objects.names(objects_of.PREFIX)))
    objects.remove(name)
    platform.archive.forget()
    platform.cache.drop(match)
    with pytest.raises(ArchiveDamaged):
        recall.position(platform, match)


def test_a_thread_that_others_wait_for_never_waits_for_an_object(platform: Platform, keeper: Platform, begin: Begin) -> None:
    match = finished(platform, begin)
    entries = platform.store.log.read(match)
    moved(keeper, match)
    objects, may_read = Faulty(), threading.Event()
    for name in keeper.archive.objects.names():
        objects.create(name, keeper.archive.objects.read(name) or b"")
    objects.at["before read"] = may_read.wait
    platform.archive.put(objects)
    found: list[object] = []

    def look() -> None:
        hurry()
        for _ in range(2):
            try:
                found.append(platform.store.log.read(match))
            except ArchiveUnavailable:
                found.append(None)

    def start() -> None:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    start()
    may_read.set()
    within(10, lambda: not platform.archive._fetching)
    start()
    assert found == [None, None, entries, entries]
    platform.archive.forget()
    assert platform.store.log.read(match) == entries
    start()
    assert found[4] is None, "it is in memory, but not folded"
    platform.archive.forget()
    platform.archive.fold(match)  # as who opens a stream does
    start()
    assert found[6:] == [entries, entries]


def _filed(platform: Platform, match: str) -> Away:
    (where,) = platform.store.archiving.where([match])
    assert where.away is not None
    return where.away
