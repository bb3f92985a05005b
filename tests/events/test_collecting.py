"""Bulk files: each finished match that counts is in them once, in the order of the log, and what is in them never changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from events import accounts, play, recall
from events.audit import record_header
from events.errors import ArchiveDamaged, ArchiveUnavailable, NoBulk, NotInLog
from events.notary import bulk, collecting, sequencing, server_log
from events.notary.bulk import File
from events.rebuild import rebuild
from events.store.bulks import Bulks
from tests.conftest import Servers
from tests.events.logserver import Server

MONTH, NEXT = "2026-09", "2026-10"  # the months of BEGUN and of a month later
DAYS = 24.0


class Collected(Server):
    """A server whose matches count: two players have the seats."""

    def __init__(self, servers: Servers, folder: Path) -> None:
        super().__init__(servers, folder)
        self.bob = accounts.register(self.platform, "Bob")[0].id
        self.collect()

    def play(self, length: int = 2, **more: Any) -> str:
        """Play a match to its end, in which the first seat acts `length` times."""
        seats = {"one": "me", "two": "open"}
        match = play.create(self.platform, self.ann, "tally", seats, {"target": length}, **more).match
        play.act_at_table(self.platform, match, self.bob, {"type": "take_seat", "seat": "two"})
        play.play(self.platform, match, "system", [{"type": "advance"}])
        for _ in range(length):
            self.act(match)
        assert recall.position(self.platform, match).ended
        self.pass_hours(0.01)  # no two of them end at the same moment
        return match

    def collect(self) -> None:
        """Let the log grow, collect all that there is, and let the log grow by the leaves of files."""
        for _ in range(2):
            while sequencing.sequence(self.platform).added:
                pass
            while collecting.collect(self.platform):
                pass

    def month_passes(self) -> None:
        self.pass_hours(31 * DAYS)
        self.collect()

    def parts(self, month: str = MONTH) -> list[bulk.Part]:
        return bulk.parts(self.platform, bulk.file_of(self.platform, "tally", month), 1, 100)

    def content(self, month: str = MONTH) -> bytes:
        return b"".join(bulk.content(self.platform, part.spans) for part in self.parts(month))

    def record(self, match: str) -> bytes:
        """Return the record of a match in lines, as the service gives it."""
        lines = [record_header(self.platform, match), *self.platform.store.log.read_all(match)]
        return b"".join(line + b"\n" for line in lines)


@pytest.fixture
def server(quiet_servers: Servers, tmp_path: Path) -> Iterator[Collected]:
    with closing(Collected(quiet_servers, tmp_path)) as found:
        yield found


def checked(server: Collected, file: File) -> None:
    """Check a file as anybody can: its parts against their digests, these against the digest of the file, and that against its leaf."""
    digest = bytes(32)
    for part in bulk.parts(server.platform, file, 1, 10_000):
        content = bulk.content(server.platform, part.spans)
        assert (len(content), sha256(content).hexdigest()) == (part.bytes, part.sha256)
        digest = sha256(digest + sha256(content).digest()).digest()
    assert digest.hex() == file.digest
    leaf = bulk.leaf_of(server.platform, file)
    assert leaf is not None
    said = leaf["leaf"]
    assert (said["kind"], said["game"], said["month"], said["digest"]) == ("bulk", file.game, file.month, file.digest)
    assert (said["parts"], said["matches"], said["bytes"]) == (file.parts, file.matches, file.bytes)
    assert (said["from"], said["to"]) == (file.since, file.until)


def test_a_file_has_the_records_of_its_month_in_the_order_of_their_ends(server: Collected) -> None:
    played = []
    for length in (3, 1, 2):
        played.append(server.play(length))
    server.collect()
    with pytest.raises(NoBulk):
        server.parts()  # nothing is complete yet
    server.month_passes()
    assert server.content() == b"".join(map(server.record, played))
    (file,) = bulk.files(server.platform)
    assert (file.game, file.month, file.matches, file.parts) == ("tally", MONTH, 3, 1)
    checked(server, file)
    server.check()  # the log is whole
    later = server.play()
    server.month_passes()
    assert server.content(NEXT) == server.record(later)
    first, second = bulk.files(server.platform)
    assert first == file
    assert second.since == first.until
    checked(server, second)


def test_only_matches_that_were_played_and_count_are_in_it(server: Collected) -> None:
    practice = server.begin(target=1)  # one player has both seats
    server.act(practice)
    closed = play.create(server.platform, server.ann, "tally", {"one": "me", "two": "open"}, {}).match
    play.act_at_table(server.platform, closed, server.ann, {"type": "close_match"})
    unfinished = play.create(server.platform, server.ann, "tally", {"one": "me", "two": "ai:random"}, {}).match
    hidden = server.play(2, settings={"spectators": "none"})
    server.month_passes()
    assert recall.position(server.platform, practice).ended
    assert not recall.position(server.platform, unfinished).ended
    assert server.content() == server.record(hidden)


def test_every_end_of_the_log_is_in_one_file(server: Collected) -> None:
    """Whoever has the log and the files can see that no match is missing: each leaf of an end is in the stretch of one file."""
    for _ in range(3):
        for _ in range(2):
            server.play()
        server.month_passes()
    files = bulk.files(server.platform)
    assert [file.since for file in files] == [0, *[file.until for file in files[:-1]]]
    leaves = list(map(json.loads, server.everything()))
    for file in files:
        ended = [leaf["match"] for leaf in leaves[file.since : file.until] if leaf["kind"] == "end"]
        spans = [span for part in bulk.parts(server.platform, file, 1, 100) for span in part.spans]
        assert [span.match for span in spans if span.first == 1] == ended


def test_a_match_whose_result_is_disputed_waits_and_one_that_is_disputed_later_comes_again(server: Collected) -> None:
    dispute = {"type": "dispute", "version": 2, "text": "The dice."}
    first, second = server.play(), server.play()
    play.act_at_table(server.platform, second, "one", dispute)
    server.collect()
    play.act_at_table(server.platform, first, "one", dispute)
    before = server.record(first)[: -len(server.platform.store.log.last([first])[0] or b"") - 1]
    server.month_passes()
    assert server.content() == before  # as it was when it ended
    for match in (second, first):
        play.act_at_table(server.platform, match, "one", {"type": "withdraw_dispute", "dispute": 1})
        server.pass_hours(0.01)
    server.month_passes()
    assert server.content(NEXT) == server.record(second) + server.record(first)
    assert server.record(first).startswith(before)
    assert server.content() == before


def test_parts_are_cut_between_lines_and_bounded_also_in_one_long_match(server: Collected, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "LARGE", 4000)
    monkeypatch.setattr(collecting, "ENTRIES", 7)
    played = [server.play(30), server.play(2), server.play(2)]
    server.month_passes()
    parts = server.parts()
    longest = max(len(line) for line in server.content().splitlines())
    assert len(parts) > 3
    assert all(part.bytes <= 4000 + longest for part in parts)
    assert all(part.bytes >= 4000 for part in parts[:-1])
    assert server.content() == b"".join(map(server.record, played))
    assert sum(part.matches for part in parts) == 3
    checked(server, bulk.files(server.platform)[0])


def test_a_part_has_so_many_matches_at_most(server: Collected, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "MANY", 2)
    for _ in range(5):
        server.play(1)
    server.collect()
    assert [part.matches for part in server.parts()] == [2, 2]  # what is complete can be had before the month is over
    file = bulk.file_of(server.platform, "tally", MONTH)
    assert (file.until, bulk.leaf_of(server.platform, file)) == (None, None)
    server.month_passes()
    assert [part.matches for part in server.parts()] == [2, 2, 1]
    checked(server, bulk.files(server.platform)[0])


def test_months_in_which_nothing_ended_have_no_file(server: Collected) -> None:
    server.play()
    server.pass_hours(100 * DAYS)
    server.collect()
    server.play()
    server.month_passes()
    assert [file.month for file in bulk.files(server.platform)] == [MONTH, "2026-12"]


def test_a_step_that_is_killed_or_raced_changes_nothing(server: Collected, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is done twice by two processes that began with the same state, and once it dies before it keeps anything."""
    monkeypatch.setattr(collecting, "LARGE", 3000)
    played = [server.play(12), server.play(3)]
    other, kept = server.join(), Bulks.keep
    raced = 0

    class Killed(Exception):
        pass

    def die(*_: Any) -> bool:
        raise Killed

    def race(self: Bulks, *arguments: Any) -> bool:
        nonlocal raced
        monkeypatch.setattr(Bulks, "keep", kept)
        collecting.collect(other)
        monkeypatch.setattr(Bulks, "keep", race)
        raced += 1
        return kept(self, *arguments)

    def each_step() -> None:
        for _ in range(400):
            monkeypatch.setattr(Bulks, "keep", die)
            try:
                collecting.collect(server.platform)
            except Killed:
                monkeypatch.setattr(Bulks, "keep", race)
                assert not collecting.collect(server.platform), "the other was faster"
            else:
                return

    sequencing.sequence(server.platform)
    each_step()
    server.pass_hours(31 * DAYS)
    sequencing.sequence(server.platform)
    each_step()
    monkeypatch.setattr(Bulks, "keep", kept)
    server.collect()
    assert raced > 6
    assert server.content() == b"".join(map(server.record, played))
    checked(server, bulk.files(server.platform)[0])


