"""Bring a store back from a continuous backup (chain.py): read and check the objects of a point, and write a folder."""

from __future__ import annotations

import base64
import binascii
import json
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from events.archive.objects import Objects
from events.keeping import aof, backup
from events.keeping.chain import SMALL, Damaged, Header, Link, Point, numbers, read
from events.keeping.embedded import STORE
from events.keeping.shipping import MARKS, NODES, small_files

AT_ONCE = 8  # objects that are read at the same time

FILES = f"{STORE}/{aof.FOLDER}"

Progress = Callable[[int], object]


class Fetched(NamedTuple):
    """A store that was read. `marks`: how far the server's log was signed, a file, or b"". `cut`: the bytes of an append that was
    not complete."""

    made: backup.Made
    marks: bytes
    cut: int


def find(objects: Objects, until: int | None = None) -> tuple[Point, str]:
    """Return the newest point, or the newest before a moment (ms since 1970). Also return what is damaged behind it, or "".

    Raises backup.Unfit if there is none, Damaged, ArchiveUnavailable.
    """
    known = list(numbers(objects))
    damaged = ""
    if until is not None:
        known = known[: _before(objects, known, until)]
    while known:
        try:
            header = read(objects, known[-1]).header
        except Damaged as reason:
            damaged = damaged or str(reason)
            if len(known) > 1:
                known.pop()
                continue
            raise
        if header.point is None:
            break
        if header.point.first < known[0]:
            break
        return header.point, damaged
    if damaged:
        raise Damaged(damaged)
    raise backup.Unfit("There is no complete backup in this place" + (" of that time." if until is not None else "."))


def _before(objects: Objects, known: list[int], until: int) -> int:
    """Return how many of these objects know no point after a moment. A damaged one counts as its successor."""
    low, high = 0, len(known)
    while low < high:
        middle = place = (low + high) // 2
        header: Header | None = None
        while header is None and place < high:
            try:
                header = read(objects, known[place]).header
            except Damaged:
                place += 1
        if header is None or (header.point is not None and header.point.at > until):
            high = middle
        else:
            low = place + 1
    return low


def fetch(objects: Objects, point: Point, target: Path, progress: Progress = lambda objects: None) -> Fetched:
    """Write a store of the chain to a new folder, as a backup. Raises Damaged, aof.NotWhole, ArchiveUnavailable, OSError.

    What was being appended at that moment is cut off.
    """
    needed = dict(zip(point.files, point.lines, strict=True))
    store = target / FILES
    store.mkdir(mode=0o700, parents=True)
    sizes = dict.fromkeys(needed, -1)
    small: dict[str, str] = {}
    for header, _, content in _links(objects, point):
        file, place = header.piece.file, header.piece.place
        if file == SMALL:
            small = json.loads(content)
        elif file in needed:
            if place not in (0, sizes[file]):
                raise Damaged(f"A piece of {file} is missing before object {header.number}.")
            with (store / Path(file).name).open("r+b" if place else "wb") as opened:
                opened.seek(place)
                opened.write(content)
            sizes[file] = place + len(content)
        progress(1)
    if -1 in sizes.values():
        raise Damaged("A file of the store is not in the backup.")
    (store / aof.MANIFEST).write_text("".join(f"{line}\n" for line in point.lines))
    for name in small.keys() & {*small_files(target, target), NODES} - {MARKS}:
        (target / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (target / name).write_bytes(_decoded(small[name]))
    for path in target.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    cut = 0
    torn = aof.inspect(target / STORE)
    if torn is not None:
        if torn.entries and not backup.is_last(target / STORE, torn):
            raise Damaged(f"The append-only file {torn.file.name} is damaged at byte {torn.at}.")
        aof.cut(target / STORE, torn)  # this append was being written when the size was read
        cut = torn.size
    return Fetched(backup.seal(target, point.at), _decoded(small.get(MARKS, "")), cut)


def _links(objects: Objects, point: Point) -> Iterator[Link]:
    """Yield the objects of a point in order, each with the SHA-256 that the next one states. Raises Damaged, ArchiveUnavailable."""
    ahead: deque[Future[Link]] = deque()
    before = ""
    with ThreadPoolExecutor(AT_ONCE) as readers:
        try:
            number = point.first
            while number <= point.last or ahead:
                while number <= point.last and len(ahead) < AT_ONCE:
                    ahead.append(readers.submit(read, objects, number))
                    number += 1
                link = ahead.popleft().result()
                if before and link.header.before != before:
                    raise Damaged(f"Object {link.header.number} does not follow the one before it.")
                before = link.digest
                yield link
        finally:
            for each in ahead:
                each.cancel()


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, binascii.Error):
        raise Damaged("A small file in the backup cannot be read.") from None
