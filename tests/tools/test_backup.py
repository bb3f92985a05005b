"""`./run backup`, `restore` and `repair`: while players write, when they are killed, and over damaged files."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import redis

from events import accounts, play, recall
from events.keeping import aof, backup, embedded, journal, losses
from events.modules import python_environment
from events.notary import highwater, sequencing, server_log
from events.platform import Settings, open_platform
from games import GAMES
from tests.conftest import within
from tests.whole.test_commands import run, run_anew
from tools import backup as backup_command
from tools import repair, restore

ANN = "p" + "a" * 16


class Writers:
    """A store that this process has started, and players who write to it until the end of the block."""

    def __init__(self, data: Path, threads: int = 2) -> None:
        self.data = data
        self.server = embedded.start(data, embedded.STORE)
        self.platform = open_platform(Settings(store_url=self.server.url, queue_url="unix:///nowhere", data=data), GAMES)
        self.acknowledged: dict[str, int] = {}
        self.registered: list[str] = []
        self._enough = threading.Event()
        self._threads = [threading.Thread(target=self._write) for _ in range(threads)]

    def __enter__(self) -> Writers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._enough.set()
        for thread in self._threads:
            thread.join()
        self.platform.close()
        self.server.stop()

    def _write(self) -> None:
        while not self._enough.is_set():
            player = accounts.register(self.platform, "Ann")[0].id
            self.registered.append(player)
            match = play.create(self.platform, player, "war", {"red": "me", "blue": "me"}, {}).match
            self.acknowledged[match] = 1
            play.play(self.platform, match, "system", [{"type": "advance"}])
            self.acknowledged[match] = 2


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Writers, dict[str, int], list[str]]:
    """A backup that was made while players wrote and the server rewrote its files, and what had been acknowledged before it began."""
    folder = tmp_path_factory.mktemp("made")
    with Writers(folder / "data") as writers:
        within(20, lambda: len(writers.acknowledged) > 30)
        writers.platform.sidelog.note_refusal(next(iter(writers.acknowledged)), "red", ANN, 1, 5, {"type": "attack"}, "not_your_turn", None)
        writers.platform.sidelog.flush()
        writers.platform.sidelog.note_read(next(iter(writers.acknowledged)), 1, "admin", "audit")
        kept = journal.Journal(folder / "data")
        kept.compare(writers.platform.store)
        kept.close()
        with rewriting(folder / "data"):
            within(20, lambda: aof.files(folder / "data" / embedded.STORE)[-1].name > "appendonly.aof.3")
            acknowledged, registered = dict(writers.acknowledged), list(writers.registered)
            assert backup_command.main([str(folder / "backup"), "--data", str(folder / "data"), "--sample", "6"]) == 0
        before = len(writers.acknowledged)
        within(20, lambda: len(writers.acknowledged) > before)
    return folder / "backup", writers, acknowledged, registered


@contextlib.contextmanager
def rewriting(data: Path) -> Iterator[None]:
    """Let the server rewrite its files again and again until the end of the block."""
    enough = threading.Event()

    def rewrite() -> None:
        with redis.Redis.from_url(embedded.keeper_url(data)) as keeper:
            while not enough.wait(0.02):
                with contextlib.suppress(redis.ResponseError):  # one goes on already
                    keeper.bgrewriteaof()

    thread = threading.Thread(target=rewrite)
    thread.start()
    yield
    enough.set()
    thread.join()


def test_a_backup_while_players_write_has_every_entry_that_was_acknowledged_before(made, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    folder, _, acknowledged, registered = made
    assert {file.stat().st_mode & 0o077 for file in [folder, *folder.rglob("*")]} == {0}
    assert restore.main([str(folder), "--data", str(tmp_path / "data"), "--sample", "10"]) == 0
    said = capsys.readouterr().out
    assert "10 matches audited: nothing was found." in said
    server = embedded.start(tmp_path / "data", embedded.STORE)
    platform = open_platform(Settings(store_url=server.url, queue_url="unix:///nowhere"), GAMES)
    for match, version in acknowledged.items():
        assert platform.store.log.head(match) >= version, match
    match = next(iter(acknowledged))
    assert [(refused.seat, refused.code) for refused in platform.sidelog.refusals(match).refused] == [("red", "not_your_turn")]
    assert [(read.reader, read.what, read.number) for read in platform.sidelog.reads(match)] == [("admin", "audit", 1)]
    assert (folder.parent / "data" / "keys" / "signing.json").exists()
    assert not list(folder.rglob("signing.json")), "who has a backup cannot sign"
    for player in registered:
        assert platform.store.accounts.fields_of(player)["name"] == "Ann"
    platform.close()
    server.stop()
    assert not [file for file in folder.parent.iterdir() if file.name not in ("data", "backup")]


def test_a_restore_refuses_a_folder_in_use_or_with_data_and_moves_it_aside_when_told(made, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = made[0]
    data = tmp_path / "data"
    with Writers(data, 0):
        ended = run("restore", str(folder), "--data", str(data), "--replace")
        assert (ended.returncode, "Another command uses the store" in ended.stderr) == (2, True)
    ended = run("restore", str(folder), "--data", str(data))
    assert (ended.returncode, "has data already" in ended.stderr) == (2, True)
    ended = run("restore", str(folder), "--data", str(data), "--replace", "--sample", "2")
    assert ended.returncode == 0, ended.stderr
    (aside,) = data.glob("replaced-*")
    assert (aside / embedded.STORE / aof.FOLDER / aof.MANIFEST).exists()


def test_a_restore_that_ends_while_it_puts_files_in_place_leaves_a_folder_that_nothing_starts_until_it_is_done_again(  # type: ignore[no-untyped-def]
    made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _, acknowledged, _ = made
    data, rename = tmp_path / "data", Path.rename

    def interrupt(path: Path, target: Path) -> Path:
        if path.name == losses.FOLDER and path.parent.name == embedded.PLACING:
            raise OSError("interrupted")
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupt)
        with pytest.raises(OSError, match="interrupted"):
            backup.place(folder, data, replace=False)
    with pytest.raises(embedded.NoServer, match=r"a restore into .* was interrupted; run it again, with --replace"):
        embedded.start(data, embedded.STORE)
    ended = run("restore", str(folder), "--data", str(data), "--replace", "--sample", "1")
    assert ended.returncode == 0, ended.stderr
    server = embedded.start(data, embedded.STORE)
    platform = open_platform(Settings(store_url=server.url, queue_url="unix:///nowhere"), GAMES)
    assert all(platform.store.log.head(match) >= version for match, version in acknowledged.items())
    platform.close()
    server.stop()


def changed(file: Path, place: int) -> None:
    """Flip a bit of a file."""
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


def base_of(folder: Path) -> Path:
    """Return the base of the store's append-only file in a backup. It is never empty; the last increment may be."""
    return aof.all_files(folder / embedded.STORE)[1]


