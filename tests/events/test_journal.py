"""The journal: what it knows of a store, what it finds after losses, and what damage does to it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from events import expiry, play
from events.audit import audit
from events.keeping import journal, losses
from events.keeping.journal import Busy, Journal, Known, mark_of
from events.platform import Platform
from events.store.packed import entry_in, pack
from table.data import DAY_MS
from tests import forks
from tests.conftest import Servers, within
from workers.journal import keep


@pytest.fixture
def data(platform: Platform, tmp_path: Path) -> Path:
    """A data folder for the journal of the platform's store."""
    object.__setattr__(platform, "settings", platform.settings._replace(data=tmp_path))
    return tmp_path


def played(platform: Platform, begin: Callable[..., str], times: int = 5) -> str:
    """Begin a match and play until it has two entries more than `times`."""
    match = begin()
    for _ in range(times):
        play.play(platform, match, "one", [{"type": "add", "stay": True, "by": 1}])
    return match


def journaled(data: Path) -> dict[str, Known]:
    return journal.read(data / losses.FOLDER)


def compared(platform: Platform, data: Path) -> list[tuple[str, int, int, str]]:
    """Compare the store with the journal; return what is lost."""
    keeper = Journal(data)
    found = keeper.compare(platform.store)
    keeper.close()
    return [loss[:4] for loss in found.lost]


def cut_stream(servers: Servers, platform: Platform, match: str, after: int) -> list[tuple[bytes, dict[bytes, bytes]]]:
    """Remove the entries of a match after a version; return them. XADD can go on from there."""
    stream = platform.store.keys.of(match).stream
    items = servers.keeper.xrange(stream)
    servers.keeper.delete(stream)
    for id, fields in items[:after]:
        servers.keeper.xadd(stream, fields, id)  # type: ignore[arg-type]
    return items[after:]  # type: ignore[no-any-return]


def test_the_marks_of_all_entries_are_written_and_nothing_is_missed_in_a_whole_store(platform: Platform, data: Path, begin) -> None:  # type: ignore[no-untyped-def]
    keeper = Journal(data)
    assert keeper.compare(platform.store).lost == []
    match = played(platform, begin)
    assert keeper.add(platform.store, [match]) == 7
    assert keeper.add(platform.store, [match, "m" + "a" * 16]) == 0
    keeper.close()
    entries = platform.store.log.read(match)
    assert journaled(data)[match] == Known(7, {version: mark_of(raw) for version, raw in enumerate(entries, 1)})
    assert compared(platform, data) == []
    assert not losses.read(data)


def test_a_store_without_a_journal_is_taken_as_it_is(platform: Platform, data: Path, begin) -> None:  # type: ignore[no-untyped-def]
    match = played(platform, begin)
    assert compared(platform, data) == []
    assert list(journaled(data)[match].marks) == [7]


def test_entries_that_are_gone_are_named_once_and_by_the_audit_until_they_are_accepted(
    platform: Platform, data: Path, begin, servers: Servers
) -> None:  # type: ignore[no-untyped-def]
    first, second, whole = (played(platform, begin) for _ in range(3))
    assert compared(platform, data) == []
    digest = journaled(data)[first].marks[7].digest
    cut_stream(servers, platform, first, 5)
    servers.keeper.delete(platform.store.keys.of(second).stream)
    assert compared(platform, data) == [(match, begins, 7, "gone") for match, begins in sorted([(first, 6), (second, 1)])]
    assert compared(platform, data) == []
    found = losses.read(data)
    assert (found.entries, losses.as_json(found)["matches"]) == (9, 2)
    assert f"{first} 6 to 7" in losses.sentence(data, found)
    (finding,) = [finding for finding in audit(platform, first).findings if finding.code == "entries_lost"]
    assert (finding.version, digest in finding.detail) == (6, True)
    assert "entries_lost" not in [finding.code for finding in audit(platform, whole).findings]
    losses.accept(data)
    assert not losses.read(data)
    assert "entries_lost" not in [finding.code for finding in audit(platform, first).findings]
    assert compared(platform, data) == []


def test_entries_that_were_replaced_are_told_apart_from_one_whose_bytes_were_changed(
    platform: Platform, data: Path, begin, servers: Servers
) -> None:  # type: ignore[no-untyped-def]
    replaced, damaged, shorter = (played(platform, begin) for _ in range(3))
    keeper = Journal(data)
    keeper.add(platform.store, [replaced, damaged, shorter])
    keeper.close()
    for match, plays in ((replaced, 4), (shorter, 1)):
        cut_stream(servers, platform, match, 4)
        platform.cache.drop(match)
        for _ in range(plays):
            play.play(platform, match, "one", [{"type": "add", "stay": True, "by": 2}])
    after = cut_stream(servers, platform, damaged, 5)
    stream = platform.store.keys.of(damaged).stream
    for id, fields in after:
        raw = entry_in(fields[b"e"], damaged, int(id[:-2]))
        changed = {b"e": pack(raw.replace(b"add", b"bdd"), damaged, 6)} if id == b"6-0" else fields
        servers.keeper.xadd(stream, changed, id)  # type: ignore[arg-type]
    expected = [(replaced, 5, 7, "replaced"), (damaged, 6, 6, "damaged"), (shorter, 5, 5, "replaced"), (shorter, 6, 7, "gone")]
    assert sorted(compared(platform, data)) == sorted(expected)
    assert compared(platform, data) == []
    assert journaled(data)[replaced].version == 8
    assert journaled(data)[shorter].version == 5


