"""Back up and restore the embedded store, while it runs or not. A backup has the SHA-256 of each file.

All parts of the append-only file are opened before the first byte is copied. An open file keeps its bytes when the server replaces it.
Bytes that are added later are left out. So a backup is the store at one moment, and the service need not stop for it. If the archive is a
folder, its objects are copied after the store. They never change, so whatever the store of the backup needs is there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from hashlib import sha256
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple

from events.archive.objects import Objects
from events.keeping import aof, durable, losses
from events.keeping.embedded import PLACING, STORE, NoServer, check_format

FORMAT = 1
LIST = "backup.json"
ADMIN_KEY = "admin.key"
ARCHIVE = "archive"  # the folder of a backup with the objects of the archive
NEEDS = "archive.txt"  # in a backup without them: where the archive is, and the names of the objects that the store needs

_BLOCK = 1 << 20
_TRIES = 20
# Files of a running server in the store's folder, and the append-only file itself, which is copied by its manifest.
_PASSING = ("*.sock", "*.log", "*.new", ".*", "temp-*", "*.pid", "appendonly.aof.*")
_JOURNAL = ("newest", "older", "heads", "losses.json", "accepted.ndjson")  # in this order no line is missed if a new file is begun

Progress = Callable[[int], object]


class BadBackup(Exception):
    """A folder holds no backup, or a damaged one. The text says which."""


class Unfit(Exception):
    """There is nothing to back up or restore, or no place for it. The text says which."""


class Source(NamedTuple):
    """A file to copy: its path in the backup, the open file, and how many bytes to copy."""

    path: str
    opened: IO[bytes]
    size: int


class Made(NamedTuple):
    """The list of a backup: when it was begun (ms since 1970), and the size and the SHA-256 of each file."""

    begun: int
    files: dict[str, tuple[int, str]]

    @property
    def size(self) -> int:
        """The number of bytes of all files."""
        return sum(size for size, _ in self.files.values())


def sources(data: Path, opened: ExitStack) -> list[Source]:
    """Open every file for a backup of a data folder. Raises Unfit, OSError.

    The journal is opened first, so it never knows more than the copied store.
    """
    store, found = data / STORE, []
    for name in _JOURNAL:
        found += _open(opened, data, data / losses.FOLDER / name)
    for file in sorted([*store.glob("*"), *(store / aof.FOLDER).glob("*")]):
        if file.is_file() and not any(file.match(pattern) for pattern in _PASSING) and not file.is_symlink():
            found += _open(opened, data, file)
    found += _open(opened, data, data / ADMIN_KEY)
    for _ in range(_TRIES):
        with ExitStack() as attempt:
            try:
                before = (store / aof.FOLDER / aof.MANIFEST).read_bytes()
                parts = [one for file in aof.all_files(store) for one in _open(attempt, data, file, missing_ok=False)]
                if before == (store / aof.FOLDER / aof.MANIFEST).read_bytes() == parts[0].opened.read():
                    parts[0].opened.seek(0)
                    opened.push(attempt.pop_all())
                    return found + parts
            except FileNotFoundError:
                pass  # the server has just replaced a file
        time.sleep(0.05)
    raise Unfit(f"There is no store in {data} to copy.")


def _open(opened: ExitStack, data: Path, file: Path, missing_ok: bool = True) -> list[Source]:
    """Open a file until `opened` ends. Its current size is copied."""
    try:
        handle = opened.enter_context(file.open("rb"))
    except FileNotFoundError:
        if missing_ok:
            return []
        raise
    return [Source(str(file.relative_to(data)), handle, os.fstat(handle.fileno()).st_size)]


def make(data: Path, target: Path, progress: Progress = lambda size: None, archive: Objects | None = None) -> Made:
    """Copy the store of a data folder to a new folder, and the objects of the archive. Return the list of files.

    Raises Unfit, aof.NotWhole, ArchiveUnavailable, OSError.

    The folder gets its final name once everything in it is complete and on disk.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Unfit(f"{target} exists. A backup needs a new folder.")
    begun = int(time.time() * 1000)
    draft = target.with_name(f".{target.name}.unfinished")
    shutil.rmtree(draft, ignore_errors=True)
    with ExitStack() as opened:
        files = sources(data, opened)
        draft.mkdir(mode=0o700, parents=True)
        for source in files:
            _copy(source.opened, source.size, draft / source.path, progress)
    if archive is not None:
        for name in archive.names():
            content = archive.read(name)
            if content is not None:  # else somebody has just removed it
                _copy(BytesIO(content), len(content), draft / ARCHIVE / name, progress)
    damage = aof.inspect(draft / STORE)
    if damage is not None:
        if damage.entries and not is_last(draft / STORE, damage):
            raise Unfit(f"The append-only file {damage.file.name} of the store is damaged at byte {damage.at}. `./run repair` says more.")
        aof.cut(draft / STORE, damage)  # this transaction was being written when the size was read
    made = seal(draft, begun)
    if target.exists():
        target.rmdir()
    draft.rename(target)
    _sync(target.parent)
    return made


