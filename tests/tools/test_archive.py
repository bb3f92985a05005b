"""`./run archive`, and what other commands do with archived matches: backups, audits of everything, records in a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from events import play, recall
from events.archive import matches as objects_of
from events.archive.objects import open_objects
from events.archive.tiles_away import ENTRIES
from events.archive.tiles_away import name_of as tile_of
from events.keeping import backup
from events.platform import Platform
from events.store.archiving import Away
from events.store.server_logs import hash_of
from evidence.tiles import bundle
from record.entries import canonical
from tests.conftest import Servers
from tests.events.archives import away, logged
from tools import archive, audit_all, records, restore
from tools import backup as backup_command
from tools.checkup import archive_of


@pytest.fixture
def data(platform: Platform, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a store whose archive is a folder in it."""
    monkeypatch.delenv("WARLEDGER_ARCHIVE", raising=False)
    shutil.rmtree(servers.data / "archive", ignore_errors=True)
    platform.archive.put(open_objects(archive_of(servers.data)))
    return servers.data


def over(platform: Platform, player: str) -> str:
    """Play a match of War! that ends at once."""
    match = play.create(platform, player, "war", {"red": "me", "blue": "me"}, {}).match
    play.play(platform, match, "system", [{"type": "advance"}])
    play.act_at_table(platform, match, recall.position(platform, match).to_act[0], {"type": "resign"})
    while recall.position(platform, match).status != "over":
        play.play(platform, match, "system", [{"type": "advance"}])
    logged(platform)
    return match


def run(data: Path, *words: str) -> int:
    return archive.main([*words, "--data", str(data)])


def test_matches_are_moved_listed_verified_and_brought_back(
    platform: Platform, data: Path, ann: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_all, "_platforms", [platform])
    first, second = over(platform, ann), over(platform, ann)
    running = play.create(platform, ann, "war", {"red": "me", "blue": "me"}, {}).match
    assert run(data, "move", first, running) == 1
    assert f"{running} stays in the store: it is not over." in capsys.readouterr().err
    assert run(data, "move") == run(data, "move") == run(data, "verify") == run(data, "list") == 0
    said = capsys.readouterr().out
    assert all(f"{match} {platform.store.log.head(match)} " in said for match in (first, second))
    assert [away(platform, match) for match in (first, second, running)] == [True, True, False]
    assert run(data, "back", first) == 0
    assert run(data, "back", "m" + "a" * 16) == 1
    assert not away(platform, first)
    assert {record.match for record in records.read([data / "archive"])} == {first, second}
    assert list(audit_all._strays(platform)) == []
    assert [audit_all._do(audit_all.Task(match, None, None))[1].findings for match in (first, second, running)] == [[], [], []]
    platform.archive.objects.create("store/0002", b"another store")
    assert [run(data, word) for word in ("move", "adopt", "move")] == [2, 0, 0]
    assert "belongs to another store" in capsys.readouterr().err
    (file,) = data.glob(f"archive/matches/*/{second}/*")
    file.write_bytes(file.read_bytes()[:-1])
    assert run(data, "verify") == 1
    file.unlink()
    assert run(data, "verify") == 1
    assert "it is missing" in capsys.readouterr().err


def test_a_backup_has_the_archive_and_a_restore_brings_it_back(
    platform: Platform, data: Path, ann: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    match = over(platform, ann)
    head = platform.store.log.head(match)
    assert run(data, "move") == 0
    assert backup_command.main([str(tmp_path / "made"), "--data", str(data)]) == 0
    said = capsys.readouterr().out
    assert f"The store has 1 match with {head} entries" in said
    copied = sorted(name for name in backup.check(tmp_path / "made").files if name.startswith("archive/"))
    assert [name.split("/")[1] for name in copied] == ["dictionaries", "matches", "store"]
    shutil.rmtree(data / "archive")
    platform.archive.forget()
    platform.cache.drop(match)
    assert run(data, "verify") == 1
    there = tmp_path / "there"
    assert restore.main([str(tmp_path / "made"), "--data", str(there)]) == 0
    assert f"The store has 1 match with {head} entries" in capsys.readouterr().out
    assert sorted(str(file.relative_to(there)) for file in there.glob("archive/*/**/*") if file.is_file()) == copied
    for file in (tmp_path / "made/archive").rglob("*"):
        if file.is_file() and "matches" in file.parts:
            (there / file.relative_to(tmp_path / "made")).write_bytes(b"another")
    with pytest.raises(backup.Unfit, match="The archive has another object"):
        backup.place(tmp_path / "made", there, replace=True, archive=open_objects(str(there / "archive")))


def test_a_restore_of_an_older_backup_says_what_others_know(
    platform: Platform, data: Path, ann: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    running = play.create(platform, ann, "war", {"red": "me", "blue": "me"}, {}).match
    assert backup_command.main([str(tmp_path / "made"), "--data", str(data)]) == 0
    there = tmp_path / "there"
    archived = Away(9, "00" * 32, "0123456789abcdef")
    objects = open_objects(archive_of(there))
    for match in (running, "m" + "a" * 16):
        objects.create(objects_of.name_of(match, archived), b"")
    logged = [{"at": 1, "digest": "", "kind": "end", "match": "m" + letter * 16, "version": 7} for letter in "bc"]
    leaves = [*map(canonical, logged), *[b"{}"] * 254]
    objects.create(tile_of(hash_of(platform.signer.name), ENTRIES, 0), bundle(leaves))
    capsys.readouterr()
    assert restore.main([str(tmp_path / "made"), "--data", str(there)]) == 1
    said = capsys.readouterr().out
    assert f"{running}: the archive has version 9, and the store has 1." in said
    assert f"{'m' + 'a' * 16}: the archive has version 9, and the store does not have the match." in said
    assert all(f"{'m' + letter * 16}: the server's log has version 7" in said for letter in "bc")
    assert "`./run rebuild` files away" in said
