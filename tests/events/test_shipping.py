"""The continuous backup: whatever happens to who sends it, a restore gives the store as it was at its newest point."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from events.archive.objects import Memory, Objects
from events.errors import ArchiveUnavailable
from events.keeping import aof, backup, chain, fetching, shipping
from events.keeping.chain import Damaged, Point, Taken
from events.keeping.embedded import STORE
from events.keeping.shipping import Shipper
from events.store import library
from table.data import DAY_MS

NAMES = library.configuration("token")


class Killed(BaseException):
    """The process is gone."""


class Dying(Memory):
    """Objects that a process which is killed before or after a call creates."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.last = 1 << 30
        self.after = False

    def create(self, name: str, content: bytes) -> bool:
        self.calls += 1
        if self.calls == self.last and not self.after:
            raise Killed
        created = super().create(name, content)
        if self.calls == self.last:
            raise Killed
        return created


class Server:
    """Files such as the store's server writes. Each append is one transaction."""

    def __init__(self, data: Path) -> None:
        self.data, self.folder = data, data / STORE / aof.FOLDER
        self.folder.mkdir(parents=True)
        (self.folder / "commands.conf").write_text(NAMES)
        (data / "admin.key").write_text("secret")
        self.number, self.written, self._random = 1, b"", random.Random(5)
        self._state()
        (self.folder / self._incr).write_bytes(b"")
        self._manifest(base=1, incrs=[1])

    @property
    def _incr(self) -> str:
        return f"appendonly.aof.{self.number}.incr.aof"

    def _state(self) -> None:
        (self.folder / f"appendonly.aof.{self.number}.base.rdb").write_bytes(b"BASE" + self.written)

    def _manifest(self, base: int, incrs: list[int]) -> None:
        lines = [f"file appendonly.aof.{base}.base.rdb seq {base} type b"]
        lines += [f"file appendonly.aof.{number}.incr.aof seq {number} type i" for number in incrs]
        draft = self.folder / "draft"
        draft.write_text("".join(f"{line}\n" for line in lines))
        draft.replace(self.folder / aof.MANIFEST)

    def append(self, size: int = 40) -> None:
        """Append a command of some bytes, which are different each time."""
        word = self._random.randbytes(size)
        command = b"*2\r\n$3\r\nSET\r\n$%d\r\n%b\r\n" % (len(word), word)
        with (self.folder / self._incr).open("ab") as file:
            file.write(command)
        self.written += command

    def begin_rewrite(self) -> None:
        """Begin to rewrite the files: what follows goes into another part."""
        self.number += 1
        (self.folder / self._incr).write_bytes(b"")
        self._before = self.written
        self._manifest(self.number - 1, [self.number - 1, self.number])

    def end_rewrite(self) -> None:
        """Replace the old base and its part."""
        (self.folder / f"appendonly.aof.{self.number}.base.rdb").write_bytes(b"BASE" + self._before)
        self._manifest(self.number, [self.number])
        for kind in ("base.rdb", "incr.aof"):
            (self.folder / f"appendonly.aof.{self.number - 1}.{kind}").unlink()

    def rewrite(self) -> None:
        """Rewrite the files."""
        self.begin_rewrite()
        self.end_rewrite()


def content(store: Path) -> bytes:
    """Return everything that was written to a store, by its files."""
    base, *incrs = aof.all_files(store)[1:]
    return base.read_bytes().removeprefix(b"BASE") + b"".join(file.read_bytes() for file in incrs)


def restored(objects: Objects, target: Path, until: int | None = None) -> bytes:
    """Return everything that was written to the store that is restored."""
    point, _ = fetching.find(objects, until)
    made = fetching.fetch(objects, point, target).made
    assert backup.check(target) == made
    assert made.begun == point.at
    assert (target / STORE / aof.FOLDER / "commands.conf").read_text() == NAMES
    assert (target / "admin.key").read_text() == "secret"
    return content(target / STORE)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "PIECE", 64)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path / "data")