def seal(folder: Path, begun: int) -> Made:
    """Write and return the list of a backup with these files. Raises OSError."""
    made = Made(begun, {str(file.relative_to(folder)): _sum(file) for file in sorted(folder.rglob("*")) if file.is_file()})
    _write_list(folder, made)
    return made


def note(folder: Path, lines: Iterable[str]) -> None:
    """Write down in a backup where its archive is, and the names of the objects that its store needs. Raises BadBackup, OSError."""
    durable.write(folder / NEEDS, "".join(f"{line}\n" for line in lines).encode())
    made = listed(folder)
    _write_list(folder, made._replace(files={**made.files, NEEDS: _sum(folder / NEEDS)}))


def _write_list(folder: Path, made: Made) -> None:
    durable.write(folder / LIST, json.dumps({"format": FORMAT, **made._asdict()}, indent=1).encode() + b"\n")


def is_last(store: Path, damage: aof.Damage) -> bool:
    """Return True if the only damage is an incomplete last transaction."""
    return len({match for match, _ in damage.entries}) <= 1 and damage.file == aof.files(store)[-1]


def clone(folder: Path, target: Path) -> None:
    """Make a data folder from a backup for a server, without changing the backup. Files that a server never changes are linked."""
    changing = {aof.files(folder / STORE)[-1], folder / STORE / aof.FOLDER / aof.MANIFEST}
    for name in listed(folder).files:
        source, copy = folder / name, target / name
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if name.startswith(f"{ARCHIVE}/") or (copy.parent.name == aof.FOLDER and source not in changing):
            with contextlib.suppress(OSError):  # some file systems have no links
                copy.hardlink_to(source)
                continue
        shutil.copyfile(source, copy)
        copy.chmod(0o600)


def check(folder: Path, progress: Progress = lambda size: None) -> Made:
    """Compare every file of a backup with its SHA-256. Return the list of the backup. Raises BadBackup."""
    made = listed(folder)
    present = {str(file.relative_to(folder)) for file in folder.rglob("*") if not file.is_dir()} - {LIST}
    for name in sorted(present ^ made.files.keys()):
        raise BadBackup(f"{folder / name} is {'not in the list of the backup' if name in present else 'missing'}.")
    for name, (size, digest) in made.files.items():
        file = folder / name
        try:
            if not stat.S_ISREG(file.lstat().st_mode) or _sum(file, progress) != (size, digest):
                raise BadBackup(f"{file} has changed since the backup was made.")
        except OSError as reason:
            raise BadBackup(f"{file} cannot be read ({reason.strerror}).") from None
    try:
        check_format(folder)
    except NoServer as reason:
        raise BadBackup(f"{reason}.") from None
    return made


