"""Send what a store writes to its disk off the machine, again and again, into a chain of objects (chain.py).

Each round looks at how long the parts of the append-only file are now, sends what is new, and so completes a point. Bytes that are added
later are for the next round. The parts are kept open, so they can be read to their end after the server has replaced them. While a new base
is being sent, the parts of the old one go on, so that there is a point every round.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import IO

from events.archive.objects import Objects
from events.keeping import aof, losses
from events.keeping.backup import ADMIN_KEY
from events.keeping.chain import PIECE, SMALL, Point, Writer, file_of
from events.keeping.embedded import COMMANDS, KEEPER, RIGHTS, STORE
from table.data import DAY_MS

NODES = "nodes.conf"  # of a node of a cluster: which slots it has, and who the others are
MARKS = "keys/log.json"  # how far the server's log was signed
REMOVED = 500  # old objects that a round removes

_TRIES = 20
_SEQUENCE = re.compile(r" seq ([0-9]+) ")


def small_files(data: Path, keys: Path) -> dict[str, Path]:
    """Return the small files of a data folder by their names in a backup. All are sent again when one of them has changed."""
    names = (
        f"{STORE}/{KEEPER}", f"{STORE}/{RIGHTS}", f"{STORE}/{aof.FOLDER}/{COMMANDS}", f"{losses.FOLDER}/{losses.FILE}", ADMIN_KEY
    )  # fmt: skip
    return {**{name: data / name for name in names}, MARKS: keys / Path(MARKS).name}


class Moving(Exception):
    """The server replaces its files faster than they can be opened. The next round tries again."""


class Shipper:
    """Sends the files of a store's server to a chain. One process does so, in one thread.

    `store`: the folder with those of the append-only file. `small`: small files beside it, by name. `seconds`: how long a round may send a
    new base. `days`: for how long earlier points are kept.
    """

    def __init__(
        self,
        store: Path,
        small: Mapping[str, Path],
        objects: Objects,
        seconds: float,
        days: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = store / aof.FOLDER
        self._small_files = small
        self._writer = Writer(objects, secrets.token_hex(8))
        self._seconds = seconds
        self._days = days
        self._clock = clock
        self._generation = 0
        self._carried: list[str] = []  # lines of the manifest: the parts of the newest point, and those that follow them
        self._opened: dict[str, IO[bytes]] = {}
        self._found = False

    @property
    def point(self) -> Point | None:
        """The newest point of the chain, as far as this process knows."""
        return self._writer.point

    def round(self) -> Point | None:
        """Send what is new. Return the point that is complete now, or None if there is none yet: call again at once.

        Raises Taken, Moving, aof.NotWhole, ArchiveUnavailable, OSError.
        """
        try:
            return self._round()
        except BaseException:
            self._found = False  # it is unknown whether the last object was created
            raise

    def close(self) -> None:
        """Close every file."""
        for file in self._opened.values():
            file.close()
        self._opened = {}

    def _round(self) -> Point | None:
        if not self._found:
            self._find()
        lines = self._open()
        if any(line not in self._opened for line in self._carried):
            self._carried = []  # they were replaced while this process did not run
        if not all(self._continues(line) for line in {*lines, *self._carried}):
            self._begin()
        turned = " type b" not in lines[0] or self._is_sent(lines[0])
        carried = lines if turned else self._followed(lines)
        done = self._send(carried, lines) if carried else None
        if not turned:
            self._send_base(lines, carried)
            done = done or (self._send(lines, lines) if not carried and self._is_sent(lines[0]) else None)
        self._drop({*carried, *lines})
        self._writer.prune(self._now() - int(self._days * DAY_MS), REMOVED)
        return done

    @property
    def length(self) -> int:
        """How many objects a restore of the newest point reads at most."""
        point = self._writer.point
        return 0 if point is None else self._writer.number - point.first + 1

    def _find(self) -> None:
        """Go to the end of the chain, and find out what it has."""
        whole = self._writer.find()
        point = self._writer.point
        self._generation = point.generation if point is not None else 1
        generations = [int(file.partition("/")[0]) for file in self._writer.sent if file != SMALL]
        self._generation = max([self._generation, *generations])
        self._carried = point.lines if point is not None and point.generation == self._generation else []
        if not whole:
            self._begin()
        self._found = True

    def _begin(self) -> None:
        """Begin another generation: everything is sent anew."""
        self._generation += 1
        self._carried = []
        self._writer.sent = {}

    def _open(self) -> list[str]:
        """Open every part of the append-only file that is not open yet. Return the lines of the manifest, the base first."""
        for _ in range(_TRIES):
            with ExitStack() as attempt, contextlib.suppress(FileNotFoundError):
                lines = _lines(self._folder)
                new = {line: attempt.enter_context((self._folder / _file(line)).open("rb")) for line in lines if not self._is_open(line)}
                if lines == _lines(self._folder):
                    attempt.pop_all()
                    for line, file in new.items():
                        if line in self._opened:
                            self._opened[line].close()
                        self._opened[line] = file
                    return lines
            time.sleep(0.05)
        raise Moving(f"There is no store in {self._folder.parent}, or its files are being replaced.")

    def _is_open(self, line: str) -> bool:
        """Return True if a part is open, and no other file has its name now."""
        return line in self._opened and os.path.samestat(os.fstat(self._opened[line].fileno()), (self._folder / _file(line)).stat())

    def _continues(self, line: str) -> bool:
        """Return True if a part begins with what was sent of it. The last piece is enough: what differs before would differ there, too."""
        sent = self._writer.sent.get(self._name(line))
        if sent is None:
            return True
        content = os.pread(self._opened[line].fileno(), sent.size - sent.place, sent.place)
        return sha256(content).hexdigest() == sent.digest

    def _followed(self, lines: list[str]) -> list[str]:
        """Return the parts of the old base with those that follow them, while the base in `lines` is not sent; [] if some are missing."""
        if not self._carried:
            return []
        last = _number(self._carried[-1])
        more = [line for line in lines[1:] if _number(line) > last]
        return [*self._carried, *more] if not more or _number(more[0]) == last + 1 else []

    def _is_sent(self, line: str) -> bool:
        """Return True if the base is in the chain."""
        sent = self._writer.sent.get(self._name(line))
        return sent is not None and sent.size == os.fstat(self._opened[line].fileno()).st_size

    def _send(self, carried: list[str], lines: list[str]) -> Point:
        """Send what is new of these parts. Return the point that is complete then. `lines`: of the manifest now."""
        at = self._now()
        sizes = [(line, os.fstat(self._opened[line].fileno()).st_size) for line in carried]
        point = Point(at, self._generation, carried)
        pieces = [(line, place, min(PIECE, size - place)) for line, size in sizes for place in self._places(line, size)]
        small = self._small()
        kept = {SMALL, *map(self._name, {*carried, *lines})}
        had = self._writer.sent.get(SMALL)
        if had is None or had.digest != sha256(small).hexdigest() or (not pieces and self._is_new(point)):
            self._writer.write(self._now(), SMALL, 0, small, kept, None if pieces else point)
        for number, (line, place, size) in enumerate(pieces, 1):
            content = os.pread(self._opened[line].fileno(), size, place)
            self._writer.write(self._now(), self._name(line), place, content, kept, point if number == len(pieces) else None)
        self._carried = carried
        return point

    def _is_new(self, point: Point) -> bool:
        """Return True if the chain has no point with these parts."""
        return self._writer.point is None or (point.generation, point.lines) != self._writer.point[1:3]

    def _places(self, line: str, size: int) -> Iterable[int]:
        """Return where the pieces of a part begin that are not in the chain. An empty part has one piece."""
        sent = self._writer.sent.get(self._name(line))
        return range(0 if sent is None else sent.size, size, PIECE) if size or sent is not None else (0,)

    def _send_base(self, lines: list[str], carried: list[str]) -> None:
        """Send a new base, for as long as a round may last."""
        line, until = lines[0], time.monotonic() + self._seconds
        kept = {SMALL, *map(self._name, {*carried, *lines})}
        for place in self._places(line, os.fstat(self._opened[line].fileno()).st_size):
            content = os.pread(self._opened[line].fileno(), PIECE, place)
            self._writer.write(self._now(), self._name(line), place, content, kept)
            if time.monotonic() > until:
                return

    def _small(self) -> bytes:
        """Return the small files as JSON."""
        found = {}
        for name, file in self._small_files.items():
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                found[name] = base64.b64encode(file.read_bytes()).decode()
        return json.dumps(found).encode()

    def _drop(self, lines: set[str]) -> None:
        """Close the parts that nobody needs."""
        for line in self._opened.keys() - lines:
            self._opened.pop(line).close()

    def _name(self, line: str) -> str:
        return file_of(self._generation, line)

    def _now(self) -> int:
        return int(self._clock() * 1000)


def _lines(folder: Path) -> list[str]:
    """Return the lines of the manifest with the parts that are in use. Raises FileNotFoundError, aof.NotWhole."""
    lines = [line for line in (folder / aof.MANIFEST).read_text().splitlines() if line and " type h" not in line]
    if not lines or any(_SEQUENCE.search(line) is None for line in lines):
        raise aof.NotWhole(f"{folder / aof.MANIFEST} cannot be read; restore a backup")
    return lines


def _file(line: str) -> str:
    return Path(line.split()[1]).name


def _number(line: str) -> int:
    found = _SEQUENCE.search(line)
    assert found is not None
    return int(found[1])
