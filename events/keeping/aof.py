"""Find damage in the append-only file of the embedded store, and cut it off.

The server writes the changes of each script as one transaction. A damaged file is cut at the end of the last whole transaction before the
damage. The part that is cut off is kept.
"""

from __future__ import annotations

import mmap
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from events.keeping.losses import CUT, Cut, Loss, ranges, read, update
from games.patterns import MATCH, PLAYER

FOLDER = "appendonlydir"
MANIFEST = "appendonly.aof.manifest"
KEPT = "cut"  # the folder of the parts that were cut off, in the data folder
AUTOMATIC = 100  # entries that may be lost by a cut without an operator

_HEADER = re.compile(rb"\*([1-9][0-9]{0,6})\r\n")
_WORD = re.compile(rb"\$(0|[1-9][0-9]{0,9})\r\n")
_ENTRY = re.compile(rb"\{p[0-9]+\}:s:(%b)\r\n\$[^\r]{1,10}\r\n([1-9][0-9]{0,14})\r\n" % MATCH.encode())
_PLAYER = re.compile(rb"\{players\}:p:(%b)\r\n" % PLAYER.encode())
_UNKNOWN = re.compile(rb"reading the append only file [^\n]*unknown command '(.*?)', with args beginning with", re.DOTALL)
_LOG_END = 16_384


class Damage(NamedTuple):
    """The first damage. `at`: the end of the last whole transaction in `file`. `size`: the bytes after that, in all files.

    `entries`: the matches and versions that are readable in these bytes. `players`: the readable ids of players.
    """

    file: Path
    at: int
    size: int
    entries: list[tuple[str, int]]
    players: list[str]


class NotWhole(Exception):
    """A cut cannot repair the files. The text says why."""


def files(store: Path) -> list[Path]:
    """Return the incremental files of a store's folder, in order; none without a manifest. Raises NotWhole."""
    return [file for kind, file in _listed(store) if kind == "i"]


def all_files(store: Path) -> list[Path]:
    """Return the files that make up the append-only file, the manifest first; none without a manifest. Raises NotWhole."""
    listed = [file for _, file in _listed(store)]
    return [store / FOLDER / MANIFEST, *listed] if listed else []


def _listed(store: Path) -> Iterator[tuple[str, Path]]:
    """Yield the kind (`b` base, `i` incremental) and the path of each file in the manifest that is in use. Raises NotWhole."""
    manifest = store / FOLDER / MANIFEST
    try:
        lines = manifest.read_text().splitlines()
    except FileNotFoundError:
        return
    try:
        for line in lines:
            words = shlex.split(line, comments=True)
            fields = dict(zip(words[::2], words[1::2], strict=True))
            if fields and fields["type"] != "h":
                yield fields["type"], store / FOLDER / Path(fields["file"]).name
    except (ValueError, KeyError):
        raise NotWhole(f"{manifest} cannot be read; restore a backup") from None


def inspect(store: Path, unknown: bytes = b"") -> Damage | None:
    """Return the first damage of the incremental files, or None if they are whole. Raises NotWhole, OSError.

    `unknown`: the name of a command that the server did not know.
    """
    parts = files(store)
    for number, file in enumerate(parts):
        with _mapped(file) as data:
            end = whole(data, unknown)
            if end == len(data):
                continue
            size, entries, players = len(data) - end, _entries(data[end:]), _players(data[end:])
        for later in parts[number + 1 :]:
            with _mapped(later) as data:
                size, entries, players = size + len(data), entries | _entries(data[:]), players | _players(data[:])
        return Damage(file, end, size, sorted(entries), sorted(players))
    return None


def find_damage(store: Path) -> Damage | None:
    """Return the first damage of the incremental files, or None. It may be an unknown command. Raises NotWhole, OSError."""
    unknown = unknown_command(store)
    word = b"\r\n$%d\r\n%b\r\n" % (len(unknown), unknown)
    times = 0
    for file in files(store) if unknown else ():
        with _mapped(file) as data:
            place = -1
            while times < 2 and (place := data.find(word, place + 1)) >= 0:
                times += 1
    if times > 1:
        # Damage does not produce the same name twice, so the file with the names of the commands is missing.
        raise NotWhole(f"the server of {store} does not know commands of its files: the file with their names is missing; restore a backup")
    return inspect(store, unknown)


def whole(data: bytes | mmap.mmap, unknown: bytes = b"") -> int:
    """Return the end of the last whole transaction before the first damage. A command outside a transaction counts as one."""
    place = end = 0
    inside = False
    while place < len(data):
        if data[place] == ord("#"):  # a note of the server
            line_end = data.find(b"\n", place)
            name, place = b"", len(data) + 1 if line_end < 0 else line_end + 1
        else:
            name, place = _command(data, place)
        if place > len(data) or (unknown and name == unknown):
            break
        if name in (b"MULTI", b"EXEC") and (name == b"EXEC") != inside:
            break
        inside = name == b"MULTI" or (inside and name != b"EXEC")
        if not inside:
            end = place
    return end