class Time:
    """Seconds since 1970 that pass when they are asked for."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def shipper(server: Server, objects: Objects, clock: Callable[[], float] | None = None, days: float = 7, seconds: float = 10) -> Shipper:
    return Shipper(server.data / STORE, shipping.small_files(server.data, server.data / "keys"), objects, seconds, days, clock or Time())


def story(server: Server, ship: Callable[[], object]) -> None:
    """Let a server do what servers do, and ship in between."""
    server.append(200)
    ship()
    server.append()
    server.begin_rewrite()
    server.append()
    ship()
    server.append()
    server.end_rewrite()
    server.append(90)
    ship()
    server.append()
    server.rewrite()
    server.append()
    ship()
    ship()


def test_a_restore_has_every_byte_of_each_point(server: Server, tmp_path: Path) -> None:
    objects, targets, clock = Memory(), map(str, itertools.count()), Time()
    sender = shipper(server, objects, clock)
    written: list[tuple[int, bytes]] = []

    def ship() -> None:
        point = sender.round()
        assert point is not None
        assert restored(objects, tmp_path / next(targets)) == server.written
        written.append((sender.point.at, server.written))  # type: ignore[union-attr]

    story(server, ship)
    for at, then in written:
        assert restored(objects, tmp_path / next(targets), at) == then
    with pytest.raises(backup.Unfit, match="of that time"):
        fetching.find(objects, 5)
    sender.close()


@pytest.mark.parametrize("after", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_who_is_killed_anywhere_goes_on_and_loses_nothing(tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second time it is killed before an object is created, else after it; in the soak the other way round."""
    monkeypatch.setattr(shipping, "PIECE", 200)
    server = Server(tmp_path / "count")
    counted, targets = Dying(), map(str, itertools.count())
    story(server, shipper(server, counted).round)
    for last in range(1, counted.calls + 1):
        server, objects = Server(tmp_path / f"data-{last}"), Dying()
        objects.last, objects.after = last, last % 2 == after
        sender = [shipper(server, objects)]

        def ship(server: Server = server, objects: Dying = objects, sender: list[Shipper] = sender) -> None:
            before = sender[0].point
            try:
                sender[0].round()
            except Killed:
                if before is not None:
                    assert restored(objects, tmp_path / next(targets)) in server.written
                sender[0] = shipper(server, objects)
                while sender[0].round() is None:
                    pass
                assert restored(objects, tmp_path / next(targets)) == server.written

        story(server, ship)
        assert restored(objects, tmp_path / next(targets)) == server.written


def test_points_go_on_while_a_new_base_is_sent(server: Server, tmp_path: Path) -> None:
    objects = Memory()
    sender = shipper(server, objects, seconds=-1)  # one piece of a base a round
    server.append(400)
    assert sender.round() is not None
    server.rewrite()
    turned = []
    for number in range(10):
        server.append()
        assert sender.round() is not None
        assert restored(objects, tmp_path / str(number)) == server.written
        assert sender.point is not None
        turned.append(sender.point.lines == (server.folder / aof.MANIFEST).read_text().splitlines())
    assert turned == sorted(turned), "once the new base is sent, it is in use"
    assert turned.count(False) > 5


def test_of_a_piece_that_is_not_whole_the_point_before_remains(server: Server, tmp_path: Path) -> None:
    objects = Memory()
    sender = shipper(server, objects)
    server.append()
    sender.round()
    before = server.written
    server.append()
    sender.round()
    name = list(objects.names())[-1]
    torn = objects.read(name) or b""
    objects.remove(name)
    objects.create(name, torn[:-9])
    point, damaged = fetching.find(objects)
    assert damaged == f"{name} is damaged."
    fetching.fetch(objects, point, tmp_path / "torn")
    assert content(tmp_path / "torn" / STORE) == before
    sender = shipper(server, objects)
    server.append()
    sender.round()
    assert restored(objects, tmp_path / "again") == server.written, "everything was sent anew"


