"""Objects in a folder: each is one file. A file appears whole or not at all, whenever the process is killed or the power fails.

The content is written to a draft and synced. Then a link gives it its name, which fails if there is one. Then the folders are synced. A
draft that a killed process left is removed by the next process that creates an object.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from events.archive.objects import checked
from events.errors import ArchiveUnavailable

DRAFTS = ".drafts"  # no name of an object begins with a dot


class Folder:
    """The objects in a folder (Objects). It is created with the first object."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._tidy = False

    def create(self, name: str, content: bytes) -> bool:
        """Create an object (Objects).

        The folders are synced even if there is an object of that name: the process that created it may have been killed before it did so.
        """
        path = self.root / checked(name)
        with _told():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            drafts = self._drafts()
            try:
                created = _linked(self.root / DRAFTS / secrets.token_hex(8), path, content)
            finally:
                os.close(drafts)
            for folder in _between(self.root.absolute().parent, path.absolute().parent):
                _sync(folder)
        return created

    def read(self, name: str) -> bytes | None:
        """Return the content of an object (Objects)."""
        with _told():
            try:
                return (self.root / checked(name)).read_bytes()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return None

    def names(self, prefix: str = "", after: str = "") -> Iterator[str]:
        """Yield names (Objects). It holds the names of one folder at each level, not all."""
        start = prefix.rpartition("/")[0]
        yield from (name for name in self._below(f"{start}/" if start else "", after) if name.startswith(prefix))

    def remove(self, name: str) -> None:
        """Remove an object (Objects)."""
        path = self.root / checked(name)
        with _told():
            if path.exists():
                path.unlink(missing_ok=True)
                _sync(path.parent)

    def _below(self, start: str, after: str) -> Iterator[str]:
        """Yield the names of objects that begin with `start`, which is empty or ends in a slash, and are greater than `after`."""
        with _told():
            try:
                with os.scandir(self.root / start) as entries:
                    found = sorted(f"{start}{one.name}{'/' * one.is_dir()}" for one in entries if not one.name.startswith("."))
            except (FileNotFoundError, NotADirectoryError):
                return
        for name in found:
            if name.endswith("/"):
                if name > after or after.startswith(name):
                    yield from self._below(name, after)
            elif name > after:
                yield name

    def _drafts(self) -> int:
        """Return a descriptor of the folder of drafts, with a shared lock. Once, remove the drafts in it if nobody else has such a lock."""
        folder = self.root / DRAFTS
        folder.mkdir(exist_ok=True, mode=0o700)
        opened = os.open(folder, os.O_RDONLY)
        try:
            if not self._tidy:
                try:
                    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    pass  # somebody writes
                else:
                    self._tidy = True
                    for draft in folder.iterdir():
                        draft.unlink()
            fcntl.flock(opened, fcntl.LOCK_SH)
        except BaseException:
            os.close(opened)
            raise
        return opened


def _linked(draft: Path, path: Path, content: bytes) -> bool:
    """Write and sync a draft, and link it to its name. Return False if there is such a name. The draft is removed."""
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        try:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
            try:
                os.link(draft, path)
            except FileExistsError:
                return False
            return True
        finally:
            draft.unlink()


def _between(above: Path, lowest: Path) -> Iterator[Path]:
    """Yield the folders from `lowest` up to `above`."""
    yield lowest
    while lowest != above:
        lowest = lowest.parent
        yield lowest


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def _told() -> Iterator[None]:
    """Tell errors of the file system, such as a full disk, as ArchiveUnavailable."""
    try:
        yield
    except OSError as reason:
        raise ArchiveUnavailable(f"{type(reason).__name__}: {reason}") from None