@pytest.mark.parametrize("ending", [b"", b"m", b"\0" * 512, b"garbage\nmore"])
def test_a_torn_or_damaged_journal_loses_only_the_damaged_lines(ending: bytes, platform: Platform, data: Path, begin) -> None:  # type: ignore[no-untyped-def]
    match = played(platform, begin)
    keeper = Journal(data)
    keeper.add(platform.store, [match])
    keeper.close()
    journal = data / losses.FOLDER / "newest"
    content = journal.read_bytes()
    journal.write_bytes(content[:-9] + ending)  # the line of version 7 is torn
    assert journaled(data)[match].version == 6
    assert compared(platform, data) == []
    assert journaled(data)[match].version == 7
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:2]) + bytes([lines[2][0], lines[2][1] ^ 1]) + lines[2][2:] + b"".join(lines[3:]))
    assert list(journaled(data)[match].marks) == [1, 2, 4, 5, 6, 7]
    assert compared(platform, data) == []


def test_the_journal_is_bounded_and_forgets_no_match(platform: Platform, data: Path, begin, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(journal, "GENERATION", 2000)
    keeper = Journal(data)
    found = [played(platform, begin) for _ in range(20)]
    for match in found:
        keeper.add(platform.store, [match])
    keeper.forget(found[0])
    for match in found[1:]:
        play.play(platform, match, "one", [{"type": "add", "stay": True, "by": 1}])
        keeper.add(platform.store, [match])
    keeper.close()
    folder = data / losses.FOLDER
    assert {match: known.version for match, known in journaled(data).items()} == dict.fromkeys(found[1:], 8)
    assert sum((folder / name).stat().st_size for name in ("newest", "older")) < 2 * 4000
    assert len((folder / "heads").read_bytes().splitlines()) <= 20
    assert sorted(file.name for file in folder.iterdir()) == [".lock", "heads", "newest", "older"]
    assert {file.stat().st_mode & 0o077 for file in folder.iterdir() if file.name != ".lock"} == {0}


def test_one_process_keeps_a_journal_at_a_time(data: Path) -> None:
    keeper = Journal(data)
    with pytest.raises(Busy):
        Journal(data)
    keeper.close()
    Journal(data).close()


def test_the_process_writes_each_append_down_soon_and_survives_kill_9(platform: Platform, data: Path, begin, servers: Servers) -> None:  # type: ignore[no-untyped-def]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "WARLEDGER_DATA": str(data)}
    environment |= {"WARLEDGER_REDIS_URL": servers.store_url, "WARLEDGER_QUEUE_URL": servers.queue_url}
    old, match = played(platform, begin), played(platform, begin)

    def heads() -> list[int]:
        known = journaled(data)
        return [known[one].version if one in known else 0 for one in (old, match)]

    for round in range(2):
        process = forks.start("workers.journal", (), environment)
        try:
            within(20, lambda head=7 + 3 * round: heads() == [7, head])
            play.play(platform, match, "one", [{"type": "add", "stay": True, "by": 1}] * 2)
            within(20, lambda head=9 + 3 * round: heads() == [7, head])
        finally:
            process.kill()
            process.wait()
        play.play(platform, match, "one", [{"type": "add", "stay": True, "by": 1}])
    entries = dict(enumerate(platform.store.log.read(match), 1))
    marks = journaled(data)[match].marks
    assert list(marks) == [7, 8, 9, 10, 11, 12]
    assert marks == {version: mark_of(entries[version]) for version in marks}


def test_a_match_that_is_removed_because_it_has_not_started_is_not_lost(
    platform: Platform, data: Path, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, stop = Journal(data), threading.Event()
    keeping = threading.Thread(target=keep, args=[platform.store, keeper, stop])
    keeping.start()
    try:
        with monkeypatch.context() as earlier:
            earlier.setattr(platform.clock, "now", lambda: time.time_ns() // 1_000_000 - 15 * DAY_MS)
            old, other = (play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match for _ in range(2))
        within(20, lambda: journaled(data).keys() == {old, other})
        assert expiry.remove(platform, old)
        within(20, lambda: journaled(data).keys() == {other})
    finally:
        stop.set()
        keeping.join()
        keeper.close()
    assert compared(platform, data) == []
    assert not losses.read(data)


def test_a_match_that_is_removed_during_a_comparison_is_not_lost(
    platform: Platform, data: Path, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(platform.clock, "now", lambda: time.time_ns() // 1_000_000 - 15 * DAY_MS)
        match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    assert compared(platform, data) == []
    newest, first = platform.store.live.newest, iter([True])

    def removed_meanwhile(matches: Sequence[str]) -> list[tuple[int, bytes]]:
        if next(first, False):
            assert expiry.remove(platform, match)
        return newest(matches)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(platform.store.live, "newest", removed_meanwhile)
        assert compared(platform, data) == []
    assert not losses.read(data)
    assert compared(platform, data) == []


def test_a_match_that_is_removed_while_no_journal_is_kept_is_not_lost(
    platform: Platform, data: Path, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(platform.clock, "now", lambda: time.time_ns() // 1_000_000 - 15 * DAY_MS)
        old, other = (play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match for _ in range(2))
    assert compared(platform, data) == []
    assert journaled(data).keys() == {old, other}
    losses.note_removal(data, other)  # and then the worker was killed
    assert expiry.remove(platform, old)
    assert compared(platform, data) == []
    assert not losses.read(data)
    assert journaled(data).keys() == {other}
    assert losses.removals(data) == {other}