def test_a_damaged_or_missing_piece_that_is_needed_is_named(server: Server, tmp_path: Path) -> None:
    objects = Memory()
    server.append(500)
    shipper(server, objects).round()
    name = chain.name_of(4)
    raw = objects.read(name) or b""
    for number, change in enumerate((None, raw[:70] + b"x" + raw[71:])):
        objects.remove(name)
        if change:
            objects.create(name, change)
        with pytest.raises(Damaged, match=rf"{name} is (missing|damaged)\."):
            fetching.fetch(objects, fetching.find(objects)[0], tmp_path / str(number))


def test_an_append_that_is_being_written_is_cut_off(server: Server, tmp_path: Path) -> None:
    objects = Memory()
    server.append()
    with (server.folder / server._incr).open("ab") as file:
        file.write(b"*2\r\n$3\r\nSET\r\n$40\r\nhalf")
    shipper(server, objects).round()
    point, _ = fetching.find(objects)
    assert fetching.fetch(objects, point, tmp_path / "half").cut == 22
    assert content(tmp_path / "half" / STORE) == server.written


def test_files_that_were_cut_and_written_anew_are_sent_anew(server: Server, tmp_path: Path) -> None:
    for before in (0, 1, 5):
        objects = Memory()
        sender = shipper(server, objects)
        for _ in range(4):
            server.append()
        sender.round()
        if before:
            sender = shipper(server, objects)
        file = server.folder / server._incr
        file.write_bytes(file.read_bytes()[:-60])
        server.written = server.written[:-60]
        for _ in range(before):
            server.append()
        assert sender.round() is not None
        assert restored(objects, tmp_path / str(before)) == server.written


def test_who_finds_objects_of_another_process_stops(server: Server, tmp_path: Path) -> None:
    objects = Memory()
    other = Server(tmp_path / "other")
    first, second = shipper(server, objects), shipper(other, objects)
    server.append()
    first.round()
    second.round()
    server.append()
    for _ in range(2):
        with pytest.raises(Taken, match="Each store needs a place of its own"):
            first.round()


def test_what_is_old_is_removed_and_never_what_the_newest_point_needs(server: Server, tmp_path: Path) -> None:
    objects, clock = Memory(), Time()
    sender = shipper(server, objects, clock, days=2)
    firsts = []
    for day in range(6):
        server.append(300)
        server.rewrite()
        server.append()
        assert sender.round() is not None
        sender.round()
        firsts.append(next(iter(objects.names())))
        clock.now += DAY_MS / 1000
        assert restored(objects, tmp_path / str(day)) == server.written
    assert firsts[0] == firsts[1] < firsts[3] < firsts[4] < firsts[5]
    clock.now += 100 * DAY_MS / 1000
    sender.round()
    assert restored(objects, tmp_path / "last") == server.written
    point = fetching.find(objects)[0]
    assert chain.name_of(point.first) == next(iter(objects.names())), "nothing else is left"


def test_a_place_that_is_away_is_tried_again(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = Memory()
    sender = shipper(server, objects)
    server.append()

    def away(name: str, content: bytes) -> bool:
        raise ArchiveUnavailable("no route")

    with monkeypatch.context() as patch:
        patch.setattr(objects, "create", away)
        for _ in range(2):
            with pytest.raises(ArchiveUnavailable):
                sender.round()
    sender.round()
    assert restored(objects, tmp_path / "target") == server.written


def test_nothing_is_written_if_nothing_is_new(server: Server) -> None:
    objects = Memory()
    sender = shipper(server, objects)
    server.append()
    sender.round()
    names = list(objects.names())
    point = sender.round()
    assert isinstance(point, Point)
    assert list(objects.names()) == names


def test_a_backup_of_another_format_and_an_empty_place_are_refused(server: Server) -> None:
    objects = Memory()
    with pytest.raises(backup.Unfit, match="no complete backup"):
        fetching.find(objects)
    shipper(server, objects).round()
    name = list(objects.names())[-1]
    _, line, body = (objects.read(name) or b"").split(b"\n", 2)
    header = json.loads(line)
    rest = json.dumps({**header, "format": 2}).encode() + b"\n" + body
    for each in list(objects.names()):
        objects.remove(each)
    objects.create(name, chain.sha256(rest).hexdigest().encode() + b"\n" + rest)
    with pytest.raises(Damaged, match="another format"):
        fetching.find(objects)