DAMAGES = {
    "a changed byte of the store": lambda folder: changed(base_of(folder), 100),
    "a changed byte of the journal": lambda folder: changed(folder / losses.FOLDER / "newest", 50),
    "a missing file": lambda folder: (folder / embedded.STORE / embedded.KEEPER).unlink(),
    "another file": lambda folder: (folder / "more").write_text("x"),
    "a shorter file": lambda folder: base_of(folder).write_bytes(b""),
    "a torn list": lambda folder: (folder / backup.LIST).write_bytes((folder / backup.LIST).read_bytes()[:-40]),
    "a list of another format": lambda folder: (folder / backup.LIST).write_text('{"format": 2}'),
    "a list that is no object": lambda folder: (folder / backup.LIST).write_text("[]"),
    "a file outside": lambda folder: (folder / backup.LIST).write_text(json.dumps({"format": 1, "begun": 1, "files": {"../x": [1, "0"]}})),
    "no list": lambda folder: (folder / backup.LIST).unlink(),
}


def test_a_backup_of_another_format_is_refused_and_changes_nothing(made, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "backup"
    shutil.copytree(made[0], folder)
    name = f"{embedded.STORE}/{embedded.FILES}/commands.conf"
    file, listed = folder / name, json.loads((folder / backup.LIST).read_bytes())
    file.write_text(file.read_text().replace("format 3", "format 1"))
    listed["files"][name] = [file.stat().st_size, sha256(file.read_bytes()).hexdigest()]
    (folder / backup.LIST).write_text(json.dumps(listed))
    assert restore.main([str(folder), "--data", str(tmp_path / "data")]) == 2
    assert "data of another format" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_backup_is_refused_and_changes_nothing(name: str, made, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "backup"
    shutil.copytree(made[0], folder)
    DAMAGES[name](folder)
    assert restore.main([str(folder), "--data", str(tmp_path / "data")]) == 2
    assert str(folder) in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_a_backup_that_is_killed_leaves_nothing_that_looks_like_one(tmp_path: Path) -> None:
    data, target = tmp_path / "data", tmp_path / "backup"
    with Writers(data) as writers:
        within(20, lambda: len(writers.acknowledged) > 20)
        (data / embedded.STORE / "large").write_bytes(bytes(200_000_000))
        for _ in range(2):
            command = [sys.executable, "-m", "tools.backup", str(target), "--data", str(data)]
            process = subprocess.Popen(command, cwd="/", env=python_environment(), stdout=subprocess.DEVNULL)
            draft = tmp_path / ".backup.unfinished"
            within(20, lambda draft=draft: draft.exists())
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert not target.exists()
        before = len(writers.acknowledged)
        within(20, lambda: len(writers.acknowledged) > before + 5)
        (data / embedded.STORE / "large").unlink()
        assert restore.main([str(draft), "--data", str(tmp_path / "restored")]) == 2
        assert backup_command.main([str(target), "--data", str(data), "--sample", "1"]) == 0
        assert not draft.exists()


@pytest.fixture
def broken(made, tmp_path: Path) -> tuple[Path, str, int]:  # type: ignore[no-untyped-def]
    """A data folder whose last entry in the journal is damaged, with its match and version."""
    data = tmp_path / "data"
    shutil.copytree(made[0], data)
    (data / backup.LIST).unlink()
    server = embedded.start(data, embedded.STORE)
    platform = open_platform(Settings(store_url=server.url, queue_url="unix:///nowhere", data=data), GAMES)
    match = play.create(platform, "p" + "a" * 16, "war", {"red": "me", "blue": "me"}, {}).match
    play.play(platform, match, "system", [{"type": "advance"}])
    keeper = journal.Journal(data)
    keeper.compare(platform.store)
    keeper.close()
    digest = bytes.fromhex(recall.position(platform, match).digest)
    platform.close()
    server.stop()
    file = aof.files(data / embedded.STORE)[-1]
    content = file.read_bytes()
    file.write_bytes(content[: content.rindex(digest) + 40] + random.Random(3).randbytes(99))
    return data, match, 2


def test_a_repair_says_what_it_would_do_then_does_it_and_names_what_is_lost(broken, capsys) -> None:  # type: ignore[no-untyped-def]
    data, match, version = broken
    ended = run("repair", "--look", "--data", str(data))
    assert ended.returncode == 1
    assert f"  {match} {version}\n" in ended.stdout
    assert losses.read(data).cuts == []
    ended = run("repair", "--data", str(data), "--sample", "3")
    assert ended.returncode == 1
    assert f"Lost: {match}: The entry {version} was in the journal and is gone. The digest of version {version} was" in ended.stdout
    assert "findings" in ended.stdout, "the newest match is in the sample, and its audit names the loss"
    assert Path(losses.read(data).cuts[0].kept).read_bytes()
    assert repair.main(["--accept", "--data", str(data)]) == 0
    assert match in capsys.readouterr().out
    assert repair.main(["--accept", "--data", str(data)]) == 0
    assert "nothing to accept" in capsys.readouterr().out
    ended = run("repair", "--data", str(data), "--sample", "3")
    assert (ended.returncode, "The append-only file is whole." in ended.stdout) == (0, True), ended.stdout


def test_a_backup_of_a_damaged_store_is_made_and_says_what_is_lost_in_it(broken, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    data, match, version = broken
    assert backup_command.main([str(tmp_path / "backup"), "--data", str(data), "--sample", "0"]) == 1
    assert f"Lost: {match}: The entry {version} was in the journal and is gone." in capsys.readouterr().out
    assert losses.read(data).cuts == [], "the data itself is as it was"


def test_an_audit_without_a_service_finds_what_is_lost(broken) -> None:  # type: ignore[no-untyped-def]
    data, match, version = broken
    ended = run("audit", match, "--data", str(data))
    assert (ended.returncode, f"version {version}: entries_lost" in ended.stdout) == (1, True), ended.stderr


def test_a_repair_cuts_many_entries_only_when_told(broken, monkeypatch: pytest.MonkeyPatch, capsys) -> None:  # type: ignore[no-untyped-def]
    data, _, _ = broken
    monkeypatch.setattr(aof, "AUTOMATIC", 0)
    assert repair.main(["--data", str(data)]) == 1
    assert "Restore a backup, or use --cut." in capsys.readouterr().out
    assert losses.read(data).cuts == []
    ended = run("repair", "--cut", "--data", str(data), "--sample", "0")
    assert ended.returncode == 2
    assert "in use by another `serve`" in ended.stderr, "this process has the folder"


COMMANDS: dict[str, Any] = {"backup": backup_command, "restore": restore, "repair": repair}


def test_wrong_arguments_are_answered_with_a_sentence(made, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "file"
    file.write_text("x")
    wrong = [
        ("backup",),
        ("backup", str(tmp_path / "new"), "--data", str(tmp_path / "nowhere")),
        ("backup", str(tmp_path), "--data", str(made[0])),
        ("backup", str(file / "new"), "--data", str(made[0])),
        ("restore", str(tmp_path / "nowhere"), "--data", str(tmp_path / "data")),
        ("restore", str(file), "--data", str(tmp_path / "data")),
        ("restore", str(made[0]), "--data", str(file)),
        ("repair", "--data", str(tmp_path / "nowhere")),
        ("repair", "--sample", "-1"),
    ]
    for number, (command, *words) in enumerate(wrong):
        try:
            status = COMMANDS[command].main(words)
        except SystemExit as ended:
            status = ended.code
        assert (status, bool(capsys.readouterr().err.strip())) == (2, True), wrong[number]
    command, *words = wrong[4]
    ended = run_anew(command, *words)
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False), ended.stderr


def test_a_backup_has_the_log_and_not_how_far_it_was_signed_so_that_a_restored_one_stops_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Writers(data, threads=1) as writers:
        within(20, lambda: len(writers.acknowledged) > 2)
        sequencing.sequence(writers.platform)
        origin, size = writers.platform.signer.name, server_log.shown(writers.platform).size
        assert backup_command.main([str(tmp_path / "backup"), "--data", str(data), "--sample", "1"]) == 0
        within(20, lambda: sequencing.sequence(writers.platform).added)
    assert not list((tmp_path / "backup").rglob("log.json"))
    assert restore.main([str(tmp_path / "backup"), "--data", str(data), "--replace", "--sample", "1"]) == 0
    server = embedded.start(data, embedded.STORE)
    platform = open_platform(Settings(store_url=server.url, queue_url="unix:///nowhere", data=data), GAMES)
    assert server_log.shown(platform)[:2] == (origin, size)
    assert sequencing.sequence(platform).stopped == highwater.OLDER
    assert server_log.shown(platform)[:2] == (origin, size)
    platform.close()
    server.stop()
