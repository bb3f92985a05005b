"""The objects of the archive: in a folder that survives every kill, in object storage, and in memory."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from environs import EnvError

from benchmarks.peers import installed
from events.archive import dictionaries, folder, remote
from events.archive.folder import DRAFTS, Folder
from events.archive.objects import Memory, Objects, WrongArchive, open_objects, scheme_of
from events.archive.remote import Remote
from events.errors import ArchiveDamaged, ArchiveUnavailable
from events.lifeline import end_with
from events.platform import settings_from_environment
from record.dictionaries import NoDictionary, content

ROOT = Path(__file__).resolve().parents[2]
NAME = "matches/ab/mabcdefghijklmnop/812"


@pytest.fixture(params=["folder", "memory", pytest.param("s3", marks=pytest.mark.soak)])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    """A place without objects, of each kind."""
    if request.param == "s3":
        return Remote(request.getfixturevalue("s3")())
    return open_objects("memory:" if request.param == "memory" else str(tmp_path / "archive"))


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    """A function that returns the address of a new bucket, on a server that speaks S3 over HTTP."""
    packages, pinned = ROOT / ".bench/s3", ROOT / "requirements-s3.txt"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--require-hashes"]
    if not installed(packages, pinned.read_text(), [*pip, "--target", str(packages), "-r", str(pinned)]):
        pytest.skip("moto cannot be installed here")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-c", "from moto.server import main; import sys; main(sys.argv[1:])", "-H", "127.0.0.1", "-p", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, preexec_fn=partial(end_with, os.getpid()))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything",
        }.items():  # fmt: skip
            patch.setenv(name, value)
        numbers = iter(range(100))

        def bucket() -> str:
            name = f"bucket-{next(numbers)}"
            made = urllib.request.Request(f"{address}/{name}", method="PUT")
            for _ in range(300):
                try:
                    urllib.request.urlopen(made).close()
                    break
                except OSError:
                    time.sleep(0.1)  # until the server listens: it is another project's
            return f"s3://{name}/some/prefix"

        yield bucket
    server.kill()
    server.wait()


# ---------------------------------------------------------------- what holds for every place


def test_an_object_is_created_once_and_never_replaced(objects: Objects) -> None:
    assert objects.read(NAME) is None
    assert objects.create(NAME, b"first")
    assert not objects.create(NAME, b"second")
    assert objects.read(NAME) == b"first"
    assert objects.read("matches/ab") is None
    assert objects.read(f"{NAME}/more") is None
    objects.remove(NAME)
    objects.remove(NAME)
    assert objects.read(NAME) is None
    assert objects.create(NAME, b"")
    assert objects.read(NAME) == b""


def test_of_sixteen_who_create_an_object_one_wins(objects: Objects) -> None:
    assert objects.create("another", b"")  # so that no thread is the first to ask
    with ThreadPoolExecutor(16) as racers:
        won = list(racers.map(lambda number: objects.create(NAME, b"%d" % number), range(16)))
    assert won.count(True) == 1
    assert objects.read(NAME) == b"%d" % won.index(True)


def test_names_come_in_order_from_any_place_on(objects: Objects) -> None:
    names = sorted(["a-b/1", "a/1", "a/10", "a/2/x", "a.b", "a0", "b/1", *(f"c/{number:04}" for number in range(40))])
    for name in reversed(names):
        objects.create(name, b"1")
    assert list(objects.names()) == names
    for prefix in ("", "a", "a/", "a/1", "a/2/", "c/00", "d", "c"):
        for after in ("", "a", "a/", "a/1", "a/2/", "a/2/x", "a0", "b/1", "c/0007", "z"):
            assert list(objects.names(prefix, after)) == [name for name in names if name.startswith(prefix) and name > after]


@pytest.mark.parametrize("name", ["", "/a", "a/", "../a", "a/../b", ".a", "a//b", "A", "a b", "é", "a" * 201, "a\n"])
def test_a_wrong_name_is_a_mistake(tmp_path: Path, name: str) -> None:
    for place in (Memory(), Folder(tmp_path)):
        for method in (place.read, place.remove, partial(place.create, content=b"")):
            with pytest.raises(ValueError, match="cannot be the name"):
                method(name)


@pytest.mark.parametrize(
    "place", ["", " ", "ftp://host/x", "s3://", "s3:bucket", "file:///tmp", "memory:x", "https://bucket.s3.amazonaws.com"]
)
def test_a_wrong_place_is_refused_with_a_sentence(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WrongArchive, match=r"\.$"):
        scheme_of(place)


def test_object_storage_needs_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [scheme_of(place) for place in ("s3://b", "gs://b/p", "az://b", "data/archive", "memory:")] == ["s3", "gs", "az", "", "memory"]
    monkeypatch.setattr("events.archive.objects.find_spec", lambda name: None)
    with pytest.raises(WrongArchive, match="obstore"):
        open_objects("s3://bucket")


# ---------------------------------------------------------------- the folder

STEPS = ("mkdir", "open", "write", "fsync", "link", "unlink", "close")


class Machine:
    """The module `os` of a process that is killed before its step `last`. `done`: the steps, each with what it is done to."""

    def __init__(self, last: int) -> None:
        self.last, self.done, self._names = last, [], {}  # type: ignore[var-annotated]

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in STEPS:
            return real

        def step(*given: Any, **more: Any) -> Any:
            if len(self.done) >= self.last:
                os._exit(9)
            named = self._names.get(given[0], given[0]) if name in ("fsync", "close") else given[-1] if name == "link" else given[0]
            self.done.append((name, named))
            result = real(*given, **more)
            if name == "open":
                self._names[result] = Path(given[0])
            return result

        return step


def steps(place: Path, last: int = 1000) -> list[tuple[str, Any]]:
    """Create an object. Return the steps that it took, unless the process was killed before step `last`."""
    machine = Machine(last)
    (place / "a").mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "os", machine)
        patch.setattr(Path, "mkdir", lambda path, **more: path.is_dir() or machine.mkdir(path))
        patch.setattr(Path, "unlink", lambda path, **more: machine.unlink(path))
        Folder(place).create("a/b", b"content")
    return machine.done


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it forks; the child does nothing but these steps
def test_an_object_is_whole_or_absent_wherever_the_process_is_killed(tmp_path: Path) -> None:
    whole, found = len(steps(tmp_path / "whole")), set()
    assert whole > 10
    for last in range(whole):
        place = tmp_path / str(last)
        if (child := os.fork()) == 0:
            steps(place, last)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        after = Folder(place)
        there = after.read("a/b")
        found.add(there)
        assert list(after.names()) == ([] if there is None else ["a/b"])
        assert after.create("a/b", b"content") is (there is None)
        assert after.read("a/b") == b"content"
        assert list((place / DRAFTS).iterdir()) == [], "what was left is removed"
    assert found == {None, b"content"}


def test_the_content_is_on_disk_before_it_has_a_name_and_the_name_before_it_is_told(tmp_path: Path) -> None:
    place = tmp_path / "archive"
    done = steps(place)
    (draft,) = [named for name, named in done if name == "unlink"]
    linked = done.index(("link", place / "a/b"))
    assert done.index(("fsync", draft)) < linked
    assert [named for name, named in done[linked:] if name == "fsync"] == [place / "a", place, tmp_path]
    again = steps(place)
    again = again[again.index(("link", place / "a/b")) :]
    assert [named for name, named in again if name == "fsync"] == [place / "a", place, tmp_path], "who finds an object may rely on it"


def test_drafts_of_others_stay_while_they_write(tmp_path: Path) -> None:
    writing = Folder(tmp_path)
    lock = writing._drafts()
    (tmp_path / DRAFTS / "draft").write_bytes(b"half")
    assert Folder(tmp_path).create("a", b"1")
    assert [draft.name for draft in (tmp_path / DRAFTS).iterdir()] == ["draft"]
    os.close(lock)
    assert Folder(tmp_path).create("b", b"1")
    assert list((tmp_path / DRAFTS).iterdir()) == []


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ArchiveUnavailable) as told:
        Folder(tmp_path / "file").create("a", b"")
    assert (told.value.code, "file" in told.value.reason) == ("archive_away", True)
    assert list(Folder(tmp_path / "none").names()) == []


# ---------------------------------------------------------------- object storage


class Storage:
    """Object storage that does what a test wants."""

    def __init__(self, put: Any) -> None:
        self.put = put


def test_storage_that_would_replace_objects_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Remote("s3://bucket")
    place._store = Storage(lambda *given, **more: None)
    with pytest.raises(ArchiveUnavailable) as told:
        place.create(NAME, b"")
    assert "If-None-Match" in told.value.reason


def test_storage_that_is_away_is_asked_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, now = [], 100.0

    def fail(*given: Any, **more: Any) -> None:
        calls.append(given)
        raise OSError("no route")

    monkeypatch.setattr(remote.time, "monotonic", lambda: now)
    place = Remote("s3://bucket")
    place._store = Storage(fail)
    for _ in range(3):
        with pytest.raises(ArchiveUnavailable):
            place.create(NAME, b"")
    assert len(calls) == 1
    now += remote.AWAY
    with pytest.raises(ArchiveUnavailable):
        place.create(NAME, b"")
    assert len(calls) == 2


def test_a_process_that_forked_after_using_storage_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_used_in", os.getpid() + 1)
    with pytest.raises(RuntimeError, match="forked"):
        Remote("s3://bucket").read(NAME)


def test_the_package_is_imported_late() -> None:
    code = "from events.archive.objects import open_objects; open_objects('s3://b'); import sys; sys.exit('obstore' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}).returncode == 0


@pytest.mark.soak
def test_storage_that_does_not_listen_is_told_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        for name, value in {"AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}.items():
            monkeypatch.setenv(name, value)
        began = time.monotonic()
        with pytest.raises(ArchiveUnavailable):
            Remote("s3://bucket").read(NAME)
        assert time.monotonic() - began < 20


# ---------------------------------------------------------------- dictionaries


def test_a_dictionary_is_kept_once_and_no_other_takes_its_name() -> None:
    place = Memory()
    assert dictionaries.read(place, "match-1") is None
    for _ in range(2):
        dictionaries.keep(place, "match-1")
        assert list(place.names()) == ["dictionaries/match-1"]
    assert dictionaries.read(place, "match-1") == content("match-1")
    with pytest.raises(NoDictionary):
        dictionaries.keep(place, "match-999")
    other = Memory()
    other.create("dictionaries/match-1", b"another")
    with pytest.raises(ArchiveDamaged) as told:
        dictionaries.keep(other, "match-1")
    assert (told.value.name, told.value.code) == ("dictionaries/match-1", "archive_damaged")


# ---------------------------------------------------------------- the setting


def test_the_archive_is_in_the_data_folder_unless_it_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARLEDGER_DATA", str(tmp_path))
    monkeypatch.delenv("WARLEDGER_ARCHIVE", raising=False)
    assert settings_from_environment().archive_place == str(tmp_path / "archive")
    monkeypatch.setenv("WARLEDGER_ARCHIVE", "s3://bucket/prefix")
    assert settings_from_environment().archive_place == "s3://bucket/prefix"
    monkeypatch.setenv("WARLEDGER_ARCHIVE", "ftp://host")
    with pytest.raises(EnvError, match=r"WARLEDGER_ARCHIVE.*s3://"):
        settings_from_environment()
