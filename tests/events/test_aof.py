"""The append-only file of the store with a damaged end, as power cuts leave it: what is cut off, what is kept, and what is said."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from events import play
from events.keeping import aof, embedded, losses
from events.keeping.journal import Journal
from events.platform import Platform, Settings, open_platform
from tests.conftest import ALL_GAMES

Entries = dict[str, list[bytes]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Entries]:
    """A data folder with three matches of eight entries each, appended in turn, and these entries."""
    data = tmp_path_factory.mktemp("written")
    with over(data) as platform:
        matches = [play.create(platform, "p" + "a" * 16, "tally", {"one": "me", "two": "me"}, {"target": 1_000}).match for _ in range(3)]
        steps = [("system", {"type": "advance"}), *[("one", {"type": "add", "stay": True, "by": 1})] * 6]
        for actor, action in steps:
            for match in matches:
                play.play(platform, match, actor, [action])
        entries = {match: platform.store.log.read(match) for match in matches}
    assert {len(found) for found in entries.values()} == {8}
    return data, entries


class over:  # noqa: N801 - a context manager
    """A platform on the embedded store of a data folder, for a block."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def __enter__(self) -> Platform:
        self.server = embedded.start(self.data, embedded.STORE, "no")
        self.platform = open_platform(Settings(store_url=self.server.url, queue_url="unix:///nowhere", data=self.data), ALL_GAMES)
        return self.platform

    def __exit__(self, *reason: object) -> None:
        self.platform.close()
        self.server.stop()


@pytest.fixture
def copy(written: tuple[Path, Entries], tmp_path: Path) -> tuple[Path, Path]:
    """A copy of that data folder, and its incremental file."""
    data = tmp_path / "data"
    shutil.copytree(written[0], data, ignore=shutil.ignore_patterns("*.sock", ".lock", ".server", "*.log"))
    (file,) = aof.files(data / embedded.STORE)
    return data, file


def entries_in(data: Path, written: Entries) -> dict[str, int]:
    """Start the store and return the heads of all matches. What is there must be what was written."""
    with over(data) as platform:
        found = {match: platform.store.log.read(match) for match in written}
    for match, entries in found.items():
        assert entries == written[match][: len(entries)]
    return {match: len(entries) for match, entries in found.items()}


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "512 zero bytes": lambda content: content + bytes(512),
    "garbage": lambda content: content + random.Random(1).randbytes(700),
    "an open transaction": lambda content: content + b"*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n",
    "half a header": lambda content: content + b"*1\r\n$5\r\nMU",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_comes_after_the_last_whole_transaction_is_cut_off_and_kept(name: str, written, copy) -> None:  # type: ignore[no-untyped-def]
    data, file = copy
    content = file.read_bytes()
    file.write_bytes(DAMAGES[name](content))
    assert set(entries_in(data, written[1]).values()) == {8}
    (cut,) = losses.read(data).cuts
    assert (cut.file, cut.at) == (file.name, len(content))
    assert content + Path(cut.kept).read_bytes() == DAMAGES[name](content)
    assert losses.read(data).losses == []
    assert f"{cut.size} bytes were cut off the damaged end of {file.name}" in losses.sentence(data, losses.read(data))
    assert set(entries_in(data, written[1]).values()) == {8}
    assert len(losses.read(data).cuts) == 1


def longer(content: bytes) -> bytes:
    """Change the first digit of the length of the last entry, as a flipped bit does."""
    place = content.index(b"$", content.rindex(b"\r\ne\r\n") + 3) + 1
    return content[:place] + b"9" + content[place + 1 :]


LOST: dict[str, Callable[[bytes], bytes]] = {
    "a flipped length digit": longer,
    "a cut in the middle of the last command": lambda content: content[:-3],
    "a cut in the middle of the last entry": lambda content: content[: content.rindex(b"\r\ne\r\n") + 50],
    "an unknown command": lambda content: content[: (place := content.rindex(b":s:m") - 20)] + b"@" + content[place + 1 :],
    "zeros over the end of the last entry": lambda content: content[: content.rindex(b"\r\ne\r\n") + 50].ljust(len(content), b"\0"),
}


