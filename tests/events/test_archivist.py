"""Which matches move to the archive, and when; and what the store knows of them after it has lost everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from events import play, rating
from events.archive import matches as objects_of
from events.archive import owner
from events.archive.archivist import DISPUTED, RECENT, RUNNING, UNLOGGED, UNRATED, UNSENT, Archivist, why_not
from events.archive.objects import Memory
from events.archive.returning import bring_back
from events.audit import audit
from events.errors import ArchiveTaken, ArchiveUnavailable, StoreRefused
from events.keeping.journal import Journal
from events.notary import sequencing
from events.notary.signer import Signer
from events.platform import Platform
from events.rebuild import rebuild
from table.data import DAY_MS, DISPUTABLE_MS
from tests.conftest import Servers
from tests.events.archives import Begin, archivist, away, finished, logged, moved
from tests.events.test_archiving import told
from workers import archivist as worker

LATER = max(DISPUTABLE_MS, 7 * DAY_MS) + 60_000


def test_a_round_moves_what_is_old_enough_and_nothing_else(platform: Platform, servers: Servers, begin: Begin) -> None:
    first, second, running = finished(platform, begin), finished(platform, begin), begin()
    now = platform.clock.now()
    with archivist(platform, servers, now) as keeper:
        assert Archivist(keeper).round() == (0, False)
    with archivist(platform, servers, now + LATER) as keeper:
        object.__setattr__(keeper, "settings", keeper.settings._replace(archive_after_days=LATER / DAY_MS + 1))
        assert Archivist(keeper).round() == (0, False)
    with archivist(platform, servers, now + LATER) as keeper:
        worker = Archivist(keeper)
        assert worker.round() == (2, True)
        assert worker.round() == (0, False)
        assert [away(platform, match) for match in (first, second, running)] == [True, True, False]
        assert all(audit(platform, match).ok for match in (first, second, running))


def test_what_is_not_done_with_stays(platform: Platform, servers: Servers, begin: Begin, ann: str, bob: str) -> None:
    def why(match: str, at: int = 0, unsent: frozenset[str] = frozenset()) -> str:
        with archivist(platform, servers, platform.clock.now() + at) as keeper:
            return why_not(keeper, match, keeper.clock.now() - 7 * DAY_MS, set(unsent))

    running = begin()
    assert why(running, LATER) == RUNNING
    match = finished(platform, begin)
    assert why(match) == RECENT
    assert why(match, min(DISPUTABLE_MS, 7 * DAY_MS) - 60_000) == RECENT
    assert why(match, LATER) == ""
    assert why(match, LATER, frozenset([match])) == UNSENT
    play.act_at_table(platform, match, "one", {"type": "dispute", "version": 2, "text": "no"})
    assert why(match, LATER) == DISPUTED
    play.act_at_table(platform, match, "one", {"type": "withdraw_dispute", "dispute": 1})
    assert why(match, LATER) == UNLOGGED
    logged(platform)
    assert why(match, LATER) == ""
    rated = play.create(platform, ann, "tally", {"one": "me", "two": f"player:{bob}"}, {"target": 1}, settings={"rated": True}).match
    play.act_at_table(platform, rated, bob, {"type": "take_seat", "seat": "two"})
    play.play(platform, rated, "system", [{"type": "advance"}])
    play.play(platform, rated, "one", [{"type": "add", "by": 3, "stay": False}])
    logged(platform)
    assert why(rated, LATER) == UNRATED
    rating.count(platform, "tally", platform.clock.now() + DAY_MS)
    rating.count(platform, "tally", platform.clock.now() + DAY_MS)
    assert why(rated, LATER) == ""


def test_one_match_that_cannot_be_archived_stops_no_other(platform: Platform, servers: Servers, begin: Begin) -> None:
    damaged, sound = finished(platform, begin), finished(platform, begin)
    servers.keeper.hset(platform.store.keys.of(damaged).requests, "x/y", "1:1:f")
    with archivist(platform, servers, platform.clock.now() + LATER) as keeper:
        worker = Archivist(keeper)
        assert worker.round() == (1, True)
        assert worker.round() == (0, False)
        assert worker.round() == (0, True), "it is put off, and looked at again"
        assert [away(platform, match) for match in (damaged, sound)] == [False, True]
        assert not objects_of.all_names(keeper.archive.objects, damaged)


def test_a_store_that_has_lost_what_it_knew_learns_it_from_the_archive(
    platform: Platform, servers: Servers, begin: Begin, ann: str
) -> None:
    matches = [finished(platform, begin) for _ in range(3)]
    platform.sidelog.note_refusal(matches[0], "one", ann, 4, 1_000, {"type": "add"}, "too_late", None)
    platform.sidelog.flush()
    with archivist(platform, servers) as keeper:
        before = [told(platform, match) for match in matches]
        listed = platform.store.lists.newest(["status:over"], None, 9), platform.store.lists.with_entries(matches)
        moved(keeper, *matches[:2])
        for pattern in ("{p*}:filed", "{p*}:g:*", "{p*}:groups", "{p*}:counts", "{p*}:passing"):
            for key in servers.keeper.scan_iter(pattern):
                servers.keeper.delete(key)
        assert [platform.store.log.head(match) > 0 for match in matches] == [False, False, True]
        done = rebuild(platform)
        assert (done.filed, done.matches, done.damaged) == (2, 1, ())
        assert [away(platform, match) for match in matches] == [True, True, False]
        assert [told(platform, match) for match in matches] == before
        assert platform.store.lists.newest(["status:over"], None, 9) == listed[0]
        assert [row.standing for row in platform.store.lists.with_entries(matches)] == [row.standing for row in listed[1]]
        assert rebuild(platform).filed == 0
        assert rebuild(platform, anew=True).filed == 2
        assert all(audit(platform, match).ok for match in matches)


def test_of_two_objects_of_a_match_the_later_one_counts(platform: Platform, servers: Servers, begin: Begin) -> None:
    match = finished(platform, begin)
    with archivist(platform, servers) as keeper:
        moved(keeper, match)
        keys = [key for kind in ("filed", "g:*", "groups", "counts") for key in servers.keeper.scan_iter(f"{{p*}}:{kind}")]
        earlier = {key: servers.keeper.dump(key) for key in keys}
        play.act_at_table(platform, match, "one", {"type": "dispute", "version": 2, "text": "no"})
        play.act_at_table(platform, match, "one", {"type": "withdraw_dispute", "dispute": 1})
        logged(platform)
        moved(keeper, match)
        assert len(objects_of.all_names(keeper.archive.objects, match)) == 2
        head, entries = platform.store.log.head(match), list(platform.store.log.read_all(match))
        for restored in ({}, earlier):
            servers.keeper.delete(*keys, *servers.keeper.scan_iter("{p*}:g:*"))
            for key, content in restored.items():  # an older backup
                servers.keeper.restore(key, 0, content)  # type: ignore[arg-type]
            assert rebuild(platform).filed == 1
            assert platform.store.log.head(match) == head
            assert list(platform.store.log.read_all(match)) == entries
            assert audit(platform, match).ok
            assert rebuild(platform).filed == 0


def test_a_store_that_went_on_otherwise_keeps_its_own_past(platform: Platform, servers: Servers, ann: str) -> None:
    def begun(target: int = 0, **seats: str) -> str:
        match = play.create(platform, ann, "tally", {"one": "me", "two": "me"}, {"target": target}, request="again").match
        play.play(platform, match, "system", [{"type": "advance"}])
        return match

    with archivist(platform, servers) as keeper:
        moved(keeper, finished(platform, begun, 3))
        for key in servers.keeper.scan_iter("{p*}:*"):  # as after a restore of a backup that did not have the match yet
            servers.keeper.delete(key)
        platform.cache.drop(again := finished(platform, begun))
        moved(keeper, again)
        assert len(objects_of.all_names(keeper.archive.objects, again)) == 2
        before = list(platform.store.log.read_all(again))
        assert rebuild(platform).filed == 0
        assert list(platform.store.log.read_all(again)) == before


def test_an_archived_match_is_no_loss_of_the_store(platform: Platform, servers: Servers, begin: Begin, tmp_path: Path) -> None:
    object.__setattr__(platform, "settings", platform.settings._replace(data=tmp_path))
    match, other = finished(platform, begin), finished(platform, begin)
    keeper = Journal(platform.settings.data)
    assert keeper.compare(platform.store).matches == 2
    with archivist(platform, servers) as mover:
        moved(mover, match)
        found = keeper.compare(platform.store)
        assert (found.matches, found.lost) == (1, [])
        play.act_at_table(platform, match, "one", {"type": "dispute", "version": 2, "text": "no"})
        assert keeper.compare(platform.store).matches == 2
        servers.keeper.delete(platform.store.keys.of(match).stream, platform.store.keys.of(other).stream)
        assert {loss.match for loss in keeper.compare(platform.store).lost} == {match, other}
    keeper.close()


def test_a_log_with_a_new_name_gets_the_ends_of_archived_matches(
    platform: Platform, servers: Servers, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = finished(platform, begin)
    with archivist(platform, servers) as keeper:
        moved(keeper, match)
        known = platform.store.server_logs.logged(platform.signer.name, [match])
        assert [leaf.kind for leaf in known[0]] == ["begin", "end"], "its object says so"
        monkeypatch.setattr(Signer, "name", "another.example")
        rebuild(platform)
        assert list(platform.store.server_logs.pending(platform.clock.now() + 1, 9)) == [match]
        assert not platform.store.server_logs.logged("another.example", [match])[0]


def test_a_damaged_object_stops_neither_a_rebuild_nor_the_log_of_the_server(
    platform: Platform, servers: Servers, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged, good = finished(platform, begin), finished(platform, begin)
    with archivist(platform, servers) as keeper:
        moved(keeper, damaged, good)
        (name,) = objects_of.all_names(keeper.archive.objects, damaged)
        keeper.archive.objects.remove(name)
        keeper.archive.objects.create(name, b"{}")
        platform.archive.forget()
        monkeypatch.setattr(Signer, "name", "another.example")
        rebuild(platform)
        logs, now = platform.store.server_logs, platform.clock.now()
        assert list(logs.pending(now + 1, 9)) == [good]
        assert logs.settle(damaged, platform.store.log.head(damaged), 1)  # first of all
        found = sequencing.look(platform, "another.example")
        assert [(looked.match, looked.plan is None) for looked in found] == [(damaged, True), (good, False)]
        sequencing.settle(platform, "another.example", found)
        assert list(logs.pending(now + 60_000, 9)) == [good], "the other one is tried again in an hour"


def test_nothing_moves_to_an_archive_that_has_lost_everything(platform: Platform, servers: Servers, begin: Begin) -> None:
    first, second = finished(platform, begin), finished(platform, begin)
    with archivist(platform, servers, platform.clock.now() + LATER) as keeper:
        moved(keeper, first)
        objects = keeper.archive.objects
        keeper.archive.put(Memory())  # such as the place of a disk that is not mounted
        with pytest.raises(ArchiveUnavailable):
            Archivist(keeper).round()
        keeper.archive.put(objects)
        assert Archivist(keeper).round() == (1, True)
        assert away(platform, second)


def test_two_stores_do_not_share_an_archive(platform: Platform, servers: Servers, begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    match = finished(platform, begin)
    with archivist(platform, servers, platform.clock.now() + LATER) as keeper:
        other, mine = Memory(), keeper.archive.objects
        owner.claim(other, b"another store")
        for each in (platform, keeper):
            each.archive.put(other)
        with pytest.raises(ArchiveTaken):
            Archivist(keeper).round()
        platform.archive.look()
        assert platform.archive._trouble == "away"
        assert not away(platform, match)
        monkeypatch.setattr(worker, "started", lambda *_: (keeper, None))
        monkeypatch.setattr(worker.os, "nice", lambda _: None)
        monkeypatch.setattr(worker, "give_way", lambda _: None)
        with capture_logs() as logged:
            assert worker.main([], keeper.settings) == 2
        assert [line["event"] for line in logged] == ["archive_taken"]
        keeper.archive.put(mine)
        assert Archivist(keeper).round() == (1, True)
        assert owner.owner(mine) == owner.id_of(platform) != platform.store.secret
        assert platform.store.secret.hex() not in owner.owner(mine).decode()
        for _ in range(2):
            owner.adopt(other, owner.id_of(platform))
        assert list(other.names()) == ["store/0001", "store/0002"]
        assert owner.owner(other) == owner.id_of(platform)


def test_a_partition_without_numbers_refuses_matches_and_loses_none(platform: Platform, servers: Servers, begin: Begin) -> None:
    match = finished(platform, begin)
    filed = f"{platform.store.keys.tag(match)}:filed"
    with archivist(platform, servers) as keeper:
        moved(keeper, match)
        servers.keeper.execute_command("XSETID", filed, "0-16777215")
        with pytest.raises(StoreRefused):
            rebuild(platform, anew=True)
        assert away(platform, match)
        assert platform.store.lists.newest(["status:over"], None, 9)[0][1] == match
        assert bring_back(platform, match)
        with pytest.raises(StoreRefused):
            moved(keeper, match)
        assert not away(platform, match)
        assert servers.keeper.xlen(filed) == 0


def test_hooks_send_what_they_have_to_of_an_archived_match(platform: Platform, servers: Servers, begin: Begin, ann: str) -> None:
    match = finished(platform, begin)
    head = platform.store.log.head(match)
    with archivist(platform, servers) as keeper:
        moved(keeper, match)
        hooks = platform.store.hooks
        hooks.call(match, f"{ann}/h{'b' * 16}/x")
        (taken,), _ = hooks.claim(1000, 10, 9000)
        assert hooks.finish(taken, head - 1)
        assert hooks.size() == 1, "there is more to send"
        servers.keeper.zadd(f"{platform.store.keys.tag(match)}:hooks", {f"{match}|{taken.target}": 0})
        (taken,), _ = hooks.claim(1000, 10, 9000)
        assert hooks.finish(taken, head)
        assert hooks.size() == 0