def test_a_file_has_one_leaf_whoever_adds_it(server: Collected) -> None:
    server.play()
    server.month_passes()
    for _ in range(3):
        server.collect()
    kinds = [json.loads(leaf)["kind"] for leaf in server.everything()]
    assert kinds.count("bulk") == 1
    server.check()


def test_a_rebuild_and_a_store_without_a_log_change_no_file(server: Collected) -> None:
    server.play()
    server.month_passes()
    before = bulk.files(server.platform), server.content()
    rebuild(server.platform)
    server.collect()
    assert (bulk.files(server.platform), server.content()) == before


def test_a_store_that_is_older_than_the_log_is_left_alone(server: Collected, monkeypatch: pytest.MonkeyPatch) -> None:
    server.play()
    server.collect()
    shown = server_log.shown(server.platform)
    monkeypatch.setattr(server_log, "shown", lambda *_: shown._replace(size=1))
    assert not collecting.collect(server.platform)


@pytest.mark.parametrize("lost", [lambda *_: [], lambda *_: [b"{}"]])
def test_a_record_that_is_damaged_holds_up_no_other(
    server: Collected, monkeypatch: pytest.MonkeyPatch, lost: Callable[..., list[bytes]]
) -> None:
    """What can be read of it is in the file, which then does not verify as a record."""
    damaged, whole = server.play(), server.play()
    while sequencing.sequence(server.platform).added:
        pass
    read = server.platform.store.log.read
    monkeypatch.setattr(server.platform.store.log, "read", lambda match, *more: lost() if match == damaged else read(match, *more))
    while collecting.collect(server.platform):
        pass
    monkeypatch.setattr(server.platform.store.log, "read", read)
    server.month_passes()
    assert server.record(whole) in server.content()
    checked(server, bulk.files(server.platform)[0])