@pytest.mark.parametrize("name", LOST)
def test_the_lost_entry_is_named_and_all_before_it_are_there(name: str, written, copy) -> None:  # type: ignore[no-untyped-def]
    data, file = copy
    content = file.read_bytes()
    file.write_bytes(LOST[name](content))
    last = list(written[1])[-1]
    assert entries_in(data, written[1]) == {match: 8 - (match == last) for match in written[1]}
    (loss,) = losses.read(data).losses
    assert loss[:4] == (last, 8, 8, losses.CUT)
    assert f"The store has lost 1 entry: {last} 8." in losses.sentence(data, losses.read(data))
    assert losses.as_json(losses.read(data))["entries"] == 1


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 8))])
def test_with_any_byte_changed_near_the_end_the_store_starts_and_the_journal_names_exactly_what_is_gone(seed: int, written, copy) -> None:  # type: ignore[no-untyped-def]
    data, file = copy
    with over(data) as platform:
        keeper = Journal(data)
        assert keeper.add(platform.store, written[1]) == 24
        keeper.close()
    content, dice = bytearray(file.read_bytes()), random.Random(seed)
    place = len(content) - dice.randrange(1, 5000)
    whole = bytes(content)
    content[place] ^= 1 << dice.randrange(8)
    file.write_bytes(content)
    with over(data) as platform:
        found = {match: dict(platform.store.log.spans([(match, 1, 99)])[0]) for match in written[1]}
        keeper = Journal(data)
        lost = keeper.compare(platform.store).lost
        keeper.close()
    assert sum(map(len, found.values())) >= 24 - whole.count(b":s:m", whole.rfind(b":s:m", 0, place))
    every = [(match, version, raw) for match, entries in written[1].items() for version, raw in enumerate(entries, 1)]
    gone = {(match, version) for match, version, raw in every if found[match].get(version) != raw}
    assert {(loss.match, version) for loss in lost for version in range(loss.first, loss.last + 1)} == gone
    assert {(match, version) for match, first, last in losses.read(data).merged() for version in range(first, last + 1)} == gone


def test_an_entry_whose_id_is_damaged_but_whose_version_is_not_is_not_lost(written, copy) -> None:  # type: ignore[no-untyped-def]
    data, file = copy
    with over(data) as platform:
        keeper = Journal(data)
        keeper.add(platform.store, written[1])
        keeper.close()
    content = file.read_bytes()
    match, entries = next(iter(written[1].items()))
    id = f":s:{match}\r\n$1\r\n7\r\n".encode()
    assert content.count(id) == 1
    file.write_bytes(content.replace(id, id.replace(b"$1\r\n7", b"$3\r\n7-1")))
    with over(data) as platform:
        assert platform.store.log.spans([(match, 7, 7), (match, 6, 6), (match, 8, 8)]) == [[(v, entries[v - 1])] for v in (7, 6, 8)]
        keeper = Journal(data)
        assert keeper.compare(platform.store).lost == []
        keeper.close()
        assert [item.id for item in platform.store.log.items(match)][5:] == ["6-0", "7-1", "8-0"]  # the audit sees it


def test_a_cut_that_would_take_many_entries_along_is_left_to_an_operator(copy, written, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(aof, "AUTOMATIC", 5)
    data, file = copy
    content = bytearray(file.read_bytes())
    begin = content.index(b":s:m")  # the functions of the store are before the entries
    content[content.index(b"\r\n$", (begin + len(content)) // 2) + 3] = ord("x")
    file.write_bytes(content)
    for _ in range(2):
        with pytest.raises(embedded.NoServer, match=r"entries after that would be lost\. Stop the service and restore a backup"):
            embedded.start(data, embedded.STORE)
    assert file.read_bytes() == content
    assert losses.read(data).cuts == []
    assert aof.mend(data / embedded.STORE, by_hand=True)
    heads = entries_in(data, written[1])
    found = losses.read(data)
    assert found.refused is None
    assert found.entries >= 24 - sum(heads.values()) > 5


def test_later_files_are_emptied_and_kept_with_the_end_of_the_damaged_one(copy) -> None:  # type: ignore[no-untyped-def]
    data, file = copy
    content, later = file.read_bytes(), file.with_name("appendonly.aof.2.incr.aof")
    file.write_bytes(content[:-3])
    later.write_bytes(content)
    manifest = file.parent / aof.MANIFEST
    manifest.write_text(manifest.read_text() + f"file {later.name} seq 2 type i\n")
    damage = aof.inspect(data / embedded.STORE)
    assert damage is not None
    assert aof.mend(data / embedded.STORE)
    assert file.read_bytes() + Path(losses.read(data).cuts[0].kept).read_bytes() == content[:-3] + content
    assert later.read_bytes() == b""
    assert aof.inspect(data / embedded.STORE) is None


def test_a_missing_file_of_the_names_of_commands_is_not_taken_for_damage(copy) -> None:  # type: ignore[no-untyped-def]
    data, file = copy
    content = file.read_bytes()
    (file.parent / "commands.conf").unlink()
    with pytest.raises(embedded.NoServer, match="is missing; without it, the other files in its folder cannot be read; restore a backup"):
        embedded.start(data, embedded.STORE)
    assert file.read_bytes() == content


def test_a_manifest_that_cannot_be_read_is_said_in_a_sentence(copy) -> None:  # type: ignore[no-untyped-def]
    data, file = copy
    (file.parent / aof.MANIFEST).write_bytes(b"file 'x seq")
    with pytest.raises(embedded.NoServer, match="cannot be read; restore a backup"):
        embedded.start(data, embedded.STORE)