def _command(data: bytes | mmap.mmap, place: int) -> tuple[bytes, int]:
    """Return the name and the end of the command at a place. The end of a torn command lies beyond the data."""
    nowhere = b"", len(data) + 1
    header = _HEADER.match(data, place)
    if header is None:
        return nowhere
    name, place = b"", header.end()
    for number in range(int(header[1])):
        word = _WORD.match(data, place)
        if word is None:
            return nowhere
        place = word.end() + int(word[1]) + 2
        if data[place - 2 : place] != b"\r\n":
            return nowhere
        if number == 0:
            name = data[word.end() : place - 2]
    return name, place


def keep(store: Path, damage: Damage) -> Path:
    """Copy everything after the last whole transaction to a file. Return the file. Raises OSError."""
    kept = store.parent / KEPT / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{damage.file.name}-{damage.at}"
    kept.parent.mkdir(mode=0o700, exist_ok=True)
    draft = kept.with_name(f"{kept.name}.new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as copy:
        for file, at in _cut_files(store, damage):
            with _mapped(file) as data:
                copy.write(data[at:])
        copy.flush()
        os.fsync(copy.fileno())
    draft.replace(kept)
    return kept


def cut(store: Path, damage: Damage) -> None:
    """Cut off everything after the last whole transaction. Raises OSError."""
    for file, at in reversed(_cut_files(store, damage)):  # the damaged file last, so that an interrupted cut is found again
        with file.open("r+b") as opened:
            opened.truncate(at)
            os.fsync(opened.fileno())


def _cut_files(store: Path, damage: Damage) -> list[tuple[Path, int]]:
    """Return the damaged file and the files after it, each with the place to cut."""
    parts = files(store)
    return [(damage.file, damage.at), *[(file, 0) for file in parts[parts.index(damage.file) + 1 :] if file.exists()]]


def mend(store: Path, by_hand: bool = False) -> bool:
    """Cut off a damaged end, and record the loss. Return True if there was one and it is gone. Raises NotWhole, OSError.

    A cut of more than AUTOMATIC readable entries is refused unless `by_hand`, and the refusal is recorded. No server may use the files
    during the cut.
    """
    data = store.parent
    refused = read(data).refused
    if refused is not None and not by_hand and _same(store, refused):
        return False
    damage = find_damage(store)
    if damage is None:
        update(data, lambda known: known._replace(refused=None))
        return False
    now = int(time.time() * 1000)
    if len(damage.entries) > AUTOMATIC and not by_hand:
        refusal = Cut(damage.file.name, damage.at, damage.size, "", len(damage.entries), damage.players, now)
        update(data, lambda known: known._replace(refused=refusal))
        return False
    kept = keep(store, damage)
    done = Cut(damage.file.name, damage.at, damage.size, str(kept), len(damage.entries), damage.players, now)
    lost = [Loss(match, first, last, CUT, "", now) for match, first, last in ranges(damage.entries)]
    update(data, lambda known: known._replace(refused=None, cuts=[*known.cuts, done], losses=[*known.losses, *lost]))
    cut(store, damage)
    return True


def unknown_command(store: Path) -> bytes:
    """Return the name of the command that the server did not know when it last read its files, or b""."""
    try:
        with (store / "server.log").open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_END))
            found = _UNKNOWN.findall(log.read())
    except OSError:
        return b""
    return bytes(found[-1]) if found else b""


def _same(store: Path, refused: Cut) -> bool:
    """Return True if the files have the same sizes as when a cut was refused."""
    try:
        parts = files(store)
        first = [file.name for file in parts].index(refused.file)
        return sum(file.stat().st_size for file in parts[first:]) == refused.at + refused.size
    except (NotWhole, OSError, ValueError):
        return False


def _entries(data: bytes) -> set[tuple[str, int]]:
    """Return the matches and versions of the entries that are readable in some bytes."""
    return {(match.decode(), int(version)) for match, version in _ENTRY.findall(data)}


def _players(data: bytes) -> set[str]:
    """Return the ids of the players whose fields are readable in some bytes."""
    return {player.decode() for player in _PLAYER.findall(data)}


@contextmanager
def _mapped(file: Path) -> Iterator[bytes | mmap.mmap]:
    """Map the bytes of a file into memory for a block. A missing file is empty."""
    try:
        opened = file.open("rb")
    except FileNotFoundError:
        yield b""
        return
    with opened:
        if os.fstat(opened.fileno()).st_size == 0:
            yield b""
            return
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


if __name__ == "__main__":
    try:
        mend(Path(sys.argv[1]))
    except (NotWhole, OSError) as reason:
        sys.exit(str(reason))
