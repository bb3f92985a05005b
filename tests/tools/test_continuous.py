"""The continuous backup of a store that players write to, and what `./run restore` makes of it on an empty machine."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from events.archive.mirrored import ARCHIVE, Below, Mirrored, copy_missing, open_archive
from events.archive.objects import Memory, open_objects
from events.errors import ArchiveUnavailable
from events.keeping import embedded
from events.notary import highwater, sequencing
from events.platform import Platform, Settings, open_platform
from games import GAMES
from tests.conftest import within
from tests.events.test_objects import s3  # noqa: F401 - a fixture
from tests.tools.test_backup import Writers, rewriting
from tests.whole.test_commands import run
from tools import backup as backup_command
from tools import restore
from workers import shipping


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int], dict[str, list[Any]]]:
    """A place to which a store was sent while players wrote and its files were rewritten, what was acknowledged, and all that it had."""
    folder = tmp_path_factory.mktemp("sent")
    data, place = folder / "data", folder / "place"
    open_objects(str(data / "archive")).create("matches/aa/maa/1", b"an object")
    with Writers(data) as writers:
        sender = shipping.of_data_folder(Settings(data=data, backup=str(place)))
        sender.round()
        with rewriting(data):
            for number in range(6):
                within(20, partial(more_than, writers, 2 * number))
                sender.round()
        sequencing.sequence(writers.platform)
        acknowledged = dict(writers.acknowledged)
        point = sender.round()
        assert point is not None
    sender = shipping.of_data_folder(Settings(data=data, backup=str(place)))  # as another process that goes on
    assert sender.round() is not None
    sender.copy_archive()
    return place, acknowledged, everything(data)


def more_than(writers: Writers, number: int) -> bool:
    return len(writers.acknowledged) > number


def everything(data: Path) -> dict[str, list[Any]]:
    """Return every entry of a store by its match, its players, and the state of its log."""
    server = embedded.start(data, embedded.STORE)
    platform = open_platform(Settings(store_url=server.url, queue_url="unix:///nowhere", data=data), GAMES)
    matches = sorted(platform.store.log.matches())
    spans = platform.store.log.spans([(match, 1, 100) for match in matches])
    found: dict[str, list[Any]] = dict(zip(matches, spans, strict=True))
    found["players"] = sorted(platform.store.client.keys("{players}:p:*"))
    found["logs"] = [platform.store.server_logs.state(origin) for origin in platform.store.server_logs.origins()]
    platform.close()
    server.stop()
    return found


def test_an_empty_machine_has_every_match_again_byte_for_byte(sent, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    place, acknowledged, all_of_it = sent
    data = tmp_path / "data"
    assert restore.main([str(place), "--data", str(data), "--sample", "8"]) == 0
    said = capsys.readouterr().out
    assert "8 matches audited: nothing was found." in said
    assert "1 objects of the archive were copied." in said
    assert everything(data) == all_of_it
    assert all(len(all_of_it[match]) >= version for match, version in acknowledged.items())
    assert open_objects(str(data / "archive")).read("matches/aa/maa/1") == b"an object"
    assert (data / "admin.key").exists() == (place.parent / "data/admin.key").exists()
    assert not [file for file in data.iterdir() if file.name.startswith(".fetched")]
    assert restore.main([str(place), "--data", str(data)]) == 2
    assert "has data already" in capsys.readouterr().err


def test_a_log_of_which_more_may_have_been_signed_stops(sent, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    place, *_ = sent
    data = tmp_path / "data"
    shutil.copytree(place.parent / "data/keys", data / "keys")
    (data / "keys" / highwater.FILE).unlink()
    assert restore.main([str(place), "--data", str(data), "--sample", "0"]) == 0
    assert "may have been signed further than this, so it stops." in capsys.readouterr().out
    server = embedded.start(data, embedded.STORE)
    platform: Platform = open_platform(Settings(store_url=server.url, queue_url="unix:///nowhere", data=data), GAMES)
    assert sequencing.sequence(platform).stopped == highwater.RESTORED
    assert "more may have been signed" in highwater.sentence(data / "keys", platform.signer.name)
    platform.close()
    server.stop()


def test_a_backup_is_sent_once_by_hand_and_places_that_cannot_be_are_refused(sent, tmp_path: Path, capsys, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    place, _, all_of_it = sent
    data = tmp_path / "data"
    shutil.copytree(place.parent / "data", data)
    (data / embedded.STORE / "nodes.conf").write_text("who the others are")
    assert backup_command.main([str(tmp_path / "again"), "--server", str(data / embedded.STORE)]) == 0
    assert not (tmp_path / "again" / "archive").exists()
    assert restore.main([str(tmp_path / "again"), "--server", str(tmp_path / "server")]) == 0
    assert "./run audit --all" in capsys.readouterr().out
    assert (tmp_path / "server" / "nodes.conf").read_text() == "who the others are"
    shutil.copy(data / embedded.STORE / embedded.FILES / "commands.conf", tmp_path / "server" / embedded.FILES)
    (tmp_path / "whole").mkdir()
    (tmp_path / "server").rename(tmp_path / "whole" / embedded.STORE)
    assert everything(tmp_path / "whole") == all_of_it
    monkeypatch.setattr("events.archive.objects.find_spec", lambda name: None)
    for wrong in (
        ["ftp://a", "--data", str(data)],
        ["s3://bucket", "--data", str(data)],
        ["s3://bucket", "--data", str(tmp_path / "none")],
    ):
        assert backup_command.main(wrong) == 2
        assert "There is no backup: " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        backup_command.main([str(tmp_path / "again"), "--follow"])
    assert restore.main([str(tmp_path), "--until", "2020-01-01", "--data", str(tmp_path / "none")]) == 2
    with pytest.raises(SystemExit):
        restore.main([str(place), "--until", "yesterday"])


@pytest.mark.soak
def test_a_store_is_sent_to_object_storage_and_comes_back(sent, request, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    place, _, all_of_it = sent
    bucket = request.getfixturevalue("s3")()
    assert run("backup", bucket, "--data", str(place.parent / "data")).returncode == 0
    ended = run("restore", bucket, "--data", str(tmp_path / "data"), "--sample", "3")
    assert ended.returncode == 0, ended.stderr
    assert everything(tmp_path / "data") == all_of_it


# ---------------------------------------------------------------- the archive's copy


def test_what_is_created_in_the_archive_is_in_the_backup_before_it_is_said_to_be_there(tmp_path: Path) -> None:
    folders = Settings(archive=str(tmp_path / "archive"), backup=str(tmp_path / "backup"))
    open_archive(folders.archive_place, folders.archive_backup).create("a", b"content")
    assert open_objects(folders.backup).read("archive/a") == b"content"
    assert Settings(archive="s3://bucket", backup="s3://other").archive_backup == ""
    here, backup = Memory(), Memory()
    copy = Below(backup, ARCHIVE)
    archive = Mirrored(here, copy)
    assert archive.create("a/1", b"one")
    assert (here.read("a/1"), copy.read("a/1"), backup.read("archive/a/1")) == (b"one", b"one", b"one")

    class Away(Memory):
        def create(self, name: str, content: bytes) -> bool:
            raise ArchiveUnavailable

    with pytest.raises(ArchiveUnavailable):
        Mirrored(here, Away()).create("a/2", b"two")
    assert not archive.create("a/2", b"another"), "the first one stays"
    assert copy.read("a/2") == b"two"
    here.create("a/3", b"three")
    here.create("b", b"")
    copy.create("a/0", b"more")
    assert copy_missing(here, copy) == 2
    assert copy_missing(here, copy) == 0
    assert list(copy.names()) == ["a/0", "a/1", "a/2", "a/3", "b"]
    assert list(copy.names("a/", "a/1")) == ["a/2", "a/3"]
    copy.remove("a/0")
    assert list(archive.names()) == ["a/1", "a/2", "a/3", "b"]