def test_files_of_an_earlier_name_of_the_server_stay(server: Collected) -> None:
    server.play()
    server.month_passes()
    with pytest.raises(NotInLog):
        server_log.shown(server.platform, "unknown.example")
    assert bulk.file_of(server.platform, "tally", MONTH).origin == "log.example"


def test_a_damaged_object_is_named_and_stops_no_other_match(server: Collected, monkeypatch: pytest.MonkeyPatch) -> None:
    log = server.platform.store.log
    damaged: set[str] = set()

    def refusing(original: Callable[..., Any], matches: Callable[..., list[str]]) -> Callable[..., Any]:
        def asked(*words: Any) -> Any:
            for match in damaged.intersection(matches(*words)):
                raise ArchiveDamaged(f"matches/{match[1:3]}/{match}/9-0123456789abcdef", "it is missing")
            return original(*words)

        return asked

    monkeypatch.setattr(log, "read", refusing(log.read, lambda match, *_: [match]))
    monkeypatch.setattr(log, "spans", refusing(log.spans, lambda spans: [match for match, _, _ in spans]))
    laid = server.play()
    server.collect()
    waiting, good = server.play(), server.play()
    while sequencing.sequence(server.platform).added:
        pass
    damaged |= {laid, waiting}
    with capture_logs() as logged:
        server.month_passes()
        assert server.content() == server.record(good)
    assert [part.matches for part in server.parts()] == [1]
    assert damaged == {line["match"] for line in logged if line["event"] == "bulk_match_left_out" and line["match"] in line["name"]}
    monkeypatch.setattr(server.platform.archive, "check", unmounted)
    damaged.clear()
    last = server.play()
    while sequencing.sequence(server.platform).added:
        pass
    damaged.add(last)
    with pytest.raises(ArchiveUnavailable):
        server.collect()


def unmounted() -> None:
    raise ArchiveUnavailable("it is empty, and the store says that it has matches")