def listed(folder: Path) -> Made:
    """Return the list of a backup without checking its files. Raises BadBackup."""
    try:
        stored: Any = json.loads((folder / LIST).read_bytes())
        if stored["format"] != FORMAT:
            raise BadBackup(f"{folder} has format {stored['format']}. This version of Warledger reads format {FORMAT}.")
        made = Made(int(stored["begun"]), {str(name): (int(size), str(digest)) for name, (size, digest) in stored["files"].items()})
    except FileNotFoundError:
        raise BadBackup(f"There is no complete backup in {folder}.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BadBackup(f"{folder / LIST} cannot be read.") from None
    if any(Path(name).is_absolute() or ".." in Path(name).parts for name in made.files):
        raise BadBackup(f"{folder / LIST} names files outside the backup.")
    return made


def is_used(data: Path, replace: bool) -> bool:
    """Return True if a data folder has data that a restore must move aside. Raises Unfit if it may not `replace` it."""
    used = any(one.is_file() or any(file.name[0] != "." for file in one.iterdir()) for one in _replaced(data))
    if used and not replace:
        raise Unfit(f"{data} has data already. Choose another folder, or use --replace to move the data aside.")
    return used


def _replaced(data: Path) -> list[Path]:
    """Return what a restore replaces in a data folder."""
    return [data / name for name in (STORE, losses.FOLDER, ADMIN_KEY) if (data / name).exists()]


def place(
    folder: Path, data: Path, replace: bool, progress: Progress = lambda size: None, archive: Objects | None = None, move: bool = False
) -> Path | None:
    """Put the files of a checked backup into an unused data folder. Return where its old files are now, or None if it had none.

    Objects are added to those of the archive, before everything else. None is ever replaced. Raises Unfit, ArchiveUnavailable, OSError. All
    files are there before the first one is put in place. If this ends in between, the folder is not used until it is done again.

    `move`: the backup is in the data folder, and need not stay.
    """
    used = is_used(data, replace)
    draft = data / ".restoring"
    shutil.rmtree(draft, ignore_errors=True)
    if move:
        (folder / LIST).unlink()
        folder.rename(draft)
    else:
        for name in listed(folder).files:
            if name.startswith(f"{ARCHIVE}/") and archive is not None:
                _add(archive, name.removeprefix(f"{ARCHIVE}/"), (folder / name).read_bytes())
                progress((folder / name).stat().st_size)
                continue
            with (folder / name).open("rb") as opened:
                _copy(opened, (folder / name).stat().st_size, draft / name, progress)
    placing = data / PLACING
    shutil.rmtree(placing, ignore_errors=True)
    draft.rename(placing)
    _sync(data)
    aside = _new_folder(data / f"replaced-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}") if used else None
    for one in _replaced(data):
        if aside is None:
            shutil.rmtree(one)
        else:
            one.rename(aside / one.name)
    for one in sorted(placing.iterdir()):
        one.rename(data / one.name)
    _sync(data)
    placing.rmdir()
    return aside


def _add(archive: Objects, name: str, content: bytes) -> None:
    """Create an object, unless there is the same one. Raises Unfit, ArchiveUnavailable."""
    if not archive.create(name, content) and archive.read(name) != content:
        raise Unfit(f"The archive has another object {name} than the backup. Name another place in WARLEDGER_ARCHIVE.")


def _new_folder(path: Path) -> Path:
    """Make a private folder at a path, or where there is one already, such as of a restore a moment ago, at one with a number behind it."""
    for number in count(2):
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            path = path.with_name(f"{path.name.partition('.')[0]}.{number}")
        else:
            break
    return path


def _copy(source: IO[bytes], size: int, target: Path, progress: Progress) -> None:
    """Copy the first `size` bytes to a private file, and wait until they are on disk."""
    for folder in reversed([parent for parent in target.parents if not parent.exists()]):
        folder.mkdir(mode=0o700)
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        while size and (block := source.read(min(size, _BLOCK))):
            copy.write(block)
            size -= len(block)
            progress(len(block))
        copy.flush()
        os.fsync(copy.fileno())
    if size:
        raise Unfit(f"{target.name} shrank while it was copied.")


def _sum(file: Path, progress: Progress = lambda size: None) -> tuple[int, str]:
    """Return the size and the SHA-256 of a file."""
    digest, size = sha256(), 0
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
            size += len(block)
            progress(len(block))
    return size, digest.hexdigest()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    with contextlib.suppress(OSError):  # some file systems cannot
        os.fsync(handle)
    os.close(handle)
