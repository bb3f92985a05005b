"""The stand-in for a store whose disk cannot be written: it has every acknowledged entry, refuses writes, and leaves the files alone."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from pathlib import Path

import pytest

from events import play, recall
from events.errors import StoreUnavailable
from events.keeping import embedded, stand_in
from events.platform import Platform, Settings, open_platform
from events.store.client import DISK, answers
from tests.conftest import ALL_GAMES, within

ADD = {"type": "add", "by": 1, "stay": True}


def of(url: str) -> Platform:
    """Return the platform of a store without a queue."""
    return open_platform(Settings(store_url=url, queue_url="unix:///nowhere"), ALL_GAMES)


@pytest.fixture
def match(tmp_path: Path) -> str:
    """A match of two entries in a store that was killed."""
    server = embedded.start(tmp_path, embedded.STORE)
    platform = of(server.url)
    match = play.create(platform, "p" + "a" * 16, "tally", {"one": "me", "two": "me"}, {}).match
    play.play(platform, match, "system", [{"type": "advance"}])
    platform.close()
    assert server.process is not None
    os.killpg(server.process.pid, signal.SIGKILL)
    server.process.wait()
    return match


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place"


def started(data: Path, place: Path) -> subprocess.Popen[bytes]:
    """Start a stand-in, and wait until it answers."""
    process = stand_in.start(data, place)
    within(10, lambda: answers(f"unix://{place / 'redis.sock'}"))
    return process


@pytest.mark.parametrize("tail", [b"", b"*3\r\n$8\r\nXADD"])
def test_it_answers_reads_refuses_writes_and_leaves_the_files_of_the_store_as_they_are(
    tail: bytes, match: str, tmp_path: Path, place: Path
) -> None:
    files = tmp_path / embedded.STORE / embedded.FILES
    newest = max(files.glob("*.incr.aof"))
    newest.write_bytes(newest.read_bytes() + tail)  # torn, as by a write that failed halfway
    before = {file: file.read_bytes() for file in files.iterdir()}
    process = started(tmp_path, place)
    platform = of(f"unix://{place / 'redis.sock'}")
    assert recall.position(platform, match).version == 2
    assert platform.store.log.since(match, 1).head == 2
    assert len(list(platform.store.log.items(match))) == 2
    assert platform.store.what_is_full() == DISK
    with pytest.raises(StoreUnavailable):
        play.play(platform, match, "one", [ADD])
    process.terminate()
    assert process.wait(20) == 0
    assert {file: file.read_bytes() for file in files.iterdir()} == before
    platform.close()


def test_after_it_the_store_goes_on(match: str, tmp_path: Path, place: Path) -> None:
    for _ in range(2):  # what is left of an earlier one is replaced
        started(tmp_path, place).kill()
    server = embedded.start(tmp_path, embedded.STORE)
    platform = of(server.url)
    assert play.play(platform, match, "one", [ADD]).last == 3
    platform.close()
    server.stop()


def test_without_files_there_is_no_stand_in(tmp_path: Path, place: Path) -> None:
    (tmp_path / embedded.STORE).mkdir()
    with pytest.raises(OSError, match="No such file"):
        stand_in.start(tmp_path, place)


@pytest.mark.parametrize(("number", "can"), [(errno.EROFS, False), (errno.EIO, False), (errno.ENOSPC, True)])
def test_a_disk_that_is_full_is_not_taken_for_one_that_has_failed(
    number: int, can: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stand_in.can_write(tmp_path)
    assert not stand_in.has_failed(tmp_path)

    def fails(file: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fails)
    assert stand_in.can_write(tmp_path) is can
